//! Writing an organization in bulk, before it can be used: imports. Frames are the same as those of the actors, but no actor
//! decides them and no event is sent.
//!
//! The file `import` in the data folder names the organization that is being written. It is on disk before the first frame
//! and removed after the last one, and meanwhile the organization is not opened, so a part of an organization is never
//! served. Every frame holds whole messages with all that belongs to them: the newest message in the journal is where an
//! interrupted import continues.

use super::Server;
use super::import_file::{IMPORT_REMEDY, ImportOrigin, UnfinishedImport, note, remove, unfinished};
use crate::bootstrap::check_subdomain;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::health::Pause;
use model::{
    ActionKind, Directory, EventNumber, Fact, Frame, MessageId, RealmId, RequestOrigin, Sequence, Timestamp,
};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use storage::folder::IMPORT;
use storage::log::{FrameBytes, LogError, PAYLOAD_BYTES_MAX, RealmLog, Ticket};
use storage::{StoreError, View};

/// Frames that wait for the disk at a time.
const WAITING_MAX: usize = 8;
/// How often the durable position is read while waiting for it.
const POLL: Duration = Duration::from_micros(200);

/// An organization that is being written.
pub struct BulkWriter {
    server: Arc<Server>,
    id: RealmId,
    epoch: u64,
    log: Arc<dyn RealmLog>,
    view: Option<View>,
    /// The newest frame and event that were queued.
    queued: (Sequence, EventNumber),
    waiting: VecDeque<(Ticket, Frame)>,
}

impl Server {
    /// Whether a data folder has an import that is not finished.
    pub fn has_unfinished_import(data: &Path) -> bool {
        data.join(IMPORT).exists()
    }

    /// The import into a data folder that is not finished; the folder is not opened.
    ///
    /// # Errors
    /// `Storage` when its file cannot be read.
    pub fn unfinished_import_in(data: &Path) -> Result<Option<UnfinishedImport>, DomainError> {
        unfinished(data)
    }

    /// Begins to write an organization, or continues the unfinished one of the same `source`. `wanted` is its id if no
    /// other organization has it; `origin` has its subdomain.
    ///
    /// # Errors
    /// `Rule` for a bad subdomain, `Storage` when it is in use or another import is unfinished.
    pub async fn write_in_bulk(
        self: &Arc<Self>,
        wanted: Option<RealmId>,
        source: &str,
        origin: &ImportOrigin,
    ) -> Result<BulkWriter, DomainError> {
        check_subdomain(&origin.subdomain)?;
        let _guard = self.creating.lock().await;
        let known = self.unfinished_import()?;
        self.check_import(known.as_ref(), source, origin)?;
        let import = UnfinishedImport {
            realm: known.as_ref().map_or_else(|| self.free_id(wanted), |known| Ok(known.realm))?,
            source: source.to_owned(),
            origin: Some(origin.clone()),
        };
        let id = import.realm;
        if known.is_none() {
            note(self.folder.path(), &import)?;
        }
        let log = self.shard_of(id).log.clone();
        let opened = storage::open_realm(&*log, &self.trees, id)?;
        if let Some(known) = known.filter(|known| *known != import) {
            let written = opened.view.as_ref().map(|view| view.directory.realm().subdomain.as_str());
            check_subdomain_kept(written, &known, &origin.subdomain)?;
            note(self.folder.path(), &import)?;
        }
        let queued = opened.view.as_ref().map_or_else(Default::default, |view| {
            (view.progress.sequence, view.progress.last_event.max(view.progress.reserved_events))
        });
        let epoch = opened.opened.epoch;
        let server = self.clone();
        Ok(BulkWriter { server, id, epoch, log, view: opened.view, queued, waiting: VecDeque::new() })
    }

    /// Refuses an import beside the unfinished one of another archive, and one for a subdomain that is in use.
    fn check_import(
        &self,
        known: Option<&UnfinishedImport>,
        source: &str,
        origin: &ImportOrigin,
    ) -> Result<(), DomainError> {
        if let Some(known) = known.filter(|known| known.source != source) {
            return Err(DomainError::Storage(format!(
                "{known} is not finished in this data folder, and this is another archive; {IMPORT_REMEDY}"
            )));
        }
        if self.realm_by_subdomain(&origin.subdomain).is_none() {
            return Ok(());
        }
        let way_out = match known {
            None => "--subdomain chooses another one",
            Some(_) => {
                "give this import up with `millstream import abandon --yes`, and begin it again with another --subdomain"
            }
        };
        Err(DomainError::Storage(format!("an organization with this subdomain exists already; {way_out}")))
    }
}

/// Refuses another subdomain than that of what is `written`, or before the first frame than that which is noted.
fn check_subdomain_kept(
    written: Option<&str>,
    known: &UnfinishedImport,
    subdomain: &str,
) -> Result<(), DomainError> {
    let noted = known.origin.as_ref().map(|origin| origin.subdomain.as_str());
    match written.or(noted).filter(|begun| *begun != subdomain) {
        Some(begun) => {
            let shown = if begun.is_empty() {
                "without --subdomain".to_owned()
            } else {
                format!("with --subdomain {begun}")
            };
            Err(DomainError::Storage(format!("{known} was begun {shown}; {IMPORT_REMEDY}")))
        }
        None => Ok(()),
    }
}

