//! Versions of edited messages that are not in the trees yet. Reading a history combines them with the stored ones.

use model::{MessageId, MessageVersion, Sequence};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Versions by message and number.
#[derive(Debug, Default)]
pub struct RecentVersions {
    versions: BTreeMap<(MessageId, u32), Arc<MessageVersion>>,
    /// The frames that wrote them, oldest first.
    order: VecDeque<(Sequence, (MessageId, u32))>,
    erased: RecentErasures,
}

/// Histories whose erasing is not in the trees yet, which still have their texts.
#[derive(Debug, Default)]
struct RecentErasures {
    /// The frame, and the number before which versions are erased.
    kept: BTreeMap<MessageId, (Sequence, u32)>,
    /// The frames, oldest first.
    order: VecDeque<(Sequence, MessageId)>,
}

impl RecentVersions {
    /// Adds a version that frame `sequence` wrote, and removes those that are in the trees, which have all frames up to
    /// `stored`.
    pub fn put(&mut self, sequence: Sequence, id: MessageId, version: Arc<MessageVersion>, stored: Sequence) {
        while let Some((_, key)) = self.order.pop_front_if(|(written, _)| *written <= stored) {
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

    /// Erases the texts of the versions of a message before number `kept`, as frame `sequence` does. The trees have all frames
    /// up to `stored`.
    pub fn blank(&mut self, sequence: Sequence, (id, kept): (MessageId, u32), stored: Sequence) {
        self.erased.put(sequence, (id, kept), stored);
        for (_, version) in self.versions.range_mut((id, 0)..(id, kept)) {
            Arc::make_mut(version).blank();
        }
    }

    /// The number before which versions of a message are erased though the trees may still have their texts; 0 if there is none.
    pub fn erased_before(&self, id: MessageId) -> u32 {
        self.erased.kept.get(&id).map_or(0, |(_, kept)| *kept)
    }

    /// Removes the versions of a message.
    pub fn forget(&mut self, id: MessageId) {
        let numbers: Vec<u32> = self.of(id).into_keys().collect();
        for number in numbers {
            self.versions.remove(&(id, number));
        }
    }
}

impl RecentErasures {
    fn put(&mut self, sequence: Sequence, (id, kept): (MessageId, u32), stored: Sequence) {
        while let Some((written, id)) = self.order.pop_front_if(|(written, _)| *written <= stored) {
            if self.kept.get(&id).is_some_and(|(newest, _)| *newest == written) {
                self.kept.remove(&id);
            }
        }
        self.order.push_back((sequence, id));
        self.kept.insert(id, (sequence, kept));
    }
}
