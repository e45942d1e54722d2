//! Lists of subscribers inside lists of channels: all of them, only some of large channels, or none.

use crate::api::wire::channel::SubscriberLists;
use crate::http::{ApiError, Fields};
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
        if self.include == IncludeSubscribers::No {
            return OwnedLists::default();
        }
        // Those who are told of new peers: what they are told continues this list.
        if !self.reader.is_some_and(|reader| sees_subscribers(self.directory, reader, channel)) {
            return OwnedLists { all: Some(Vec::new()), partial: None };
        }
        let subscribers = self.directory.subscriber_ids(channel.id);
        let is_large = self.directory.subscriber_count(channel.id) >= LARGE_CHANNEL_SUBSCRIBERS;
        if self.include == IncludeSubscribers::All || !is_large {
            return OwnedLists { all: Some(subscribers.collect()), partial: None };
        }
        OwnedLists { all: None, partial: Some(subscribers.filter(|user| self.is_prominent(*user)).collect()) }
    }

    fn is_prominent(&self, user: UserId) -> bool {
        self.reader.is_some_and(|reader| reader.id == user)
            || self.present.contains(&user)
            || self.directory.user(user).is_some_and(|user| user.is_bot())
    }
}
