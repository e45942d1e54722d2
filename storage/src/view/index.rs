//! Which messages there are and where: compressed sets of message ids, so that a narrow is set algebra
//! and a million messages cost a few megabytes. Bodies are elsewhere.

use super::topic::{Spelled, TopicMessages};
use model::message::MessageTraits;
use model::{ChannelId, Flag, Flags, Message, MessageId, Place, RecipientId, Timestamp, TopicKey, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Milliseconds of a day.
const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// The part of a message that the index needs; an entry of `Table::MessageIndex`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageIndexRow {
    /// Who wrote it.
    pub sender: UserId,
    /// Whom it went to.
    pub recipient: RecipientId,
    /// Where it is.
    pub place: Place,
    /// What narrows ask for.
    pub traits: MessageTraits,
    /// When it was sent.
    pub sent: Timestamp,
    /// Who reacted, sorted, each once.
    pub reactors: Vec<UserId>,
    /// Flags of single users.
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
            reactors: reactors_of(message),
            user_flags: message.user_flags.clone(),
        }
    }
}

/// Messages of one channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelMessages {
    /// All of them.
    pub ids: RoaringBitmap,
    /// By topic.
    pub topics: HashMap<TopicKey, TopicMessages>,
}

/// Where a message is, as the index knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// In a topic of a channel.
    Topic(ChannelId, TopicKey),
    /// In a direct conversation.
    Direct(RecipientId),
}

/// What messages are to one user, where it differs from what follows from anything else.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserMessages {
    /// Read.
    pub read: RoaringBitmap,
    /// Starred.
    pub starred: RoaringBitmap,
    /// Collapsed.
    pub collapsed: RoaringBitmap,
    /// Flagged although never delivered.
    pub historical: RoaringBitmap,
    /// Mentioned by name or group.
    pub mentioned: RoaringBitmap,
    /// In a mentioned topic.
    pub topic_wildcard: RoaringBitmap,
    /// With an alert word.
    pub alerted: RoaringBitmap,
}

/// All messages of an organization.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageIndex {
    /// The newest id that was ever given out.
    pub last: MessageId,
    /// All messages.
    pub all: RoaringBitmap,
    /// Day since 1970 (UTC) → the first message that was sent on it, be it gone by now: where a stretch of days
    /// begins.
    pub days: BTreeMap<u64, MessageId>,
    /// By channel.
    pub channels: HashMap<ChannelId, ChannelMessages>,
    /// By direct conversation.
    pub directs: HashMap<RecipientId, RoaringBitmap>,
    /// By sender.
    pub senders: HashMap<UserId, RoaringBitmap>,
    /// With a link.
    pub with_link: RoaringBitmap,
    /// With an image.
    pub with_image: RoaringBitmap,
    /// With a file.
    pub with_attachment: RoaringBitmap,
    /// By those who reacted.
    pub reactors: HashMap<UserId, RoaringBitmap>,
    /// With a reaction.
    pub with_reaction: RoaringBitmap,
    /// That mention everybody they went to.
    pub channel_wildcard: RoaringBitmap,
    /// By user.
    pub users: HashMap<UserId, UserMessages>,
}

impl MessageIndex {
    /// Adds a message. The same message again changes nothing.
    pub fn add(&mut self, id: MessageId, row: &MessageIndexRow) {
        self.last = self.last.max(id);
        self.all.insert(id.0);
        match &row.place {
            Place::Channel { channel, topic } => {
                let messages = self.channels.entry(*channel).or_default();
                messages.ids.insert(id.0);
                messages.topics.entry(TopicKey::new(topic)).or_default().add(topic, id.0);
            }
            Place::Direct => {
                self.directs.entry(row.recipient).or_default().insert(id.0);
            }
        }
        self.senders.entry(row.sender).or_default().insert(id.0);
        self.add_traits(id, row);
        self.add_user_flags(id, row);
    }

    fn add_traits(&mut self, id: MessageId, row: &MessageIndexRow) {
        for (holds, set) in self.trait_sets(row) {
            if holds {
                set.insert(id.0);
            }
        }
        for user in &row.reactors {
            self.reactors.entry(*user).or_default().insert(id.0);
        }
    }

