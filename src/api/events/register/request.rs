//! What a registration asks for, and the snapshot that answers it.

use super::fetch::Fetch;
use crate::api::shared::SharedJson;
use crate::api::subscriptions::subscribers::IncludeSubscribers;
use crate::api::wire::realm::ServerFacts;
use actors::queries::StateSnapshot;
use actors::{RealmHandle, RegisteredQueue};
use model::{ClientCapabilities, Directory, User, UserId};
use std::sync::Arc;

/// Who asks for what.
#[derive(Clone)]
pub struct StateRequest {
    pub realm: RealmHandle,
    pub shared: Arc<SharedJson>,
    /// What the server says of itself.
    pub server: ServerFacts,
    /// Who asks; none without an account.
    pub caller: Option<UserId>,
    /// The queue that was made; none without an account.
    pub queue: Option<RegisteredQueue>,
    pub client_gravatar: bool,
    pub slim_presence: bool,
    /// Only presences of so many days.
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
    /// Everybody and everything but the messages.
    pub fn directory(&self) -> &Directory {
        &self.snapshot.directory
    }

    /// Whether a part was asked for.
    pub fn wants(&self, word: &str) -> bool {
        self.request.fetch.wants(word)
    }
}

impl StateRequest {
    /// Unread messages are of use only to clients that follow both.
    pub fn wants_unreads(&self) -> bool {
        self.fetch.wants("message") && self.fetch.wants("update_message_flags")
    }
}
