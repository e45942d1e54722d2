//! The state of a registration: a snapshot of one moment, written part by part.

use super::channels::channel_fields;
use super::empty::empty_fields;
use super::fetch::Fetch;
use super::people::people_fields;
use super::personal::personal_fields;
use crate::api::subscriptions::subscribers::IncludeSubscribers;
use crate::api::wire::realm::{ServerFacts, realm_fields};
use crate::http::{Answer, ApiError, Envelope};
use crate::version::{ZULIP_FEATURE_LEVEL, ZULIP_MERGE_BASE, ZULIP_VERSION};
use actors::queries::{Include, StateSnapshot, state_snapshot};
use actors::{RealmHandle, RegisteredQueue};
use model::{ClientCapabilities, Directory, QueueId, User, UserId};
use serde::Serialize;

/// Who asks for what.
#[derive(Clone)]
pub struct StateRequest {
    /// The organization.
    pub realm: RealmHandle,
    /// What the server says of itself.
    pub server: ServerFacts,
    /// Who asks; none without an account.
    pub caller: Option<UserId>,
    /// The queue that was made; none without an account.
    pub queue: Option<RegisteredQueue>,
    /// The client computes avatars.
    pub client_gravatar: bool,
    /// Presences by user id.
    pub slim_presence: bool,
    /// Only presences of so many days.
    pub presence_days_max: Option<u32>,
    /// Lists of subscribers inside channels.
    pub include_subscribers: IncludeSubscribers,
    /// What the client can handle.
    pub capabilities: ClientCapabilities,
    /// What is wanted.
    pub fetch: Fetch,
}

/// A request and the snapshot that answers it.
pub struct State<'a> {
    /// What was asked.
    pub request: &'a StateRequest,
    /// What is true.
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

#[derive(Serialize)]
struct Always<'a> {
    queue_id: Option<&'a QueueId>,
    last_event_id: i64,
    zulip_version: &'static str,
    zulip_feature_level: u32,
    zulip_merge_base: &'static str,
}

impl StateRequest {
    /// Takes the snapshot and writes it. Takes long in large organizations.
    pub fn answer(&self) -> Answer {
        let directory = self.realm.directory();
        let caller = self.caller.and_then(|id| directory.user(id));
        let snapshot = state_snapshot(&self.realm, caller.map(|user| &**user), self.include());
        self.write(&snapshot)?.reply()
    }

    fn include(&self) -> Include {
        let fetch = &self.fetch;
        Include {
            channels: fetch.wants("subscription") || fetch.wants("stream"),
            unreads: self.wants_unreads(),
            starred: fetch.wants("starred_messages"),
            recent_conversations: fetch.wants("recent_private_conversations"),
        }
    }

    /// Unread messages are of use only to clients that follow both.
    pub fn wants_unreads(&self) -> bool {
        self.fetch.wants("message") && self.fetch.wants("update_message_flags")
    }

    /// Writes a snapshot.
    pub fn write(&self, snapshot: &StateSnapshot) -> Result<Envelope, ApiError> {
        let me = self.caller.and_then(|id| snapshot.directory.user(id)).map(|user| &**user);
        let state = State { request: self, snapshot, me };
        let last_event = self.queue.as_ref().map(|queue| queue.after.max(snapshot.last_event));
        let mut envelope = Envelope::with_capacity(16 * 1024).fields(&Always {
            queue_id: self.queue.as_ref().map(|queue| &queue.id),
            last_event_id: last_event.map_or(-1, |event| event.0 as i64),
            zulip_version: ZULIP_VERSION,
            zulip_feature_level: ZULIP_FEATURE_LEVEL,
            zulip_merge_base: ZULIP_MERGE_BASE,
        })?;
        if state.wants("realm") {
            envelope = realm_fields(envelope, &snapshot.directory, &self.server)?;
        }
        envelope = empty_fields(envelope, &self.fetch);
        envelope = people_fields(envelope, &state)?;
        envelope = channel_fields(envelope, &state)?;
        personal_fields(envelope, &state)
    }
}
