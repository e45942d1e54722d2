//! Facts by what they change in the directory.

use super::{ChannelFact, Fact, GroupFact, RealmFact, SubscriptionFact, UserFact};
use crate::channel::{Channel, ChannelFolder};
use crate::direct::DirectConversation;
use crate::group::UserGroup;
use crate::ids::{ChannelId, GroupId, MessageId, UserId};
use crate::picture::PictureFact;
use crate::realm::Realm;
use crate::subscription::Subscription;
use crate::user::User;

/// A change of records that decisions and events of other records depend on. [`Fact::directory_change`] is the one place
/// that lists the facts without such a change; code that follows, undoes or waits for changes matches this instead.
#[derive(Clone, Copy, Debug)]
pub enum DirectoryChange<'f> {
    Realm(&'f Realm),
    User {
        user: &'f User,
        is_new: bool,
    },
    Account {
        user: UserId,
        is_active: bool,
        last: MessageId,
    },
    Group {
        group: &'f UserGroup,
        is_new: bool,
    },
    Members {
        group: GroupId,
        added: &'f [UserId],
        removed: &'f [UserId],
    },
    Channel {
        channel: &'f Channel,
        is_new: bool,
    },
    Activity {
        channel: ChannelId,
        is_recently_active: bool,
    },
    /// The channels that new users are subscribed to.
    DefaultChannels(&'f [ChannelId]),
    Folder(&'f ChannelFolder),
    Subscribed {
        channel: ChannelId,
        subscribers: &'f [(UserId, Subscription)],
    },
    Unsubscribed {
        channel: ChannelId,
        last: MessageId,
        users: &'f [UserId],
    },
    Subscription {
        user: UserId,
        channel: ChannelId,
        subscription: &'f Subscription,
    },
    Direct(&'f DirectConversation),
    Picture(&'f PictureFact),
}

impl Fact {
    /// What the fact changes in the directory; none for facts about messages, personal records and queues, and for
    /// lists of the organization that nothing else depends on.
    pub fn directory_change(&self) -> Option<DirectoryChange<'_>> {
        use DirectoryChange as Change;
        Some(match self {
            Self::Realm(RealmFact::Changed(realm)) => Change::Realm(realm),
            Self::User(UserFact::Created(user)) => Change::User { user, is_new: true },
            Self::User(UserFact::Changed(user)) => Change::User { user, is_new: false },
            Self::User(UserFact::ActiveSet { user, is_active, last, .. }) => {
                Change::Account { user: *user, is_active: *is_active, last: *last }
            }
            Self::Group(GroupFact::Created(group)) => Change::Group { group, is_new: true },
            Self::Group(GroupFact::Changed(group)) => Change::Group { group, is_new: false },
            Self::Group(GroupFact::MembersChanged { group, added, removed }) => {
                Change::Members { group: *group, added, removed }
            }
            Self::Channel(ChannelFact::Created(channel)) => Change::Channel { channel, is_new: true },
            Self::Channel(ChannelFact::Changed(channel)) => Change::Channel { channel, is_new: false },
            Self::Channel(ChannelFact::ActivityChanged { channel, is_recently_active }) => {
                Change::Activity { channel: *channel, is_recently_active: *is_recently_active }
            }
            Self::Channel(ChannelFact::DefaultsChanged(channels)) => Change::DefaultChannels(channels),
            Self::Channel(ChannelFact::FolderChanged(folder)) => Change::Folder(folder),
            Self::Subscription(fact) => return fact.directory_change(),
            Self::Message(fact) => Change::Direct(fact.created_conversation()?),
            Self::Picture(fact) => Change::Picture(fact),
            Self::Realm(
                RealmFact::Created(_)
                | RealmFact::ProfileFieldsChanged(_)
                | RealmFact::DomainSet { .. }
                | RealmFact::LinkifiersChanged(_)
                | RealmFact::PlaygroundsChanged(_)
                | RealmFact::ExportsChanged(_),
            )
            | Self::User(
                UserFact::VisibilityChanged { .. }
                | UserFact::ProfileValuesSet { .. }
                | UserFact::DataErased { .. }
                | UserFact::SettingsRestated { .. }
                | UserFact::BotConfigured { .. }
                | UserFact::BotIntegrationSet { .. },
            )
            | Self::Channel(
                ChannelFact::FoldersReordered(_)
                | ChannelFact::DefaultGroupsChanged(_)
                | ChannelFact::ReadingPending { .. },
            )
            | Self::Personal(_)
            | Self::Queue(_)
            | Self::Job(_)
            | Self::Push(_)
            | Self::Invitation(_)
            | Self::PreImages(_)
            | Self::Audit(_)
            | Self::Attachment(_) => return None,
        })
    }
}

impl SubscriptionFact {
    fn directory_change(&self) -> Option<DirectoryChange<'_>> {
        Some(match self {
            Self::Added { channel, subscribers, .. } => {
                DirectoryChange::Subscribed { channel: *channel, subscribers }
            }
            Self::Removed { channel, last, users, .. } => {
                DirectoryChange::Unsubscribed { channel: *channel, last: *last, users }
            }
            Self::Changed { user, channel, subscription } => {
                DirectoryChange::Subscription { user: *user, channel: *channel, subscription }
            }
            Self::Restated { .. } | Self::TopicPolicySet { .. } | Self::TopicPoliciesImported { .. } => {
                return None;
            }
        })
    }
}
