//! `mixed`: users that concurrently poll, send and read, each activity at its own rate.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::background::BackgroundWork;
use super::budget::Budget;
use super::fetch::Fetcher;
use super::get::repeat;
use super::receive::{Receivers, open_receivers};
use super::send::{Messages, Sender, Sent};
use super::tasks::ClientTasks;
use crate::client::Account;
use crate::error::LoadError;
use crate::http::{Connection, bodiless_request};
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
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
    let polls = step.each.iter().any(|activity| matches!(activity, Activity::LongPoll));
    let followers = if polls { people.iter().map(follow).collect() } else { Vec::new() };
    let receivers = open_receivers(&stage.target, followers).await?;
    let epoch = Instant::now();
    let clients = open_clients(stage, &people, step, epoch).await?;
    let background = match &step.background {
        Some(plan) => Some(BackgroundWork::prepare(stage, plan).await?),
        None => None,
    };

    let window = Window::of(phase);
    let recorder = |name| Arc::new(Recorder::new(name, window));
    let (sends, receipts, fetches, gets) =
        (recorder("send"), recorder("receipt"), recorder("fetch"), recorder("get"));
    let polling = Receivers::start(receivers, &receipts, epoch);
    let mut recorders = vec![sends.clone(), receipts, fetches.clone()];
    if !clients.getters.is_empty() {
        recorders.push(gets.clone());
    }
    let background = background.map(|work| (recorder(work.name()), work));
    recorders.extend(background.iter().map(|(recorder, _)| recorder.clone()));
    let mut tasks = ClientTasks::new(&phase.name, window, recorders, server_pid);
    let sent = Arc::new(Sent::kept());
    let budget = Arc::new(Budget::new(u64::MAX));
    for (pace, sender) in paced(clients.senders, &window) {
        tasks.add(sender.run(pace, sends.clone(), budget.clone(), sent.clone()));
    }
    for (pace, fetcher) in paced(clients.fetchers, &window) {
        tasks.add(fetcher.run(pace, fetches.clone()));
    }
    for (pace, (connection, request)) in paced(clients.getters, &window) {
        tasks.add(repeat(connection, request, pace, gets.clone()));
    }
    if let Some((recorder, background)) = background {
        tasks.add(background.run(window, recorder, budget.clone()));
    }
    tasks.wait().await;
    let messages = sent.messages();
    if polls {
        polling.drain(expected_deliveries(&people, &messages)).await;
    }
    tasks.end_meter();
    let delivery = polling.finish(&messages).await;
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
type Rated<Client> = Vec<(f64, Client)>;

/// The clients of all activities except polling.
#[derive(Default)]
struct Clients {
    senders: Rated<Sender>,
    fetchers: Rated<Fetcher>,
    /// Connections with their requests.
    getters: Rated<(Connection, Vec<u8>)>,
}

async fn open_clients(
    stage: &Stage,
    people: &[Person],
    step: &MixedStep,
    epoch: Instant,
) -> Result<Clients, LoadError> {
    let mut clients = Clients::default();
    let target = &stage.target;
    for activity in &step.each {
        let writer = match activity {
            Activity::Send { chars, .. } => Arc::new(Writer::new(epoch, *chars)),
            Activity::LongPoll | Activity::Get { .. } | Activity::Fetch { .. } => {
                Arc::new(Writer::new(epoch, [24, 24]))
            }
        };
        for (seed, person) in (1..).zip(people) {
            let (account, channels) = (&person.account, &person.channels);
            match activity {
                Activity::LongPoll => {}
                Activity::Send { per_min, topics, .. } => {
                    let sender =
                        Sender::open(target, account, channels, *topics, writer.clone(), seed).await?;
                    clients.senders.push((per_min / 60.0, sender.checked(&stage.acknowledged)));
                }
                Activity::Fetch { per_min, num_before } => {
                    let fetcher = Fetcher::open(target, account, channels, *num_before, seed).await?;
                    clients.fetchers.push((per_min / 60.0, fetcher));
                }
                Activity::Get { per_min, path } => {
                    let opened = Connection::open(target).await;
                    let failed = |source| LoadError::Http { call: format!("connect to {path}"), source };
                    let path = format!("/api/v1{path}");
                    let request = bodiless_request("GET", &target.host, &path, Some(&account.authorization));
                    clients.getters.push((per_min / 60.0, (opened.map_err(failed)?, request)));
                }
            }
        }
    }
    Ok(clients)
}

/// The clients of one kind with their paces, evenly spread.
fn paced<Client>(clients: Rated<Client>, window: &Window) -> impl Iterator<Item = (Pace, Client)> {
    let count = u32::try_from(clients.len()).unwrap_or(u32::MAX);
    (0..).zip(clients).map(move |(index, (rate, client))| {
        (Pace::new(window, &Load::PerSec(rate * f64::from(count)), index, count), client)
    })
}

fn expected_deliveries(people: &[Person], messages: &Messages) -> u64 {
    people
        .iter()
        .flat_map(|person| &person.channels)
        .map(|channel| messages.get(channel).map_or(0, |messages| messages.len() as u64))
        .sum()
}
