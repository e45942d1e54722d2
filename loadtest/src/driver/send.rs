//! `send`: clients that send messages, each over its own connection, as fast as they can or at a fixed rate.
//! The same sender serves `fanout`, `mixed`, the fill, and the bare server's POST.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde::Deserialize;

use super::background::BackgroundWork;
use super::budget::Budget;
use super::tasks::{ClientTasks, FailureLimit};
use crate::client::{Account, failure_name};
use crate::error::LoadError;
use crate::http::{Connection, Target, Template};
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::scenario::{Phase, SendStep};
use crate::setup::{Stage, members_of};
use crate::text::{Random, Writer};

const PATH: &str = "/api/v1/messages";

/// Runs a `send` phase, in all organizations: the clients are spread over them.
pub async fn run(
    stages: &mut [Stage],
    phase: &Phase,
    step: &SendStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let senders = open_everywhere(stages, step).await?;
    let background = match (&step.background, stages.first()) {
        (Some(plan), Some(stage)) => Some(BackgroundWork::prepare(stage, plan).await?),
        _ => None,
    };
    let (window, ramp) = (Window::of(phase), phase.ramp());
    let load = Load::of(ramp.as_ref(), step.rate_per_sec);
    let recorder = Arc::new(Recorder::staged("send", window, ramp));
    let mut recorders = vec![recorder.clone()];
    let background =
        background.map(|background| (Arc::new(Recorder::new(background.name(), window)), background));
    recorders.extend(background.iter().map(|(recorder, _)| recorder.clone()));
    let mut tasks = ClientTasks::new(&phase.name, window, recorders, server_pid);
    let budget = Arc::new(Budget::new(step.messages.unwrap_or(u64::MAX)));
    let sent = Arc::new(Sent::default());
    let clients = step.clients;
    for (index, sender) in (0..clients).zip(senders) {
        let pace = Pace::new(&window, &load, index, clients);
        tasks.add(sender.run(pace, recorder.clone(), budget.clone(), sent.clone()));
    }
    if let Some((recorder, background)) = background {
        tasks.add(background.run(window, recorder, budget.clone()));
    }
    tasks.wait().await;
    Ok(tasks.into_result(Instant::now()))
}

/// The senders of a step: client by client, one organization after the other.
async fn open_everywhere(stages: &mut [Stage], step: &SendStep) -> Result<Vec<Sender>, LoadError> {
    let writer = Arc::new(Writer::new(Instant::now(), step.chars));
    let each = (step.clients as usize).div_ceil(stages.len().max(1));
    let mut opened = Vec::with_capacity(stages.len());
    for stage in stages {
        let channels = stage.channels_named(&step.channel)?;
        let ids: Vec<u64> = channels.iter().map(|channel| channel.id).collect();
        let accounts = stage.accounts(&members_of(&channels), each).await?;
        let senders = open_senders(&stage.target, &accounts, &ids, step.topics, &writer).await?;
        opened.push(senders.into_iter());
    }
    let mut senders = Vec::with_capacity(step.clients as usize);
    for _ in 0..each {
        senders.extend(opened.iter_mut().filter_map(Iterator::next));
    }
    senders.truncate(step.clients as usize);
    Ok(senders)
}

/// The ids of acknowledged messages by channel, kept only where they are needed.
#[derive(Debug, Default)]
pub struct Sent {
    keep: bool,
    ids: Mutex<HashMap<u64, Vec<u64>>>,
}

impl Sent {
    /// A record that keeps ids.
    pub fn kept() -> Self {
        Self { keep: true, ids: Mutex::default() }
    }

    /// Records an acknowledged message.
    pub fn add(&self, channel_id: u64, message_id: u64) {
        if self.keep {
            self.lock().entry(channel_id).or_default().push(message_id);
        }
    }

