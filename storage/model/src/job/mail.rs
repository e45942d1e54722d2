//! E-mails that the server sends, by what they are about.

use crate::ids::{InvitationId, MessageId, RecipientId, UserId};
use crate::message::Place;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// An e-mail. Stored for ever: variants and fields are only added at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailTask {
    /// Ask the owner of an address whether it shall be a user's new one.
    ConfirmAddress {
        /// Whose account.
        user: UserId,
        /// The address that was asked for.
        address: String,
        /// When: the link is good for a time from here on.
        asked: Timestamp,
    },
    /// Tell a user's old address that it is no longer in use.
    AddressChanged {
        /// Whose account.
        user: UserId,
        /// The old address.
        old: String,
    },
    /// Tell somebody that their account was logged in to.
    NewLogin {
        /// Whose account.
        user: UserId,
        /// When.
        at: Timestamp,
        /// What the client calls itself.
        client: String,
        /// From where.
        ip: String,
    },
    /// Invite somebody, with the link that only they get.
    Invitation(InvitationId),
    /// Tell people of messages that they have not read for a while. What it says is decided when it is due.
    Missed {
        /// Whom; where there are several, each gets a mail of their own if anything is left to tell them.
        users: Vec<UserId>,
        /// The first message that it may be about.
        from: MessageId,
        /// Messages until then belong to it.
        until: Timestamp,
    },
    /// Tell one of them of one conversation.
    MissedIn {
        /// Whom.
        user: UserId,
        /// Where the messages are; of a topic, as spelled on the first.
        place: Place,
        /// Whom they went to.
        recipient: RecipientId,
        /// The first message that it may be about.
        from: MessageId,
        /// Messages until then belong to it.
        until: Timestamp,
    },
    /// Tell somebody that their account was deactivated.
    Deactivated {
        /// Whose account.
        user: UserId,
        /// What whoever did it says; empty for nothing.
        comment: String,
    },
}

impl MailTask {
    /// What it is about, in words for those who run the server.
    pub fn words(&self) -> String {
        match self {
            Self::ConfirmAddress { user, .. } => format!("mail to confirm a new address of user {user}"),
            Self::AddressChanged { user, .. } => format!("mail about a changed address of user {user}"),
            Self::NewLogin { user, .. } => format!("mail about a login of user {user}"),
            Self::Invitation(invitation) => format!("mail with invitation {invitation}"),
            Self::Deactivated { user, .. } => format!("mail about the deactivation of user {user}"),
            Self::MissedIn { user, .. } => format!("mail about missed messages to user {user}"),
            Self::Missed { users, .. } => match users.as_slice() {
                [user] => format!("mail about missed messages to user {user}"),
                users => format!("mails about missed messages to {} people", users.len()),
            },
        }
    }
}
