//! Which messages there are and where: compressed sets of message ids, so that a narrow is set algebra
//! and a million messages cost a few megabytes. Bodies are elsewhere.

use model::message::MessageTraits;
use model::{ChannelId, Flags, Message, MessageId, Place, RecipientId, Timestamp, TopicKey, UserId};
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
    /// Whether anybody reacted.
    pub has_reaction: bool,
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
            has_reaction: !message.reactions.is_empty(),
            user_flags: message.user_flags.clone(),
        }
    }
}

/// Messages of one topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicMessages {
    /// As spelled on the newest message.
    pub name: String,
    /// Which.
    pub ids: RoaringBitmap,
}

/// Messages of one channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChannelMessages {
    /// All of them.
    pub ids: RoaringBitmap,
    /// By topic.
    pub topics: HashMap<TopicKey, TopicMessages>,
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
    /// Day since 1970 (UTC) → its first message: where a stretch of days begins.
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
        self.days.entry(row.sent.0 / DAY_MILLIS).and_modify(|first| *first = id.min(*first)).or_insert(id);
        match &row.place {
            Place::Channel { channel, topic } => {
                let messages = self.channels.entry(*channel).or_default();
                messages.ids.insert(id.0);
                let entry = messages.topics.entry(TopicKey::new(topic)).or_default();
                if entry.ids.max().is_none_or(|newest| newest <= id.0) && entry.name != *topic {
                    entry.name.clone_from(topic);
                }
                entry.ids.insert(id.0);
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
        let sets = [
            (row.traits.has_link, &mut self.with_link),
            (row.traits.has_image, &mut self.with_image),
            (row.traits.has_attachment, &mut self.with_attachment),
            (row.has_reaction, &mut self.with_reaction),
            (row.traits.channel_wildcard, &mut self.channel_wildcard),
        ];
        for (holds, set) in sets {
            if holds {
                set.insert(id.0);
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

impl UserMessages {
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
