//! Push notifications: registered devices, and the messages they show.

use crate::ids::{MessageId, UserId};
use crate::ranges::UserRanges;
use crate::redacted::Redacted;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The push network of a device's platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PushTokenKind {
    /// Apple Push Notification service.
    Apns,
    /// Firebase Cloud Messaging.
    Fcm,
}

impl PushTokenKind {
    /// The value in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apns => "apns",
            Self::Fcm => "fcm",
        }
    }
}

/// A legacy push token: a device that gets unencrypted notifications (docs/api/push.md#legacy-tokens).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushToken {
    pub kind: PushTokenKind,
    /// The device's token: it allows sending notifications to the device.
    pub token: Redacted<String>,
    /// The app's id, for Apple devices.
    pub app: Option<String>,
    pub added: Timestamp,
}

/// The state of a device's registration with the push service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PushStatus {
    /// The service has not replied yet.
    Pending,
    /// Registered; the service's id of the device.
    Active(i64),
    /// Refused; the service's error code.
    Failed(String),
}

impl PushStatus {
    /// The value in the API.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active(_) => "active",
            Self::Failed(_) => "failed",
        }
    }

    /// The service's error code if it refused.
    pub fn error_code(&self) -> Option<&str> {
        match self {
            Self::Failed(code) => Some(code),
            Self::Pending | Self::Active(_) => None,
        }
    }
}

/// A device that gets end-to-end encrypted notifications (docs/api/push.md#encrypted-devices).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushDevice {
    /// The id that the device chose for this account.
    pub account: i64,
    pub kind: PushTokenKind,
    /// Encryption key of its notifications.
    pub key: Redacted<[u8; 32]>,
    /// The service's public key that the registration is encrypted with.
    pub bouncer_public_key: String,
    /// The encrypted token, which only the service can read; empty once the service has it.
    pub registration: Redacted<String>,
    pub added: Timestamp,
    pub status: PushStatus,
}

impl PushDevice {
    /// The service's id of the device, once registered.
    pub fn service_id(&self) -> Option<i64> {
        match self.status {
            PushStatus::Active(id) => Some(id),
            PushStatus::Pending | PushStatus::Failed(_) => None,
        }
    }
}

/// Changes about notifications.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PushFact {
    /// Replaces a user's legacy push tokens; an empty list removes the record.
    TokensSet {
        user: UserId,
        /// All tokens, oldest first.
        tokens: Vec<PushToken>,
    },
    /// Replaces a user's devices; an empty list removes the record.
    DevicesSet {
        user: UserId,
        devices: Vec<PushDevice>,
        /// Account ids of the devices whose status changed.
        changed: Vec<i64>,
    },
    /// Devices show a notification of a message.
    Shown { message: MessageId, users: Vec<UserId> },
    /// Notifications were removed from a user's devices, or their removal is pending.
    Unshown { user: UserId, messages: Vec<MessageId> },
    /// Notifications have been decided for all messages up to this one.
    NotificationCursorMoved(MessageId),
    /// A message is to be sent by e-mail if it is still unread when the e-mail is due.
    MissedNoted {
        message: MessageId,
        /// Recipients, each at most once.
        users: Vec<UserId>,
        /// The due time; recipients with a pending e-mail keep its due time.
        due: Timestamp,
    },
    /// The pending e-mails of these users were decided; jobs in the same frame send what is still unread.
    MissedDecided { users: Vec<UserId> },
    /// As `MissedNoted` for many recipients, who share one record.
    MissedNotedByMany { message: MessageId, users: UserRanges, due: Timestamp },
}

/// Maximum number of messages in one pending e-mail; later ones are left out.
pub const MISSED_MESSAGES_MAX: usize = 200;

/// An e-mail about missed messages that is not due yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingMail {
    /// The time at which the messages that are still unread are sent.
    pub due: Timestamp,
    /// Candidate messages, ascending; at most [`MISSED_MESSAGES_MAX`].
    pub messages: Vec<MessageId>,
}

impl PushFact {
    /// Upper bound of the number of events.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::DevicesSet { changed, .. } => changed.len() as u64,
            Self::TokensSet { .. }
            | Self::Shown { .. }
            | Self::Unshown { .. }
            | Self::NotificationCursorMoved(_)
            | Self::MissedNoted { .. }
            | Self::MissedDecided { .. }
            | Self::MissedNotedByMany { .. } => 0,
        }
    }
}
