//! `mixed`: users that concurrently poll, send and read, each activity at its own rate.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::budget::Budget;
use super::fanout::OTHER_FILES;
use super::fetch::Fetcher;
use super::receive::{Receivers, open_receivers};
use super::send::{Sender, Sent};
use super::tasks::ClientTasks;
use crate::client::Account;
use crate::error::LoadError;
use crate::outcome::PhaseResult;
use crate::process::raise_open_files;
use crate::recorder::{Pace, Recorder, Window};
use crate::scenario::{Activity, MixedStep, Phase};
use crate::setup::Stage;
use crate::text::Writer;

struct Person {
    account: Arc<Account>,
    channels: Vec<u64>,
}

/// Runs a `mixed` phase.
pub async fn run(
    stage: &mut Stage,
    phase: &Phase,
    step: &MixedStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let people = gather(stage).await?;
    raise_open_files((people.len() * (step.each.len() + 1)) as u64 + OTHER_FILES)?;
    let polls = step.each.iter().any(|activity| matches!(activity, Activity::LongPoll));
    let followers = if polls { people.iter().map(follow).collect() } else { Vec::new() };
    let receivers = open_receivers(&stage.target, followers).await?;
    let epoch = Instant::now();
    let (senders, fetchers) = open_clients(stage, &people, step, epoch).await?;

    let window = Window::starting_now(phase.warmup_secs, phase.secs);
    let sends = Arc::new(Recorder::new("send", window));
    let receipts = Arc::new(Recorder::new("receipt", window));
    let fetches = Arc::new(Recorder::new("fetch", window));
    let polling = Receivers::start(receivers, &receipts, epoch);
    let mut tasks =
        ClientTasks::new(&phase.name, window, vec![sends.clone(), receipts, fetches.clone()], server_pid);
    let sent = Arc::new(Sent::kept());
    let budget = Arc::new(Budget::new(u64::MAX));
    let (sender_count, fetcher_count) = (count(&senders), count(&fetchers));
    for (index, (rate, sender)) in (0..).zip(senders) {
        let pace = Pace::new(&window, Some(rate * f64::from(sender_count)), index, sender_count);
        tasks.add(sender.run(pace, sends.clone(), budget.clone(), sent.clone()));
    }
    for (index, (rate, fetcher)) in (0..).zip(fetchers) {
        let pace = Pace::new(&window, Some(rate * f64::from(fetcher_count)), index, fetcher_count);
        tasks.add(fetcher.run(pace, fetches.clone()));
    }
    tasks.wait().await;
    let ids = sent.sorted();
    if polls {
        polling.drain(expected_deliveries(&people, &ids)).await;
    }
    let delivery = polling.finish(&ids).await;
    let mut result = tasks.into_result(Instant::now());
    result.delivery = polls.then_some(delivery);
    Ok(result)
}

async fn gather(stage: &mut Stage) -> Result<Vec<Person>, LoadError> {
    let everyone = stage.everyone();
    let accounts = stage.accounts(&everyone, everyone.len()).await?;
    let mut channels: HashMap<usize, Vec<u64>> = HashMap::new();
    for channel in stage.channels() {
        for member in &channel.members {
            channels.entry(*member).or_default().push(channel.id);
        }
    }
    let people = everyone
        .iter()
        .zip(accounts)
        .filter_map(|(number, account)| Some(Person { account, channels: channels.remove(number)? }));
    Ok(people.collect())
}

fn follow(person: &Person) -> (Arc<Account>, Vec<u64>) {
    (person.account.clone(), person.channels.clone())
}

/// Clients, and the rate of each, per second.
type Paced<Client> = Vec<(f64, Client)>;

async fn open_clients(
    stage: &Stage,
    people: &[Person],
    step: &MixedStep,
    epoch: Instant,
) -> Result<(Paced<Sender>, Paced<Fetcher>), LoadError> {
    let mut senders = Vec::new();
    let mut fetchers = Vec::new();
    for activity in &step.each {
        let writer = match activity {
            Activity::Send { chars, .. } => Arc::new(Writer::new(epoch, *chars)),
            _ => Arc::new(Writer::new(epoch, [24, 24])),
        };
        for (seed, person) in (1..).zip(people) {
            match activity {
                Activity::LongPoll => {}
                Activity::Send { per_min, topics, .. } => {
                    let (account, channels) = (&person.account, &person.channels);
                    let sender =
                        Sender::open(&stage.target, account, channels, *topics, writer.clone(), seed).await?;
                    senders.push((per_min / 60.0, sender));
                }
                Activity::Fetch { per_min, num_before } => {
                    let (account, channels) = (&person.account, &person.channels);
                    let fetcher = Fetcher::open(&stage.target, account, channels, *num_before, seed).await?;
                    fetchers.push((per_min / 60.0, fetcher));
                }
            }
        }
    }
    Ok((senders, fetchers))
}

fn count<Client>(clients: &Paced<Client>) -> u32 {
    u32::try_from(clients.len()).unwrap_or(u32::MAX)
}

fn expected_deliveries(people: &[Person], ids: &HashMap<u64, Vec<u64>>) -> u64 {
    people
        .iter()
        .flat_map(|person| &person.channels)
        .map(|channel| ids.get(channel).map_or(0, |ids| ids.len() as u64))
        .sum()
}
