//! The audit log: who did what, when, and through which client. An entry is one fact in the frame of what it
//! did; messages that are sent have none.
//!
//! Stored permanently: variants and fields are only added at the end.

use crate::blank::blank;
use crate::ids::{ChannelId, FolderId, GroupId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Where a request came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestOrigin {
    /// The API with a key, or without any credentials.
    #[default]
    Api,
    /// A web session, or a page, of a browser.
    Browser,
    /// A command of the server's operator.
    CommandLine,
    /// An import of an organization.
    Import,
}

/// What one request did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The requester; none for commands of the operator and for requests without an account.
    pub by: Option<UserId>,
    pub origin: RequestOrigin,
    /// The address of the client, if it is known.
    pub address: Option<IpAddr>,
    /// The name of the client; empty if it is unknown.
    pub client: String,
    /// What the request did, at least one thing.
    pub actions: Vec<AuditAction>,
}

/// An audit entry with its time, as it is kept for owners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedAuditEntry {
    pub at: Timestamp,
    pub entry: AuditEntry,
}

/// One thing that a request did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditAction {
    pub kind: ActionKind,
    pub about: Subject,
    /// The users that were added or removed; the first ones if there are many.
    pub users: Vec<UserId>,
    /// How many users, messages, sessions or invitations it concerns.
    pub count: u64,
    /// The properties that changed.
    pub changes: Vec<PropertyChange>,
}

/// A property that changed, as texts for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertyChange {
    pub name: String,
    /// Empty where there was none.
    pub before: String,
    /// Empty where there is none.
    pub after: String,
}

/// The kind of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ActionKind {
    Created,
    Changed,
    Removed,
    Deactivated,
    Reactivated,
    Archived,
    Unarchived,
    MembersAdded,
    MembersRemoved,
    PasswordSet,
    KeyReplaced,
    SessionsEnded,
    Invited,
    InvitationsRevoked,
    InvitationResent,
    MessagesDeleted,
    MessagesMoved,
    Imported,
}

/// What an action is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Subject {
    Organization,
    User(UserId),
    Group(GroupId),
    Channel(ChannelId),
    Folder(FolderId),
    Topic {
        channel: ChannelId,
        name: String,
    },
    DirectMessages,
    Linkifier(String),
    Playground(String),
    Domain(String),
    ProfileField(String),
    Emoji(String),
    DefaultChannelGroup(String),
    /// An export that was requested, by its kind.
    Export(String),
}

impl RecordedAuditEntry {
    /// An upper bound of the bytes that it takes in memory.
    pub fn bytes(&self) -> usize {
        let action = |action: &AuditAction| {
            let change = |change: &PropertyChange| {
                size_of::<PropertyChange>() + change.name.len() + change.before.len() + change.after.len()
            };
            let about = match &action.about {
                Subject::Topic { name, .. }
                | Subject::Linkifier(name)
                | Subject::Playground(name)
                | Subject::Domain(name)
                | Subject::ProfileField(name)
                | Subject::Emoji(name)
                | Subject::DefaultChannelGroup(name)
                | Subject::Export(name) => name.len(),
                Subject::Organization
                | Subject::User(_)
                | Subject::Group(_)
                | Subject::Channel(_)
                | Subject::Folder(_)
                | Subject::DirectMessages => 0,
            };
            size_of::<AuditAction>()
                + about
                + action.users.len() * 4
                + action.changes.iter().map(change).sum::<usize>()
        };
        size_of::<Self>() + self.entry.client.len() + self.entry.actions.iter().map(action).sum::<usize>()
    }

    /// Whether a user did it, or it is about the user.
    pub fn concerns(&self, user: UserId) -> bool {
        let about =
            |action: &AuditAction| action.about == Subject::User(user) || action.users.contains(&user);
        self.entry.by == Some(user) || self.entry.actions.iter().any(about)
    }
}

impl AuditEntry {
    /// Erases what it says about a user: the address of the user's clients, and old and new names and e-mail addresses. Returns
    /// whether there was anything.
    pub fn erase_user(&mut self, user: UserId) -> bool {
        let mut is_changed = self.by == Some(user) && self.address.take().is_some();
        for action in self.actions.iter_mut().filter(|action| action.about == Subject::User(user)) {
            for change in &mut action.changes {
                if PERSONAL_CHANGES.contains(&change.name.as_str()) {
                    is_changed |= blank(&mut change.before) | blank(&mut change.after);
                }
            }
        }
        is_changed
    }
}

/// The properties of an account whose values say who the user is.
const PERSONAL_CHANGES: [&str; 2] = ["name", "e-mail address"];
