//! Who received the messages that were moved to a channel from another one. For messages that were sent to the channel
//! the spans of subscriptions determine it; for these, the move recorded it.

use crate::checkpoint::codec::{Input, Output, Saved, saved};
use model::fact::ArrivalFact;
use model::{ChannelId, MessageRanges, UserId};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, HashMap};
use std::io;

/// Messages that were moved to one channel and are still there.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arrived {
    /// All of these messages.
    pub ids: RoaringBitmap,
    /// Sorted users → messages that all of them received. Moves with the same recipients share an entry.
    groups: BTreeMap<Vec<UserId>, RoaringBitmap>,
}

saved!(Arrived { ids, groups });

impl Arrived {
    /// The messages that a user received.
    pub fn delivered_to(&self, user: UserId) -> RoaringBitmap {
        let mut found = RoaringBitmap::new();
        for (users, ids) in &self.groups {
            if users.binary_search(&user).is_ok() {
                found |= ids;
            }
        }
        found
    }

    /// Whether a user received any.
    pub fn has_any(&self, user: UserId) -> bool {
        self.groups.keys().any(|users| users.binary_search(&user).is_ok())
    }

    /// Whether a user received a message.
    pub fn is_delivered_to(&self, user: UserId, id: u32) -> bool {
        let mut groups = self.groups.iter();
        groups.any(|(users, ids)| ids.contains(id) && users.binary_search(&user).is_ok())
    }

    /// All users who received any of `ids`.
    pub fn holders(&self, ids: &RoaringBitmap) -> impl Iterator<Item = UserId> {
        let groups = self.groups.iter().filter(move |(_, here)| !here.is_disjoint(ids));
        groups.flat_map(|(users, _)| users.iter().copied())
    }
}

/// By channel; no entry for channels without such messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Arrivals(HashMap<ChannelId, Arrived>);

impl Saved for Arrivals {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        self.0.save(out)
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        Saved::load(input).map(Self)
    }
}

impl Arrivals {
    /// The messages that were moved to a channel.
    pub fn to(&self, channel: ChannelId) -> Option<&Arrived> {
        self.0.get(&channel)
    }

    /// All channels with such messages, in no order.
    pub fn channels(&self) -> impl Iterator<Item = (ChannelId, &Arrived)> {
        self.0.iter().map(|(channel, arrived)| (*channel, arrived))
    }

    /// Adds messages that are moved to a channel.
    pub fn add(&mut self, ids: &RoaringBitmap, arrival: &ArrivalFact) {
        let arrived = self.0.entry(arrival.channel).or_default();
        arrived.ids |= ids;
        for delivery in &arrival.deliveries {
            let theirs = ids_of(&delivery.messages) & ids;
            if !theirs.is_empty() && !delivery.users.is_empty() {
                *arrived.groups.entry(delivery.users.clone()).or_default() |= theirs;
            }
        }
    }

    /// Removes messages from a channel.
    pub fn leave(&mut self, channel: ChannelId, ids: &RoaringBitmap) {
        let Some(arrived) = self.0.get_mut(&channel) else { return };
        if arrived.ids.is_disjoint(ids) {
            return;
        }
        arrived.ids -= ids;
        arrived.groups.retain(|_, here| {
            *here -= ids;
            !here.is_empty()
        });
        if arrived.ids.is_empty() {
            self.0.remove(&channel);
        }
    }

    /// Removes deleted messages from all channels.
    pub fn forget(&mut self, ids: &RoaringBitmap) {
        let channels: Vec<ChannelId> = self.0.keys().copied().collect();
        channels.into_iter().for_each(|channel| self.leave(channel, ids));
    }
}

/// Ranges as a set.
pub fn ids_of(messages: &MessageRanges) -> RoaringBitmap {
    let mut ids = RoaringBitmap::new();
    for (first, last) in &messages.0 {
        if first <= last {
            ids.insert_range(first.0..=last.0);
        }
    }
    ids
}
