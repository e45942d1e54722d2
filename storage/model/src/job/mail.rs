//! E-mails that the server sends.

use crate::ids::{InvitationId, MessageId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// An e-mail. Stored permanently: variants and fields are only added at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailTask {
    /// Ask the owner of an address to confirm it as a user's new address.
    ConfirmAddress {
        user: UserId,
        address: String,
        /// The time of the request, from which the link is valid for a limited time.
        asked: Timestamp,
    },
    /// Inform a user's old address that it was replaced.
    AddressChanged { user: UserId, old: String },
    /// Inform a user of a login to their account.
    NewLogin {
        user: UserId,
        at: Timestamp,
        /// The client's own name.
        client: String,
        ip: String,
    },
    /// Send an invitation with its personal link.
    Invitation(InvitationId),
    /// Notify a user of messages in one conversation that have been unread for a while.
    Missed {
        user: UserId,
        /// Candidate messages, ascending. Which of them to include is decided when the e-mail is sent.
        messages: Vec<MessageId>,
    },
    /// Inform a user that their account was deactivated.
    Deactivated {
        user: UserId,
        /// Comment of the requester; may be empty.
        comment: String,
    },
    /// Send a user a link with which to choose a new password.
    PasswordReset {
        user: UserId,
        /// The time of the request, from which the link is valid for a limited time.
        asked: Timestamp,
    },
    /// Send a user a list of the organizations in which their address has an account.
    FoundAccounts {
        user: UserId,
        /// Name and URL of each.
        organizations: Vec<(String, String)>,
    },
    /// Send a link to an address with which its owner can make an account without an invitation.
    SignUp {
        address: String,
        /// The time of the request, from which the link is valid for a limited time.
        asked: Timestamp,
    },
    /// Inform a user that someone asked for another account with their address.
    SignUpKnown { user: UserId },
}

/// How urgent an e-mail is. Each has a share of the deliveries at once, so that many e-mails of one do not delay the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailUrgency {
    /// A person waits for it, or it is about the safety of an account.
    Requested,
    /// It notifies of messages.
    Missed,
    Invitation,
}

impl MailTask {
    /// How urgent it is.
    pub fn urgency(&self) -> MailUrgency {
        match self {
            Self::Invitation(_) => MailUrgency::Invitation,
            Self::Missed { .. } => MailUrgency::Missed,
            Self::ConfirmAddress { .. }
            | Self::AddressChanged { .. }
            | Self::NewLogin { .. }
            | Self::Deactivated { .. }
            | Self::PasswordReset { .. }
            | Self::FoundAccounts { .. }
            | Self::SignUp { .. }
            | Self::SignUpKnown { .. } => MailUrgency::Requested,
        }
    }

    /// The user whom it is for; none if it is for an address without an account, or for several.
    pub fn user(&self) -> Option<UserId> {
        match self {
            Self::ConfirmAddress { user, .. }
            | Self::AddressChanged { user, .. }
            | Self::NewLogin { user, .. }
            | Self::Missed { user, .. }
            | Self::Deactivated { user, .. }
            | Self::PasswordReset { user, .. }
            | Self::FoundAccounts { user, .. }
            | Self::SignUpKnown { user } => Some(*user),
            Self::Invitation(_) | Self::SignUp { .. } => None,
        }
    }

    /// The texts in it that say who someone is: addresses, and what a login came from.
    pub fn personal_texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::ConfirmAddress { address, .. } | Self::SignUp { address, .. } => vec![address],
            Self::AddressChanged { old, .. } => vec![old],
            Self::NewLogin { client, ip, .. } => vec![client, ip],
            Self::Deactivated { comment, .. } => vec![comment],
            Self::Missed { .. }
            | Self::PasswordReset { .. }
            | Self::FoundAccounts { .. }
            | Self::SignUpKnown { .. }
            | Self::Invitation(_) => Vec::new(),
        }
    }

    /// A description for the server's operators.
    pub fn description(&self) -> String {
        match self {
            Self::ConfirmAddress { user, .. } => format!("mail to confirm a new address of user {user}"),
            Self::AddressChanged { user, .. } => format!("mail about a changed address of user {user}"),
            Self::NewLogin { user, .. } => format!("mail about a login of user {user}"),
            Self::Invitation(invitation) => format!("mail with invitation {invitation}"),
            Self::Deactivated { user, .. } => format!("mail about the deactivation of user {user}"),
            Self::PasswordReset { user, .. } => format!("mail for a new password of user {user}"),
            Self::FoundAccounts { user, .. } => format!("mail with the organizations of user {user}"),
            Self::SignUp { address, .. } => format!("mail for a new account of {address}"),
            Self::SignUpKnown { user } => format!("mail about the existing account of user {user}"),
            Self::Missed { user, .. } => format!("mail about missed messages to user {user}"),
        }
    }
}
