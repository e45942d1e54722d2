//! `send`: clients that send messages, each over its own connection, as fast as they can or at a fixed rate.
//! The same sender serves `fanout`, `mixed`, the fill, and the bare server's POST.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::acknowledged::Ids;
use super::background::BackgroundWork;
use super::budget::Budget;
use super::tasks::{ClientTasks, FailureLimit};
use crate::client::{Account, Failure, REPLY_WAIT, within};
use crate::error::LoadError;
use crate::http::{Connection, Target, Template};
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::rate_limit::RateLimitWaits;
use crate::recorder::{Recorder, Window};
use crate::scenario::{Phase, SendStep};
use crate::setup::{Stage, members_of};
use crate::text::{Random, Writer};

const PATH: &str = "/api/v1/messages";
/// The name of a send that was acknowledged with the id of another message.
pub const REPEATED_ID: &str = "200 with the id of a message that was acknowledged before";

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
        let senders = open_senders(stage, &accounts, &ids, step.topics, &writer).await?;
        opened.push(senders.into_iter());
    }
    let mut senders = Vec::with_capacity(step.clients as usize);
    for _ in 0..each {
        senders.extend(opened.iter_mut().filter_map(Iterator::next));
    }
    senders.truncate(step.clients as usize);
    Ok(senders)
}

/// A message that the server acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    pub id: u64,
    /// The hash that identifies its content.
    pub content: u64,
}

/// Acknowledged messages by the id of their channel.
pub type Messages = HashMap<u64, Vec<Message>>;

/// The successful answer to a send.
#[derive(Debug, Clone, Copy)]
pub struct Acknowledgement {
    pub channel_id: u64,
    pub message: Message,
    /// Size of the answer.
    pub bytes: usize,
    /// Whether a message before has the same id.
    pub is_repeated: bool,
}

/// The acknowledged messages, kept only where they are needed.
#[derive(Debug, Default)]
pub struct Sent {
    keep: bool,
    messages: Mutex<Messages>,
}

impl Sent {
    /// A record that keeps messages.
    pub fn kept() -> Self {
        Self { keep: true, messages: Mutex::default() }
    }

    /// Records an acknowledged message.
    pub fn add(&self, acknowledged: &Acknowledgement) {
        if self.keep {
            self.lock().entry(acknowledged.channel_id).or_default().push(acknowledged.message);
        }
    }

