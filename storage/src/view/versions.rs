//! Versions of edited messages that are not in the trees yet. Reading a history combines them with the stored ones.

use super::RecentMessages;
use model::{MessageId, MessageVersion, Sequence};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Versions by message and number.
#[derive(Debug)]
pub struct RecentVersions {
    versions: BTreeMap<(MessageId, u32), Arc<MessageVersion>>,
    /// The frames that wrote them, oldest first.
    order: VecDeque<(Sequence, (MessageId, u32))>,
    /// The newest frame that is in the trees.
    stored: Arc<AtomicU64>,
}

impl RecentVersions {
    /// Empty; `recent` holds the bodies of the same organization.
    pub fn beside(recent: &RecentMessages) -> Self {
        Self { versions: BTreeMap::new(), order: VecDeque::new(), stored: recent.stored() }
    }

    /// Adds a version that frame `sequence` wrote, and removes those that are stored by now.
    pub fn put(&mut self, sequence: Sequence, id: MessageId, version: Arc<MessageVersion>) {
        let stored = self.stored.load(Ordering::Acquire);
        while let Some((_, key)) = self.order.pop_front_if(|(written, _)| written.0 <= stored) {
            self.versions.remove(&key);
        }
        let key = (id, version.number);
        self.order.push_back((sequence, key));
        self.versions.insert(key, version);
    }

    /// The versions of a message that are in memory, by number.
    pub fn of(&self, id: MessageId) -> BTreeMap<u32, Arc<MessageVersion>> {
        let here = self.versions.range((id, 0)..=(id, u32::MAX));
        here.map(|((_, number), version)| (*number, version.clone())).collect()
    }

    /// Removes the versions of a message.
    pub fn forget(&mut self, id: MessageId) {
        let numbers: Vec<u32> = self.of(id).into_keys().collect();
        for number in numbers {
            self.versions.remove(&(id, number));
        }
    }
}
