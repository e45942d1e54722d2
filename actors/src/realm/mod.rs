//! The organization's actor: people, channels as such, flags, queues, and who is typing.
//!
//! `state` decides and is plain; `actor` is the shell; `tick` is what happens as time passes.

mod actor;
mod alert_words;
mod channels;
mod folders;
mod groups;
mod lists;
mod messages;
mod muting;
mod navigation;
mod profiles;
mod push;
mod sessions;
mod settings;
mod settled;
mod state;
mod statuses;
mod sweep;

pub use actor::RealmActor;
pub(crate) use alert_words::ChangeAlertWords;
pub(crate) use channels::{ArchiveChannel, SetDefaultChannel, UpdateChannel};
pub use folders::FolderDescription;
pub(crate) use folders::{CreateFolder, ReorderFolders, UpdateFolder};
pub(crate) use groups::{ChangeGroupMembers, ChangeSubgroups, CreateGroup, DeactivateGroup, UpdateGroup};
pub(crate) use lists::{
    ChangeDomains, ChangeLinkifiers, ChangePlaygrounds, LinkifiersChange, PlaygroundsChange,
};
pub use messages::{
    ChangeFlags, CreateChannel, CreateUser, EndQueue, LearnFacts, NewChannel, NewUser, Notice, OpenChannel,
    OpenDirect, RegisterQueue, RegisteredQueue, ReportPresence, ResumeQueue, SendHeartbeat, Type,
};
pub(crate) use muting::{MuteUser, UnmuteUser};
pub(crate) use navigation::{CreateView, DeleteView, UpdateView};
pub(crate) use profiles::{
    ChangeProfileFields, CreateProfileField, FieldsChange, RemoveProfileValues, SetProfileValues,
};
pub use push::NewPushDevice;
pub(crate) use push::{
    AddPushToken, ForgetPushTokens, RegisterPushDevice, RemovePushToken, SettlePushDevices,
};
pub(crate) use sessions::hears_all_public_channels;
pub use settings::{NewPassword, OwnChanges};
pub(crate) use settings::{UpdateOwnUser, UpdateRealm};
pub(crate) use settled::{Settle, SettledCommand};
pub(crate) use state::{join_groups, new_user};
pub(crate) use statuses::SetStatus;
pub use statuses::WantedStatus;
