//! Typed ids. Each counts up from 1 within one organization, in the order of its log.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($raw:ty);)*) => {$(
        $(#[$doc])*
        /// Ids are ordered by creation.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $raw);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $name {
            /// The id after this one; the last one stays itself, so that none begins again at 0.
            pub fn next(self) -> Self {
                Self(self.0.saturating_add(1))
            }
        }
    )*};
}

ids! {
    /// An organization on this server.
    RealmId(u32);
    /// A person or bot of an organization.
    UserId(u32);
    /// A channel (`stream` on the wire).
    ChannelId(u32);
    /// A user group, system groups included.
    GroupId(u32);
    /// A folder of channels.
    FolderId(u32);
    /// An invitation, of one address or reusable.
    InvitationId(u32);
    /// A custom profile field.
    ProfileFieldId(u32);
    /// A saved snippet of a user.
    SavedSnippetId(u32);
    /// A draft of a user.
    DraftId(u32);
    /// A scheduled message or a reminder of a user.
    ScheduledMessageId(u32);
    /// An uploaded file.
    AttachmentId(u32);
    /// A set of recipients: one for each channel and each direct conversation.
    RecipientId(u32);
    /// A message. 32 bits are four billion messages for each organization; the sequencer refuses more.
    MessageId(u32);
    /// A pending delivery: its frame and the position of the fact in it (see `job`).
    JobId(u64);
    /// The position of a frame in its organization's log: 1, 2, 3 … without gaps.
    Sequence(u64);
    /// The event id of the API, by organization. Increasing, with gaps.
    EventNumber(u64);
}

impl MessageId {
    /// Less than the id of every message.
    pub const ZERO: Self = Self(0);
}

/// The name of an event queue, as returned to the client that registered it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QueueId(pub Arc<str>);

impl fmt::Display for QueueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
