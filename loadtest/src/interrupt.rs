//! Signals to end. Work awaits the first one beside what it does, so that what was measured until then is kept.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::process;

/// The signals so far: their number, and the name of the first.
type Received = (u32, &'static str);

/// Whether the run was interrupted.
#[derive(Debug, Clone)]
pub struct Interrupt(watch::Receiver<Received>);

/// What interrupts a run.
#[derive(Debug)]
pub struct Interrupter(watch::Sender<Received>);

impl Interrupter {
    /// A run that is not interrupted yet.
    pub fn new() -> (Self, Interrupt) {
        let (sender, receiver) = watch::channel((0, ""));
        (Self(sender), Interrupt(receiver))
    }

    /// Interrupts the run.
    pub fn fire(&self, name: &'static str) {
        self.0.send_modify(|(count, first)| {
            if *count == 0 {
                *first = name;
            }
            *count += 1;
        });
    }

    /// Interrupts the run at each signal to end.
    pub async fn listen(self) {
        tokio::join!(
            self.forward(SignalKind::interrupt(), "SIGINT"),
            self.forward(SignalKind::terminate(), "SIGTERM"),
            async {
                // As `nohup` wants it.
                if !process::ignores_hangup() {
                    self.forward(SignalKind::hangup(), "SIGHUP").await;
                }
            }
        );
    }

    async fn forward(&self, kind: SignalKind, name: &'static str) {
        // Where signals cannot be received, they end the program as they do by default.
        let Ok(mut signals) = signal(kind) else { return };
        while signals.recv().await.is_some() {
            self.fire(name);
        }
    }
}

impl Interrupt {
    /// Waits for the first signal, and returns its name.
    pub async fn first(&self) -> &'static str {
        self.wait(1).await
    }

    /// Waits for a second signal, of someone who does not want to wait for the end of the server.
    pub async fn second(&self) -> &'static str {
        self.wait(2).await
    }

    async fn wait(&self, wanted: u32) -> &'static str {
        let mut receiver = self.0.clone();
        let name = receiver.wait_for(|(count, _)| *count >= wanted).await.map(|received| received.1);
        match name {
            Ok(name) => name,
            // Nothing can interrupt the run any more.
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
impl Interrupt {
    /// That of a run that nothing interrupts.
    pub fn never() -> Self {
        Interrupter::new().1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn first_signal_is_named_and_a_second_one_is_another_event() {
        let (interrupter, interrupt) = Interrupter::new();
        interrupter.fire("SIGINT");
        assert_eq!(interrupt.first().await, "SIGINT");
        tokio::select! {
            biased;
            _ = interrupt.second() => panic!("there was one"),
            () = std::future::ready(()) => {}
        }
        interrupter.fire("SIGTERM");
        assert_eq!((interrupt.second().await, interrupt.first().await), ("SIGINT", "SIGINT"));
    }
}
