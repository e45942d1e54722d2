//! The in-memory index of messages: compressed sets of ids, so that a narrow is set algebra and a million messages take a
//! few megabytes. Bodies are not part of it.

use super::newest::add_newest;
use super::topic::{Spelling, TopicMessages};
use super::user_flags::FlaggedUsers;
use crate::checkpoint::codec::saved;
use foldhash::HashMap;
use model::fact::DeletedFrom;
use model::message::MessageTraits;
use model::{
    ChannelId, ConversationId, Flag, Flags, Message, MessageId, Place, RecipientId, RemainingReactions,
    Timestamp, TopicKey, UserId,
};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The length of a day, in milliseconds.
const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// The part of a message that the index needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageIndexRow {
    pub sender: UserId,
    pub recipient: RecipientId,
    pub place: Place,
    pub traits: MessageTraits,
    pub sent: Timestamp,
    pub user_flags: Vec<(UserId, Flags)>,
}

impl From<&Message> for MessageIndexRow {
    fn from(message: &Message) -> Self {
        Self {
            sender: message.sender,
            recipient: message.recipient,
            place: message.place.clone(),
            traits: message.traits,
            sent: message.sent,
            user_flags: message.user_flags.clone(),
        }
    }
}

/// Messages of one channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelMessages {
    pub ids: RoaringBitmap,
    pub topics: HashMap<TopicKey, TopicMessages>,
}

/// The place of a message, with a normalized topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    Topic(ChannelId, TopicKey),
    Direct(RecipientId),
}

impl Location {
    /// The place that a message names.
    pub fn of(message: &Message) -> Self {
        match &message.place {
            Place::Channel { channel, topic } => Self::Topic(*channel, TopicKey::new(topic)),
            Place::Direct => Self::Direct(message.recipient),
        }
    }

    /// The place without the topic.
    pub fn conversation(&self) -> ConversationId {
        match self {
            Self::Topic(channel, _) => ConversationId::Channel(*channel),
            Self::Direct(recipient) => ConversationId::Direct(*recipient),
        }
    }
}

/// All messages of an organization.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageIndex {
    /// The newest id that was ever assigned.
    pub last: MessageId,
    pub all: RoaringBitmap,
    /// Day since 1970 (UTC) → the first message that was sent on that day, even if it was deleted.
    pub days: BTreeMap<u64, MessageId>,
    pub channels: HashMap<ChannelId, ChannelMessages>,
    pub directs: HashMap<RecipientId, RoaringBitmap>,
    pub senders: HashMap<UserId, RoaringBitmap>,
    pub with_link: RoaringBitmap,
    pub with_image: RoaringBitmap,
    pub with_attachment: RoaringBitmap,
    /// Messages by users who reacted to them.
    pub reactors: HashMap<UserId, RoaringBitmap>,
    pub with_reaction: RoaringBitmap,
    /// Messages that mention all their recipients.
    pub channel_wildcard: RoaringBitmap,
    pub users: FlaggedUsers,
}

saved!(ChannelMessages { ids, topics });

saved!(MessageIndex {
    last,
    all,
    days,
    channels,
    directs,
    senders,
    with_link,
    with_image,
    with_attachment,
    reactors,
    with_reaction,
    channel_wildcard,
    users,
});

impl MessageIndex {
    /// Adds a message. Adding it again changes nothing.
    pub fn add(&mut self, id: MessageId, row: &MessageIndexRow) {
        self.last = self.last.max(id);
        add_newest(&mut self.all, id.0);
        match &row.place {
            Place::Channel { channel, topic } => {
                let messages = self.channels.entry(*channel).or_default();
                add_newest(&mut messages.ids, id.0);
                match messages.topics.get_mut(&*TopicKey::fold(topic)) {
                    Some(known) => known.add(topic, id.0),
                    None => messages.topics.entry(TopicKey::new(topic)).or_default().add(topic, id.0),
                }
            }
            Place::Direct => {
                add_newest(self.directs.entry(row.recipient).or_default(), id.0);
            }
        }
        add_newest(self.senders.entry(row.sender).or_default(), id.0);
        self.change_traits(id, &row.traits);
        self.add_user_flags(id, row);
    }

    /// Updates the sets to a message's present traits.
    pub(super) fn change_traits(&mut self, id: MessageId, traits: &MessageTraits) {
        for (holds, set) in self.trait_sets(traits) {
            if holds {
                set.insert(id.0);
            } else {
                set.remove(id.0);
            }
        }
    }

