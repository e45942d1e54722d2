//! What can be refused, in the words of the product. The edge alone knows codes and status.

use model::QueueId;
use rules::RuleError;

/// Why a command was not carried out. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub enum DomainError {
    /// A rule says no.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// Too much is waiting for this organization; trying again later helps.
    #[error("the server is busy; try again in a moment")]
    Overloaded,
    /// What would change does not fit into one frame of the journal; asking for less helps.
    #[error("the change is too large")]
    TooLarge,
    /// The disk refused; nothing is accepted until the server has been restarted.
    #[error("the server cannot store anything: {0}")]
    Storage(String),
    /// The server is stopping.
    #[error("the server is shutting down")]
    Stopping,
    /// No such queue, or not the caller's.
    #[error("bad event queue id: {0}")]
    BadEventQueue(QueueId),
    /// The client acknowledged more before.
    #[error("an event newer than {0} has already been pruned")]
    EventsPruned(i64),
    /// The client acknowledged an event that was never in its queue.
    #[error("event {0} was not in this queue")]
    EventUnknown(i64),
    /// The user has as many queues as one user may have.
    #[error("too many event queues")]
    TooManyQueues,
    /// The message does not exist, or the user may not read it.
    #[error("invalid messages")]
    InvalidMessages,
    /// A channel with this name came to be meanwhile.
    #[error("the channel {0} exists already")]
    ChannelExists(String),
    /// An account with this address exists.
    #[error("the address {0} is in use")]
    EmailInUse(String),
    /// A link was used already, or what it was for has become something else.
    #[error("the link is no longer good")]
    LinkUsed,
    /// The account that was logged in does not exist or is deactivated.
    #[error("wrong user name or password")]
    WrongPassword,
    /// Deactivated account.
    #[error("the account is deactivated")]
    UserDeactivated,
    /// Deactivated organization.
    #[error("the organization is deactivated")]
    RealmDeactivated,
    /// The key belongs to nobody, or to somebody else than was said.
    #[error("invalid api key")]
    InvalidApiKey,
}

impl From<storage::StoreError> for DomainError {
    fn from(error: storage::StoreError) -> Self {
        Self::Storage(error.to_string())
    }
}
