//! `fanout`: a few senders at a fixed rate, many receivers; measures the time from send to receipt.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::budget::Budget;
use super::receive::{Receiver, Receivers, open_receivers};
use super::send::{Sent, open_senders};
use super::tasks::ClientTasks;
use crate::error::LoadError;
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::scenario::{FanoutStep, Phase};
use crate::setup::{Channel, Stage};
use crate::text::Writer;

/// Runs a `fanout` phase.
pub async fn run(
    stage: &mut Stage,
    phase: &Phase,
    step: &FanoutStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let channel = stage.channel(&step.channel)?;
    let followers = stage.accounts(&channel.members, step.receivers as usize).await?;
    let accounts = stage.accounts(&channel.members, step.senders as usize).await?;
    let followed = followers.into_iter().map(|account| (account, vec![channel.id])).collect();
    let receivers = open_receivers(&stage.target, followed).await?;
    let receiver_count = receivers.len() as u64;
    let slow = open_slow(stage, &channel, step).await?;
    let slow_count = slow.as_ref().map_or(0, |(receivers, _)| receivers.len() as u64);
    let epoch = Instant::now();
    let writer = Arc::new(Writer::new(epoch, step.chars));
    let senders = open_senders(stage, &accounts, &[channel.id], step.topics, &writer).await?;

    let window = Window::of(phase);
    let receipts = Arc::new(Recorder::new("receipt", window));
    let sends = Arc::new(Recorder::new("send", window));
    let polling = Receivers::start(receivers, &receipts, epoch);
    let mut recorders = vec![receipts, sends.clone()];
    let slow_polling = slow.map(|(receivers, pause)| {
        let recorder = Arc::new(Recorder::new("slow_receipt", window));
        recorders.push(recorder.clone());
        Receivers::start_slow(receivers, &recorder, epoch, pause)
    });
    let mut tasks = ClientTasks::new(&phase.name, window, recorders, server_pid);
    let budget = Arc::new(Budget::new(u64::MAX));
    let sent = Arc::new(Sent::kept());
    for (index, sender) in (0..step.senders).zip(senders) {
        let pace = Pace::new(&window, &Load::PerSec(step.rate_per_sec), index, step.senders);
        tasks.add(sender.run(pace, sends.clone(), budget.clone(), sent.clone()));
    }
    tasks.wait().await;
    let messages = sent.messages();
    let count: u64 = messages.values().map(|messages| messages.len() as u64).sum();
    polling.drain(count * receiver_count).await;
    if let Some(polling) = &slow_polling {
        polling.drain(count * slow_count).await;
    }
    // The end of the queues is no part of the deliveries.
    tasks.end_meter();
    let mut delivery = polling.finish(&messages).await;
    if let Some(polling) = slow_polling {
        delivery.add(&polling.finish(&messages).await);
    }
    let mut result = tasks.into_result(Instant::now());
    result.delivery = Some(delivery);
    Ok(result)
}

/// The queues of the slow readers, and their pause.
async fn open_slow(
    stage: &mut Stage,
    channel: &Channel,
    step: &FanoutStep,
) -> Result<Option<(Vec<Receiver>, Duration)>, LoadError> {
    let Some(slow) = &step.slow else { return Ok(None) };
    let accounts = stage.accounts(&channel.members, slow.receivers as usize).await?;
    let followed = accounts.into_iter().map(|account| (account, vec![channel.id])).collect();
    let receivers = open_receivers(&stage.target, followed).await?;
    Ok(Some((receivers, Duration::from_millis(u64::from(slow.pause_ms)))))
}
