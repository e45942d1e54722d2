//! Lists of subscribers in lists of channels: all, some for large channels, or none.

use crate::api::shared::ChannelSource;
use crate::api::wire::channel::SubscriberLists;
use crate::api::wire::json::{push_field, push_name};
use crate::http::{ApiError, Envelope, Fields, FromFields};
use actors::RealmHandle;
use model::{Channel, Directory, User, UserId};
use rules::permissions::channel::sees_subscribers;
use std::collections::BTreeSet;

/// The parameter `include_subscribers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeSubscribers {
    #[default]
    No,
    All,
    /// Of large channels only subscribers whom clients need at once.
    Partial,
}

/// Absent for no lists. Error: not a boolean and not `partial`.
impl FromFields for IncludeSubscribers {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        if matches!(fields.optional_str("include_subscribers"), Some("partial" | "\"partial\"")) {
            return Ok(Self::Partial);
        }
        Ok(if fields.bool_or("include_subscribers", false)? { Self::All } else { Self::No })
    }
}

/// Channels with fewer subscribers than this always have complete lists.
const LARGE_CHANNEL_SUBSCRIBERS: u32 = 250;

/// The lists of subscribers that a reader may see.
pub struct SubscriberSource<'a> {
    directory: &'a Directory,
    reader: Option<&'a User>,
    include: IncludeSubscribers,
    /// Users with a presence: those are likely to be mentioned.
    present: BTreeSet<UserId>,
}

/// The lists of one channel.
#[derive(Debug, Default)]
pub struct OwnedLists {
    all: Option<Vec<UserId>>,
    partial: Option<Vec<UserId>>,
}

/// The visible part of a channel's subscribers.
enum Shown {
    NoList,
    EmptyList,
    All,
    /// Those whom clients need at once.
    Prominent,
}

impl OwnedLists {
    /// The lists as borrowed slices.
    pub fn borrowed(&self) -> SubscriberLists<'_> {
        SubscriberLists { all: self.all.as_deref(), partial: self.partial.as_deref() }
    }
}

impl<'a> SubscriberSource<'a> {
    /// The lists for a reader (none: without an account).
    pub fn new(
        realm: &RealmHandle,
        directory: &'a Directory,
        reader: Option<&'a User>,
        include: IncludeSubscribers,
    ) -> Self {
        let present = match include {
            IncludeSubscribers::Partial => {
                realm.presences(None).0.into_iter().map(|(user, _)| user).collect()
            }
            _ => BTreeSet::new(),
        };
        Self { directory, reader, include, present }
    }

    /// The subscribers of a channel; an empty list if the reader may not see them.
    pub fn of(&self, channel: &Channel) -> OwnedLists {
        match self.shown(channel) {
            Shown::NoList => OwnedLists::default(),
            Shown::EmptyList => OwnedLists { all: Some(Vec::new()), partial: None },
            Shown::All => {
                OwnedLists { all: Some(self.directory.subscriber_ids(channel.id).collect()), partial: None }
            }
            Shown::Prominent => OwnedLists { all: None, partial: Some(self.prominent(channel)) },
        }
    }

    /// Adds the list to an object that is being written; complete lists are shared with other readers.
    pub fn add_to(&self, envelope: &mut Envelope, channel: &Channel, channels: &ChannelSource) {
        match self.shown(channel) {
            Shown::NoList => {}
            Shown::EmptyList => push_field(envelope.buffer(), "subscribers", &[0; 0]),
            Shown::All => {
                push_name(envelope.buffer(), "subscribers");
                envelope.splice(channels.subscribers(channel.id));
            }
            Shown::Prominent => {
                push_field(envelope.buffer(), "partial_subscribers", &self.prominent(channel))
            }
        }
    }

    fn shown(&self, channel: &Channel) -> Shown {
        let is_large = || self.directory.subscriber_count(channel.id) >= LARGE_CHANNEL_SUBSCRIBERS;
        match self.include {
            IncludeSubscribers::No => Shown::NoList,
            // The same condition as for events about new subscribers, which continue this list.
            _ if !self.reader.is_some_and(|reader| sees_subscribers(self.directory, reader, channel)) => {
                Shown::EmptyList
            }
            IncludeSubscribers::Partial if is_large() => Shown::Prominent,
            IncludeSubscribers::All | IncludeSubscribers::Partial => Shown::All,
        }
    }

    fn prominent(&self, channel: &Channel) -> Vec<UserId> {
        self.directory.subscriber_ids(channel.id).filter(|user| self.is_prominent(*user)).collect()
    }

    fn is_prominent(&self, user: UserId) -> bool {
        self.reader.is_some_and(|reader| reader.id == user)
            || self.present.contains(&user)
            || self.directory.user(user).is_some_and(|user| user.is_bot())
    }
}
