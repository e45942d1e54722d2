//! The positions of the durable frames of each realm: a sparse list of groups, in memory, so that reading a realm from
//! some sequence starts near it and skips segments that hold nothing of the realm.

use std::collections::{HashMap, VecDeque};

/// A realm gets an entry at its first frame in each segment, and after every this many frames.
const ENTRY_FRAMES: u64 = 1024;

/// A group that holds frame `sequence` of a realm, as the first one noted there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub sequence: u64,
    pub segment: u64,
    pub offset: u64,
}

/// A segment, with the last frame of each realm that has frames in it.
#[derive(Debug, Default)]
pub(crate) struct Sealed {
    pub number: u64,
    pub last_frames: HashMap<u32, u64>,
}

/// The durable frames of one realm.
#[derive(Debug, Clone)]
pub(crate) struct RealmIndex {
    pub first: u64,
    pub last: u64,
    /// In order; the first entry is at or before `first`.
    pub entries: VecDeque<IndexEntry>,
}

impl Default for RealmIndex {
    fn default() -> Self {
        Self { first: 1, last: 0, entries: VecDeque::new() }
    }
}

/// The durable frames of all realms.
#[derive(Debug, Default)]
pub(crate) struct Index {
    realms: HashMap<u32, RealmIndex>,
}

impl Index {
    /// The index of a realm; empty for an unknown one.
    pub(crate) fn get(&self, realm: u32) -> RealmIndex {
        self.realms.get(&realm).cloned().unwrap_or_default()
    }

    /// All realms with their index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&u32, &RealmIndex)> {
        self.realms.iter()
    }

    /// Sets the index of a realm.
    pub(crate) fn insert(&mut self, realm: u32, index: RealmIndex) {
        self.realms.insert(realm, index);
    }

    /// The first and last sequence of a realm.
    pub(crate) fn bounds(&self, realm: u32) -> (u64, u64) {
        self.realms.get(&realm).map_or((1, 0), |index| (index.first, index.last))
    }

    /// The realms with a history, ascending.
    pub(crate) fn realms(&self) -> Vec<u32> {
        let mut realms: Vec<u32> =
            self.realms.iter().filter(|(_, index)| index.last > 0).map(|(realm, _)| *realm).collect();
        realms.sort_unstable();
        realms
    }

    /// Sets the bounds of a realm before the oldest segment.
    pub(crate) fn set_bounds(&mut self, realm: u32, first: u64, last: u64) {
        let index = self.realms.entry(realm).or_default();
        index.first = first;
        index.last = last;
    }

    /// Frame `sequence` of `realm` is durable, in the group at `offset` of `segment`.
    pub(crate) fn note(&mut self, realm: u32, sequence: u64, segment: u64, offset: u64) {
        let index = self.realms.entry(realm).or_default();
        index.last = sequence;
        let is_near = index
            .entries
            .back()
            .is_some_and(|entry| entry.segment == segment && sequence - entry.sequence < ENTRY_FRAMES);
        if !is_near {
            index.entries.push_back(IndexEntry { sequence, segment, offset });
        }
    }

    /// The frames of `realm` before `first` are trimmed.
    pub(crate) fn trim(&mut self, realm: u32, first: u64) {
        let index = self.realms.entry(realm).or_default();
        index.first = index.first.max(first);
        while index.entries.get(1).is_some_and(|entry| entry.sequence <= index.first) {
            index.entries.pop_front();
        }
        if index.first > index.last {
            index.entries.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_sparse_and_follow_segments() {
        let mut index = Index::default();
        for sequence in 1..=3000 {
            index.note(1, sequence, if sequence < 2000 { 1 } else { 2 }, sequence * 10);
        }
        let sequences: Vec<u64> = index.get(1).entries.iter().map(|entry| entry.sequence).collect();
        assert_eq!(sequences, [1, 1025, 2000]);
        assert_eq!(index.bounds(1), (1, 3000));
    }

    #[test]
    fn trimming_keeps_the_point_before_the_first_frame() {
        let mut index = Index::default();
        for sequence in 1..=3000 {
            index.note(1, sequence, 1, sequence * 10);
        }
        index.trim(1, 1500);
        let sequences: Vec<u64> = index.get(1).entries.iter().map(|entry| entry.sequence).collect();
        assert_eq!(sequences, [1025, 2049]);
        index.trim(1, 1200);
        assert_eq!(index.bounds(1), (1500, 3000));
        index.trim(1, 3001);
        assert!(index.get(1).entries.is_empty());
        index.note(1, 3001, 2, 0);
        assert_eq!(index.bounds(1), (3001, 3001));
        assert_eq!(index.get(1).entries.len(), 1);
    }
}
