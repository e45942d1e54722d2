//! Sets of ids as facts carry them.

use crate::ids::{MessageId, UserId};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Message ids as sorted, inclusive ranges that do not touch, so that marking a million messages read is one small fact.
/// Stored as gap and length of each range as variable-length integers: scattered messages of a topic take about two
/// bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageRanges(pub Vec<(MessageId, MessageId)>);

impl MessageRanges {
    /// Ranges of ids in ascending order without duplicates.
    pub fn from_sorted(ids: impl IntoIterator<Item = MessageId>) -> Self {
        let mut ranges: Vec<(MessageId, MessageId)> = Vec::new();
        for id in ids {
            match ranges.last_mut() {
                Some((_, last)) if last.next() == id => *last = id,
                _ => ranges.push((id, id)),
            }
        }
        Self(ranges)
    }

    /// All ids, ascending.
    pub fn iter(&self) -> impl Iterator<Item = MessageId> {
        self.0.iter().flat_map(|(first, last)| (first.0..=last.0).map(MessageId))
    }

    /// The number of ids.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|(first, last)| u64::from(last.0.saturating_sub(first.0)) + 1).sum()
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an id is among them.
    pub fn contains(&self, id: MessageId) -> bool {
        let behind = self.0.partition_point(|(first, _)| *first <= id);
        behind.checked_sub(1).is_some_and(|at| id <= self.0[at].1)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.0.len() * 2);
        let mut next = 0;
        for (first, last) in &self.0 {
            push_number(&mut bytes, first.0.wrapping_sub(next));
            push_number(&mut bytes, last.0.wrapping_sub(first.0));
            next = last.0.wrapping_add(1);
        }
        bytes
    }

    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut ranges = Vec::new();
        let mut next = 0u32;
        while !bytes.is_empty() {
            let first = next.wrapping_add(take_number(&mut bytes)?);
            let last = first.wrapping_add(take_number(&mut bytes)?);
            ranges.push((MessageId(first), MessageId(last)));
            next = last.wrapping_add(1);
        }
        Some(Self(ranges))
    }
}

/// LEB128: seven bits a byte, the lowest first; the top bit is set if more follow.
fn push_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0u32;
    for shift in (0..32).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

impl Serialize for MessageRanges {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for MessageRanges {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = MessageRanges;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("ranges of message ids")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<MessageRanges, E> {
                MessageRanges::from_bytes(bytes).ok_or_else(|| E::custom("ranges end within a number"))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// User ids as sorted, inclusive ranges that do not touch: all subscribers of a large channel are a few of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRanges(Vec<(UserId, UserId)>);

impl UserRanges {
    /// Ranges of ids in ascending order without duplicates.
    pub fn from_sorted(ids: impl IntoIterator<Item = UserId>) -> Self {
        let mut ranges: Vec<(UserId, UserId)> = Vec::new();
        for id in ids {
            match ranges.last_mut() {
                Some((_, last)) if last.0.checked_add(1) == Some(id.0) => *last = id,
                _ => ranges.push((id, id)),
            }
        }
        Self(ranges)
    }

    /// All ids, ascending.
    pub fn iter(&self) -> impl Iterator<Item = UserId> {
        self.0.iter().flat_map(|(first, last)| (first.0..=last.0).map(UserId))
    }

    /// First and last id of each range, ascending.
    pub fn ranges(&self) -> &[(UserId, UserId)] {
        &self.0
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an id is among them.
    pub fn contains(&self, id: UserId) -> bool {
        let behind = self.0.partition_point(|(first, _)| *first <= id);
        behind.checked_sub(1).is_some_and(|at| id <= self.0[at].1)
    }

    /// The ids that `is_kept` is true for.
    pub fn filtered(&self, is_kept: impl Fn(UserId) -> bool) -> Self {
        Self::from_sorted(self.iter().filter(|id| is_kept(*id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_users_have_their_members() {
        let ids = [0, 1, 5, 7, 8, 9, u32::MAX].map(UserId);
        let users = UserRanges::from_sorted(ids);
        assert_eq!(users.0.len(), 4);
        assert_eq!(users.iter().collect::<Vec<_>>(), ids);
        for id in (0..12).chain([u32::MAX - 1, u32::MAX]).map(UserId) {
            assert_eq!(users.contains(id), ids.contains(&id), "{id}");
        }
        let rest = users.filtered(|id| id != UserId(8) && id != UserId(5));
        assert_eq!(rest.iter().collect::<Vec<_>>(), [0, 1, 7, 9, u32::MAX].map(UserId));
        assert!(users.filtered(|_| false).is_empty());
    }

    #[test]
    fn ranges_join_neighbours() {
        let ids = [3, 4, 5, 9, 11, 12].map(MessageId);
        let ranges = MessageRanges::from_sorted(ids);
        assert_eq!(ranges.0.len(), 3);
        assert_eq!(ranges.len(), 6);
        assert_eq!(ranges.iter().collect::<Vec<_>>(), ids);
        for id in 0..14 {
            assert_eq!(ranges.contains(MessageId(id)), ids.contains(&MessageId(id)), "{id}");
        }
    }

    #[test]
    fn ranges_survive_being_stored() {
        for ranges in [vec![], vec![(0, 0)], vec![(1, 127), (300, 70_000)], vec![(5, 5), (7, u32::MAX)]] {
            let ids = MessageRanges(ranges.into_iter().map(|(a, b)| (MessageId(a), MessageId(b))).collect());
            assert_eq!(MessageRanges::from_bytes(&ids.to_bytes()), Some(ids));
        }
        let scattered = MessageRanges::from_sorted((0..10_000).map(|n| MessageId(n * 50)));
        assert!(scattered.to_bytes().len() <= 20_000);
    }

    #[test]
    fn damaged_ranges_are_refused() {
        for bytes in [&[0x80][..], &[1][..], &[0xff; 8][..]] {
            assert_eq!(MessageRanges::from_bytes(bytes), None);
        }
    }
}
