//! The phases in which a server stops.

use std::time::Duration;
use tokio::sync::watch;

/// How long a stopping server still accepts requests that clients had already sent.
const DRAIN_WINDOW: Duration = Duration::from_millis(50);
/// How long idle connections have to close before the listener counts them; after that it counts once a second.
const CLOSE_WINDOW: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Running,
    /// Nothing waits any more.
    Stopping,
    /// Idle connections are closed.
    Closing,
}

/// The shutdown signal. Handlers that wait must wait for it, too, and respond at once.
pub struct Stopping(watch::Sender<Phase>);

impl Stopping {
    /// Of a server that runs.
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(Phase::Running))
    }

    /// Whether the server is stopping.
    pub fn is_stopping(&self) -> bool {
        *self.0.borrow() >= Phase::Stopping
    }

    /// Returns when the server begins to stop; at once if it has.
    pub async fn wait(&self) {
        self.wait_for(Phase::Stopping).await;
    }

    /// Returns when idle connections are to be closed; at once if they are.
    pub async fn wait_to_close(&self) {
        self.wait_for(Phase::Closing).await;
    }

    async fn wait_for(&self, wanted: Phase) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|phase| *phase >= wanted).await;
    }

    /// Lets requests arrive that were sent already, and closes idle connections.
    pub(crate) async fn drain(&self) {
        tokio::time::sleep(DRAIN_WINDOW).await;
        self.0.send_replace(Phase::Closing);
        tokio::time::sleep(CLOSE_WINDOW).await;
    }

    pub(crate) fn begin(&self) {
        self.0.send_replace(Phase::Stopping);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[actix_web::test]
    async fn idle_connections_stay_until_requests_have_arrived() {
        let stopping = Stopping::new();
        assert!(!stopping.is_stopping() && stopping.wait().now_or_never().is_none());
        stopping.begin();
        assert!(stopping.is_stopping() && stopping.wait().now_or_never().is_some());
        assert!(stopping.wait_to_close().now_or_never().is_none());
        stopping.drain().await;
        assert!(stopping.is_stopping() && stopping.wait_to_close().now_or_never().is_some());
    }
}
