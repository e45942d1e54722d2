//! What is true, in as few words as the specification allows: who is in which channel, which message is where, who has
//! a row for it with which flags, and who set what for which topic. How the server does it is not looked at.

use std::collections::{BTreeMap, BTreeSet};

/// Somebody, by their place in [`PEOPLE`].
pub type Who = usize;
/// A channel, by the order of creation.
pub type ChannelIndex = usize;

/// The first one is subscribed to every channel and stays so: what nobody sees cannot be compared.
pub const PEOPLE: [(&str, &str, Role); 6] = [
    ("desdemona", "Desdemona", Role::Administrator),
    ("iago", "Iago", Role::Administrator),
    ("shiva", "Shiva", Role::Member),
    ("hamlet", "King Hamlet", Role::Member),
    ("cordelia", "Cordelia, Lear's daughter", Role::Member),
    ("polonius", "Polonius", Role::Guest),
];

/// As far as the rules here tell roles apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Administrator,
    Member,
    Guest,
}

/// Who reads a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    Public,
    /// Private; whoever comes sees what was before.
    Shared,
    /// Private; nobody sees what was before them.
    Protected,
}

/// The flags of a row.
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
    /// Subscribers for whom it is muted.
    pub muted: BTreeSet<Who>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Topic(ChannelIndex, String),
    Direct(BTreeSet<Who>),
}

#[derive(Clone, Debug)]
pub struct Message {
    /// None: the notification bot.
    pub sender: Option<Who>,
    pub place: Place,
    /// None: a notice, whose words others test.
    pub content: Option<String>,
    pub rows: BTreeMap<Who, u8>,
    /// In seconds of the server's clock since the beginning.
    pub sent_secs: u64,
    pub is_resolve_notice: bool,
}

#[derive(Clone, Debug, Default)]
pub struct State {
    pub channels: Vec<Channel>,
    pub messages: BTreeMap<u64, Message>,
    /// By the topic in small letters. No entry: inherit.
    pub policies: BTreeMap<(Who, ChannelIndex, String), u8>,
    pub now_secs: u64,
}

pub fn role(who: Who) -> Role {
    PEOPLE[who].2
}

/// What a topic is told apart by.
pub fn key(topic: &str) -> String {
    topic.to_lowercase()
}

pub const RESOLVED: &str = "✔ ";

/// Whether a new name only sets or takes away the mark of resolved topics.
pub fn is_toggle(old: &str, new: &str) -> bool {
    new.strip_prefix(RESOLVED) == Some(old)
        || (old.starts_with(RESOLVED) && old.trim_start_matches(['✔', ' ']) == new)
}

impl State {
    pub fn is_in(&self, who: Who, channel: ChannelIndex) -> bool {
        self.channels[channel].subscribers.contains(&who)
    }

    /// Content access (endpoints 0.1).
    pub fn has_content(&self, who: Who, channel: ChannelIndex) -> bool {
        let is_public = self.channels[channel].privacy == Privacy::Public;
        self.is_in(who, channel) || (is_public && role(who) != Role::Guest)
    }

    /// Message access (endpoints 0.1).
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

    /// Whether it is in a public channel.
    pub fn is_public(&self, id: u64) -> bool {
        let is_public = |channel: ChannelIndex| self.channels[channel].privacy == Privacy::Public;
        matches!(&self.messages[&id].place, Place::Topic(channel, _) if is_public(*channel))
    }

    /// What a reader sees: the flags of the row, or those of a message that was never delivered.
    pub fn flags(&self, who: Who, id: u64) -> u8 {
        self.messages[&id].rows.get(&who).copied().unwrap_or(READ | HISTORICAL)
    }

    /// The ids of a topic, in order.
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

    /// Who is told when something is done to a message (events 1, "access set").
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

    /// Unread messages that count: direct ones, and those of channels one is in.
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
