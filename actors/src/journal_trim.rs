//! Drops old frames of the journals in the background, where the configuration says so.

use crate::error::DomainError;
use crate::server::Server;
use crate::upkeep::wait;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::base::{TrimPolicy, TrimStep, trim_step};
use storage::checkpoint::Pace;

/// How often the thread searches for old frames.
const TICK: Duration = Duration::from_secs(600);

/// Time between a base, dropping frames, and removing the base before: as long as a copy of the folder may take.
const PAUSE: Duration = Duration::from_secs(1800);

/// A base is made at most this often.
const BASE_EVERY: Duration = Duration::from_secs(24 * 3600);

/// Bytes of a base that are written in a second.
const BYTES_PER_SEC: u64 = 16 * 1024 * 1024;

/// Drops frames of all organizations that are older than `time`, until the server stops.
pub(crate) fn run(server: &Weak<Server>, time: Duration, is_stopping: &Arc<AtomicBool>) {
    let pace = Pace::limited(BYTES_PER_SEC, is_stopping.clone());
    while wait(TICK, is_stopping) {
        let Some(server) = server.upgrade() else { return };
        if let Err(error) = server.trim_journals(time, &pace) {
            metrics::counter!("millstream_journal_keep_failures_total").increment(1);
            tracing::warn!(%error, "old changes could not be dropped from the journal; they stay");
        }
    }
}

impl Server {
    /// Takes the next step for each organization.
    fn trim_journals(&self, time: Duration, pace: &Pace) -> Result<(), DomainError> {
        if !self.trees.is_open() {
            return Ok(());
        }
        let before =
            self.options.clock.now().0.saturating_sub(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        for realm in self.realms() {
            let (stored, messages) = {
                let view = realm.shared.view.read();
                (view.recent.stored_sequence().0, view.messages.all.len())
            };
            self.trees.flush()?;
            let _one = self.checkpointing.lock();
            let policy = TrimPolicy {
                realm: realm.id(),
                before,
                stored,
                messages,
                pause: PAUSE,
                base_every: BASE_EVERY,
            };
            match trim_step(self.folder.path(), &*self.log_of(realm.id()), &policy, pace)? {
                TrimStep::Trimmed(first) => {
                    metrics::counter!("millstream_journal_trims_total").increment(1);
                    tracing::info!(
                        realm = realm.id().0,
                        first,
                        "older changes were dropped from the journal"
                    );
                }
                TrimStep::Nothing | TrimStep::Stopped | TrimStep::Base(_) | TrimStep::Removed(_) => {}
            }
        }
        Ok(())
    }
}
