//! Random sequences of actions on messages, topics and channels, compared with a model that states in a few rules who
//! can read what, where, with which flags, and which events each queue returns.
//!
//! `state` is the model's state, `rules` the effect of actions, `steps` generates sequences, `ask` sends them to the
//! server, `events` and `check` compare. A failure prints its seed and a shortened sequence. To repeat it:
//! `MILLSTREAM_MODEL_SEED=… cargo test --test it model::`; for more steps: `MILLSTREAM_MODEL_STEPS=100000`.

mod ask;
mod check;
mod events;
mod rules;
mod state;
mod steps;

use check::{Pair, Wrong};
use std::time::{Duration, Instant};
use steps::{Step, random_steps};

/// Steps of one sequence, on one server.
const SEQUENCE_STEPS: usize = 250;
/// Everything is compared each time after this many steps.
const COMPARE_EVERY: usize = 50;
/// Time limit for shortening a failing sequence.
const SHRINK_TIME_MAX: Duration = Duration::from_secs(150);

/// A number from an environment variable.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// Runs a sequence in which users poll after every step or only occasionally; on a mismatch returns the index of the
/// step, and the mismatch.
async fn run(steps: &[Step], polls_often: bool) -> Result<(), (usize, Wrong)> {
    let mut pair = Pair::start().await;
    for (index, step) in steps.iter().enumerate() {
        pair.take(step).await.map_err(|wrong| (index, wrong))?;
        if polls_often {
            pair.match_all_events().await.map_err(|wrong| (index, wrong))?;
        }
        if (index + 1).is_multiple_of(COMPARE_EVERY) || matches!(step, Step::Restart) {
            pair.compare_all().await.map_err(|wrong| (index, wrong))?;
        }
    }
    pair.compare_all().await.map_err(|wrong| (steps.len().saturating_sub(1), wrong))?;
    pair.stop().await;
    Ok(())
}

/// The steps that had an effect when all of them run.
async fn effective(steps: &[Step]) -> Vec<Step> {
    let mut pair = Pair::start().await;
    let mut kept = Vec::new();
    for step in steps {
        let is_last = kept.len() + 1 == steps.len();
        let taken = pair.take(step).await;
        if taken.unwrap_or(true) || is_last {
            kept.push(step.clone());
        }
    }
    kept
}

/// Removes as many steps as possible, larger ranges first.
async fn shorten(steps: Vec<Step>, wrong: Wrong, polls_often: bool) -> (Vec<Step>, Wrong) {
    let (mut best, begun) = ((steps, wrong), Instant::now());
    let fewer = effective(&best.0).await;
    if let Err((index, wrong)) = run(&fewer, polls_often).await {
        best = (fewer[..=index].to_vec(), wrong);
    }
    let mut piece = best.0.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < best.0.len() {
            if begun.elapsed() > SHRINK_TIME_MAX {
                return best;
            }
            let mut fewer = best.0.clone();
            fewer.drain(at..(at + piece).min(fewer.len()));
            match run(&fewer, polls_often).await {
                Err((index, wrong)) => {
                    fewer.truncate(index + 1);
                    best = (fewer, wrong);
                }
                Ok(()) => at += piece,
            }
        }
        piece /= 2;
    }
    best
}

async fn try_seed(seed: u64, count: usize) {
    let mut steps = random_steps(seed, count);
    if let Err((index, mut wrong)) = run(&steps, false).await {
        steps.truncate(index + 1);
        // With frequent polls the mismatch may show earlier, or not at all, because fewer events are pending.
        let mut polls_often = false;
        if let Err((index, earlier)) = run(&steps, true).await {
            steps.truncate(index + 1);
            (wrong, polls_often) = (earlier, true);
        }
        let (steps, wrong) = shorten(steps, wrong, polls_often).await;
        let list: Vec<String> = steps.iter().map(|step| format!("  {step:?}")).collect();
        panic!(
            "seed {seed}, {} steps:\n{}\n{wrong}\nagain: MILLSTREAM_MODEL_SEED={seed}",
            steps.len(),
            list.join("\n")
        );
    }
}

/// Runs sequences with consecutive seeds until they have this many steps in total.
async fn try_seeds(first: u64, steps: usize) {
    if let Some(seed) = setting("MILLSTREAM_MODEL_SEED") {
        return try_seed(seed, SEQUENCE_STEPS).await;
    }
    let count = setting("MILLSTREAM_MODEL_STEPS")
        .map_or(steps, |steps| usize::try_from(steps).expect("a number") / 2);
    for sequence in 0..count.div_ceil(SEQUENCE_STEPS) {
        let seed = first + sequence as u64;
        println!("seed {seed}");
        try_seed(seed, SEQUENCE_STEPS).await;
    }
}

// Two tests, so that they can run in parallel.

#[tokio::test]
async fn random_actions_match_model() {
    try_seeds(1, 5000).await;
}

#[tokio::test]
async fn random_actions_match_model_more_seeds() {
    try_seeds(1_000_001, 5000).await;
}
