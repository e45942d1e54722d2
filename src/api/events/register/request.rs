//! The request of a registration, and the snapshot that answers it.

use super::fetch::Fetch;
use crate::api::encoded_lists::EncodedLists;
use crate::api::subscriptions::include_subscribers::IncludeSubscribers;
use crate::api::wire::realm::ServerFacts;
use actors::queries::StateSnapshot;
use actors::{RealmHandle, RegisteredQueue};
use model::{ClientCapabilities, Directory, User, UserId};
use std::sync::Arc;

/// The requested parts of the state.
#[derive(Clone)]
pub struct StateRequest {
    pub realm: RealmHandle,
    pub shared: Arc<EncodedLists>,
    pub server: ServerFacts,
    /// The requester; none without an account.
    pub caller: Option<UserId>,
    /// The registered queue; none without an account.
    pub queue: Option<RegisteredQueue>,
    pub client_gravatar: bool,
    pub slim_presence: bool,
    /// Maximum age of presences in days.
    pub presence_days_max: Option<u32>,
    pub include_subscribers: IncludeSubscribers,
    pub capabilities: ClientCapabilities,
    pub fetch: Fetch,
}

/// A request and the snapshot that answers it.
pub struct State<'a> {
    pub request: &'a StateRequest,
    pub snapshot: &'a StateSnapshot,
    /// The caller, as in the snapshot.
    pub me: Option<&'a User>,
}

impl State<'_> {
    /// Users, channels, groups and settings as of the snapshot.
    pub fn directory(&self) -> &Directory {
        &self.snapshot.directory
    }

    /// Whether a part is requested.
    pub fn wants(&self, word: &str) -> bool {
        self.request.fetch.wants(word)
    }
}

impl StateRequest {
    /// Whether unread messages are requested: they are useful only with both event types.
    pub fn wants_unreads(&self) -> bool {
        self.fetch.wants("message") && self.fetch.wants("update_message_flags")
    }
}