    /// Makes the sets say what a message's traits are after a change. Its place and who sent it never change with
    /// its own record.
    pub(super) fn change_traits(&mut self, id: MessageId, row: &MessageIndexRow) {
        for (holds, set) in self.trait_sets(row) {
            if holds {
                set.insert(id.0);
            } else {
                set.remove(id.0);
            }
        }
        self.reactors.retain(|_, ids| {
            ids.remove(id.0);
            !ids.is_empty()
        });
        for user in &row.reactors {
            self.reactors.entry(*user).or_default().insert(id.0);
        }
    }

    fn trait_sets(&mut self, row: &MessageIndexRow) -> [(bool, &mut RoaringBitmap); 5] {
        [
            (row.traits.has_link, &mut self.with_link),
            (row.traits.has_image, &mut self.with_image),
            (row.traits.has_attachment, &mut self.with_attachment),
            (!row.reactors.is_empty(), &mut self.with_reaction),
            (row.traits.channel_wildcard, &mut self.channel_wildcard),
        ]
    }

    /// Notes the day that a message was sent on. True when it is the first of its day.
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
            self.users.entry(row.sender).or_default().read.insert(id.0);
        }
        for (user, flags) in &row.user_flags {
            let messages = self.users.entry(*user).or_default();
            for flag in flags.iter() {
                if let Some(set) = messages.set_mut(flag) {
                    set.insert(id.0);
                }
            }
        }
    }

    /// Brings those of some messages that are in a topic elsewhere; without a new name each keeps its spelling.
    /// Returns which these are.
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

    /// Takes messages out of the topic that they are all in. What is empty afterwards disappears.
    fn take_from_topic(&mut self, channel: ChannelId, topic: &TopicKey, ids: &RoaringBitmap) -> Vec<Spelled> {
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

    /// Forgets messages. The newest id that was given out stays what it is.
    pub(super) fn remove(&mut self, ids: &RoaringBitmap) {
        self.remove_from_channels(ids);
        remove_from_each(&mut self.directs, ids);
        remove_from_each(&mut self.senders, ids);
        remove_from_each(&mut self.reactors, ids);
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
        self.remove_from_users(ids);
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

    /// Takes messages out of everything that is kept for single users.
    pub(super) fn remove_from_users(&mut self, ids: &RoaringBitmap) {
        self.users.retain(|_, mine| {
            for flag in Flag::ALL {
                if let Some(set) = mine.set_mut(flag)
                    && !set.is_disjoint(ids)
                {
                    *set -= ids;
                }
            }
            !mine.is_empty()
        });
    }

    /// Where a message is now; none when there is no such message. A walk over channels and the topics of one, for
    /// single questions.
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

/// Who reacted to a message, sorted, each once.
fn reactors_of(message: &Message) -> Vec<UserId> {
    let mut users: Vec<UserId> = message.reactions.iter().map(|reaction| reaction.user).collect();
    users.sort_unstable();
    users.dedup();
    users
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

impl UserMessages {
    /// Whether nothing is kept for the user.
    pub(super) fn is_empty(&self) -> bool {
        Flag::ALL.into_iter().filter_map(|flag| self.set(flag)).all(RoaringBitmap::is_empty)
    }

    /// Brings every set into its smallest form; what was read without a gap then costs next to nothing.
    pub(super) fn optimize(&mut self) {
        for flag in model::Flag::ALL {
            if let Some(set) = self.set_mut(flag) {
                set.optimize();
            }
        }
    }

    /// The set for a flag; none for flags that are not stored for single users.
    pub fn set(&self, flag: model::Flag) -> Option<&RoaringBitmap> {
        use model::Flag::*;
        match flag {
            Read => Some(&self.read),
            Starred => Some(&self.starred),
            Collapsed => Some(&self.collapsed),
            Mentioned => Some(&self.mentioned),
            TopicWildcardMentioned => Some(&self.topic_wildcard),
            HasAlertWord => Some(&self.alerted),
            Historical => Some(&self.historical),
            ChannelWildcardMentioned => None,
        }
    }

    /// The set for a flag, to be changed.
    pub fn set_mut(&mut self, flag: model::Flag) -> Option<&mut RoaringBitmap> {
        use model::Flag::*;
        match flag {
            Read => Some(&mut self.read),
            Starred => Some(&mut self.starred),
            Collapsed => Some(&mut self.collapsed),
            Mentioned => Some(&mut self.mentioned),
            TopicWildcardMentioned => Some(&mut self.topic_wildcard),
            HasAlertWord => Some(&mut self.alerted),
            Historical => Some(&mut self.historical),
            ChannelWildcardMentioned => None,
        }
    }
}
