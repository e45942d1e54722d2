//! `idle`: thousands of held polls. Their memory is compared with the same number of held requests on the bare server
//! of the same run; then one message is sent, and the time until the last receiver has it counts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::receive::{Receivers, open_receivers};
use super::send::{Sender, Sent};
use super::tasks::ClientTasks;
use crate::baseline::held::{self, HeldBaseline};
use crate::error::LoadError;
use crate::outcome::{BaselineShare, Idle, Operation, PhaseResult};
use crate::process::resident_bytes;
use crate::recorder::{Recorder, Window};
use crate::scenario::IdleStep;
use crate::setup::{Channel, Stage};
use crate::text::Writer;
use crate::units::megabytes;

/// Queues opened and closed before memory is read, so that one-time costs of the server do not count per poll.
const WARM_POLLS: usize = 64;
/// Time after the last poll was sent until all are certainly held.
const SETTLE: Duration = Duration::from_secs(1);
const LOAD_SECS_MAX: f64 = 600.0;

/// Runs an `idle` phase.
pub async fn run(
    stage: &mut Stage,
    step: &IdleStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let hold = SETTLE + Duration::from_secs_f64(step.hold_secs);
    let bare = match step.without_bare {
        true => None,
        false => Some(held::measure(step.polls, hold).await?),
    };

    let channel = stage.channel(&step.channel)?;
    warm_up(stage, &channel).await?;
    let rss_before = server_pid.and_then(resident_bytes);
    let followers = stage.accounts(&channel.members, step.polls as usize).await?;
    let followed = followers.into_iter().map(|account| (account, vec![channel.id])).collect();
    let receivers = open_receivers(&stage.target, followed).await?;
    let epoch = Instant::now();
    let window = Window::starting_now(0.0, LOAD_SECS_MAX);
    let receipts = Arc::new(Recorder::new("receipt", window));
    let mut tasks = ClientTasks::new("idle", window, vec![receipts.clone()], server_pid);
    let polling = Receivers::start_resting(receivers, &receipts, epoch);
    tokio::time::sleep(hold).await;
    let rss_after = server_pid.and_then(resident_bytes);

    let sent = Arc::new(Sent::kept());
    send_one(stage, &channel, epoch, &sent).await?;
    polling.receive(u64::from(step.polls)).await;
    // As of the held requests of the bare server: one request and one reply of each.
    tasks.end_meter();
    let ended = Instant::now();
    polling.wake();
    // Surplus events come with the next polls.
    tokio::time::sleep(SETTLE).await;
    let delivery = polling.finish(&sent.messages()).await;
    let mut result = tasks.into_result(ended);
    result.delivery = Some(delivery);
    let rss = rss_before.zip(rss_after);
    let growth =
        |(before, after): (u64, u64)| megabytes(after.saturating_sub(before)) * 1e6 / f64::from(step.polls);
    let bare_bytes = bare.as_ref().map(|bare| bare.bytes_per_connection);
    let per_poll = rss.and_then(|rss| of_a_poll(growth(rss), bare_bytes));
    result.idle = Some(Idle {
        polls: u64::from(step.polls),
        server_bytes_per_connection: per_poll,
        bare_bytes_per_connection: bare_bytes,
        bytes_per_poll: per_poll,
        last_receipt_ms: last_receipt(&result.operations[0], step.polls),
        bare_last_receipt_ms: bare.as_ref().map(|bare| bare.last_receipt_ms),
    });
    result.baseline = bare.map(|bare| share(&bare, step.polls, &result));
    if let (Some(server), Some((rss_before, rss_after))) = (&mut result.server, rss) {
        // The meter began after the queues were opened, and ended after all receipts.
        server.set_memory(megabytes(rss_before), megabytes(rss_after), 0.0);
    }
    Ok(result)
}

