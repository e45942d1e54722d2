//! Messages at one point in time. Access is decided under the view's lock, and bodies are read afterwards: the effects of
//! moves, and the flags, are those of the decision.

use super::FetchedMessage;
use super::locate::{locate, readable_among};
use super::own::own_among;
use super::search::set_of;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::shared::RealmShared;
use model::history::{CARRIED_EDITS_BYTES_MAX, CARRIED_EDITS_MAX};
use model::{ConversationId, EditEntry, Flags, HistoryBound, Message, MessageId, Sequence, User, UserId};
use rules::widgets::PARTS_BYTES_MAX;
use std::collections::HashMap;
use std::sync::Arc;
use storage::View;
use storage::view::{BodiesRevision, Changes, Relocation, message_bytes};

/// Messages at one point in time, before their bodies are read.
#[derive(Debug)]
pub struct MessageSnapshot {
    ids: Vec<MessageId>,
    /// Beside `ids`; empty sets without an account.
    flags: Vec<Flags>,
    /// Beside `ids`: none where the body is in the trees.
    in_memory: Vec<Option<Arc<Message>>>,
    relocations: HashMap<MessageId, Relocation>,
    /// Messages whose bodies are in the trees.
    stored: Vec<MessageId>,
    /// Changes of stored messages since they were sent.
    changes: HashMap<MessageId, Changes>,
    revision: BodiesRevision,
}

impl MessageSnapshot {
    /// Takes a snapshot of some messages (ascending). Call it under the lock under which it was decided that `asker` (none:
    /// without an account) may read them.
    pub fn take(view: &View, asker: Option<&User>, ids: &[MessageId]) -> Self {
        let (mut in_memory, relocations) = (view.recent.among(ids), view.relocations(ids));
        for (id, message) in ids.iter().zip(&mut in_memory).filter(|(_, message)| message.is_none()) {
            *message = view.recent.read_lately(*id);
        }
        let conversation_of = |index: usize| {
            let message =
                in_memory[index].as_ref().filter(|message| !relocations.contains_key(&message.id))?;
            Some(ConversationId::of(message))
        };
        let flags = asker.map(|asker| view.flags_among(asker.id, ids, conversation_of));
        let unread = ids.iter().zip(&in_memory).filter(|(_, message)| message.is_none());
        let stored: Vec<MessageId> = unread.map(|(id, _)| *id).collect();
        let changes = stored.iter().map(|id| (*id, view.changes_of(*id)));
        let changes = changes.filter(|(_, changes)| !changes.is_none()).collect();
        let flags = flags.unwrap_or_else(|| vec![Flags::NONE; ids.len()]);
        let revision = view.recent.revision();
        Self { ids: ids.to_vec(), flags, in_memory, relocations, stored, changes, revision }
    }

    /// The approximate size of the messages in bytes: of those in memory, and as much as parts of widgets may have for those in
    /// the trees that have any.
    pub fn bytes_estimated(&self) -> usize {
        let in_memory: usize = self.in_memory.iter().flatten().map(|message| message_bytes(message)).sum();
        let widgets = self.changes.values().filter(|changes| changes.has_submessages).count();
        in_memory + widgets * PARTS_BYTES_MAX
    }

    /// Whether all bodies are in memory.
    pub fn is_in_memory(&self) -> bool {
        self.stored.is_empty()
    }

    /// Reads the bodies, without messages that were deleted meanwhile, and keeps them for the next reader.
    ///
    /// # Errors
    /// `Storage`.
    pub fn read(self, realm: &RealmHandle) -> Result<Vec<FetchedMessage>, DomainError> {
        let (read, complete) = self.read_stored(&realm.shared)?;
        if !read.is_empty() {
            metrics::counter!("millstream_messages_read_total").increment(read.len() as u64);
            realm.read(|view| view.recent.keep_read(&read[..complete], self.revision));
        }
        Ok(self.with_bodies(read))
    }

