//! Making an organization frame by frame, before it can be used. A file in the data folder says so meanwhile
//! (`storage/src/unfinished.rs`), so that a part of one is never served.

use super::Server;
use crate::bootstrap::{NewRealm, check_subdomain, realm_facts};
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::health::Pause;
use model::{Directory, EventNumber, Fact, Frame, RealmId, Sequence};
use rules::error::OrganizationError;
use std::sync::Arc;
use std::time::Duration;
use storage::checkpoint::Started;
use storage::log::{FrameBytes, RealmLog};
use storage::{DataFolder, StoreError, Unfinished, UnfinishedState, View};

/// How often the durable position is read while waiting for it.
const POLL: Duration = Duration::from_micros(200);

/// A mark that an organization may be only a part of one. It stays when this is dropped before its end.
pub(crate) struct UnfinishedMark<'s> {
    folder: &'s DataFolder,
    realm: RealmId,
    is_ended: bool,
}

/// Writes the first frames of an organization before it can be used.
pub(super) struct FirstFrames<'s> {
    server: &'s Server,
    id: RealmId,
    epoch: u64,
    log: Arc<dyn RealmLog>,
    view: Option<View>,
}

impl Server {
    /// Creates an organization. It is durable when this returns. `more` returns the facts of further frames for a directory;
    /// they are committed before the organization can be used.
    ///
    /// # Errors
    /// `Rule` with `SettingInvalid` for a bad subdomain and with `SubdomainInUse` for one in use, `Storage`.
    pub async fn create_realm<Frames: IntoIterator<Item = Vec<Fact>>>(
        &self,
        new: NewRealm,
        more: impl FnOnce(&Directory) -> Frames,
    ) -> Result<RealmHandle, DomainError> {
        self.create_prepared_realm(new, async |_| Ok(()), more).await
    }

    /// As [`Server::create_realm`], after `prepare` has stored what is not in the journal: it is there whenever the organization is.
    ///
    /// # Errors
    /// Those of [`Server::create_realm`], and that of `prepare`.
    pub(crate) async fn create_prepared_realm<Frames, E>(
        &self,
        new: NewRealm,
        prepare: impl AsyncFnOnce(RealmId) -> Result<(), E>,
        more: impl FnOnce(&Directory) -> Frames,
    ) -> Result<RealmHandle, E>
    where
        Frames: IntoIterator<Item = Vec<Fact>>,
        E: From<DomainError>,
    {
        check_subdomain(&new.subdomain)?;
        if let Some(pause) = self.health.status().paused {
            return Err(DomainError::Paused(pause).into());
        }
        // One at a time: it takes the next free id.
        let _guard = self.creating.lock().await;
        if self.realm_by_subdomain(&new.subdomain).is_some() {
            let taken = rules::RuleError::from(OrganizationError::subdomain_in_use(&new.subdomain));
            return Err(DomainError::from(taken).into());
        }
        self.check_not_imported(&new.subdomain)?;
        let _making = self.making().await;
        let (mut writer, mark) = self.place_of(&new.subdomain).await?;
        if let Err(error) = prepare(writer.id).await {
            // Nothing is written, unless there was a part before.
            if let Some(mark) = mark.filter(|_| writer.view.is_none()) {
                mark.end();
            }
            return Err(error);
        }
        writer.write(realm_facts(writer.id, &new, self.options.clock.now())).await?;
        let further = writer.view.as_ref().map(|view| more(&view.directory));
        for facts in further.into_iter().flatten() {
            writer.write(facts).await?;
        }
        Ok(writer.start(mark).await?)
    }

