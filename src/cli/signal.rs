//! Waiting for the word to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for SIGTERM and SIGINT from the moment it is made, so that one during start-up is not lost.
pub struct StopSignal {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignal {
    /// Starts to listen. Needs a runtime; fails when the system refuses the handlers.
    pub fn new() -> std::io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { terminate, interrupt })
    }

    /// Returns when the first of them arrives, with its name.
    pub async fn wait(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::Duration;

    #[actix_web::test]
    async fn a_signal_before_the_wait_counts() {
        let mut stop = StopSignal::new().unwrap();
        let sent = Command::new("kill").args(["-TERM", &std::process::id().to_string()]).status().unwrap();
        assert!(sent.success());
        let name = tokio::time::timeout(Duration::from_secs(5), stop.wait()).await.unwrap();
        assert_eq!(name, "SIGTERM");
    }
}