    fn trait_sets(&mut self, traits: &MessageTraits) -> [(bool, &mut RoaringBitmap); 4] {
        [
            (traits.has_link, &mut self.with_link),
            (traits.has_image, &mut self.with_image),
            (traits.has_attachment, &mut self.with_attachment),
            (traits.channel_wildcard, &mut self.channel_wildcard),
        ]
    }

    /// Brings every set into its smallest form.
    pub(super) fn optimize(&mut self) {
        for set in [
            &mut self.all,
            &mut self.with_link,
            &mut self.with_image,
            &mut self.with_attachment,
            &mut self.with_reaction,
            &mut self.channel_wildcard,
        ] {
            set.optimize();
        }
        for set in
            self.directs.values_mut().chain(self.senders.values_mut()).chain(self.reactors.values_mut())
        {
            set.optimize();
        }
        for messages in self.channels.values_mut() {
            messages.ids.optimize();
            messages.topics.values_mut().for_each(|topic| _ = topic.ids.optimize());
        }
        self.users.optimize();
    }

    /// Records that a user reacted to a message.
    pub(super) fn add_reactor(&mut self, id: MessageId, user: UserId) {
        self.with_reaction.insert(id.0);
        self.reactors.entry(user).or_default().insert(id.0);
    }

    /// Records that a user removed a reaction.
    pub(super) fn remove_reactor(&mut self, id: MessageId, user: UserId, left: RemainingReactions) {
        match left {
            RemainingReactions::OfUser => return,
            RemainingReactions::OfOthers => {}
            RemainingReactions::None => {
                self.with_reaction.remove(id.0);
            }
        }
        if let Some(ids) = self.reactors.get_mut(&user) {
            ids.remove(id.0);
            if ids.is_empty() {
                self.reactors.remove(&user);
            }
        }
    }

    /// Records the day on which a message was sent. Returns whether it is the first of its day.
    pub(super) fn note_day(&mut self, id: MessageId, day: u32) -> bool {
        match self.days.get(&u64::from(day)) {
            Some(first) if *first <= id => false,
            _ => {
                self.days.insert(day.into(), id);
                true
            }
        }
    }

    fn add_user_flags(&mut self, id: MessageId, row: &MessageIndexRow) {
        if row.traits.read_by_sender {
            self.users.add_newest(row.sender, Flag::Read, id);
        }
        for (user, flags) in &row.user_flags {
            for flag in flags.iter() {
                self.users.add(*user, flag, id);
            }
        }
    }

    /// Moves those of some messages that are in a topic to another one; without a new name, the spelling stays the same.
    /// Returns the moved messages.
    pub(super) fn relocate(
        &mut self,
        ids: &RoaringBitmap,
        (from, topic): (ChannelId, &TopicKey),
        (to, name): (ChannelId, Option<&str>),
    ) -> RoaringBitmap {
        let Some(source) = self.topic(from, topic) else { return RoaringBitmap::new() };
        let moved = &source.ids & ids;
        if moved.is_empty() {
            return moved;
        }
        let spelled = self.take_from_topic(from, topic, &moved);
        let target = self.channels.entry(to).or_default();
        target.ids |= &moved;
        match name {
            Some(name) => target.topics.entry(TopicKey::new(name)).or_default().put(name, &moved),
            None => {
                let target = target.topics.entry(topic.clone()).or_default();
                spelled.iter().for_each(|(name, ids)| target.put(name, ids));
            }
        }
        moved
    }

    /// Removes messages from the topic that they are all in. Removes the topic and the channel if they are empty then.
    fn take_from_topic(
        &mut self,
        channel: ChannelId,
        topic: &TopicKey,
        ids: &RoaringBitmap,
    ) -> Vec<Spelling> {
        let Some(messages) = self.channels.get_mut(&channel) else { return Vec::new() };
        let Some(source) = messages.topics.get_mut(topic) else { return Vec::new() };
        let taken = source.take(ids);
        if source.ids.is_empty() {
            messages.topics.remove(topic);
        }
        messages.ids -= ids;
        if messages.ids.is_empty() {
            self.channels.remove(&channel);
        }
        taken
    }

    /// Removes messages, which usually are all in the conversation `from` and by those of `senders` that are known. Other
    /// conversations and users are searched only for the rest. The newest assigned id stays the same. Returns the messages
    /// that were in another conversation.
    pub(super) fn remove(
        &mut self,
        ids: &RoaringBitmap,
        from: &DeletedFrom,
        senders: &BTreeSet<UserId>,
    ) -> RoaringBitmap {
        let in_others = ids - self.remove_from_conversation(ids, from);
        if !in_others.is_empty() {
            self.remove_from_channels(&in_others);
            remove_from_each(&mut self.directs, &in_others);
        }
        self.remove_from_senders(ids, senders);
        let with_reaction = &self.with_reaction & ids;
        if !with_reaction.is_empty() {
            remove_from_each(&mut self.reactors, &with_reaction);
        }
        for set in [
            &mut self.all,
            &mut self.with_link,
            &mut self.with_image,
            &mut self.with_attachment,
            &mut self.with_reaction,
            &mut self.channel_wildcard,
        ] {
            *set -= ids;
        }
        self.users.remove_messages(ids, &self.all);
        in_others
    }

