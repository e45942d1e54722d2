//! Signals: those that stop the server, the one that reloads the configuration, and ignored ones.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What the system says of this process.
const STATUS_FILE: &str = "/proc/self/status";

/// The request of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// SIGTERM and SIGINT: stop.
    Stop(StopSignal),
    /// SIGHUP: read the configuration again.
    Reload,
}

/// A signal that stops the server or a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopSignal {
    Terminate,
    Interrupt,
    /// The terminal was closed. It stops commands only.
    Hangup,
}

impl StopSignal {
    /// The signal's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminate => "SIGTERM",
            Self::Interrupt => "SIGINT",
            Self::Hangup => "SIGHUP",
        }
    }

    /// The exit code of a process that was stopped by the signal, by convention of shells: 128 and the signal's
    /// number.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Terminate => 143,
            Self::Interrupt => 130,
            Self::Hangup => 129,
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
    /// Whether the process was started to ignore SIGHUP, as `nohup` does.
    is_hangup_ignored: bool,
}

impl Signals {
    /// Starts to listen. Needs a runtime; fails when the system refuses the handlers.
    pub fn new() -> std::io::Result<Self> {
        // Before a handler takes its place.
        let status = std::fs::read_to_string(STATUS_FILE).unwrap_or_default();
        let is_hangup_ignored = ignores(&status, SignalKind::hangup());
        fail_beyond_size_limit()?;
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            user1: signal(SignalKind::user_defined1())?,
            user2: signal(SignalKind::user_defined2())?,
            is_hangup_ignored,
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

    /// Waits for a signal that stops a command: also SIGHUP, unless the command was started to ignore it.
    pub async fn end(&mut self) -> StopSignal {
        loop {
            match self.next().await {
                Request::Stop(signal) => return signal,
                Request::Reload if self.is_hangup_ignored => {}
                Request::Reload => return StopSignal::Hangup,
            }
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

/// Lets a write beyond a limit for the size of files (`ulimit -f`) fail, as on a full disk: without a handler it would kill the process.
/// Needs a runtime, and holds also after its end.
///
/// # Errors
/// When the system refuses the handler.
pub fn fail_beyond_size_limit() -> std::io::Result<()> {
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

/// Ends the process at a signal that stops a command, if it is the first one of a container: for that one the system ignores signals
/// without a handler. Only for commands that may end at any time, as by a kill.
///
/// # Errors
/// When the system refuses the thread.
pub fn end_first_process() -> std::io::Result<()> {
    match std::process::id() {
        1 => at_end(|signal| std::process::exit(signal.exit_code().into())),
        _ => Ok(()),
    }
}

/// Waits on a thread for a signal that stops a command.
fn at_end(then: impl FnOnce(StopSignal) + Send + 'static) -> std::io::Result<()> {
    let wait = || {
        let ended = actix_rt::System::new().block_on(async {
            let mut signals = Signals::new()?;
            Ok::<_, std::io::Error>(signals.end().await)
        });
        match ended {
            Ok(signal) => then(signal),
            Err(error) => {
                tracing::warn!(%error, "signals cannot be handled; as the first process of a container, this command can only be killed")
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

/// Whether a process ignores a signal, from the text of [`STATUS_FILE`].
fn ignores(status: &str, signal: SignalKind) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    // The lowest bit is signal number 1.
    let bit = u32::try_from(signal.as_raw_value() - 1).unwrap_or_default();
    mask.checked_shr(bit).is_some_and(|mask| mask & 1 == 1)
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
        // A closed terminal ends a command, but not one of `nohup`.
        let send =
            |name: &str| assert!(Command::new("kill").args([name, &process]).status().unwrap().success());
        let listen = |is_hangup_ignored| Signals { is_hangup_ignored, ..Signals::new().unwrap() };
        let mut ignoring = listen(true);
        send("-HUP");
        send("-TERM");
        assert_eq!(ignoring.end().await, StopSignal::Terminate);
        // A new one, because the hangup of before may still be waiting in the other.
        let mut signals = listen(false);
        send("-HUP");
        assert_eq!(signals.end().await, StopSignal::Hangup);
        assert_eq!(StopSignal::Hangup.exit_code(), 129);
        // The same on a thread of its own.
        let (sender, ended) = std::sync::mpsc::channel();
        at_end(move |signal| sender.send(signal).unwrap()).unwrap();
        let signal = std::iter::repeat_with(|| {
            send("-INT");
            ended.recv_timeout(Duration::from_millis(20)).ok()
        });
        assert_eq!(signal.flatten().next(), Some(StopSignal::Interrupt));
    }

    #[test]
    fn ignored_signals_are_read() {
        let status = |mask: &str| format!("Name:\tmillstream\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\n");
        let hangup = SignalKind::hangup();
        assert!(ignores(&status("0000000000001001"), hangup));
        assert!(!ignores(&status("0000000000001000"), hangup));
        assert!(ignores(&status("0000000000004000"), SignalKind::terminate()));
        assert!(!ignores("", hangup));
    }
}
