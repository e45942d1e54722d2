//! Lists of subscribers inside lists of channels: all of them, only some of large channels, or none.

use crate::api::shared::ChannelSource;
use crate::api::wire::channel::SubscriberLists;
use crate::api::wire::json::{push_field, push_name};
use crate::http::{ApiError, Envelope, Fields};
use actors::RealmHandle;
use model::{Channel, Directory, User, UserId};
use rules::permissions::channel::sees_subscribers;
use std::collections::BTreeSet;

/// `include_subscribers`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeSubscribers {
    /// `false`
    #[default]
    No,
    /// `true`
    All,
    /// `partial`: of large channels only those that clients need at once.
    Partial,
}

impl IncludeSubscribers {
    /// Reads the parameter; without it there are no lists. Error: not a boolean and not `partial`.
    pub fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        if matches!(fields.optional_str("include_subscribers"), Some("partial" | "\"partial\"")) {
            return Ok(Self::Partial);
        }
        Ok(if fields.bool_or("include_subscribers", false)? { Self::All } else { Self::No })
    }
}

/// Channels with fewer subscribers than this are always listed whole.
const LARGE_CHANNEL_SUBSCRIBERS: u32 = 250;

/// Gives the lists, as far as the reader may see them.
pub struct SubscriberSource<'a> {
    directory: &'a Directory,
    reader: Option<&'a User>,
    include: IncludeSubscribers,
    /// Who was here lately: those come first to people's minds.
    present: BTreeSet<UserId>,
}

/// The lists of one channel.
#[derive(Debug, Default)]
pub struct OwnedLists {
    all: Option<Vec<UserId>>,
    partial: Option<Vec<UserId>>,
}

/// What of a channel's subscribers is shown.
enum Shown {
    /// No list.
    Nothing,
    /// An empty list.
    Nobody,
    /// The whole list.
    All,
    /// Those that clients need at once.
    Prominent,
}

impl OwnedLists {
    /// As the encoder wants them.
    pub fn borrowed(&self) -> SubscriberLists<'_> {
        SubscriberLists { all: self.all.as_deref(), partial: self.partial.as_deref() }
    }
}

impl<'a> SubscriberSource<'a> {
    /// For one reader (none: without an account).
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

    /// Who subscribes to a channel; nobody where the reader must not know.
    pub fn of(&self, channel: &Channel) -> OwnedLists {
        match self.shown(channel) {
            Shown::Nothing => OwnedLists::default(),
            Shown::Nobody => OwnedLists { all: Some(Vec::new()), partial: None },
            Shown::All => {
                OwnedLists { all: Some(self.directory.subscriber_ids(channel.id).collect()), partial: None }
            }
            Shown::Prominent => OwnedLists { all: None, partial: Some(self.prominent(channel)) },
        }
    }

    /// Adds the list to an object that is being written; whole lists are those that other readers share.
    pub fn add_to(&self, envelope: &mut Envelope, channel: &Channel, channels: &ChannelSource) {
        match self.shown(channel) {
            Shown::Nothing => {}
            Shown::Nobody => push_field(envelope.buffer(), "subscribers", &[0; 0]),
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
            IncludeSubscribers::No => Shown::Nothing,
            // Those who are told of new peers: what they are told continues this list.
            _ if !self.reader.is_some_and(|reader| sees_subscribers(self.directory, reader, channel)) => {
                Shown::Nobody
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