    /// Removes those of some messages that are in a conversation. Returns them.
    fn remove_from_conversation(&mut self, ids: &RoaringBitmap, from: &DeletedFrom) -> RoaringBitmap {
        match from {
            DeletedFrom::Topic { channel, topic } => {
                let topic = TopicKey::new(topic);
                let Some(source) = self.topic(*channel, &topic) else { return RoaringBitmap::new() };
                let here = &source.ids & ids;
                if !here.is_empty() {
                    self.take_from_topic(*channel, &topic, &here);
                }
                here
            }
            DeletedFrom::Direct(recipient) => remove_from_one(&mut self.directs, recipient, ids),
        }
    }

    /// Removes messages from those of their senders, of which some are known. Each message has one sender.
    fn remove_from_senders(&mut self, ids: &RoaringBitmap, known: &BTreeSet<UserId>) {
        let mut left = ids.clone();
        for user in known {
            let here = remove_from_one(&mut self.senders, user, &left);
            left -= here;
        }
        if !left.is_empty() {
            remove_from_each(&mut self.senders, &left);
        }
    }

    fn remove_from_channels(&mut self, ids: &RoaringBitmap) {
        let mut hits = Vec::new();
        for (channel, messages) in &self.channels {
            if messages.ids.is_disjoint(ids) {
                continue;
            }
            let topics = messages.topics.iter().filter(|(_, topic)| !topic.ids.is_disjoint(ids));
            hits.extend(topics.map(|(key, topic)| (*channel, key.clone(), &topic.ids & ids)));
        }
        for (channel, topic, ids) in hits {
            self.take_from_topic(channel, &topic, &ids);
        }
    }

    /// The present place of a message; `None` if there is no such message. Searches all channels and the topics of one, so
    /// it is meant for single messages.
    pub fn place_of(&self, id: MessageId) -> Option<Location> {
        if !self.all.contains(id.0) {
            return None;
        }
        if let Some((channel, messages)) = self.channels.iter().find(|(_, found)| found.ids.contains(id.0)) {
            let (topic, _) = messages.topics.iter().find(|(_, topic)| topic.ids.contains(id.0))?;
            return Some(Location::Topic(*channel, topic.clone()));
        }
        let (recipient, _) = self.directs.iter().find(|(_, ids)| ids.contains(id.0))?;
        Some(Location::Direct(*recipient))
    }

    /// The topic of a channel.
    pub fn topic(&self, channel: ChannelId, topic: &TopicKey) -> Option<&TopicMessages> {
        self.channels.get(&channel)?.topics.get(topic)
    }

    /// How many messages of a channel were sent on the day of `since` or later.
    pub fn count_in_channel_since(&self, channel: ChannelId, since: Timestamp) -> u64 {
        let first = self.days.range(since.0 / DAY_MILLIS..).next();
        match (self.channels.get(&channel), first) {
            (Some(messages), Some((_, first))) => messages.ids.range_cardinality(first.0..),
            _ => 0,
        }
    }

    /// The oldest message of a channel.
    pub fn first_in_channel(&self, channel: ChannelId) -> Option<MessageId> {
        self.channels.get(&channel)?.ids.min().map(MessageId)
    }
}

/// Removes messages from one set, and the set if it is empty then. Returns the messages that were in it.
fn remove_from_one<K: Eq + std::hash::Hash>(
    sets: &mut HashMap<K, RoaringBitmap>,
    key: &K,
    ids: &RoaringBitmap,
) -> RoaringBitmap {
    let Some(set) = sets.get_mut(key) else { return RoaringBitmap::new() };
    let here = &*set & ids;
    *set -= &here;
    if set.is_empty() {
        sets.remove(key);
    }
    here
}

fn remove_from_each<K: Eq + std::hash::Hash>(sets: &mut HashMap<K, RoaringBitmap>, ids: &RoaringBitmap) {
    sets.retain(|_, set| {
        if !set.is_disjoint(ids) {
            *set -= ids;
        }
        !set.is_empty()
    });
}

/// The day since 1970 (UTC) of a time.
pub(super) fn day_of(sent: Timestamp) -> u32 {
    (sent.0 / DAY_MILLIS) as u32
}
