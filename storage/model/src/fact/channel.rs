//! Facts about channels, their folders, and the channels that new users are subscribed to.

use super::bounds::EVENTS_OF_RECORD;
use crate::channel::{Channel, ChannelFolder};
use crate::ids::{ChannelId, FolderId};
use crate::lists::{DefaultChannelGroup, Listed};
use serde::{Deserialize, Serialize};

/// A change of a channel or of a folder of channels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChannelFact {
    /// A channel was created.
    Created(Box<Channel>),
    /// A channel's record is now this, archiving and unarchiving included. Only `is_recently_active` stays as it is:
    /// that is [`ChannelFact::ActivityChanged`].
    Changed(Box<Channel>),
    /// A message was sent to an inactive channel, or a channel had no message for a long time.
    ActivityChanged { channel: ChannelId, is_recently_active: bool },
    /// The channels that new users are subscribed to are now these.
    DefaultsChanged(Vec<ChannelId>),
    /// A folder of channels was created, or its record is now this.
    FolderChanged(Box<ChannelFolder>),
    /// All folders, in their new order.
    FoldersReordered(Vec<FolderId>),
    /// The groups of default channels are now these.
    DefaultGroupsChanged(Box<Listed<DefaultChannelGroup>>),
    /// The messages of a channel that was archived are to be marked as read in the frames that follow, or all are. What users mark
    /// as unread afterwards stays unread.
    ReadingPending { channel: ChannelId, is_pending: bool },
}

impl ChannelFact {
    /// An upper bound of the number of events of this fact.
    pub fn events_max(&self) -> u64 {
        match self {
            // One for each property, and those for users who gain or lose it with its privacy.
            Self::Changed(_) => EVENTS_OF_RECORD,
            Self::Created(_)
            | Self::ActivityChanged { .. }
            | Self::DefaultsChanged(_)
            | Self::FolderChanged(_)
            | Self::FoldersReordered(_)
            | Self::DefaultGroupsChanged(_) => 1,
            Self::ReadingPending { .. } => 0,
        }
    }
}
