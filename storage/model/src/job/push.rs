//! Requests to the push service.

use crate::ids::{MessageId, UserId};
use crate::push::PushTokenKind;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A request to the push service. Stored permanently: variants and fields are only added at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PushTask {
    /// Register a device.
    RegisterDevice {
        user: UserId,
        /// The id that the device chose for the account.
        account: i64,
    },
    /// Register a legacy push token.
    RegisterToken {
        user: UserId,
        kind: PushTokenKind,
        /// The time of registration, which identifies the token.
        added: Timestamp,
    },
    /// Show a notification of a message.
    Show {
        message: MessageId,
        /// Recipients, sorted; each has a registered device.
        users: Vec<UserId>,
    },
    /// Remove notifications of messages.
    Remove {
        user: UserId,
        /// Ids of the messages, ascending.
        messages: Vec<MessageId>,
    },
}

impl PushTask {
    /// A description for the server's operators.
    pub fn description(&self) -> String {
        match self {
            Self::RegisterDevice { user, .. } => format!("registration of a device of user {user}"),
            Self::RegisterToken { user, .. } => {
                format!("registration of a legacy push token of user {user}")
            }
            Self::Show { message, users } => {
                format!("notification of {} about message {message}", people(users.len()))
            }
            Self::Remove { user, messages } => {
                format!("removal of {} notifications from devices of user {user}", messages.len())
            }
        }
    }
}

fn people(count: usize) -> String {
    if count == 1 { "1 person".to_owned() } else { format!("{count} people") }
}
