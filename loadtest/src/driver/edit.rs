//! `edit`: clients that each edit a message of their own again and again, and move it to another topic between.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use super::get::call;
use super::send::Sender;
use super::tasks::{ClientTasks, FailureLimit};
use crate::client::Account;
use crate::error::LoadError;
use crate::http::{Connection, Target, Template};
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::scenario::{EditStep, Phase};
use crate::setup::{Stage, members_of};
use crate::text::{Random, Writer};

/// Runs an `edit` phase.
pub async fn run(
    stage: &mut Stage,
    phase: &Phase,
    step: &EditStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let channels = stage.channels_named(&step.channel)?;
    let ids: Vec<u64> = channels.iter().map(|channel| channel.id).collect();
    let accounts = stage.accounts(&members_of(&channels), step.clients as usize).await?;
    let writer = Arc::new(Writer::new(Instant::now(), step.chars));
    let mut editors = Vec::with_capacity(accounts.len());
    for (seed, account) in (1..).zip(&accounts) {
        let sender = Sender::open(&stage.target, account, &ids, step.topics, writer.clone(), seed).await?;
        let sent = sender.checked(&stage.acknowledged).send_waiting().await;
        let sent = sent.map_err(|reason| LoadError::Server(format!("no message to edit: {reason}")))?;
        let id = sent.message.id;
        editors.push(Editor::open(&stage.target, account, id, (step, seed), writer.clone()).await?);
    }
    let (window, ramp) = (Window::of(phase), phase.ramp());
    let load = Load::of(ramp.as_ref(), step.rate_per_sec);
    let edits = Arc::new(Recorder::staged("edit", window, ramp));
    let moves = Arc::new(Recorder::new("move", window));
    let mut tasks = ClientTasks::new(&phase.name, window, vec![edits.clone(), moves.clone()], server_pid);
    for (index, editor) in (0..).zip(editors) {
        let pace = Pace::new(&window, &load, index, step.clients);
        tasks.add(editor.run(pace, edits.clone(), moves.clone()));
    }
    tasks.wait().await;
    Ok(tasks.into_result(Instant::now()))
}

/// A client with its message.
#[derive(Debug)]
struct Editor {
    connection: Connection,
    template: Template,
    writer: Arc<Writer>,
    random: Random,
    /// Edits before a move.
    edits: u32,
    topics: u64,
    request: Vec<u8>,
    body: Vec<u8>,
}

impl Editor {
    async fn open(
        target: &Arc<Target>,
        account: &Account,
        message_id: u64,
        (step, seed): (&EditStep, u64),
        writer: Arc<Writer>,
    ) -> Result<Self, LoadError> {
        let path = format!("/api/v1/messages/{message_id}");
        let failed = |source| LoadError::Http { call: format!("connect to {path}"), source };
        Ok(Self {
            connection: Connection::open(target).await.map_err(failed)?,
            template: Template::new("PATCH", &target.host, &path, Some(&account.authorization)),
            writer,
            random: Random::new(seed),
            edits: step.edits,
            topics: u64::from(step.topics),
            request: Vec::new(),
            body: Vec::new(),
        })
    }

    async fn run(mut self, mut pace: Pace, edits: Arc<Recorder>, moves: Arc<Recorder>) {
        let mut failures_in_a_row = FailureLimit::of(&pace);
        let (mut edited, mut moved) = (0, 0);
        while let Some(started) = pace.wait().await {
            let is_move = edited == self.edits;
            self.body.clear();
            if is_move {
                (edited, moved) = (0, moved + 1);
                // Each move needs another topic than the one before.
                let topic = moved % self.topics.max(2);
                let rest = "&propagate_mode=change_one&send_notification_to_old_thread=false\
                            &send_notification_to_new_thread=false";
                write!(self.body, "topic=moved+{topic}{rest}").expect("writing to a vector does not fail");
            } else {
                edited += 1;
                self.body.extend_from_slice(b"content=");
                self.writer.push_content(&mut self.body, &mut self.random, started);
            }
            self.template.fill(&mut self.request, &self.body);
            let outcome = pace.within(call(&mut self.connection, &self.request, true)).await;
            let recorder = if is_move { &moves } else { &edits };
            if !failures_in_a_row.record(recorder, started, outcome).await {
                break;
            }
        }
        pace.finish(&edits);
    }
}
