//! Personal parts of a registration: settings, topics, unread messages, presence.

use super::lists;
use super::profiles;
use super::request::State;
use super::texts;
use crate::api::users::presence::{HISTORY_DAYS, visible};
use crate::api::wire::json::push_value;
use crate::api::wire::list::{Object, push_list};
use crate::api::wire::onboarding::step;
use crate::api::wire::presence::{legacy, modern};
use crate::api::wire::settings::{push_default_settings, push_emoji_sets, push_user_settings, setting};
use crate::api::wire::unread::unread;
use crate::http::{ApiError, Envelope};
use actors::queries::Unreads;
use model::{ChannelId, MessageId, UserId};
use rules::onboarding::remaining_steps;
use rules::permissions::spectators::spectator;
use rules::permissions::users::api_email;
use rules::settings::{LEGACY_DISPLAY, LEGACY_NOTIFICATIONS, NOTIFICATION_SOUNDS, user_setting, user_value};
use rules::topics::shown_topic;
use rules::visibility::muted_topics;
use serde::Serialize;

/// Adds the requested personal parts.
pub fn personal_fields(mut envelope: Envelope, state: &State<'_>) -> Result<Envelope, ApiError> {
    message_fields(&mut envelope, state);
    if state.wants("user_settings") {
        let out = envelope.open_field("user_settings");
        match state.me {
            Some(me) => push_user_settings(out, state.directory(), me),
            None => push_user_settings(out, state.directory(), &spectator()),
        }
    }
    if state.wants("alert_words") {
        let words = state.me.map(|me| state.directory().alert_words(me.id)).unwrap_or_default();
        push_value(envelope.open_field("alert_words"), words);
    }
    if state.wants("onboarding_steps") {
        let steps = state.me.map(|me| remaining_steps(state.directory().onboarding_steps(me.id)));
        let steps = steps.into_iter().flatten().map(|one| step(one.kind, one.name));
        push_list(envelope.open_field("onboarding_steps"), steps);
    }
    if state.wants("realm_user_settings_defaults") {
        push_default_settings(envelope.open_field("realm_user_settings_defaults"), state.directory());
    }
    legacy_settings(&mut envelope, state);
    topic_fields(&mut envelope, state);
    profiles::profile_fields(&mut envelope, state);
    texts::text_fields(&mut envelope, state);
    lists::list_fields(&mut envelope, state);
    if state.wants("presence") {
        envelope = presence_fields(envelope, state)?;
    }
    Ok(envelope)
}

/// Settings at the top level, for clients without `user_settings_object`.
fn legacy_settings(envelope: &mut Envelope, state: &State<'_>) {
    if state.request.capabilities.user_settings_object {
        return;
    }
    if state.wants("update_display_settings") {
        settings_at_the_top(envelope, state, LEGACY_DISPLAY);
        push_emoji_sets(envelope.open_field("emojiset_choices"));
    }
    if state.wants("update_global_notifications") {
        settings_at_the_top(envelope, state, LEGACY_NOTIFICATIONS);
        push_value(envelope.open_field("available_notification_sounds"), NOTIFICATION_SOUNDS);
    }
}

fn settings_at_the_top(envelope: &mut Envelope, state: &State<'_>, names: &[&str]) {
    for row in names.iter().filter_map(|name| user_setting(name)) {
        let value = state.me.map_or_else(|| row.default.to_value(), |me| user_value(me, row));
        push_value(envelope.open_field(row.name), &setting(state.directory(), &value));
    }
}

#[derive(Serialize)]
struct RecentConversation<'a> {
    max_message_id: MessageId,
    user_ids: &'a [UserId],
}

fn message_fields(envelope: &mut Envelope, state: &State<'_>) {
    let snapshot = state.snapshot;
    if state.wants("message") {
        let max_message_id = snapshot.max_message_id.map_or(-1, |id| i64::from(id.0));
        push_value(envelope.open_field("max_message_id"), &max_message_id);
    }
    if state.request.wants_unreads() {
        let nothing = Unreads::default();
        let (unreads, owner) = match state.me {
            Some(me) => (&snapshot.unreads, me.id),
            None => (&nothing, UserId::default()),
        };
        let knows_empty_topic = state.request.capabilities.empty_topic_name;
        push_value(envelope.open_field("unread_msgs"), &unread(unreads, owner, knows_empty_topic));
    }
    if state.wants("starred_messages") {
        push_value(envelope.open_field("starred_messages"), &snapshot.starred);
    }
    if state.wants("recent_private_conversations") {
        let conversations = snapshot.recent_conversations.iter().map(|recent| RecentConversation {
            max_message_id: recent.max_message_id,
            user_ids: &recent.users,
        });
        push_list(envelope.open_field("recent_private_conversations"), conversations);
    }
}

#[derive(Serialize)]
struct UserTopicJson<'a> {
    stream_id: ChannelId,
    topic_name: &'a str,
    last_updated: u64,
    visibility_policy: u8,
}

/// `muted_topics` is for clients that do not ask for `user_topics`.
fn topic_fields(envelope: &mut Envelope, state: &State<'_>) {
    let directory = state.directory();
    let knows_empty = state.request.capabilities.empty_topic_name;
    let topics = || state.me.into_iter().flat_map(|me| directory.topics_of_user(me.id));
    if state.wants("user_topic") {
        let items = topics().map(|(channel, _, topic)| UserTopicJson {
            stream_id: channel,
            topic_name: shown_topic(&topic.name, knows_empty),
            last_updated: topic.updated.secs(),
            visibility_policy: topic.policy.code(),
        });
        push_list(envelope.open_field("user_topics"), items);
    }
    let fetch = &state.request.fetch;
    if fetch.wants("muted_topics") && (fetch.is_everything() || !fetch.wants("user_topic")) {
        let muted = state.me.into_iter().flat_map(|me| muted_topics(directory, me));
        let items = muted.map(|(channel, topic)| {
            (channel.name.as_str(), shown_topic(&topic.name, knows_empty), topic.updated.secs())
        });
        push_list(envelope.open_field("muted_topics"), items);
    }
}

#[derive(Serialize)]
struct PresenceFields {
    /// -1 for spectators, who see no presence.
    presence_last_update_id: i64,
    server_timestamp: f64,
}

fn presence_fields(mut envelope: Envelope, state: &State<'_>) -> Result<Envelope, ApiError> {
    let directory = state.directory();
    let realm = &state.request.realm;
    let (all, last_update) = realm.presences(None);
    let now = realm.now();
    let days = state.request.presence_days_max.map_or(HISTORY_DAYS, u64::from);
    let listed = state.me.map(|me| visible(directory, me, all, now, days)).unwrap_or_default();
    let out = envelope.open_field("presences");
    if state.request.slim_presence {
        push_value(out, &Object(listed.iter().map(|(user, seen)| (user.id, modern(*seen)))));
    } else {
        let members = listed.iter().map(|(user, seen)| (api_email(directory, user), legacy(*seen)));
        push_value(out, &Object(members));
    }
    let presence_last_update_id = state.me.map_or(-1, |_| i64::try_from(last_update).unwrap_or(i64::MAX));
    let server_timestamp = now.0 as f64 / 1000.0;
    envelope.fields(&PresenceFields { presence_last_update_id, server_timestamp })
}
