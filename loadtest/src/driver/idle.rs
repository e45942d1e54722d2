//! `idle`: thousands of held polls. Their memory is compared with the same number of held requests on the bare server
//! of the same run; then one message is sent, and the time until the last receiver has it counts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::receive::{Receivers, open_receivers};
use super::send::{Sender, Sent};
use super::tasks::ClientTasks;
use crate::baseline::held;
use crate::error::LoadError;
use crate::outcome::{Idle, PhaseResult};
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
    let Some(pid) = server_pid else {
        return Err(LoadError::Usage(
            "idle polls need --server-pid or --spawn, to read the memory".to_owned(),
        ));
    };
    let hold = SETTLE + Duration::from_secs_f64(step.hold_secs);
    let bare = held::measure(step.polls, hold).await?;

    let channel = stage.channel(&step.channel)?;
    warm_up(stage, &channel).await?;
    let rss_before = read_resident(pid)?;
    let followers = stage.accounts(&channel.members, step.polls as usize).await?;
    let followed = followers.into_iter().map(|account| (account, vec![channel.id])).collect();
    let receivers = open_receivers(&stage.target, followed).await?;
    let epoch = Instant::now();
    let window = Window::starting_now(0.0, LOAD_SECS_MAX);
    let receipts = Arc::new(Recorder::new("receipt", window));
    let polling = Receivers::start(receivers, &receipts, epoch);
    let tasks = ClientTasks::new("idle", window, vec![receipts.clone()], server_pid);
    tokio::time::sleep(hold).await;
    let rss_after = read_resident(pid)?;

    let sent = Arc::new(Sent::kept());
    send_one(stage, &channel, epoch, &sent).await?;
    polling.drain(u64::from(step.polls)).await;
    let delivery = polling.finish(&sent.messages()).await;
    let mut result = tasks.into_result(Instant::now());
    result.delivery = Some(delivery);
    let growth = megabytes(rss_after.saturating_sub(rss_before)) * 1e6 / f64::from(step.polls);
    let per_poll = of_a_poll(growth, bare.bytes_per_connection);
    result.idle = Some(Idle {
        polls: u64::from(step.polls),
        server_bytes_per_connection: per_poll,
        bare_bytes_per_connection: bare.bytes_per_connection,
        bytes_per_poll: per_poll,
        last_receipt_ms: result.operations[0].latency.map(|latency| latency.max_ms),
        bare_last_receipt_ms: bare.last_receipt_ms,
    });
    if let Some(server) = &mut result.server {
        // The meter began after the queues were opened, and ended after all polls.
        server.set_memory(megabytes(rss_before), megabytes(rss_after), 0.0);
    }
    Ok(result)
}

/// The growth for each poll, unless it is too small to be all that one takes: a server that has freed memory to use again,
/// because it worked before, grows by less than it needs.
fn of_a_poll(per_connection: f64, bare: f64) -> Option<f64> {
    (per_connection > 0.0 && per_connection >= bare / 4.0).then_some(per_connection)
}

fn read_resident(pid: u32) -> Result<u64, LoadError> {
    resident_bytes(pid).ok_or_else(|| LoadError::Usage(format!("/proc/{pid}/status cannot be read")))
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
    let mut sender = Sender::open(&stage.target, &accounts[0], &[channel.id], 1, writer, 1).await?;
    let acknowledged = sender
        .send_waiting()
        .await
        .map_err(|reason| LoadError::Server(format!("the message was not sent: {reason}")))?;
    sent.add(&acknowledged);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::of_a_poll;

    #[test]
    fn memory_of_a_server_that_worked_before_is_not_compared() {
        assert_eq!(of_a_poll(15_000.0, 18_000.0), Some(15_000.0));
        assert_eq!(of_a_poll(3_000.0, 18_000.0), None);
        assert_eq!(of_a_poll(0.0, 0.0), None);
    }
}
