//! Signals: those that stop the server, the one that reloads the configuration, and ignored ones.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The request of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// SIGTERM and SIGINT: stop.
    Stop(StopSignal),
    /// SIGHUP: read the configuration again.
    Reload,
}

/// A signal that stops the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopSignal {
    Terminate,
    Interrupt,
}

impl StopSignal {
    /// The signal's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminate => "SIGTERM",
            Self::Interrupt => "SIGINT",
        }
    }

    /// The exit code of a process that was stopped by the signal, by convention of shells: 128 and the signal's
    /// number.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Terminate => 143,
            Self::Interrupt => 130,
        }
    }
}

/// Listens from its creation on, so that a signal during start-up is not lost.
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
    quit: Signal,
    user1: Signal,
    user2: Signal,
}

impl Signals {
    /// Starts to listen. Needs a runtime; fails when the system refuses the handlers.
    pub fn new() -> std::io::Result<Self> {
        // Without a handler, a write beyond a file size limit would kill the process instead of failing.
        let _ = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            user1: signal(SignalKind::user_defined1())?,
            user2: signal(SignalKind::user_defined2())?,
        })
    }

    /// Waits for the next request. SIGQUIT, SIGUSR1 and SIGUSR2 are logged and ignored.
    pub async fn next(&mut self) -> Request {
        loop {
            let ignored = tokio::select! {
                _ = self.terminate.recv() => return Request::Stop(StopSignal::Terminate),
                _ = self.interrupt.recv() => return Request::Stop(StopSignal::Interrupt),
                _ = self.hangup.recv() => return Request::Reload,
                _ = self.quit.recv() => "SIGQUIT",
                _ = self.user1.recv() => "SIGUSR1",
                _ = self.user2.recv() => "SIGUSR2",
            };
            tracing::info!(
                signal = ignored,
                "ignored; SIGTERM stops the server, SIGHUP reloads its configuration"
            );
        }
    }

    /// Waits for a signal that stops the server; other signals are ignored.
    pub async fn stop(&mut self) -> StopSignal {
        loop {
            match self.next().await {
                Request::Stop(signal) => return signal,
                Request::Reload => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::Duration;

    #[actix_web::test]
    async fn signal_before_wait_is_not_lost() {
        let mut signals = Signals::new().unwrap();
        let process = std::process::id().to_string();
        for (name, expected) in [
            ("-HUP", Request::Reload),
            ("-QUIT", Request::Reload),
            ("-TERM", Request::Stop(StopSignal::Terminate)),
        ] {
            assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
            // An ignored signal gives no request: the reload after it does.
            if name == "-QUIT" {
                assert!(Command::new("kill").args(["-HUP", &process]).status().unwrap().success());
            }
            let request = tokio::time::timeout(Duration::from_secs(5), signals.next()).await.unwrap();
            assert_eq!(request, expected, "{name}");
        }
    }
}
