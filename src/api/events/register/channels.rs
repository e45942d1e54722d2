//! Channels and subscriptions of a registration.

use super::request::State;
use crate::api::shared::ChannelSource;
use crate::api::subscriptions::subscribers::SubscriberSource;
use crate::api::wire::channel::{own_subscription, visitor_subscription};
use crate::api::wire::folder::folder;
use crate::api::wire::json::push_value;
use crate::api::wire::list::push_list;
use crate::api::wire::lists::default_group;
use crate::http::reply::push_fields;
use crate::http::{ApiError, Envelope};
use bytes::Bytes;
use model::event::ChannelSummary;
use model::{Channel, ChannelId, Subscription};
use rules::folders::folders_in_order;
use rules::permissions::channel::sees_channel;
use rules::permissions::visitors::is_shown_to_visitors;
use std::collections::BTreeSet;

/// Adds the requested parts of `subscription`, `stream`, `default_streams`, `default_stream_groups` and `channel_folders`.
pub fn channel_fields(mut envelope: Envelope, state: &State<'_>) -> Result<Envelope, ApiError> {
    let source = state.request.shared.channels(state.directory());
    let is_encoded = state.wants("subscription") || state.wants("stream");
    let shown = || visible(state).map(|summary| Shown { summary, json: source.channel(summary) });
    let channels: Vec<Shown> = if is_encoded { shown().collect() } else { Vec::new() };
    if state.wants("subscription") {
        list_subscriptions(&mut envelope, state, &source, &channels)?;
    }
    if state.wants("stream") {
        envelope.open_field("streams").push(b'[');
        for (index, shown) in channels.iter().enumerate() {
            push_comma(&mut envelope, index);
            envelope.splice(shown.json.clone());
            envelope.buffer().push(b'}');
        }
        envelope.buffer().push(b']');
    }
    if state.wants("default_streams") {
        let is_shown = state.me.is_some_and(|me| !me.is_guest());
        let defaults: &[ChannelId] = if is_shown { &state.directory().realm().default_channels } else { &[] };
        push_value(envelope.open_field("realm_default_streams"), defaults);
    }
    if state.wants("default_stream_groups") {
        let is_shown = state.me.is_some_and(|me| !me.is_guest());
        let groups = state.directory().default_groups().items.iter().filter(|_| is_shown);
        push_list(envelope.open_field("realm_default_stream_groups"), groups.map(default_group));
    }
    if state.wants("channel_folders") {
        list_folders(&mut envelope, state);
    }
    Ok(envelope)
}

/// All folders in their order, archived ones included: channels may still refer to them. Visitors get those of the
/// channels that they may read.
fn list_folders(envelope: &mut Envelope, state: &State<'_>) {
    let shown: BTreeSet<_> = visible(state).filter_map(|summary| summary.channel.folder).collect();
    let folders = folders_in_order(state.directory()).into_iter();
    let folders = folders.filter(|folder| state.me.is_some() || shown.contains(&folder.id));
    push_list(envelope.open_field("channel_folders"), folders.map(|shown| folder(shown)));
}

/// Channels that the caller may see; archived ones for clients that can handle them.
fn visible<'a>(state: &'a State<'_>) -> impl Iterator<Item = &'a ChannelSummary> {
    let directory = state.directory();
    let may_know = move |channel: &Channel| match state.me {
        Some(me) => sees_channel(directory, me, channel),
        None => is_shown_to_visitors(directory, channel),
    };
    let with_archived = state.request.capabilities.archived_channels;
    let summaries = state.snapshot.channels.values();
    summaries
        .filter(move |summary| (with_archived || !summary.channel.is_archived) && may_know(&summary.channel))
}

/// A channel that the caller may see, with its object without the closing brace.
struct Shown<'a> {
    summary: &'a ChannelSummary,
    json: Bytes,
}

/// A channel and the caller's subscription to it.
type Entry<'a> = (&'a Shown<'a>, Option<&'a Subscription>);

/// Current, former and other channels of the caller.
fn list_subscriptions(
    envelope: &mut Envelope,
    state: &State<'_>,
    source: &ChannelSource,
    channels: &[Shown<'_>],
) -> Result<(), ApiError> {
    let directory = state.directory();
    let include = state.request.include_subscribers;
    let subscribers = SubscriberSource::new(&state.request.realm, directory, state.me, include);
    let [mut subscribed, mut unsubscribed, mut never]: [Vec<Entry>; 3] = Default::default();
    for shown in channels {
        let own = state.me.and_then(|me| directory.subscription(shown.summary.channel.id, me.id));
        let list = match own {
            // The app shows visitors the channels that they seem to subscribe to.
            None if state.me.is_none() => &mut subscribed,
            Some(own) if own.is_active => &mut subscribed,
            Some(_) => &mut unsubscribed,
            None => &mut never,
        };
        list.push((shown, own.map(|own| &**own)));
    }
    let lists = [("subscriptions", subscribed), ("unsubscribed", unsubscribed), ("never_subscribed", never)];
    for (name, entries) in lists {
        envelope.open_field(name).push(b'[');
        for (index, entry) in entries.into_iter().enumerate() {
            push_comma(envelope, index);
            push_entry(envelope, state, source, &subscribers, entry)?;
        }
        envelope.buffer().push(b']');
    }
    Ok(())
}

fn push_entry(
    envelope: &mut Envelope,
    state: &State<'_>,
    source: &ChannelSource,
    subscribers: &SubscriberSource<'_>,
    (shown, own): Entry<'_>,
) -> Result<(), ApiError> {
    envelope.splice(shown.json.clone());
    if let (Some(me), Some(own)) = (state.me, own) {
        let null_notifications = state.request.capabilities.notification_settings_null;
        push_fields(envelope.buffer(), &own_subscription(me, own, null_notifications))?;
    } else if state.me.is_none() {
        push_fields(envelope.buffer(), &visitor_subscription())?;
    }
    subscribers.add_to(envelope, &shown.summary.channel, source);
    envelope.buffer().push(b'}');
    Ok(())
}

fn push_comma(envelope: &mut Envelope, index: usize) {
    if index > 0 {
        envelope.buffer().push(b',');
    }
}
