//! Where some messages are. A message's body names its conversation, so those with bodies in memory are found without a walk over
//! all conversations of a user, of which there may be very many.

use super::reading::part_of;
use super::{Location, View};
use model::{ConversationId, DirectConversation, MessageId, UserId};
use roaring::RoaringBitmap;
use std::sync::Arc;

/// After this many messages without bodies in memory, no further bodies are consulted.
const UNKNOWN_MAX: u64 = 16;

impl View {
    /// The places of those of some messages that are in a user's direct conversations or in channels that the user is or was
    /// subscribed to; each place with those messages, in no order.
    pub fn places_for(&self, user: UserId, ids: &RoaringBitmap) -> Vec<(Location, RoaringBitmap)> {
        let mut left = ids & &self.messages.all;
        let mut found = take_known(&mut left, |id| self.known_place(id));
        found.retain(|(place, _)| match place.conversation() {
            ConversationId::Channel(channel) => self.directory.subscription(channel, user).is_some(),
            ConversationId::Direct(recipient) => self.is_in_conversation(user, recipient),
        });
        for (channel, _) in self.directory.subscriptions_of_user(user) {
            if left.is_empty() {
                break;
            }
            let Some(messages) = self.messages.channels.get(&channel) else { continue };
            let here = part_of(&messages.ids, &left);
            if here.is_empty() {
                continue;
            }
            left -= &here;
            let topics = messages.topics.iter().map(|(key, topic)| (key, part_of(&topic.ids, &here)));
            let topics = topics.filter(|(_, ids)| !ids.is_empty());
            found.extend(topics.map(|(key, ids)| (Location::Topic(channel, key.clone()), ids)));
        }
        self.take_directs(user, &mut left, |direct, ids| {
            found.push((Location::Direct(direct.recipient), ids))
        });
        found
    }

    /// The topic or direct conversation of a message with all its messages, if a body in memory names it.
    fn known_place(&self, id: MessageId) -> Option<(Location, &RoaringBitmap)> {
        let place = match self.recent.get(id) {
            Some(_) => self.place_of(id)?,
            None => Location::of(&*self.recent.read_lately(id)?),
        };
        let messages = match &place {
            Location::Topic(channel, topic) => &self.messages.topic(*channel, topic)?.ids,
            Location::Direct(recipient) => self.messages.directs.get(recipient)?,
        };
        messages.contains(id.0).then_some((place, messages))
    }

    /// Takes the messages from `left` that are in the same conversations as those whose bodies are in memory; each conversation
    /// with those messages.
    pub(super) fn take_known_conversations(
        &self,
        left: &mut RoaringBitmap,
    ) -> Vec<(ConversationId, RoaringBitmap)> {
        take_known(left, |id| self.known_conversation(id))
    }

    /// The conversation of a message with all its messages, if a body in memory names it. That may be the one that the message was
    /// moved away from, which is not known then.
    fn known_conversation(&self, id: MessageId) -> Option<(ConversationId, &RoaringBitmap)> {
        let conversation = match self.recent.get(id) {
            Some(message) => ConversationId::of(message),
            None => ConversationId::of(&*self.recent.read_lately(id)?),
        };
        let messages = match conversation {
            ConversationId::Channel(channel) => self.channel_ids(channel),
            ConversationId::Direct(recipient) => self.messages.directs.get(&recipient),
        };
        Some((conversation, messages.filter(|messages| messages.contains(id.0))?))
    }

    /// Takes the messages of a user's direct conversations from `left`, and passes on each conversation with those that are in it.
    /// The newest conversations are searched first.
    pub(super) fn take_directs<'v>(
        &'v self,
        user: UserId,
        left: &mut RoaringBitmap,
        mut found: impl FnMut(&'v Arc<DirectConversation>, RoaringBitmap),
    ) {
        if left.is_empty() {
            return;
        }
        for (direct, messages) in self.conversations_of(user).rev() {
            let here = part_of(messages, left);
            if !here.is_empty() {
                *left -= &here;
                found(direct, here);
                if left.is_empty() {
                    return;
                }
            }
        }
    }
}

/// Takes the messages from `left` that are in places that are known by a message there; each place with those messages. Ends after
/// a few messages whose places are not known.
fn take_known<'v, P>(
    left: &mut RoaringBitmap,
    known: impl Fn(MessageId) -> Option<(P, &'v RoaringBitmap)>,
) -> Vec<(P, RoaringBitmap)> {
    let mut found = Vec::new();
    let mut unknown = RoaringBitmap::new();
    while let Some(id) = left.min().filter(|_| unknown.len() < UNKNOWN_MAX) {
        match known(MessageId(id)) {
            Some((place, messages)) => {
                let here = part_of(messages, left);
                *left -= &here;
                found.push((place, here));
            }
            None => {
                left.remove(id);
                unknown.insert(id);
            }
        }
    }
    *left |= unknown;
    found
}

#[cfg(test)]
mod tests {
    use super::super::tests::World;
    use crate::fixture::*;
    use model::{ConversationId, RecipientId, UserId};
    use roaring::RoaringBitmap;

    #[test]
    fn delivered_messages_are_found_with_and_without_their_bodies() {
        let mut world = World::new();
        let count = 40;
        // A conversation for each message, and one of others.
        for id in 1..=count {
            let users: &[u32] = if id == 7 { &[2, 3] } else { &[1, 1 + id] };
            world.run.frame(vec![direct(100 + id, users), sent(direct_message(id, users[0], 100 + id))]);
        }
        world.run.frame(vec![sent(channel_message(count + 1, 1, 1, "tea"))]);
        let asked = RoaringBitmap::from_iter([3, 7, 39, count + 1, count + 2]);
        let expected = RoaringBitmap::from_iter([3, 39, count + 1]);
        let view = world.run.view();
        assert_eq!(view.delivered_among(UserId(1), &asked), expected);
        let mut left = RoaringBitmap::from_iter([3]);
        let known = view.take_known_conversations(&mut left);
        let conversation = ConversationId::Direct(RecipientId(103));
        assert_eq!(known, [(conversation, RoaringBitmap::from_iter([3]))]);
        assert!(left.is_empty(), "the user's conversations need not be searched");
        let places = view.places_for(UserId(1), &asked);
        assert_eq!(places.len(), 3);
        let view = world.restart();
        assert!(view.take_known_conversations(&mut asked.clone()).is_empty(), "no body is in memory");
        assert_eq!(view.delivered_among(UserId(1), &asked), expected);
        assert_eq!(view.places_for(UserId(1), &asked).len(), 3);
        let everything = &view.messages.all;
        assert_eq!(view.delivered_among(UserId(1), everything).len(), u64::from(count));
    }
}