/// CPU times of the held requests, which the meter of the phase counts in the same way: from before the polls are sent until
/// their replies.
fn share(bare: &HeldBaseline, polls: u32, result: &PhaseResult) -> BaselineShare {
    let server = result.server.and_then(|server| server.cpu_us_per_request);
    BaselineShare {
        method: "held GET".to_owned(),
        clients: polls,
        server_cpu_us_per_request: bare.server_cpu_us,
        client_cpu_us_per_request: bare.client_cpu_us,
        cpu_ratio: server.filter(|_| bare.server_cpu_us > 0.0).map(|server| server / bare.server_cpu_us),
        rate_ratio: None,
    }
}

/// The growth for each poll, unless it is too small to be all that one takes: a server that has freed memory to use again,
/// because it worked before, grows by less than it needs. Without the bare server only one that did not grow at all is noticed.
fn of_a_poll(per_connection: f64, bare: Option<f64>) -> Option<f64> {
    (per_connection > 0.0 && per_connection >= bare.unwrap_or(0.0) / 4.0).then_some(per_connection)
}

/// The time of the last receipt; there is none as long as a poll waits for it.
fn last_receipt(receipts: &Operation, polls: u32) -> Option<f64> {
    let latency = receipts.latency.filter(|_| receipts.completed >= u64::from(polls));
    latency.map(|latency| latency.max_ms)
}

/// Fetches all keys, and opens and deletes some queues.
async fn warm_up(stage: &mut Stage, channel: &Channel) -> Result<(), LoadError> {
    let accounts = stage.accounts(&channel.members, channel.members.len()).await?;
    let few = accounts.into_iter().take(WARM_POLLS).map(|account| (account, vec![channel.id])).collect();
    let receivers = open_receivers(&stage.target, few).await?;
    let recorder = Arc::new(Recorder::new("warm-up", Window::starting_now(0.0, 1.0)));
    let polling = Receivers::start(receivers, &recorder, Instant::now());
    tokio::time::sleep(SETTLE).await;
    polling.finish(&std::collections::HashMap::new()).await;
    tokio::time::sleep(SETTLE).await;
    Ok(())
}

async fn send_one(
    stage: &mut Stage,
    channel: &Channel,
    epoch: Instant,
    sent: &Sent,
) -> Result<(), LoadError> {
    let accounts = stage.accounts(&channel.members, 1).await?;
    let writer = Arc::new(Writer::new(epoch, [200, 200]));
    let sender = Sender::open(&stage.target, &accounts[0], &[channel.id], 1, writer, 1).await?;
    let acknowledged = sender
        .checked(&stage.acknowledged)
        .send_waiting()
        .await
        .map_err(|reason| LoadError::Server(format!("the message was not sent: {reason}")))?;
    sent.add(&acknowledged);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{Latency, ServerUse};

    #[test]
    fn cpu_time_of_a_poll_is_compared_with_that_of_a_held_request() {
        let bare = HeldBaseline {
            bytes_per_connection: 1.0,
            last_receipt_ms: 1.0,
            server_cpu_us: 4.0,
            client_cpu_us: 3.0,
        };
        let server = ServerUse { cpu_us_per_request: Some(20.0), ..ServerUse::default() };
        let result = PhaseResult { server: Some(server), ..PhaseResult::default() };
        let shared = share(&bare, 10_000, &result);
        assert_eq!((shared.clients, shared.cpu_ratio, shared.rate_ratio), (10_000, Some(5.0), None));
        assert_eq!(share(&bare, 10_000, &PhaseResult::default()).cpu_ratio, None);
    }

    #[test]
    fn memory_of_a_server_that_worked_before_is_not_compared() {
        assert_eq!(of_a_poll(15_000.0, Some(18_000.0)), Some(15_000.0));
        assert_eq!(of_a_poll(3_000.0, Some(18_000.0)), None);
        assert_eq!((of_a_poll(3_000.0, None), of_a_poll(0.0, None)), (Some(3_000.0), None));
    }

    #[test]
    fn last_receipt_is_that_of_all_polls() {
        let latency = Some(Latency { max_ms: 4.8, ..Latency::default() });
        let receipts = |completed| Operation { completed, latency, ..Operation::default() };
        assert_eq!(last_receipt(&receipts(40), 40), Some(4.8));
        assert_eq!(last_receipt(&receipts(36), 40), None, "four polls got nothing");
    }
}