    /// All messages so far.
    pub fn messages(&self) -> Messages {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Opens one sender per account; each may send to all of `channel_ids`.
pub async fn open_senders(
    stage: &Stage,
    accounts: &[Arc<Account>],
    channel_ids: &[u64],
    topics: u32,
    writer: &Arc<Writer>,
) -> Result<Vec<Sender>, LoadError> {
    let senders = open_unchecked(&stage.target, accounts, channel_ids, topics, writer).await?;
    Ok(senders.into_iter().map(|sender| sender.checked(&stage.acknowledged)).collect())
}

/// Like `open_senders`, for the bare server, which stores no messages.
pub async fn open_unchecked(
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
    /// Outside of measured time, for the end of a rate limit, and for a reply.
    waits: RateLimitWaits,
    reply_wait: Duration,
    /// Those of the organization, if they are compared.
    acknowledged: Option<Arc<Ids>>,
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
            .map_err(|source| LoadError::Http { call: format!("connect to {}", target.host), source })?;
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
            waits: RateLimitWaits::default(),
            reply_wait: REPLY_WAIT,
            acknowledged: None,
        })
    }

    /// Compares the ids that it gets with those that were acknowledged in the organization before.
    pub fn checked(mut self, acknowledged: &Arc<Ids>) -> Self {
        self.acknowledged = Some(acknowledged.clone());
        self
    }

    /// Sends until the phase ends or the budget is spent.
    pub async fn run(
        mut self,
        mut pace: Pace,
        recorder: Arc<Recorder>,
        budget: Arc<Budget>,
        sent: Arc<Sent>,
    ) {
        let mut failures_in_a_row = FailureLimit::of(&pace);
        while let Some(started) = pace.wait().await {
            if !budget.take() {
                return;
            }
            match pace.within(self.send(started)).await {
                Ok(acknowledged) => {
                    match acknowledged.is_repeated {
                        false => recorder.record_success(started, acknowledged.bytes),
                        true => recorder.record_failure(REPEATED_ID),
                    }
                    // Receivers wait for it in any case.
                    sent.add(&acknowledged);
                    failures_in_a_row.good();
                }
                Err(failure) => {
                    budget.give_back();
                    if !failures_in_a_row.record_failure(&recorder, &failure).await {
                        break;
                    }
                }
            }
        }
        pace.finish(&recorder);
    }

    /// Sends one message outside of measured time. Waits for its reply, and, if the server limits the rate of requests, as long as
    /// it says, both within bounds.
    pub async fn send_waiting(&mut self) -> Result<Acknowledgement, String> {
        let (begun, reply_wait) = (Instant::now(), self.reply_wait);
        loop {
            let failure = match within(reply_wait, "a send", self.send(Instant::now())).await {
                Ok(Acknowledgement { is_repeated: true, .. }) => return Err(REPEATED_ID.to_owned()),
                Ok(acknowledged) => return Ok(acknowledged),
                Err(failure) => failure,
            };
            let is_limited = failure.retry_after.is_some();
            if !is_limited || !self.waits.wait("a send", begun, failure.retry_after).await {
                return Err(failure.name);
            }
        }
    }

    /// Sends one message.
    pub async fn send(&mut self, started: Instant) -> Result<Acknowledgement, Failure> {
        let place = usize::try_from(self.random.below(self.places.len() as u64)).unwrap_or(0);
        let (channel_id, prefix) = &self.places[place];
        self.body.clear();
        self.body.extend_from_slice(prefix);
        let topic = self.random.below(self.topics);
        write!(self.body, "{topic}&content=").expect("writing to a vector does not fail");
        let content = self.writer.push_content(&mut self.body, &mut self.random, started);
        self.template.fill(&mut self.request, &self.body);
        // A slow sender is idle for longer than the server keeps connections open.
        let reply = self.connection.exchange_rested(&self.request).await?;
        if reply.status != 200 {
            return Err(Failure::of(&reply));
        }
        match serde_json::from_slice::<SendReply>(reply.body) {
            Ok(SendReply { result: "success", id: Some(id) }) => Ok(Acknowledgement {
                channel_id: *channel_id,
                message: Message { id, content },
                bytes: reply.body.len(),
                is_repeated: self.acknowledged.as_ref().is_some_and(|ids| !ids.add(id)),
            }),
            _ => Err("200 without success and id".into()),
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

    #[tokio::test]
    async fn send_that_is_not_answered_ends_the_preparation() {
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target::local(&format!("http://{}", silent.local_addr().unwrap())).unwrap();
        let authorization = crate::http::basic_authorization("a@x", "7");
        let account = Account { user_id: 7, email: "a@x".to_owned(), authorization };
        let writer = Arc::new(Writer::new(Instant::now(), [24, 24]));
        let mut sender = Sender::open(&Arc::new(target), &account, &[1], 1, writer, 1).await.unwrap();
        sender.reply_wait = Duration::from_millis(20);
        assert_eq!(sender.send_waiting().await.unwrap_err(), "no reply");
    }

    #[test]
    fn messages_are_stored_only_on_request() {
        let message = Message { id: 3, content: 5 };
        let acknowledged = Acknowledgement { channel_id: 7, message, bytes: 50, is_repeated: false };
        let (kept, dropped) = (Sent::kept(), Sent::default());
        kept.add(&acknowledged);
        dropped.add(&acknowledged);
        assert_eq!(kept.messages()[&7], [message]);
        assert!(dropped.messages().is_empty());
    }
}
