//! Errors of commands and queries. Only the edge knows HTTP status and error codes.

use crate::budget::BudgetFull;
use crate::health::Pause;
use model::QueueId;
use rules::RuleError;
use storage::log::LogError;

/// Why a command failed. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum DomainError {
    /// A rule rejected it.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// Too many requests wait for this organization; retrying later helps.
    #[error("the server is busy; try again in a moment")]
    Overloaded,
    /// A limit of the memory budget; retrying helps once clients have read pending answers.
    #[error(transparent)]
    Memory(#[from] BudgetFull),
    /// The change does not fit into one frame of the journal; a smaller one may.
    #[error("the change is too large")]
    TooLarge,
    /// Stored data cannot be read, or could not be opened.
    #[error("the server cannot store or read its data: {0}")]
    Storage(String),
    /// Changes are refused until the disk has room or works again. Nothing was stored, unless the write was in progress when it
    /// failed and the server was killed before it recovered.
    #[error("{0}")]
    Paused(Pause),
    /// The account has used its write budget of a day.
    #[error("the account has written too much within a day; {} seconds to wait", .wait.as_secs())]
    WriteBudgetSpent {
        /// The time until it may write again.
        wait: std::time::Duration,
    },
    /// The account has started as many direct conversations as it may in a day.
    #[error("the account has started too many direct conversations within a day; {} seconds to wait", .wait.as_secs())]
    ConversationBudgetSpent {
        /// The time until it may start another one.
        wait: std::time::Duration,
    },
    /// The server is stopping.
    #[error("the server is shutting down")]
    Stopping,
    /// The index of a search is being made, or cannot be read or written at the moment.
    #[error("the search index is not ready")]
    SearchNotReady,
    /// Too many messages would have to be read to find a phrase.
    #[error("the search would have to read too many messages")]
    SearchTooBroad,
    /// No such queue, or not the caller's.
    #[error("bad event queue id: {0}")]
    BadEventQueue(QueueId),
    /// The client has acknowledged newer events before.
    #[error("an event newer than {0} has already been pruned")]
    EventsPruned(i64),
    /// The client acknowledged an event that was never in its queue.
    #[error("event {0} was not in this queue")]
    EventUnknown(i64),
    /// The user has the maximum number of queues.
    #[error("too many event queues")]
    TooManyQueues,
    /// The message does not exist, or the user may not read it.
    #[error("invalid messages")]
    InvalidMessages,
    /// An account with this address exists.
    #[error("the address {0} is in use")]
    EmailInUse(String),
    /// A link was used already, or the record that it is for has changed.
    #[error("the link is no longer valid")]
    LinkUsed,
    /// The account that was logged in does not exist or is deactivated.
    #[error("wrong user name or password")]
    WrongPassword,
    /// The account is deactivated.
    #[error("the account is deactivated")]
    UserDeactivated,
    /// The organization is deactivated.
    #[error("the organization is deactivated")]
    RealmDeactivated,
    /// Only organizations that a development server made from a seed can be reset.
    #[error("the organization was not made from a seed, so there is nothing to reset it to")]
    NotSeeded,
    /// The key is unknown, or belongs to another account.
    #[error("invalid api key")]
    InvalidApiKey,
}

impl From<&LogError> for Pause {
    fn from(error: &LogError) -> Self {
        if error.is_full() { Self::DiskFull } else { Self::JournalFailed }
    }
}

impl From<storage::StoreError> for DomainError {
    fn from(error: storage::StoreError) -> Self {
        Self::Storage(error.to_string())
    }
}
