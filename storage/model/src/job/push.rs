//! What the push service is asked for, by what it is about.

use crate::ids::{MessageId, UserId};
use crate::push::PushTokenKind;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Something to ask of the push service. Stored for ever: variants and fields are only added at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PushTask {
    /// Take a phone in.
    RegisterDevice {
        /// Whose.
        user: UserId,
        /// The number that it gave to the account.
        account: i64,
    },
    /// Take a phone of the older way in.
    RegisterToken {
        /// Whose.
        user: UserId,
        /// Who delivers.
        kind: PushTokenKind,
        /// When it was registered, which tells it from the others.
        added: Timestamp,
    },
    /// Show a message.
    Show {
        /// Which.
        message: MessageId,
        /// To whom, sorted; each has a phone.
        users: Vec<UserId>,
    },
    /// Show messages no longer.
    Remove {
        /// To whom.
        user: UserId,
        /// Which, ascending.
        messages: Vec<MessageId>,
    },
}

impl PushTask {
    /// What it is about, in words for those who run the server.
    pub fn words(&self) -> String {
        match self {
            Self::RegisterDevice { user, .. } => format!("registration of a phone of user {user}"),
            Self::RegisterToken { user, .. } => {
                format!("registration of a phone of the older way of user {user}")
            }
            Self::Show { message, users } => {
                format!("notification of {} about message {message}", people(users.len()))
            }
            Self::Remove { user, messages } => {
                format!("removal of {} notifications from phones of user {user}", messages.len())
            }
        }
    }
}

fn people(count: usize) -> String {
    if count == 1 { "1 person".to_owned() } else { format!("{count} people") }
}
