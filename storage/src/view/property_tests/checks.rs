//! Compares the view with the model.

use super::plain::Plain;
use crate::fixture::*;
use crate::projection::Trees;
use crate::view::chunk::entries;
use crate::view::key::first_field_of;
use crate::view::packed::plain;
use crate::view::record::Record;
use crate::view::{Location, View, records};
use model::{ChannelId, ConversationId, Flag, Message, MessageId, Place, RecipientId, TopicKey, UserId};
use proptest::prelude::*;
use roaring::RoaringBitmap;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Plain {
    pub fn check(&self, view: &View, trees: &Trees) -> Result<(), TestCaseError> {
        for user in (1..=self.users).map(UserId) {
            self.check_user(view, user)?;
        }
        self.check_places(view)?;
        self.check_topics(view)?;
        self.check_holders(view)?;
        for step in [1, 5] {
            let ids: Vec<MessageId> = view.messages.all.iter().step_by(step).map(MessageId).collect();
            let found = view.recent.among(&ids);
            prop_assert_eq!(found.len(), ids.len());
            for (id, message) in ids.iter().zip(found) {
                prop_assert_eq!(message.as_ref(), view.recent.get(*id));
            }
        }
        for (id, message) in &self.messages {
            let id = MessageId(*id);
            let own = view.recent.get(id).cloned().map_or_else(
                || trees.message(REALM, id, view.changes_of(id)).map(|found| found.map(Arc::new)),
                |own| Ok(Some(own)),
            );
            let own = own.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(own.as_deref(), self.own.get(&id.0));
            let composed = own.map(|own| view.compose(&own));
            prop_assert_eq!(composed.as_deref(), Some(message));
        }
        for id in &self.deleted {
            prop_assert!(view.deleted.contains(*id) && view.recent.get(MessageId(*id)).is_none());
            prop_assert_eq!(view.place_of(MessageId(*id)), None);
        }
        Ok(())
    }

    /// Reads all messages, and keeps the bodies.
    pub fn keep_read(&self, view: &View, trees: &Trees) -> Result<(), TestCaseError> {
        let stored = self.messages.keys().map(|id| {
            let id = MessageId(*id);
            trees.message(REALM, id, view.changes_of(id)).map(|found| found.map(Arc::new))
        });
        let stored: Result<Vec<_>, _> = stored.collect();
        let stored = stored.map_err(|error| TestCaseError::fail(error.to_string()))?;
        view.recent.keep_read(stored.iter().flatten(), view.recent.revision());
        prop_assert!(self.messages.keys().all(|id| view.recent.read_lately(MessageId(*id)).is_some()));
        Ok(())
    }

    /// Bodies that were read are as they are now, or changed and not kept.
    pub fn check_read_lately(&self, view: &View) -> Result<(), TestCaseError> {
        for (id, own) in &self.own {
            if let Some(read) = view.recent.read_lately(MessageId(*id)) {
                prop_assert!(view.recent.get(read.id).is_none(), "message {id} is among the newest, too");
                prop_assert_eq!(&*read, own);
            }
        }
        for id in &self.deleted {
            prop_assert_eq!(view.recent.read_lately(MessageId(*id)), None);
        }
        Ok(())
    }

    /// The trees have exactly the messages that were not deleted.
    pub fn check_erased(&self, trees: &Trees) -> Result<(), TestCaseError> {
        self.check_chunks::<records::Messages>(trees)?;
        self.check_chunks::<records::MessageIndex>(trees)?;
        self.check_changes::<records::MessageVersions>(trees)?;
        self.check_changes::<records::EditedMessages>(trees)?;
        self.check_changes::<records::Reactions>(trees)?;
        self.check_changes::<records::Submessages>(trees)
    }

    fn check_chunks<R: Record>(&self, trees: &Trees) -> Result<(), TestCaseError> {
        let mut found = Vec::new();
        for row in trees.table::<R>(REALM) {
            found.extend(entries(&plain(&row.unwrap().value).unwrap()).map(|entry| entry.unwrap().0.0));
        }
        prop_assert_eq!(found, self.messages.keys().copied().collect::<Vec<_>>());
        Ok(())
    }

    fn check_changes<R: Record>(&self, trees: &Trees) -> Result<(), TestCaseError> {
        for row in trees.table::<R>(REALM) {
            let id: MessageId = first_field_of(&row.unwrap().key).unwrap();
            prop_assert!(self.messages.contains_key(&id.0), "{} of message {}", R::NAME, id);
        }
        Ok(())
    }

    fn check_user(&self, view: &View, user: UserId) -> Result<(), TestCaseError> {
        let all = view.delivered_among(user, &view.messages.all);
        self.check_places_for(view, user)?;
        for part in 0..3 {
            let ids: RoaringBitmap = view.messages.all.iter().filter(|id| id % 3 == part).collect();
            prop_assert_eq!(view.delivered_among(user, &ids), &all & &ids);
        }
        let ids: Vec<MessageId> = view.messages.all.iter().map(MessageId).collect();
        let conversation_of = |index: usize| {
            self.messages.get(&ids[index].0).map(ConversationId::of).filter(|_| !index.is_multiple_of(3))
        };
        let flags = view.flags_among(user, &ids, conversation_of);
        let flags_among: BTreeMap<_, _> = ids.iter().zip(flags).collect();
        for (id, message) in &self.messages {
            let is_delivered = self.delivered.contains(&(user.0, *id));
            prop_assert_eq!(view.is_delivered(user, message), is_delivered, "{} {}", user, id);
            prop_assert_eq!(all.contains(*id), is_delivered, "{} {}", user, id);
            let mut expected = self.flags.get(&(user.0, *id)).copied().unwrap_or_default();
            if is_delivered {
                expected = expected.with_if(Flag::ChannelWildcardMentioned, message.traits.channel_wildcard);
            } else if !expected.contains(Flag::Historical) {
                expected = expected.with(Flag::Historical).with(Flag::Read);
            }
            prop_assert_eq!(view.flags_for(user, message), expected, "{} {}", user, id);
            prop_assert_eq!(flags_among.get(&MessageId(*id)), Some(&expected));
        }
        let mut delivered = view.direct_messages_of(user);
        for channel in (1..=self.channels).map(ChannelId) {
            let here = view.delivered_in_channel(user, channel);
            let is_subscribed = view.directory.subscription(channel, user).is_some();
            let is_known = is_subscribed || view.channels_arrived_for(user).contains(&channel);
            prop_assert!(here.is_empty() || is_known);
            delivered |= &*here;
        }
        prop_assert_eq!(&delivered, &all);
        let unread = self.messages.keys().filter(|id| {
            let set = self.flags.get(&(user.0, **id)).copied().unwrap_or_default();
            self.delivered.contains(&(user.0, **id)) && !set.contains(Flag::Read)
        });
        prop_assert_eq!(view.unread_of(user, &all), unread.copied().collect());
        if let Some(mine) = view.messages.users.get(&user) {
            for (flag, set) in Flag::ALL.into_iter().filter_map(|flag| Some((flag, mine.set(flag)?))) {
                prop_assert!(set.is_subset(&view.messages.all));
                for id in set.iter().map(|id| RoaringBitmap::from_iter([id])) {
                    let users = &view.messages.users;
                    let near =
                        if flag == Flag::Read { users.readers_near(&id) } else { users.flagged_near(&id) };
                    prop_assert!(near.contains(user.0), "{} {:?} {:?}", user, flag, id);
                }
            }
        }
        Ok(())
    }

    fn check_places_for(&self, view: &View, user: UserId) -> Result<(), TestCaseError> {
        let mut placed = RoaringBitmap::new();
        for (place, ids) in view.places_for(user, &view.messages.all) {
            prop_assert!(ids.is_disjoint(&placed));
            for id in &ids {
                prop_assert_eq!(view.place_of(MessageId(id)), Some(place.clone()));
            }
            placed |= ids;
        }
        let is_placed = |message: &Message| match ConversationId::of(message) {
            ConversationId::Channel(channel) => view.directory.subscription(channel, user).is_some(),
            ConversationId::Direct(recipient) => view.is_in_conversation(user, recipient),
        };
        let expected = self.messages.iter().filter(|(_, message)| is_placed(message)).map(|(id, _)| *id);
        prop_assert_eq!(placed, expected.collect());
        Ok(())
    }

    fn check_places(&self, view: &View) -> Result<(), TestCaseError> {
        for (id, message) in &self.messages {
            prop_assert!(view.messages.all.contains(*id));
            prop_assert!(view.messages.senders[&message.sender].contains(*id));
            prop_assert_eq!(view.messages.with_link.contains(*id), message.traits.has_link);
            prop_assert_eq!(view.messages.with_reaction.contains(*id), !message.reactions.is_empty());
            prop_assert_eq!(view.messages.channel_wildcard.contains(*id), message.traits.channel_wildcard);
            let place = match &message.place {
                Place::Channel { channel, topic } => Location::Topic(*channel, TopicKey::new(topic)),
                Place::Direct => Location::Direct(message.recipient),
            };
            prop_assert_eq!(view.place_of(MessageId(*id)), Some(place.clone()));
            prop_assert_eq!(view.messages.place_of(MessageId(*id)), Some(place));
        }
        prop_assert_eq!(view.messages.all.len(), self.messages.len() as u64);
        prop_assert_eq!(view.queues.len(), self.queues.len());
        let days: BTreeMap<u64, u32> = view.messages.days.iter().map(|(day, id)| (*day, id.0)).collect();
        prop_assert_eq!(&days, &self.days);
        let senders = self.set_by(|message| Some(message.sender));
        prop_assert_eq!(&view.messages.senders.clone().into_iter().collect::<BTreeMap<_, _>>(), &senders);
        let mut reactors: BTreeMap<UserId, RoaringBitmap> = BTreeMap::new();
        for (id, message) in &self.messages {
            for reaction in &message.reactions {
                reactors.entry(reaction.user).or_default().insert(*id);
            }
        }
        prop_assert_eq!(view.messages.reactors.clone().into_iter().collect::<BTreeMap<_, _>>(), reactors);
        let directs = self.set_by(|message| (message.place == Place::Direct).then_some(message.recipient));
        let found: BTreeMap<RecipientId, RoaringBitmap> = view.messages.directs.clone().into_iter().collect();
        prop_assert_eq!(found, directs);
        Ok(())
    }

    fn set_by<K: Ord>(&self, key: impl Fn(&Message) -> Option<K>) -> BTreeMap<K, RoaringBitmap> {
        let mut sets: BTreeMap<K, RoaringBitmap> = BTreeMap::new();
        for (id, message) in &self.messages {
            if let Some(key) = key(message) {
                sets.entry(key).or_default().insert(*id);
            }
        }
        sets
    }

    /// Topics are named by their newest message.
    fn check_topics(&self, view: &View) -> Result<(), TestCaseError> {
        let mut expected: BTreeMap<(ChannelId, TopicKey), (String, RoaringBitmap)> = BTreeMap::new();
        for (id, message) in &self.messages {
            let Place::Channel { channel, topic } = &message.place else { continue };
            let entry = expected.entry((*channel, TopicKey::new(topic))).or_default();
            entry.0.clone_from(topic);
            entry.1.insert(*id);
            let found = view.messages.topic(*channel, &TopicKey::new(topic));
            prop_assert_eq!(found.map(|found| found.spelling_of(MessageId(*id))), Some(topic.as_str()));
        }
        let mut found = BTreeMap::new();
        for (channel, messages) in &view.messages.channels {
            let mut all = RoaringBitmap::new();
            for (key, topic) in &messages.topics {
                all |= &topic.ids;
                found.insert((*channel, key.clone()), (topic.name.clone(), topic.ids.clone()));
            }
            prop_assert_eq!(&all, &messages.ids);
            prop_assert_eq!(view.messages.first_in_channel(*channel), all.min().map(MessageId));
        }
        prop_assert_eq!(found, expected);
        Ok(())
    }

    fn check_holders(&self, view: &View) -> Result<(), TestCaseError> {
        for (channel, messages) in &view.messages.channels {
            let mut expected: BTreeMap<UserId, RoaringBitmap> = BTreeMap::new();
            for (user, id) in self.delivered.iter().filter(|(_, id)| messages.ids.contains(*id)) {
                expected.entry(UserId(*user)).or_default().insert(*id);
            }
            prop_assert_eq!(view.holders(*channel, &messages.ids), expected);
        }
        Ok(())
    }
}
