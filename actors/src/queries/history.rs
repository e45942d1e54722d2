//! The history of one message, read version by version, with a bound of its own.

use super::locate;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use model::{HistoryBound, Message, MessageId, User};
use std::sync::Arc;
use storage::view::Relocation;
use storage::{Unstored, View};

/// Steps of a history that one answer has.
const HISTORY_STEPS_MAX: usize = 16_384;
/// Bytes of the texts of a history that one answer has. Older ones are left out.
const HISTORY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A message at one point in time, its history to be read.
#[derive(Debug)]
pub struct HistorySnapshot {
    id: MessageId,
    own: Option<Arc<Message>>,
    relocation: Option<Relocation>,
    /// Versions that the trees may not have yet.
    unstored: Unstored,
}

impl HistorySnapshot {
    /// Notes what is to be known of a message before its history is read; none where there is no such message, or the
    /// asker may not read it.
    pub fn take(view: &View, asker: &User, id: MessageId) -> Option<Self> {
        locate(view, Some(asker), id)?;
        let (own, unstored) = (view.recent.get(id).cloned(), view.versions.of(id));
        Some(Self { id, own, relocation: view.relocation(id), unstored })
    }

    /// Reads it. None when the message was deleted meanwhile.
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
        // Sent a moment ago: its first text is among the versions.
        Ok(self.own.as_ref().map(|own| Message { version: 0, edits: Vec::new(), ..Message::clone(own) }))
    }
}
