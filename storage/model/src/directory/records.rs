//! Records of the directory by family, with the indexes over them.

use crate::attachment::Attachment;
use crate::bot::BotIntegration;
use crate::ids::{
    AttachmentId, ChannelId, DraftId, InvitationId, MessageId, SavedSnippetId, ScheduledMessageId, UserId,
};
use crate::invitation::Invitation;
use crate::personal::{NavigationView, UserStatus};
use crate::picture::{RealmEmoji, RealmPictures};
use crate::push::{PendingMail, PushDevice, PushToken};
use crate::ranges::UserRanges;
use crate::texts::{SavedDraft, SavedSnippet, ScheduledMessage};
use crate::time::Timestamp;
use crate::topic::{TopicKey, VisibilityPolicy};
use crate::web_session::{WebSession, WebSessionKey};
use imbl::{HashMap, OrdMap, OrdSet};
use std::sync::Arc;

/// Sets a user's list; an empty one removes the record.
pub(super) fn put_list<T: Clone>(lists: &mut OrdMap<UserId, Arc<[T]>>, user: UserId, list: Vec<T>) {
    if list.is_empty() {
        lists.remove(&user);
    } else {
        lists.insert(user, list.into());
    }
}
/// Texts that users keep, by owner and id.
pub(super) type Texts<I, T> = OrdMap<(UserId, I), Arc<T>>;

/// Personal records of users besides their accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PersonalRecords {
    pub(super) alert_words: OrdMap<UserId, Arc<[String]>>,
    /// The users of each alert word, as texts are searched for it: looked up for each message.
    pub(super) alert_word_users: OrdMap<Arc<str>, OrdSet<UserId>>,
    pub(super) statuses: OrdMap<UserId, Arc<UserStatus>>,
    /// Time of muting by (muting user, muted user).
    pub(super) muted_users: OrdMap<(UserId, UserId), Timestamp>,
    /// Muting users by muted user: looked up for each message.
    pub(super) muters: OrdMap<UserId, OrdSet<UserId>>,
    pub(super) navigation_views: OrdMap<(UserId, String), Arc<NavigationView>>,
    /// Names of the onboarding steps that a user has seen.
    pub(super) onboarding_steps: OrdMap<UserId, Arc<[String]>>,
    pub(super) bot_storage: StorageRecords,
    /// The newest id by kind of text.
    pub(super) last_text_ids: OrdMap<u32, u32>,
    pub(super) saved_snippets: Texts<SavedSnippetId, SavedSnippet>,
    pub(super) drafts: Texts<DraftId, SavedDraft>,
    pub(super) scheduled: Texts<ScheduledMessageId, ScheduledMessage>,
    /// Those that are to be sent, by time: looked at several times a second.
    pub(super) scheduled_by_due: OrdSet<(Timestamp, UserId, ScheduledMessageId)>,
    pub(super) web_sessions: OrdMap<(UserId, WebSessionKey), Arc<WebSession>>,
    /// The user of each web session: looked up for each request with one.
    pub(super) web_session_users: HashMap<WebSessionKey, UserId>,
}

/// Invitations, with the indexes of those that are not over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InvitationRecords {
    /// In all states.
    pub(super) all: OrdMap<InvitationId, Arc<Invitation>>,
    /// Those that are neither used nor revoked.
    pub(super) pending: OrdSet<InvitationId>,
    /// Those of them that are not recorded as expired: visited once a minute.
    pub(super) unexpired: OrdSet<InvitationId>,
}

/// What incoming webhook bots are for, with the size that its limit needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IntegrationRecords {
    pub(super) by_bot: OrdMap<UserId, Arc<BotIntegration>>,
    /// Bytes of all keys and values.
    pub(super) bytes: usize,
}

/// What accounts store under keys, with the sizes that its limits need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StorageRecords {
    pub(super) entries: OrdMap<(UserId, String), Arc<str>>,
    pub(super) usage: OrdMap<UserId, StorageUsage>,
    /// Bytes of all keys and values.
    pub(super) bytes: usize,
}

/// The size of what one account stores under keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageUsage {
    /// Characters of keys and values.
    pub chars: usize,
    /// Number of keys.
    pub entries: usize,
}

/// Pictures and custom emoji of the organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PictureRecords {
    pub(super) avatars: OrdMap<UserId, Arc<str>>,
    pub(super) realm: Arc<RealmPictures>,
    pub(super) emoji: OrdMap<u32, Arc<RealmEmoji>>,
    /// Active emoji: looked up for each `:name:` in a text.
    pub(super) emoji_by_name: HashMap<String, u32>,
}

/// Uploaded files, with the indexes and sums over them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AttachmentRecords {
    pub(super) files: OrdMap<AttachmentId, Arc<Attachment>>,
    /// Looked up for each link to a file in a text.
    pub(super) by_path: OrdMap<Arc<str>, AttachmentId>,
    pub(super) by_owner: OrdMap<UserId, OrdSet<AttachmentId>>,
    /// Files that no message names, by the time since when.
    pub(super) unclaimed: OrdSet<(Timestamp, AttachmentId)>,
    /// Bytes of all files.
    pub(super) bytes: u64,
    pub(super) last: AttachmentId,
}

/// The state of notifications in the organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PushRecords {
    pub(super) tokens: OrdMap<UserId, Arc<[PushToken]>>,
    pub(super) devices: OrdMap<UserId, Arc<[PushDevice]>>,
    pub(super) shown: OrdMap<UserId, Arc<[MessageId]>>,
    pub(super) notification_cursor: Option<MessageId>,
    /// Pending e-mails about missed messages; `missed_by_due` indexes them by due time.
    pub(super) missed: OrdMap<UserId, Arc<PendingMail>>,
    pub(super) missed_by_due: OrdSet<(Timestamp, UserId)>,
    /// Messages that many missed, by due time.
    pub(super) missed_by_many: OrdMap<(Timestamp, MessageId), Arc<UserRanges>>,
    /// Policies by topic: looked up for each message.
    pub(super) policies: HashMap<ChannelId, HashMap<TopicKey, OrdMap<UserId, VisibilityPolicy>>>,
    /// Users who are notified of every message, by channel.
    pub(super) notification_candidates: HashMap<ChannelId, OrdSet<UserId>>,
    /// Users who are notified of every message in all of their channels.
    pub(super) candidates_everywhere: OrdSet<UserId>,
}