    /// All ids so far, ascending, by channel.
    pub fn sorted(&self) -> HashMap<u64, Vec<u64>> {
        let mut ids = self.lock().clone();
        ids.values_mut().for_each(|ids| ids.sort_unstable());
        ids
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Vec<u64>>> {
        self.ids.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Opens one sender per account; each may send to all of `channel_ids`.
pub async fn open_senders(
    target: &Arc<Target>,
    accounts: &[Arc<Account>],
    channel_ids: &[u64],
    topics: u32,
    writer: &Arc<Writer>,
) -> Result<Vec<Sender>, LoadError> {
    let mut senders = Vec::with_capacity(accounts.len());
    for (seed, account) in (1..).zip(accounts) {
        senders.push(Sender::open(target, account, channel_ids, topics, writer.clone(), seed).await?);
    }
    Ok(senders)
}

/// A client that sends messages.
#[derive(Debug)]
pub struct Sender {
    connection: Connection,
    template: Template,
    /// Channel id, and the form up to the topic's number.
    places: Vec<(u64, Vec<u8>)>,
    topics: u64,
    writer: Arc<Writer>,
    random: Random,
    request: Vec<u8>,
    body: Vec<u8>,
}

#[derive(Deserialize)]
struct SendReply<'a> {
    result: &'a str,
    id: Option<u64>,
}

impl Sender {
    /// Opens the sender's connection.
    pub async fn open(
        target: &Arc<Target>,
        account: &Account,
        channel_ids: &[u64],
        topics: u32,
        writer: Arc<Writer>,
        seed: u64,
    ) -> Result<Self, LoadError> {
        let connection = Connection::open(target)
            .await
            .map_err(|source| LoadError::Http { call: format!("connect to {}", target.address), source })?;
        let places = channel_ids
            .iter()
            .map(|id| (*id, format!("type=channel&to={id}&topic=topic+").into_bytes()))
            .collect();
        Ok(Self {
            connection,
            template: Template::new("POST", &target.host, PATH, Some(&account.authorization)),
            places,
            topics: u64::from(topics),
            writer,
            random: Random::new(seed),
            request: Vec::with_capacity(1024),
            body: Vec::with_capacity(1024),
        })
    }

    /// Sends until the phase ends or the budget is spent.
    pub async fn run(
        mut self,
        mut pace: Pace,
        recorder: Arc<Recorder>,
        budget: Arc<Budget>,
        sent: Arc<Sent>,
    ) {
        let mut failures_in_a_row = FailureLimit::default();
        while let Some(started) = pace.wait().await {
            if !budget.take() {
                return;
            }
            match pace.within(self.send(started)).await {
                Ok((channel_id, message_id, bytes)) => {
                    recorder.record_success(started, bytes);
                    sent.add(channel_id, message_id);
                    failures_in_a_row.good();
                }
                Err(reason) => {
                    recorder.record_failure(&reason);
                    budget.give_back();
                    if !failures_in_a_row.pause().await {
                        return;
                    }
                }
            }
        }
        pace.finish(&recorder);
    }

    /// Sends one message; returns its channel, its id and the size of the reply.
    pub async fn send(&mut self, started: Instant) -> Result<(u64, u64, usize), String> {
        let place = usize::try_from(self.random.below(self.places.len() as u64)).unwrap_or(0);
        let (channel_id, prefix) = &self.places[place];
        self.body.clear();
        self.body.extend_from_slice(prefix);
        let topic = self.random.below(self.topics);
        write!(self.body, "{topic}&content=").expect("writing to a vector does not fail");
        self.writer.push_content(&mut self.body, &mut self.random, started);
        self.template.fill(&mut self.request, &self.body);
        // A slow sender is idle for longer than the server keeps connections open.
        let reply = self.connection.exchange_rested(&self.request).await.map_err(|error| error.code())?;
        if reply.status != 200 {
            return Err(failure_name(reply.status, reply.body));
        }
        match serde_json::from_slice::<SendReply>(reply.body) {
            Ok(SendReply { result: "success", id: Some(id) }) => Ok((*channel_id, id, reply.body.len())),
            _ => Err("200 without success and id".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_once() {
        let budget = Budget::new(2);
        assert!(budget.take());
        assert!(budget.take());
        assert!(!budget.take());
        budget.give_back();
        assert!(budget.take());
        assert!(!budget.take());
    }

    #[test]
    fn ids_are_stored_only_on_request() {
        let kept = Sent::kept();
        for id in [3, 1, 2] {
            kept.add(7, id);
        }
        assert_eq!(kept.sorted()[&7], [1, 2, 3]);
        let dropped = Sent::default();
        dropped.add(7, 1);
        assert!(dropped.sorted().is_empty());
    }
}
