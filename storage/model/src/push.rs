//! Where notifications go: phones that somebody registered, and which messages were announced on them.

use crate::ids::{MessageId, UserId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Something that must not be read in a log: printing it for debugging says nothing of what it is.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hidden<T>(pub T);

impl<T> fmt::Debug for Hidden<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}

/// Who delivers to a phone in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum PushTokenKind {
    /// Apple.
    Apns,
    /// Google.
    Fcm,
}

impl PushTokenKind {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Apns => "apns",
            Self::Fcm => "fcm",
        }
    }
}

/// A phone that gets notifications in the clear: the older way (endpoints.md 15).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushToken {
    /// Who delivers.
    pub kind: PushTokenKind,
    /// The phone's address there: whoever has it can write to the phone.
    pub token: Hidden<String>,
    /// Which app it is, for Apple's.
    pub app: Option<String>,
    /// When it was registered.
    pub added: Timestamp,
}

/// How far the push service has come with a phone's registration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PushStatus {
    /// The service has not answered yet.
    Pending,
    /// The service knows the phone by this number.
    Active(i64),
    /// The service refused; its error code.
    Failed(String),
}

/// A phone that gets notifications that only it can read (endpoints.md 20).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushDevice {
    /// The number that the phone gave to this account of its.
    pub account: i64,
    /// Who delivers.
    pub kind: PushTokenKind,
    /// What its notifications are encrypted with.
    pub key: Hidden<[u8; 32]>,
    /// Which of the service's keys its registration is encrypted with.
    pub bouncer_public_key: String,
    /// The phone's address, which only the service can read; empty once that has it.
    pub registration: Hidden<String>,
    /// When it was registered.
    pub added: Timestamp,
    /// How far that is.
    pub status: PushStatus,
}

impl PushDevice {
    /// The number by which the service knows it, once it does.
    pub fn service_id(&self) -> Option<i64> {
        match self.status {
            PushStatus::Active(id) => Some(id),
            PushStatus::Pending | PushStatus::Failed(_) => None,
        }
    }

    /// The service's error code, if it refused.
    pub fn error_code(&self) -> Option<&str> {
        match &self.status {
            PushStatus::Failed(code) => Some(code),
            PushStatus::Pending | PushStatus::Active(_) => None,
        }
    }
}

/// What happens about notifications.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PushFact {
    /// A user's phones of the older way are now these; none removes the record.
    TokensSet {
        /// Whose.
        user: UserId,
        /// All of them, oldest first.
        tokens: Vec<PushToken>,
    },
    /// A user's phones are now these; none removes the record.
    DevicesSet {
        /// Whose.
        user: UserId,
        /// All of them, oldest first.
        devices: Vec<PushDevice>,
        /// Those whose status changed, by account number.
        changed: Vec<i64>,
    },
    /// Phones show a message.
    Shown {
        /// Which.
        message: MessageId,
        /// Whose phones.
        users: Vec<UserId>,
    },
    /// A user's phones show messages no longer, or are about to be told.
    Unshown {
        /// Whose.
        user: UserId,
        /// Which.
        messages: Vec<MessageId>,
    },
    /// Who is notified of messages up to this one has been decided.
    NoticedUpTo(MessageId),
}

impl PushFact {
    /// An upper bound of how many events this leads to.
    pub fn events_max(&self) -> u64 {
        match self {
            Self::DevicesSet { changed, .. } => changed.len() as u64,
            Self::TokensSet { .. } | Self::Shown { .. } | Self::Unshown { .. } | Self::NoticedUpTo(_) => 0,
        }
    }
}
