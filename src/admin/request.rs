//! The requests of the operator's commands. They are sent as JSON to a running server.

use super::since::Since;
use crate::transfer::export::ExportKind;
use model::Role;
use rules::accounts::{CAN_CHANGE_USER_EMAILS, CAN_CREATE_USERS};
use serde::{Deserialize, Serialize};

/// What the operator asks for. An organization is named by its subdomain; passwords are hashed before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum AdminRequest {
    RealmCreate {
        name: String,
        subdomain: String,
        email_domain: String,
        owner: NewAccount,
    },
    RealmList,
    RealmSetActive {
        realm: String,
        is_active: bool,
    },
    UserList {
        realm: String,
    },
    UserCreate {
        realm: String,
        role: RoleName,
        user: NewAccount,
    },
    UserRole {
        account: AccountName,
        role: RoleName,
    },
    UserSetPassword {
        account: AccountName,
        password_hash: String,
    },
    UserSetActive {
        account: AccountName,
        is_active: bool,
    },
    /// Replaces an account by a placeholder.
    UserDelete {
        realm: String,
        user: UserName,
        keeps_messages: bool,
    },
    UserApiKey {
        account: AccountName,
    },
    /// Without an address: of all accounts.
    UserEndSessions {
        realm: String,
        email: Option<String>,
    },
    UserGrant {
        account: AccountName,
        permission: Permission,
        is_granted: bool,
    },
    ChannelList {
        realm: String,
    },
    ChannelCreate {
        realm: String,
        name: String,
        description: String,
        is_private: bool,
        creator: Option<String>,
    },
    /// Without an organization: of all.
    OutboxList {
        #[serde(default)]
        realm: Option<String>,
    },
    /// Without an organization: of all. Without a job: all that were given up.
    OutboxRetry {
        #[serde(default)]
        realm: Option<String>,
        job: Option<u64>,
    },
    /// Without an organization: of the one that has the job.
    OutboxDrop {
        #[serde(default)]
        realm: Option<String>,
        job: u64,
    },
    /// Only for a running server, which answers with the archive in parts.
    Export(ExportOptions),
    /// Erase everything that was deleted up to now.
    EraseStart,
    /// How far erasing is.
    EraseStatus,
    /// The newest entries of the audit log.
    Audit {
        realm: String,
        /// Only entries at this time or later.
        since: Option<Since>,
        /// Only entries by this account or about it.
        user: Option<String>,
        limit: usize,
    },
    /// Only for a running server.
    LogLevel {
        filter: String,
    },
    /// Only for a running server.
    Reload,
    /// The word of a probe; only for a running server.
    Probe,
    /// The address that it listens on, and whether connections are encrypted; only for a running server.
    Address,
}

/// An export that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportOptions {
    pub realm: String,
    /// Name of the top folder in the archive.
    pub top: String,
    pub kind: ExportKind,
}

/// An account to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewAccount {
    pub email: String,
    pub full_name: String,
    pub password_hash: String,
}

/// What names an account of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserName {
    Email(String),
    Id(u32),
}

/// An account of an organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountName {
    /// The subdomain of its organization.
    pub realm: String,
    pub email: String,
}

/// A permission of a single account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Create accounts with `POST /users`; the account must be an administrator
    CreateUsers,
    /// Change the e-mail addresses of other accounts; the account must be an administrator
    ChangeUserEmails,
}

impl Permission {
    /// What an account with it may do.
    pub fn what(self) -> &'static str {
        match self {
            Self::CreateUsers => "create accounts with `POST /users`",
            Self::ChangeUserEmails => "change the e-mail addresses of other accounts",
        }
    }

    /// The name of its setting.
    pub fn setting_name(self) -> &'static str {
        match self {
            Self::CreateUsers => CAN_CREATE_USERS,
            Self::ChangeUserEmails => CAN_CHANGE_USER_EMAILS,
        }
    }
}

/// The name of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum RoleName {
    /// Full control, including managing owners
    Owner,
    /// Manages users and settings
    Administrator,
    /// Moderates messages and channels
    Moderator,
    /// An ordinary member
    Member,
    /// Sees only the channels that they were added to
    Guest,
}

impl RoleName {
    /// The name of a role.
    pub fn of(role: Role) -> &'static str {
        match role {
            Role::Owner => "owner",
            Role::Administrator => "administrator",
            Role::Moderator => "moderator",
            Role::Member => "member",
            Role::Guest => "guest",
        }
    }
}

impl From<RoleName> for Role {
    fn from(word: RoleName) -> Self {
        match word {
            RoleName::Owner => Self::Owner,
            RoleName::Administrator => Self::Administrator,
            RoleName::Moderator => Self::Moderator,
            RoleName::Member => Self::Member,
            RoleName::Guest => Self::Guest,
        }
    }
}
