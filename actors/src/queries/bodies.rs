//! Messages as of one moment. What may be shown is decided under the view's lock and bodies are read afterwards:
//! what moves made of the messages, and their flags, are those of the decision.

use super::FetchedMessage;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use model::{Flags, Message, MessageId, User};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use storage::View;
use storage::view::Relocation;

/// Some messages as of one moment, their bodies to be read.
#[derive(Debug)]
pub struct MessageSnapshot {
    ids: Vec<MessageId>,
    flags: BTreeMap<MessageId, Flags>,
    in_memory: HashMap<MessageId, Arc<Message>>,
    relocations: HashMap<MessageId, Relocation>,
    /// In the trees, as sent.
    as_sent: Vec<MessageId>,
    /// In the trees, changed since they were sent.
    changed: Vec<MessageId>,
}

impl MessageSnapshot {
    /// Notes what is to be known of some messages (ascending) before their bodies are read. Call it under the lock
    /// under which it was decided that `asker` (none: without an account) may read them.
    pub fn take(view: &View, asker: Option<&User>, ids: &[MessageId]) -> Self {
        let wanted: RoaringBitmap = ids.iter().map(|id| id.0).collect();
        let mut snapshot = Self {
            ids: ids.to_vec(),
            flags: asker.map(|asker| view.flags_among(asker.id, &wanted)).unwrap_or_default(),
            in_memory: HashMap::with_capacity(ids.len()),
            relocations: HashMap::new(),
            as_sent: Vec::new(),
            changed: Vec::new(),
        };
        for id in ids {
            snapshot.relocations.extend(view.relocation(*id).map(|relocation| (*id, relocation)));
            match view.recent.get(*id) {
                Some(message) => _ = snapshot.in_memory.insert(*id, message.clone()),
                None if view.is_changed(*id) => snapshot.changed.push(*id),
                None => snapshot.as_sent.push(*id),
            }
        }
        snapshot
    }

    /// Whether nothing has to be read from the disk.
    pub fn is_in_memory(&self) -> bool {
        self.as_sent.is_empty() && self.changed.is_empty()
    }

    /// Reads the bodies. What was deleted meanwhile is left out.
    ///
    /// # Errors
    /// `Storage`.
    pub fn read(mut self, realm: &RealmHandle) -> Result<Vec<FetchedMessage>, DomainError> {
        for message in read_as_sent(realm, &self.as_sent)? {
            self.in_memory.insert(message.id, Arc::new(message));
        }
        for id in &self.changed {
            let message = realm.0.trees.message(realm.0.id, *id, true)?;
            self.in_memory.extend(message.map(|message| (*id, Arc::new(message))));
        }
        let mut messages = Vec::with_capacity(self.ids.len());
        for id in &self.ids {
            let Some(own) = self.in_memory.get(id) else { continue };
            let message = match self.relocations.get(id) {
                Some(relocation) => Arc::new(relocation.apply(own)),
                None => own.clone(),
            };
            let flags = self.flags.get(id).copied().unwrap_or_default();
            messages.push(FetchedMessage { message, flags });
        }
        Ok(messages)
    }
}

/// A scan over the whole range is cheaper than single look-ups when it is so many times longer than what is wanted.
const SCAN_FACTOR: usize = 16;

fn read_as_sent(realm: &RealmHandle, ids: &[MessageId]) -> Result<Vec<Message>, DomainError> {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(Vec::new()) };
    let trees = &realm.0.trees;
    let span = (last.0 - first.0) as usize + 1;
    if span <= ids.len() * SCAN_FACTOR {
        return Ok(trees.messages(realm.0.id, (*first, *last), |id| ids.binary_search(&id).is_ok())?);
    }
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(trees.message(realm.0.id, *id, false)?);
    }
    Ok(found)
}