    /// Where a new organization is written: over the part that an earlier process has left of it, otherwise under a new id.
    async fn place_of(
        &self,
        subdomain: &str,
    ) -> Result<(FirstFrames<'_>, Option<UnfinishedMark<'_>>), DomainError> {
        let is_left = |found: &Unfinished| {
            found.is_left && found.state != UnfinishedState::Removed && found.subdomain == subdomain
        };
        let left = self.folder.marks().all().into_iter().find(|(_, found)| is_left(found));
        let part = left.and_then(|(id, _)| self.load_realm(id).transpose()).transpose()?;
        if let Some(Started { view, opened, .. }) = part {
            let id = view.realm();
            let mark = self.mark_unfinished(id, UnfinishedState::Making, (1, subdomain))?;
            return Ok((self.first_frames(id, opened.epoch, Some(view)), mark));
        }
        let id = self.new_id(subdomain).await?;
        let mark = self.mark_unfinished(id, UnfinishedState::Making, (1, subdomain))?;
        let opened = self.log_of(id).open(id.0, 0).map_err(StoreError::from)?;
        Ok((self.first_frames(id, opened.epoch, None), mark))
    }

    /// Writes to an organization that is not served, after what is in `view`.
    pub(super) fn first_frames(&self, id: RealmId, epoch: u64, view: Option<View>) -> FirstFrames<'_> {
        FirstFrames { server: self, id, epoch, log: self.log_of(id), view }
    }

    /// Marks an organization as unfinished; no frame before `first` is of it. Nothing for temporary data, and on a node of a cluster,
    /// whose organizations are not in its folder.
    ///
    /// # Errors
    /// `Storage`.
    pub(crate) fn mark_unfinished(
        &self,
        realm: RealmId,
        state: UnfinishedState,
        (first, subdomain): (u64, &str),
    ) -> Result<Option<UnfinishedMark<'_>>, DomainError> {
        if !self.options.is_durable || self.is_node() {
            return Ok(None);
        }
        let unfinished = Unfinished { state, first, subdomain: subdomain.to_owned(), is_left: false };
        self.folder.marks().note(realm, unfinished)?;
        Ok(Some(UnfinishedMark { folder: &self.folder, realm, is_ended: false }))
    }
}

impl UnfinishedMark<'_> {
    /// The organization is whole.
    pub fn end(mut self) {
        self.is_ended = true;
        if let Err(error) = self.folder.marks().forget(self.realm) {
            tracing::warn!(%error, "a mark in the data folder could not be removed; the next start removes it");
        }
    }
}

impl Drop for UnfinishedMark<'_> {
    fn drop(&mut self) {
        if !self.is_ended {
            self.folder.marks().leave(self.realm);
        }
    }
}

impl FirstFrames<'_> {
    /// Writes a frame; it is durable when this returns.
    pub(super) async fn write(&mut self, facts: Vec<Fact>) -> Result<(), DomainError> {
        let progress = self.view.as_ref().map(|view| view.progress).unwrap_or_default();
        let sequence = Sequence(progress.sequence.0 + 1);
        let first_event = EventNumber(progress.last_event.max(progress.reserved_events).0 + 1);
        let frame = Frame { at: self.server.options.clock.now(), first_event, facts };
        let payload = storage::encode_frame(&frame)?;
        let bytes = FrameBytes { realm: self.id.0, sequence: sequence.0, payload, original: None };
        let ticket = self.log.append(bytes, self.epoch).map_err(StoreError::from)?;
        let durability = &self.server.shard_of(self.id).durability;
        while durability.upto() < ticket {
            if let Some(error) = durability.failure() {
                return Err(DomainError::Paused(Pause::from(&error)));
            }
            actix::clock::sleep(POLL).await;
        }
        if durability.is_lost(self.id, ticket) {
            return Err(DomainError::Stopping);
        }
        self.server.apply_unopened(&mut self.view, &frame)
    }

    /// Starts the organization, which is whole now.
    pub(super) async fn start(self, mark: Option<UnfinishedMark<'_>>) -> Result<RealmHandle, DomainError> {
        let view = self.view.ok_or(DomainError::Stopping)?;
        if let Some(mark) = mark {
            mark.end();
        }
        self.server.start_realm(view, self.epoch).await
    }
}
