//! Channels and subscriptions of a registration.

use super::state::State;
use crate::api::subscriptions::subscribers::{OwnedLists, SubscriberSource};
use crate::api::wire::channel::{channel, listed_channel, subscription};
use crate::api::wire::folder::folder;
use crate::api::wire::json::push_value;
use crate::api::wire::list::push_list;
use crate::http::{ApiError, Envelope};
use model::event::ChannelSummary;
use model::{Channel, ChannelFolder, ChannelId, Subscription, User};
use rules::permissions::channel::sees_channel;
use rules::settings::realm_bool;

/// Adds what was asked for of `subscription`, `stream`, `default_streams` and `channel_folders`.
pub fn channel_fields(mut envelope: Envelope, state: &State<'_>) -> Result<Envelope, ApiError> {
    if state.wants("subscription") {
        list_subscriptions(&mut envelope, state);
    }
    if state.wants("stream") {
        let channels = visible(state).map(|summary| channel(state.directory(), summary));
        push_list(envelope.open_field("streams"), channels);
    }
    if state.wants("default_streams") {
        let is_shown = state.me.is_none_or(|me| !me.is_guest());
        let defaults: &[ChannelId] = if is_shown { &state.directory().realm().default_channels } else { &[] };
        push_value(envelope.open_field("realm_default_streams"), defaults);
    }
    if state.wants("channel_folders") {
        list_folders(&mut envelope, state);
    }
    Ok(envelope)
}

/// All folders in their order, archived ones included: channels may still name them.
fn list_folders(envelope: &mut Envelope, state: &State<'_>) {
    let mut folders: Vec<&ChannelFolder> = state.directory().folders().map(|folder| &**folder).collect();
    folders.sort_by_key(|folder| (folder.order, folder.id));
    let folders = folders.into_iter().filter(|_| state.me.is_some());
    push_list(envelope.open_field("channel_folders"), folders.map(folder));
}

/// Channels that the caller may know of, archived ones for clients that can handle them.
fn visible<'a>(state: &'a State<'_>) -> impl Iterator<Item = &'a ChannelSummary> {
    let directory = state.directory();
    let is_open = realm_bool(directory.realm(), "enable_spectator_access");
    let may_know = move |channel: &Channel| match state.me {
        Some(me) => sees_channel(directory, me, channel),
        None => is_open && channel.is_web_public,
    };
    let with_archived = state.request.capabilities.archived_channels;
    let summaries = state.snapshot.channels.values();
    summaries
        .filter(move |summary| (with_archived || !summary.channel.is_archived) && may_know(&summary.channel))
}

/// A channel, the caller's record for it, and who subscribes.
type Listed<'a> = (&'a ChannelSummary, &'a Subscription, OwnedLists);

/// Channels that the caller subscribes to, used to, and never did.
fn list_subscriptions(envelope: &mut Envelope, state: &State<'_>) {
    let directory = state.directory();
    let include = state.request.include_subscribers;
    let source = SubscriberSource::new(&state.request.realm, directory, state.me, include);
    let (mut subscribed, mut unsubscribed, mut never): (Vec<Listed>, Vec<Listed>, Vec<_>) =
        Default::default();
    for summary in visible(state) {
        let lists = source.of(&summary.channel);
        let own = state.me.and_then(|me| directory.subscription(summary.channel.id, me.id));
        match own {
            Some(own) if own.is_active => subscribed.push((summary, own, lists)),
            Some(own) => unsubscribed.push((summary, own, lists)),
            None => never.push((summary, lists)),
        }
    }
    push_subscriptions(envelope.open_field("subscriptions"), state, state.me, &subscribed);
    push_subscriptions(envelope.open_field("unsubscribed"), state, state.me, &unsubscribed);
    let never = never.iter().map(|(summary, lists)| listed_channel(directory, summary, lists.borrowed()));
    push_list(envelope.open_field("never_subscribed"), never);
}

fn push_subscriptions(out: &mut Vec<u8>, state: &State<'_>, me: Option<&User>, listed: &[Listed<'_>]) {
    let null_notifications = state.request.capabilities.notification_settings_null;
    let items = me.into_iter().flat_map(|me| {
        listed.iter().map(move |(summary, own, lists)| {
            subscription(state.directory(), me, summary, own, null_notifications, lists.borrowed())
        })
    });
    push_list(out, items);
}
