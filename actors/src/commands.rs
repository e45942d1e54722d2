//! The commands of an organization: what [`RealmHandle::execute`](crate::RealmHandle::execute) and, for those about one
//! message, [`RealmHandle::change`](crate::RealmHandle::change) take. Each is a struct with its parameters; who may
//! execute it is checked when it is decided.

pub use crate::changes::{AddSubmessage, ChangeReaction, DeleteMessage, EditCommand};
pub use crate::realm::{
    AcceptInvitation, AddAttachment, AddEmoji, AddPushToken, AddSubscriptions, ChangeAlertWords,
    ChangeDefaultGroups, ChangeDomains, ChangeGroupMembers, ChangeLinkifiers, ChangePlaygrounds,
    ChangeProfileFields, ChangeSubgroups, ConfirmAddress, CreateBot, CreateChannel, CreateDrafts,
    CreateFolder, CreateGroup, CreateProfileField, CreateReusableInvitation, CreateSnippet, CreateUser,
    CreateView, DeactivateAccount, DeactivateBot, DeactivateGroup, DeleteDraft, DeleteExport,
    DeleteScheduled, DeleteSnippet, DeleteView, DropJob, EndWebSessions, FailPendingExports, FieldsChange,
    FinishExport, ForgetPushTokens, LinkifiersChange, MarkOnboardingStep, NoteLogin, OperatorDeleteAccount,
    OperatorEndSessions, OperatorSetActive, OperatorSetPassword, OperatorSetRole, PlaygroundsChange,
    ReactivateAccount, RegenerateKey, RegisterPushDevice, RemoveAttachment, RemoveBotStorage, RemoveEmoji,
    RemoveProfileValues, RemovePushToken, RenewBotKey, ReorderFolders, RequestExport, RequestPasswordReset,
    RequestSignUp, ResendInvitation, ResetPassword, RetryJob, RevokeInvitation, ScheduleMessage,
    SendFoundAccounts, SendInvitations, SerializedCommand, SetAccountPermission, SetAvatar, SetBotStorage,
    SetDefaultChannel, SetProfileValues, SetPushDeviceStatus, SetRealmActive, SetRealmPicture, SetStatus,
    SignUp, StartWebSession, UnmuteUser, UpdateAccount, UpdateBot, UpdateChannel, UpdateDraft, UpdateFolder,
    UpdateGroup, UpdateOwnUser, UpdateRealm, UpdateScheduled, UpdateSnippet, UpdateUserDefaults, UpdateView,
    UseWebSession,
};
