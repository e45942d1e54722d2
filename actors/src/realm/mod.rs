//! The organization's actor: accounts, channels, flags, event queues, typing and presence.
//!
//! `state` has the uncommitted queues; `actor` is the shell around it. The other files are the commands by family: in their
//! fields `by` is the requester and `user` the account that changes; ids, names and texts are as sent.

mod account_permissions;
mod accounts;
mod actor;
mod address;
mod alert_words;
mod attachments;
mod bot_storage;
mod bots;
mod channels;
mod commands;
mod default_groups;
mod drafts;
mod event_queues;
mod expiry;
mod exports;
mod folders;
mod frame_draft;
mod groups;
mod histories;
mod invitations;
mod joining;
mod left_behind;
mod lifecycle;
mod lists;
mod muting;
mod navigation;
mod onboarding;
mod operator;
mod pictures;
mod profiles;
mod push;
mod reset;
mod resuming;
mod scheduled;
mod serialized;
mod sessions;
mod settings;
mod signing_up;
mod snippets;
mod statuses;
mod subscribing;
mod sweep;
#[cfg(test)]
pub(crate) mod testing;
mod wall_clock;
mod web_sessions;

pub use account_permissions::SetAccountPermission;
pub use accounts::{DeactivateAccount, ReactivateAccount, RegenerateKey, UpdateAccount};
#[cfg(feature = "cluster")]
pub(crate) use actor::Leave;
pub use actor::RealmActor;
pub(crate) use address::address_changed;
pub use address::{ConfirmAddress, NoteLogin};
pub use alert_words::ChangeAlertWords;
pub use attachments::{AddAttachment, RemoveAttachment};
pub use bot_storage::{RemoveBotStorage, SetBotStorage};
pub use bots::{BotDefaults, BotUpdate, CreateBot, DeactivateBot, NewBot, RenewBotKey, UpdateBot};
pub(crate) use channels::{ArchiveChannel, ReadArchived};
pub use channels::{SetDefaultChannel, UpdateChannel};
pub use commands::{
    ChangeFlags, EndQueue, ExpireNow, ExpireQueues, NewUser, OpenChannel, OpenDirect, RegisterQueue,
    RegisteredQueue, ReportPresence, ResetRealm, ResumeQueue, Type,
};
pub use default_groups::ChangeDefaultGroups;
pub use drafts::{CreateDrafts, DeleteDraft, UpdateDraft};
pub use exports::{DeleteExport, FailPendingExports, FinishExport, RequestExport};
pub use folders::{CreateFolder, FolderDescription, ReorderFolders, UpdateFolder};
pub use groups::{ChangeGroupMembers, ChangeSubgroups, CreateGroup, DeactivateGroup, UpdateGroup};
pub(crate) use histories::EraseHistories;
pub use invitations::{CreateReusableInvitation, ResendInvitation, RevokeInvitation, SendInvitations};
pub use joining::{AcceptInvitation, CreateUser, Joining};
pub(crate) use joining::{join_groups, new_user};
pub use lifecycle::SetRealmActive;
pub use lists::{ChangeDomains, ChangeLinkifiers, ChangePlaygrounds, LinkifiersChange, PlaygroundsChange};
pub(crate) use muting::MuteUser;
pub use muting::UnmuteUser;
pub use navigation::{CreateView, DeleteView, UpdateView};
pub use onboarding::MarkOnboardingStep;
pub use operator::{
    DropJob, OperatorDeleteAccount, OperatorEndSessions, OperatorSetActive, OperatorSetPassword,
    OperatorSetRole, RetryJob,
};
pub use pictures::{AddEmoji, EmojiFiles, RemoveEmoji, SetAvatar, SetRealmPicture};
pub use profiles::{
    ChangeProfileFields, CreateProfileField, FieldsChange, RemoveProfileValues, SetProfileValues,
};
pub use push::{
    AddPushToken, ForgetPushTokens, NewPushDevice, RegisterPushDevice, RemovePushToken, SetPushDeviceStatus,
};
pub(crate) use scheduled::{ClaimDue, Claimed, FailScheduled, scheduled_ended};
pub use scheduled::{DeleteScheduled, ScheduleMessage, UpdateScheduled};
pub use serialized::SerializedCommand;
pub(crate) use serialized::{DecisionContext, Serialized};
pub use settings::{NewPassword, OwnChanges, UpdateOwnUser, UpdateRealm, UpdateUserDefaults};
pub use signing_up::{RequestSignUp, SignUp};
pub use snippets::{CreateSnippet, DeleteSnippet, UpdateSnippet};
pub use statuses::{SetStatus, WantedStatus};
pub(crate) use subscribing::Progress;
pub use subscribing::{AddSubscriptions, Added, BULK_NOTICE_RECIPIENTS_MAX, CreateChannel};
pub(crate) use sweep::delete_sent_by;
pub(crate) use wall_clock::WallClockSteps;
pub(crate) use web_sessions::EndAllWebSessions;
pub use web_sessions::{
    EndWebSessions, EndedSessions, RequestPasswordReset, ResetPassword, SendFoundAccounts, StartWebSession,
    UseWebSession,
};
