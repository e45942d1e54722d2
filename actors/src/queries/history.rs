//! The history of one message, read version by version, with a separate bound.

use super::locate;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use model::{HistoryBound, Message, MessageId, User};
use std::sync::Arc;
use storage::view::Relocation;
use storage::{PendingVersions, View};

/// Maximum number of history steps in one answer.
const HISTORY_STEPS_MAX: usize = 16_384;
/// Maximum size of the texts in one answer, in bytes. Older ones are left out.
const HISTORY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A message at one point in time, before its history is read.
#[derive(Debug)]
pub struct HistorySnapshot {
    id: MessageId,
    own: Option<Arc<Message>>,
    relocation: Option<Relocation>,
    /// Versions that the trees may not have yet.
    unstored: PendingVersions,
    /// Versions before this number are erased, though the trees may still have their texts.
    erased_before: u32,
}

impl HistorySnapshot {
    /// None if the message does not exist or the asker may not read it.
    pub fn take(view: &View, asker: &User, id: MessageId) -> Option<Self> {
        locate(view, Some(asker), id)?;
        Some(Self::of(view, id))
    }

    /// The history of a message, for callers that decide themselves who may read it.
    pub fn of(view: &View, id: MessageId) -> Self {
        let (own, unstored) = (view.recent.get(id).cloned(), view.versions.of(id));
        let erased_before = view.versions.erased_before(id);
        Self { id, own, relocation: view.relocation(id), unstored, erased_before }
    }

    /// Reads the history. None if the message was deleted meanwhile.
    ///
    /// # Errors
    /// `Storage`.
    pub fn read(self, realm: &RealmHandle) -> Result<Option<Message>, DomainError> {
        let whole = self.own.as_ref().filter(|own| !own.is_history_cut());
        let own = match whole {
            Some(own) => Message::clone(own),
            None => {
                let Some(mut message) = self.as_sent(realm)? else { return Ok(None) };
                let mut bound = HistoryBound::new(HISTORY_STEPS_MAX, HISTORY_BYTES_MAX);
                realm.shared.trees.add_versions(realm.shared.id, &mut message, &self.unstored, &mut bound)?;
                message.blank_history(self.erased_before);
                message
            }
        };
        Ok(Some(match self.relocation {
            Some(relocation) => relocation.apply_with(&own, HISTORY_STEPS_MAX),
            None => own,
        }))
    }

    fn as_sent(&self, realm: &RealmHandle) -> Result<Option<Message>, DomainError> {
        if let Some(sent) = realm.shared.trees.message_as_sent(realm.shared.id, self.id)? {
            return Ok(Some(sent));
        }
        // Not in the trees yet: its first text is among the versions.
        Ok(self.own.as_ref().map(|own| Message { version: 0, edits: Vec::new(), ..Message::clone(own) }))
    }
}
