//! The state of a registration: a snapshot of one moment, written part by part.

use super::channels::channel_fields;
use super::empty::empty_fields;
use super::people::people_fields;
use super::personal::personal_fields;
use super::request::{State, StateRequest};
use crate::api::wire::realm::realm_fields;
use crate::http::reply::PIECE_BYTES_MAX;
use crate::http::{ApiError, Envelope};
use crate::version::{ZULIP_FEATURE_LEVEL, ZULIP_MERGE_BASE, ZULIP_VERSION};
use actors::queries::{Include, StateSnapshot, state_snapshot};
use model::{QueueId, User};
use rules::permissions::users::is_restricted;
use serde::Serialize;

/// Bytes of every registration, unread messages included.
const BASE_BYTES: usize = 32 << 10;
/// Bytes of an entry: a user in a list that is not shared, a presence, a subscription, and a channel whose shared parts
/// are spliced.
const USER_BYTES: usize = 450;
const PRESENCE_BYTES: usize = 16;
const SUBSCRIPTION_BYTES: usize = 400;
const SPLICED_BYTES: usize = 100;

#[derive(Serialize)]
struct Always<'a> {
    queue_id: Option<&'a QueueId>,
    last_event_id: i64,
    zulip_version: &'static str,
    zulip_feature_level: u32,
    zulip_merge_base: &'static str,
}

impl StateRequest {
    /// Estimated bytes of the response without shared parts.
    pub fn estimate(&self, caller: Option<&User>) -> u64 {
        let directory = self.realm.directory();
        let (users, channels) = (directory.user_count(), directory.channel_count());
        let has_own_list = caller.is_some_and(|caller| caller.is_bot() || is_restricted(&directory, caller));
        let parts = [
            ("realm_user", if has_own_list { users * USER_BYTES } else { 0 }),
            ("presence", users * PRESENCE_BYTES),
            ("subscription", channels * SUBSCRIPTION_BYTES),
            ("stream", channels * SPLICED_BYTES),
        ];
        let wanted = parts.iter().filter(|(word, _)| self.fetch.wants(word));
        let own = BASE_BYTES + wanted.map(|(_, bytes)| bytes).sum::<usize>();
        let is_large = own + users * USER_BYTES > PIECE_BYTES_MAX;
        (own + if is_large { PIECE_BYTES_MAX } else { 0 }) as u64
    }

    /// Takes the snapshot and writes it: slow in large organizations.
    pub fn state(&self) -> Result<Envelope, ApiError> {
        let directory = self.realm.directory();
        let caller = self.caller.and_then(|id| directory.user(id));
        let snapshot = state_snapshot(&self.realm, caller.map(|user| &**user), self.include());
        self.write(&snapshot)
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

    /// Writes the requested parts of a snapshot.
    pub fn write(&self, snapshot: &StateSnapshot) -> Result<Envelope, ApiError> {
        let me = self.caller.and_then(|id| snapshot.directory.user(id)).map(|user| &**user);
        let state = State { request: self, snapshot, me };
        let last_event = self.queue.as_ref().map(|queue| queue.after.max(snapshot.last_event));
        let mut envelope = self.shared.envelope(16 * 1024).fields(&Always {
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
        if state.wants("realm_incoming_webhook_bots") {
            envelope = envelope.raw_field("realm_incoming_webhook_bots", &self.server.webhooks);
        }
        envelope = people_fields(envelope, &state)?;
        envelope = channel_fields(envelope, &state)?;
        personal_fields(envelope, &state)
    }
}