/// Whether facts are one frame of a permitted size, also when it is compressed. Encodes them.
pub fn fits_in_frame(facts: &[Fact]) -> bool {
    let frame = Frame { at: Timestamp(0), first_event: EventNumber(0), facts: facts.to_vec() };
    storage::encode_frame(&frame).is_ok_and(|payload| payload.len() <= PAYLOAD_BYTES_MAX)
}

impl BulkWriter {
    /// The id of the organization.
    pub fn realm(&self) -> RealmId {
        self.id
    }

    /// The organization as far as it is durable; none before its first frame.
    pub fn directory(&self) -> Option<&Directory> {
        self.view.as_ref().map(|view| &view.directory)
    }

    /// The newest message that is durable.
    pub fn last_message(&self) -> MessageId {
        self.view.as_ref().map_or(MessageId::ZERO, |view| view.progress.last_message)
    }

    /// Number of frames so far.
    pub fn frames(&self) -> u64 {
        self.queued.0.0
    }

    /// Forgets an import of which nothing was written, so that another one may begin.
    ///
    /// # Errors
    /// `Storage`.
    pub fn forget_unwritten(&self) -> Result<(), DomainError> {
        if self.queued.0 > Sequence(0) { Ok(()) } else { Ok(remove(self.server.folder.path())?) }
    }

    /// Queues a frame. It is durable after [`Self::flush`], or when some later frames are queued.
    ///
    /// # Errors
    /// `Storage` and `Paused`: the import can go on once the disk works again.
    pub async fn write(&mut self, facts: Vec<Fact>) -> Result<(), DomainError> {
        let (sequence, last_event) = (self.queued.0.next(), self.queued.1);
        let events: u64 = facts.iter().map(Fact::events_max).sum();
        let frame = Frame { at: self.server.options.clock.now(), first_event: last_event.next(), facts };
        let payload = storage::encode_frame(&frame)?;
        let bytes = FrameBytes { realm: self.id.0, sequence: sequence.0, payload, original: None };
        let ticket = loop {
            match self.log.append(bytes.clone(), self.epoch) {
                Err(LogError::Behind) => self.publish(0).await?,
                appended => break appended.map_err(StoreError::from)?,
            }
        };
        self.queued = (sequence, EventNumber(last_event.0 + events));
        self.waiting.push_back((ticket, frame));
        self.publish(WAITING_MAX).await
    }

    /// Waits until all frames are durable and applied.
    ///
    /// # Errors
    /// Those of [`Self::write`].
    pub async fn flush(&mut self) -> Result<(), DomainError> {
        self.publish(0).await
    }

    /// Applies the durable frames, and waits until at most `left` are not durable.
    async fn publish(&mut self, left: usize) -> Result<(), DomainError> {
        loop {
            let durability = &self.server.shard_of(self.id).durability;
            let upto = durability.upto();
            if let Some(error) = durability.failure() {
                return Err(DomainError::Paused(Pause::from(&error)));
            }
            while let Some((_, frame)) = self.waiting.pop_front_if(|(ticket, _)| *ticket <= upto) {
                self.server.apply_unopened(&mut self.view, &frame)?;
            }
            if self.waiting.len() <= left {
                return Ok(());
            }
            actix::clock::sleep(POLL).await;
        }
    }

    /// Ends the import: the organization can be used.
    ///
    /// # Errors
    /// Those of [`Self::write`].
    pub async fn finish(mut self) -> Result<RealmHandle, DomainError> {
        self.write(vec![crate::audit::of_organization(ActionKind::Imported, RequestOrigin::Import)]).await?;
        self.flush().await?;
        remove(self.server.folder.path())?;
        let view = self.view.take().ok_or(DomainError::Stopping)?;
        self.server.start_realm(view, self.epoch).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subdomain_of_an_import_stays() {
        let import = |noted: Option<&str>| UnfinishedImport {
            realm: RealmId(2),
            source: "8f3a".to_owned(),
            origin: noted
                .map(|noted| ImportOrigin { archive: "a.zip".to_owned(), subdomain: noted.to_owned() }),
        };
        // Before and after the first frame; an earlier version noted nothing.
        for (written, noted) in [(None, Some("acme")), (Some("acme"), Some("acme")), (Some("acme"), None)] {
            assert!(check_subdomain_kept(written, &import(noted), "acme").is_ok());
            let refused = check_subdomain_kept(written, &import(noted), "beta").unwrap_err().to_string();
            assert!(refused.contains("was begun with --subdomain acme"), "{refused}");
            assert!(refused.contains("`millstream import abandon --yes`"), "{refused}");
        }
        assert!(check_subdomain_kept(None, &import(None), "beta").is_ok());
    }
}
