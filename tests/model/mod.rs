//! Random sequences of everything that people do to messages, topics and channels, against a model that says in a few
//! plain rules who then reads what, where, with which flags, and whose queue says what.
//!
//! `state` is what is true, `rules` what actions do to it, `steps` makes sequences, `ask` puts them to the server, `heard`
//! and `check` compare. A failure prints its seed and a shortened sequence. To do it again:
//! `MILLSTREAM_MODEL_SEED=… cargo test --test it model::`; to do more: `MILLSTREAM_MODEL_STEPS=100000`.

mod ask;
mod check;
mod heard;
mod rules;
mod state;
mod steps;

use check::{Pair, Wrong};
use std::time::{Duration, Instant};
use steps::{Step, random_steps};

/// Steps on one server.
const SEQUENCE_STEPS: usize = 250;
/// Everything is compared after so many.
const LOOK_EVERY: usize = 50;
/// How long a failing sequence is made shorter.
const SHRINK: Duration = Duration::from_secs(150);

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// Runs a sequence, where everybody polls after every step or only now and then; gives the number of the step that went wrong, and how.
async fn run(steps: &[Step], polls_often: bool) -> Result<(), (usize, Wrong)> {
    let mut pair = Pair::start().await;
    for (index, step) in steps.iter().enumerate() {
        pair.take(step).await.map_err(|wrong| (index, wrong))?;
        if polls_often {
            pair.match_all_events().await.map_err(|wrong| (index, wrong))?;
        }
        if (index + 1).is_multiple_of(LOOK_EVERY) || matches!(step, Step::Restart) {
            pair.compare_all().await.map_err(|wrong| (index, wrong))?;
        }
    }
    pair.compare_all().await.map_err(|wrong| (steps.len().saturating_sub(1), wrong))?;
    pair.stop().await;
    Ok(())
}

/// The steps that did something, when all of them are taken.
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

/// Leaves out as many steps as can be, larger pieces first.
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
            if begun.elapsed() > SHRINK {
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
        // Whoever looks closer may see it earlier, or not at all: what is read is not waiting any more.
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

/// Sequences from a seed on, until there were so many steps.
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

// Two halves, so that they can run side by side.

#[tokio::test]
async fn whatever_people_do_the_model_knows_what_they_see() {
    try_seeds(1, 5000).await;
}

#[tokio::test]
async fn whatever_else_people_do_the_model_knows_what_they_see() {
    try_seeds(1_000_001, 5000).await;
}
