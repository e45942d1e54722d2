//! Erasing what was deleted from the data folder beside the running server: at intervals, and when the operator asks for it.
//! What is erased, and in which order, is in `run`.

use crate::error::DomainError;
use crate::server::Server;
use crate::upkeep::wait;
use run::Run;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::erase::EraseRecord;

mod pending;
mod run;
pub(crate) mod state;

pub use state::{EraseStatus, Erased};

/// How often the thread checks whether erasing is due or was requested.
const TICK: Duration = Duration::from_millis(200);

/// Ticks between two searches for contents that are to be erased.
const PENDING_TICKS: u32 = 150;

/// Time until erasing is tried again after it failed, in milliseconds.
const RETRY_MILLIS: u64 = 600_000;

impl Server {
    /// Asks for everything to be erased that is deleted now. It is done by a thread: see [`Server::erase_status`].
    pub fn request_erase(&self) {
        *self.erasing.status.lock() = EraseStatus::Running { step: "waiting", done: 0, all: 0 };
        self.erasing.is_wanted.store(true, Ordering::SeqCst);
    }

    /// How far erasing is.
    pub fn erase_status(&self) -> EraseStatus {
        self.erasing.status.lock().clone()
    }
}

/// Erases what is due, until the server stops.
pub(crate) fn run(server: &Weak<Server>, is_stopping: &AtomicBool) {
    let Some(mut due) = server.upgrade().map(|server| first_due(&server)) else { return };
    let mut ticks = 0;
    while wait(TICK, is_stopping) {
        let Some(server) = server.upgrade() else { return };
        if server.erasing.is_wanted.swap(false, Ordering::SeqCst) {
            erase(&server, true, is_stopping);
            continue;
        }
        if ticks == 0 {
            note_pending(&server);
        }
        ticks = (ticks + 1) % PENDING_TICKS;
        let (now, interval) = (server.options.clock.now().0, server.options.erase_interval_secs * 1000);
        // The clock may have been set back.
        due = due.min(now.saturating_add(interval));
        if interval == 0 || now < due {
            continue;
        }
        due = now + if erase(&server, false, is_stopping) { interval } else { RETRY_MILLIS.min(interval) };
    }
}

/// When erasing is due for the first time: one interval after it was complete, also across restarts; at once if that was later
/// than now, because the clock was ahead then. In a folder of an older version, the interval begins with the first start.
fn first_due(server: &Server) -> u64 {
    let (path, now) = (server.folder.erased(), server.options.clock.now());
    let mut record = EraseRecord::read(&path);
    if record.completed.0 == 0 {
        record.completed = now;
        if let Err(error) = record.write(&path) {
            tracing::warn!(%error, "the time of erasing could not be recorded");
        }
    }
    metrics::gauge!("millstream_erase_completed_seconds").set(record.completed.secs() as f64);
    if record.completed > now {
        let ahead_secs = record.completed.millis_since(now) / 1000;
        if server.options.clock.is_movable() {
            tracing::info!(ahead_secs, "what was deleted was erased while the clock was moved ahead");
        } else {
            tracing::warn!(
                ahead_secs,
                "what was deleted was erased at a time that is later than now: the clock was ahead then, or is behind now"
            );
        }
        return now.0;
    }
    record.completed.0 + server.options.erase_interval_secs * 1000
}

/// Updates the metric of what is to be erased.
fn note_pending(server: &Server) {
    let record = EraseRecord::read(&server.folder.erased());
    metrics::gauge!("millstream_erase_pending_messages").set(pending::messages(server, &record) as f64);
}

/// Erases. Returns whether everything was.
fn erase(server: &Arc<Server>, at_once: bool, is_stopping: &AtomicBool) -> bool {
    let report = |step, done, all| {
        if at_once {
            *server.erasing.status.lock() = EraseStatus::Running { step, done, all };
        }
    };
    let erased = Run::new(server, at_once, is_stopping, &report).run();
    match &erased {
        Ok(Some(erased)) if *erased != Erased::default() => {
            metrics::counter!("millstream_erased_messages_total").increment(erased.messages);
            let Erased { messages, histories, accounts, frames, parts } = erased;
            tracing::info!(
                messages,
                histories,
                accounts,
                frames,
                parts,
                "what was deleted is erased from the data folder"
            );
        }
        Ok(_) => {}
        Err(error) => {
            metrics::counter!("millstream_erase_failures_total").increment(1);
            tracing::warn!(%error, "what was deleted could not be erased; it is tried again");
        }
    }
    note_pending(server);
    let is_complete = matches!(erased, Ok(Some(_)));
    if at_once {
        *server.erasing.status.lock() = match erased {
            Ok(Some(erased)) => EraseStatus::Done(erased),
            Ok(None) => EraseStatus::Failed(DomainError::Stopping.to_string()),
            Err(error) => EraseStatus::Failed(error.to_string()),
        };
    }
    is_complete
}
