//! The state of the model: subscriptions, messages and their conversations, rows with flags, and topic policies. It
//! does not depend on how the server stores them.

use std::collections::{BTreeMap, BTreeSet};

/// A user, as an index into [`PEOPLE`].
pub type Who = usize;
/// A channel, in order of creation.
pub type ChannelIndex = usize;

/// The first user stays subscribed to every channel, because a channel that no user sees cannot be compared.
pub const PEOPLE: [(&str, &str, Role); 6] = [
    ("desdemona", "Desdemona", Role::Administrator),
    ("iago", "Iago", Role::Administrator),
    ("shiva", "Shiva", Role::Member),
    ("hamlet", "King Hamlet", Role::Member),
    ("cordelia", "Cordelia, Lear's daughter", Role::Member),
    ("polonius", "Polonius", Role::Guest),
];

/// The roles that the rules distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Administrator,
    Member,
    Guest,
}

/// The access to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    Public,
    /// Private with shared history.
    Shared,
    /// Private with protected history.
    Protected,
}

/// The flags of a row, as bits.
pub const READ: u8 = 1;
pub const STARRED: u8 = 2;
pub const MENTIONED: u8 = 4;
pub const HISTORICAL: u8 = 8;

pub const INHERIT: u8 = 0;
pub const MUTED: u8 = 1;
pub const UNMUTED: u8 = 2;
pub const FOLLOWED: u8 = 3;

#[derive(Clone, Debug)]
pub struct Channel {
    pub privacy: Privacy,
    pub subscribers: BTreeSet<Who>,
    /// Subscribers who muted the channel.
    pub muted: BTreeSet<Who>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Topic(ChannelIndex, String),
    Direct(BTreeSet<Who>),
}

#[derive(Clone, Debug)]
pub struct Message {
    /// None for the notification bot.
    pub sender: Option<Who>,
    pub place: Place,
    /// None for a notice, whose text other tests compare.
    pub content: Option<String>,
    pub rows: BTreeMap<Who, u8>,
    /// Seconds of the server's clock since the start.
    pub sent_secs: u64,
    pub is_resolve_notice: bool,
}

#[derive(Clone, Debug, Default)]
pub struct State {
    pub channels: Vec<Channel>,
    pub messages: BTreeMap<u64, Message>,
    /// By lower-case topic. No entry means inherit.
    pub policies: BTreeMap<(Who, ChannelIndex, String), u8>,
    pub now_secs: u64,
}

pub fn role(who: Who) -> Role {
    PEOPLE[who].2
}

/// The key of a topic: its lower-case name.
pub fn key(topic: &str) -> String {
    topic.to_lowercase()
}

pub const RESOLVED: &str = "✔ ";

/// Whether a rename only adds or removes the prefix of resolved topics.
pub fn is_toggle(old: &str, new: &str) -> bool {
    new.strip_prefix(RESOLVED) == Some(old)
        || (old.starts_with(RESOLVED) && old.trim_start_matches(['✔', ' ']) == new)
}

impl State {
    pub fn is_in(&self, who: Who, channel: ChannelIndex) -> bool {
        self.channels[channel].subscribers.contains(&who)
    }

    /// Whether a user has access to the channel's content.
    pub fn has_content(&self, who: Who, channel: ChannelIndex) -> bool {
        let is_public = self.channels[channel].privacy == Privacy::Public;
        self.is_in(who, channel) || (is_public && role(who) != Role::Guest)
    }

    /// Whether a user has access to the channel's metadata; without it, the channel is unknown to them.
    pub fn sees(&self, who: Who, channel: ChannelIndex) -> bool {
        role(who) == Role::Administrator || self.has_content(who, channel)
    }

    /// Whether a user has a policy for a topic of the channel, which can be removed without access.
    pub fn has_policy_in(&self, who: Who, channel: ChannelIndex) -> bool {
        self.policies.keys().any(|(of, at, _)| (*of, *at) == (who, channel))
    }

    /// Whether a user can read a message.
    pub fn reads(&self, who: Who, id: u64) -> bool {
        let Some(message) = self.messages.get(&id) else { return false };
        match &message.place {
            Place::Direct(_) => message.rows.contains_key(&who),
            Place::Topic(channel, _) => match self.channels[*channel].privacy {
                Privacy::Protected => self.is_in(who, *channel) && message.rows.contains_key(&who),
                _ => self.has_content(who, *channel),
            },
        }
    }

    /// Whether a message is in a public channel.
    pub fn is_public(&self, id: u64) -> bool {
        let is_public = |channel: ChannelIndex| self.channels[channel].privacy == Privacy::Public;
        matches!(&self.messages[&id].place, Place::Topic(channel, _) if is_public(*channel))
    }

    /// The flags that a reader sees: those of the row, or the defaults of a message without a row.
    pub fn flags(&self, who: Who, id: u64) -> u8 {
        self.messages[&id].rows.get(&who).copied().unwrap_or(READ | HISTORICAL)
    }

    /// The ids of a topic's messages, in order.
    pub fn topic(&self, channel: ChannelIndex, topic: &str) -> Vec<u64> {
        let wanted = key(topic);
        let is_in = |message: &Message| match &message.place {
            Place::Topic(at, name) => *at == channel && key(name) == wanted,
            Place::Direct(_) => false,
        };
        self.messages.iter().filter(|(_, message)| is_in(message)).map(|(id, _)| *id).collect()
    }

    pub fn policy(&self, who: Who, channel: ChannelIndex, topic: &str) -> u8 {
        self.policies.get(&(who, channel, key(topic))).copied().unwrap_or(INHERIT)
    }

    pub fn set_policy(&mut self, who: Who, channel: ChannelIndex, topic: &str, policy: u8) {
        let place = (who, channel, key(topic));
        match policy {
            INHERIT => self.policies.remove(&place),
            _ => self.policies.insert(place, policy),
        };
    }

    /// The users who get an event when a message changes.
    pub fn access_set(&self, id: u64) -> BTreeSet<Who> {
        let message = &self.messages[&id];
        let has_row = |who: &Who| message.rows.contains_key(who);
        let Place::Topic(channel, _) = &message.place else { return message.rows.keys().copied().collect() };
        let everybody = 0..PEOPLE.len();
        let is_in = |who: &Who| self.is_in(*who, *channel);
        match self.channels[*channel].privacy {
            Privacy::Public => {
                everybody.filter(|who| is_in(who) || (has_row(who) && role(*who) != Role::Guest)).collect()
            }
            Privacy::Shared => everybody.filter(is_in).collect(),
            Privacy::Protected => everybody.filter(|who| is_in(who) && has_row(who)).collect(),
        }
    }

    /// Unread messages that count: direct ones, and those of subscribed channels.
    pub fn unread(&self, who: Who) -> BTreeSet<u64> {
        let counts = |message: &Message| match &message.place {
            Place::Direct(_) => true,
            Place::Topic(channel, _) => self.is_in(who, *channel),
        };
        let is_unread = |message: &Message| message.rows.get(&who).is_some_and(|flags| flags & READ == 0);
        let all = self.messages.iter().filter(|(_, message)| is_unread(message) && counts(message));
        all.map(|(id, _)| *id).collect()
    }
}