    /// Reads the bodies as [`Self::read`] does, for callers that read each message once.
    pub(crate) fn read_once(self, realm: &RealmShared) -> Result<Vec<FetchedMessage>, DomainError> {
        let (read, _) = self.read_stored(realm)?;
        Ok(self.with_bodies(read))
    }

    /// The stored messages with their changes, and how many of them have as much history as a message carries: the others have less,
    /// because they share the answer with the history of those before.
    fn read_stored(&self, realm: &RealmShared) -> Result<(Vec<Arc<Message>>, usize), DomainError> {
        let mut left = PAGE_HISTORY_BYTES_MAX;
        let (mut messages, mut complete) = (Vec::with_capacity(self.stored.len()), 0);
        for mut message in realm.trees.messages_as_sent(realm.id, &self.stored)? {
            if let Some(changes) = self.changes.get(&message.id) {
                let mut bound = HistoryBound::new(CARRIED_EDITS_MAX, left.min(CARRIED_EDITS_BYTES_MAX));
                realm.trees.complete(realm.id, &mut message, *changes, &mut bound)?;
                left = left.saturating_sub(message.edits.iter().map(EditEntry::bytes).sum());
            }
            messages.push(Arc::new(message));
            if left >= CARRIED_EDITS_BYTES_MAX {
                complete = messages.len();
            }
        }
        Ok((messages, complete))
    }

    /// All messages, with the stored ones that were read.
    fn with_bodies(mut self, read: Vec<Arc<Message>>) -> Vec<FetchedMessage> {
        for message in read {
            if let Ok(place) = self.ids.binary_search(&message.id) {
                self.in_memory[place] = Some(message);
            }
        }
        let mut messages = Vec::with_capacity(self.ids.len());
        for (id, (own, flags)) in self.ids.into_iter().zip(self.in_memory.into_iter().zip(self.flags)) {
            let Some(own) = own else { continue };
            let message = match self.relocations.get(&id) {
                Some(relocation) => Arc::new(relocation.apply(&own)),
                None => own,
            };
            messages.push(FetchedMessage { message, flags });
        }
        messages
    }
}

/// Bytes of earlier texts that the messages of one answer have together; further messages have none.
pub const PAGE_HISTORY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The messages of a large answer, which are read in parts while it is sent.
#[derive(Debug)]
pub struct MessageParts {
    ids: Vec<MessageId>,
    done: usize,
    /// The newest frame when access was decided.
    decided: Sequence,
}

impl MessageParts {
    /// Call it with ascending ids, under the lock under which access was decided.
    pub fn new(view: &View, ids: Vec<MessageId>) -> Self {
        Self { ids, done: 0, decided: view.progress.sequence }
    }

    /// How many are still to be read.
    pub fn left(&self) -> usize {
        self.ids.len() - self.done
    }

    /// Reads up to `count` more as they are now, without deleted ones and those that `asker` (none: without an account) may
    /// no longer read.
    ///
    /// # Errors
    /// `Storage`.
    pub fn read_next(
        &mut self,
        realm: &RealmHandle,
        asker: Option<UserId>,
        count: usize,
    ) -> Result<Vec<FetchedMessage>, DomainError> {
        let until = (self.done + count).min(self.ids.len());
        let ids = &self.ids[self.done..until];
        let snapshot = realm.read(|view| {
            let asker = asker.and_then(|id| view.directory.user(id)).map(|user| &**user);
            match view.progress.sequence == self.decided {
                true => MessageSnapshot::take(view, asker, ids),
                false => MessageSnapshot::take(view, asker, &still_readable(view, asker, ids)),
            }
        });
        self.done = until;
        snapshot.read(realm)
    }
}

/// Those of some messages (ascending) that may be read where they are now, or are in the asker's own history.
pub(super) fn still_readable(view: &View, asker: Option<&User>, ids: &[MessageId]) -> Vec<MessageId> {
    let Some(asker) = asker else {
        return ids.iter().copied().filter(|id| locate(view, None, *id).is_some()).collect();
    };
    let wanted = set_of(ids);
    let readable = set_of(&readable_among(view, asker, ids));
    (readable | own_among(view, asker, &wanted)).iter().map(MessageId).collect()
}
