//! The data model of Millstream: typed ids, records, facts, events and the directory of an organization.
//!
//! Nothing here does I/O, reads a clock or knows HTTP. Decisions are in `rules`, durable state in `storage`, and the
//! order of commands in `actors`.

pub mod attachment;
pub mod audit;
pub mod blank;
pub mod bot;
pub mod channel;
pub mod direct;
pub mod directory;
mod edit_entry;
pub mod event;
pub mod event_kind;
pub mod export;
pub mod fact;
pub mod flags;
pub mod group;
pub mod history;
pub mod ids;
pub mod invitation;
pub mod job;
pub mod lists;
pub mod message;
pub mod personal;
pub mod picture;
pub mod profile_field;
pub mod push;
pub mod queue;
pub mod ranges;
pub mod realm;
pub mod redacted;
pub mod setting;
pub mod subscription;
pub mod texts;
pub mod time;
pub mod topic;
pub mod user;
pub mod web_session;

pub use attachment::{Attachment, AttachmentFact, AttachmentUse, ImageInfo, ListedAttachment};
pub use audit::{
    ActionKind, AuditAction, AuditEntry, PropertyChange, RecordedAuditEntry, RequestOrigin, Subject,
};
pub use bot::{BotConfig, BotIntegration, WebhookInterface, WebhookService};
pub use channel::{Channel, ChannelFolder, ChannelPermissions, TopicsPolicy};
pub use direct::DirectConversation;
pub use directory::{Directory, StorageUsage, UserIdentity};
pub use edit_entry::EditEntry;
pub use event::{Audience, Event, EventBody};
pub use event_kind::{EventKind, EventKinds};
pub use fact::{
    ChannelFact, Fact, Frame, GroupFact, JobFact, MessageFact, PersonalFact, QueueFact, RealmFact,
    RemainingReactions, SubscriptionFact, UserFact,
};
pub use flags::{Flag, FlagOp, Flags};
pub use group::{GroupSetting, UserGroup};
pub use history::{HistoryBound, MessageVersion};
pub use ids::{
    AttachmentId, ChannelId, DraftId, EventNumber, FolderId, GroupId, InvitationId, JobId, MessageId,
    ProfileFieldId, QueueId, RealmId, RecipientId, SavedSnippetId, ScheduledMessageId, Sequence, UserId,
};
pub use invitation::{Invitation, InvitationFact, InvitationState};
pub use lists::{
    DefaultChannelGroup, DomainOp, LinkifierRecord, Listed, Playground, RealmDomain, RealmLists,
};
pub use message::{ConversationId, Message, Place, PropagateMode, Reaction, Submessage, TopicLink};
pub use personal::{NamedStatus, NavigationView, StatusEmoji, UserStatus};
pub use profile_field::{FieldKind, ProfileField, ProfileFields, ProfileValue};
pub use queue::{ClientCapabilities, QueueOptions, QueueRecord};
pub use ranges::{MessageRanges, UserRanges};
pub use realm::{Realm, USER_DEFAULT_PREFIX};
pub use setting::{SettingValue, Settings};
pub use subscription::{Subscription, SubscriptionSpan};
pub use texts::{DraftTo, Reminder, SavedDraft, SavedSnippet, ScheduledMessage, ScheduledTo, TextKind};
pub use time::Timestamp;
pub use topic::{TopicKey, UserTopic, VisibilityPolicy};
pub use user::{Bot, BotKind, Role, User};
pub use web_session::{WebSession, WebSessionFact, WebSessionKey};
