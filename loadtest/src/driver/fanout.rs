//! `fanout`: a few senders at a fixed rate, many receivers; measures the time from send to receipt.

use std::sync::Arc;
use std::time::Instant;

use super::budget::Budget;
use super::receive::{Receivers, open_receivers};
use super::send::{Sent, open_senders};
use super::tasks::ClientTasks;
use crate::error::LoadError;
use crate::outcome::PhaseResult;
use crate::process::raise_open_files;
use crate::recorder::{Pace, Recorder, Window};
use crate::scenario::{FanoutStep, Phase};
use crate::setup::Stage;
use crate::text::Writer;

/// Open files besides the receivers' connections.
pub const OTHER_FILES: u64 = 512;

/// Runs a `fanout` phase.
pub async fn run(
    stage: &mut Stage,
    phase: &Phase,
    step: &FanoutStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    raise_open_files(u64::from(step.receivers) + OTHER_FILES)?;
    let channel = stage.channel(&step.channel)?;
    let followers = stage.accounts(&channel.members, step.receivers as usize).await?;
    let accounts = stage.accounts(&channel.members, step.senders as usize).await?;
    let followed = followers.into_iter().map(|account| (account, vec![channel.id])).collect();
    let receivers = open_receivers(&stage.target, followed).await?;
    let receiver_count = receivers.len() as u64;
    let epoch = Instant::now();
    let writer = Arc::new(Writer::new(epoch, step.chars));
    let senders = open_senders(&stage.target, &accounts, &[channel.id], step.topics, &writer).await?;

    let window = Window::starting_now(phase.warmup_secs, phase.secs);
    let receipts = Arc::new(Recorder::new("receipt", window));
    let sends = Arc::new(Recorder::new("send", window));
    let polling = Receivers::start(receivers, &receipts, epoch);
    let mut tasks = ClientTasks::new(&phase.name, window, vec![receipts, sends.clone()], server_pid);
    let budget = Arc::new(Budget::new(u64::MAX));
    let sent = Arc::new(Sent::kept());
    for (index, sender) in (0..step.senders).zip(senders) {
        let pace = Pace::new(&window, Some(step.rate_per_sec), index, step.senders);
        tasks.add(sender.run(pace, sends.clone(), budget.clone(), sent.clone()));
    }
    tasks.wait().await;
    let ids = sent.sorted();
    let messages: u64 = ids.values().map(|ids| ids.len() as u64).sum();
    polling.drain(messages * receiver_count).await;
    let delivery = polling.finish(&ids).await;
    let mut result = tasks.into_result(Instant::now());
    result.delivery = Some(delivery);
    Ok(result)
}
