//! The organization's actor: people, channels as such, flags, queues, and who is typing.
//!
//! `state` decides and is plain; `actor` is the shell; `tick` is what happens as time passes.

mod accounts;
mod actor;
mod address;
mod alert_words;
mod bots;
mod channels;
mod folders;
mod groups;
mod invitations;
mod lifecycle;
mod lists;
mod messages;
mod muting;
mod navigation;
mod pictures;
mod profiles;
mod push;
mod sessions;
mod settings;
mod settled;
mod state;
mod statuses;
mod sweep;

pub(crate) use accounts::{DeactivateAccount, ReactivateAccount, RegenerateKey, UpdateAccount};
pub use actor::RealmActor;
pub(crate) use address::{ConfirmAddress, NoteLogin, address_changed};
pub(crate) use alert_words::ChangeAlertWords;
pub use bots::{BotDefaults, BotUpdate, NewBot};
pub(crate) use bots::{CreateBot, DeactivateBot, RenewBotKey, UpdateBot};
pub(crate) use channels::{ArchiveChannel, ReadArchived, SetDefaultChannel, UpdateChannel};
pub use folders::FolderDescription;
pub(crate) use folders::{CreateFolder, ReorderFolders, UpdateFolder};
pub(crate) use groups::{ChangeGroupMembers, ChangeSubgroups, CreateGroup, DeactivateGroup, UpdateGroup};
pub use invitations::Joining;
pub(crate) use invitations::{
    AcceptInvitation, CreateReusableInvitation, ResendInvitation, RevokeInvitation, SendInvitations,
};
pub(crate) use lifecycle::SetRealmActive;
pub(crate) use lists::{
    ChangeDomains, ChangeLinkifiers, ChangePlaygrounds, LinkifiersChange, PlaygroundsChange,
};
pub use messages::{
    ChangeFlags, CreateChannel, CreateUser, EndQueue, LearnFacts, NewChannel, NewUser, Notice, OpenChannel,
    OpenDirect, RegisterQueue, RegisteredQueue, ReportPresence, ResumeQueue, SendHeartbeat, Type,
};
pub(crate) use muting::{MuteUser, UnmuteUser};
pub(crate) use navigation::{CreateView, DeleteView, UpdateView};
pub use pictures::EmojiFiles;
pub(crate) use pictures::{AddEmoji, RemoveEmoji, SetAvatar, SetRealmPicture};
pub(crate) use profiles::{
    ChangeProfileFields, CreateProfileField, FieldsChange, RemoveProfileValues, SetProfileValues,
};
pub use push::NewPushDevice;
pub(crate) use push::{
    AddPushToken, ForgetPushTokens, RegisterPushDevice, RemovePushToken, SettlePushDevices,
};
pub(crate) use sessions::hears_all_public_channels;
pub use settings::{NewPassword, OwnChanges};
pub(crate) use settings::{UpdateOwnUser, UpdateRealm, UpdateUserDefaults};
pub(crate) use settled::{Moment, Settle, SettledCommand};
pub(crate) use state::{join_groups, new_user};
pub(crate) use statuses::SetStatus;
pub use statuses::WantedStatus;
