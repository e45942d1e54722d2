//! Flags of messages for a user.

use super::View;
use model::{ChannelId, ConversationId, Flag, Flags, Message, MessageId, Subscription, UserId};
use roaring::RoaringBitmap;
use std::sync::Arc;

/// Up to this many members of a set for each message of a page are looked at one by one.
pub(super) const SCAN_FACTOR: usize = 4;

impl View {
    /// The flags of a message for a user, as in `GET /messages`. `message` has its moves applied.
    pub fn flags_for(&self, user: UserId, message: &Message) -> Flags {
        let mine = self.messages.users.get(&user);
        let has =
            |flag: &Flag| mine.and_then(|mine| mine.set(*flag)).is_some_and(|set| set.contains(message.id.0));
        let stored = flags_in(Flag::ALL.into_iter().filter(has));
        shown_flags(stored, self.is_delivered(user, message), message.traits.channel_wildcard)
    }

    /// The flags of a message that decide about notifications, for a user to whom it was delivered; none for others.
    /// `subscription` is the user's to the channel of the message.
    pub fn notified_flags(
        &self,
        user: UserId,
        subscription: Option<&Subscription>,
        message: &Message,
    ) -> Option<Flags> {
        const DECIDING: [Flag; 4] =
            [Flag::Read, Flag::Historical, Flag::Mentioned, Flag::TopicWildcardMentioned];
        let is_delivered = match ConversationId::of(message) {
            ConversationId::Channel(channel) => self.is_delivered_by(subscription, user, channel, message.id),
            ConversationId::Direct(recipient) => self.is_in_conversation(user, recipient),
        };
        if !is_delivered {
            return None;
        }
        let mine = self.messages.users.get(&user);
        let has =
            |flag: &Flag| mine.and_then(|mine| mine.set(*flag)).is_some_and(|set| set.contains(message.id.0));
        let stored = flags_in(DECIDING.into_iter().filter(has));
        Some(shown_flags(stored, true, message.traits.channel_wildcard))
    }

    /// The flags of some messages (ascending) for a user, beside them, without reading their bodies. `conversation_of`
    /// gives the present conversation of the message at an index where it is known.
    pub fn flags_among(
        &self,
        user: UserId,
        ids: &[MessageId],
        conversation_of: impl Fn(usize) -> Option<ConversationId>,
    ) -> Vec<Flags> {
        let mut flags = vec![Flags::NONE; ids.len()];
        if let Some(mine) = self.messages.users.get(&user) {
            for flag in Flag::ALL {
                let Some(set) = mine.set(flag) else { continue };
                each_in(set, ids, |index| flags[index] = flags[index].with(flag));
            }
        }
        let mut wildcards = vec![false; ids.len()];
        each_in(&self.messages.channel_wildcard, ids, |index| wildcards[index] = true);
        let delivered = self.deliveries(user, ids, conversation_of);
        for (flags, (is_delivered, is_wildcard)) in flags.iter_mut().zip(delivered.into_iter().zip(wildcards))
        {
            *flags = shown_flags(*flags, is_delivered, is_wildcard);
        }
        flags
    }

    /// Whether each of some messages (ascending) was delivered to a user.
    fn deliveries(
        &self,
        user: UserId,
        ids: &[MessageId],
        conversation_of: impl Fn(usize) -> Option<ConversationId>,
    ) -> Vec<bool> {
        let unknown = ids.iter().enumerate().filter(|(index, _)| conversation_of(*index).is_none());
        let unknown: RoaringBitmap = unknown.map(|(_, id)| id.0).collect();
        let found = if unknown.is_empty() { unknown } else { self.delivered_among(user, &unknown) };
        // Mostly the messages of a page are in one channel.
        let mut last: Option<(ChannelId, Option<&Arc<Subscription>>)> = None;
        let mut is_delivered = |(index, id): (usize, &MessageId)| match conversation_of(index) {
            None => found.contains(id.0),
            Some(ConversationId::Channel(channel)) => {
                let known = last.filter(|(known, _)| *known == channel);
                let (_, subscription) = *last
                    .insert(known.unwrap_or_else(|| (channel, self.directory.subscription(channel, user))));
                self.is_delivered_by(subscription.map(|own| &**own), user, channel, *id)
            }
            Some(conversation @ ConversationId::Direct(_)) => self.is_delivered_at(user, conversation, *id),
        };
        ids.iter().enumerate().map(&mut is_delivered).collect()
    }
}

/// Calls `found` with the index of each message (ascending) that is in a set, at the cost of the messages: the set may have the
/// whole history.
fn each_in(set: &RoaringBitmap, ids: &[MessageId], mut found: impl FnMut(usize)) {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return };
    let (mut index, mut members) = (0, set.range(first.0..=last.0));
    for member in members.by_ref().take(SCAN_FACTOR * ids.len()) {
        while ids[index].0 < member {
            index += 1;
        }
        if ids[index].0 == member {
            found(index);
            index += 1;
            if index == ids.len() {
                return;
            }
        }
    }
    if members.next().is_none() {
        return;
    }
    for (index, id) in ids.iter().enumerate().skip(index) {
        if set.contains(id.0) {
            found(index);
        }
    }
}

fn flags_in(stored: impl Iterator<Item = Flag>) -> Flags {
    stored.fold(Flags::NONE, |flags, flag| flags.with(flag))
}

/// A user's flags of a message, from those that are stored. A message that was not delivered counts as read.
fn shown_flags(stored: Flags, is_delivered: bool, is_wildcard: bool) -> Flags {
    if is_delivered {
        return stored.with_if(Flag::ChannelWildcardMentioned, is_wildcard);
    }
    let is_read = stored.contains(Flag::Read) || !stored.contains(Flag::Historical);
    stored.with(Flag::Historical).with_if(Flag::Read, is_read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_in_finds_what_is_in_both() {
        let every = |step: u32, count: u32| (1..=count).map(|number| number * step).collect::<Vec<u32>>();
        for ids in [every(1, 9), every(3, 40), every(1000, 7), vec![5], vec![]] {
            for members in [every(1, 10_000), every(2, 50), every(7, 3), vec![u32::MAX], vec![]] {
                let set: RoaringBitmap = members.iter().copied().collect();
                let messages: Vec<MessageId> = ids.iter().map(|id| MessageId(*id)).collect();
                let mut found = Vec::new();
                each_in(&set, &messages, |index| found.push(ids[index]));
                let expected: Vec<u32> = ids.iter().copied().filter(|id| set.contains(*id)).collect();
                assert_eq!(found, expected);
            }
        }
    }
}
