//! Channels and subscriptions of a registration.

use super::request::State;
use crate::api::encoded_lists::{ChannelSource, EncodedChannels, OwnChannels, OwnChannelsKey, OwnChannelsOf};
use crate::api::subscriptions::subscribers::SubscriberSource;
use crate::api::wire::channel::{OwnSubscriptions, spectator_subscription};
use crate::api::wire::folder::folder;
use crate::api::wire::json::push_value;
use crate::api::wire::list::push_list;
use crate::api::wire::lists::default_group;
use crate::http::reply::push_fields;
use crate::http::{ApiError, Envelope};
use model::event::ChannelSummary;
use model::{ChannelId, Subscription};
use rules::folders::folders_in_order;
use rules::permissions::channel::sees_channel_as;
use rules::permissions::spectators::is_shown_to_spectators;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Adds the requested parts of `subscription`, `stream`, `default_streams`, `default_stream_groups` and `channel_folders`.
pub fn channel_fields(mut envelope: Envelope, state: &State<'_>) -> Result<Envelope, ApiError> {
    if state.wants("subscription") || state.wants("stream") {
        let source = state.request.shared.channels(state.directory());
        let encoded = source.encode(&state.snapshot.channels);
        let own = own_channels(state, &source, &encoded)?;
        own.add_to(&mut envelope);
        if state.wants("stream") {
            envelope.open_field("streams").push(b'[');
            encoded.add_to(&mut envelope, own.shown.iter().copied());
            envelope.buffer().push(b']');
        }
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

/// All folders in their order, archived ones included: channels may still refer to them. Spectators get those of the
/// channels that they may read.
fn list_folders(envelope: &mut Envelope, state: &State<'_>) {
    let of_spectators = if state.me.is_none() { visible(state) } else { Vec::new() };
    let shown: BTreeSet<_> = of_spectators.iter().filter_map(|shown| shown.summary.channel.folder).collect();
    let folders = folders_in_order(state.directory()).into_iter();
    let folders = folders.filter(|folder| state.me.is_some() || shown.contains(&folder.id));
    push_list(envelope.open_field("channel_folders"), folders.map(|shown| folder(shown)));
}

/// A channel that the caller may see.
struct Shown<'a> {
    /// Its place among all channels.
    index: usize,
    summary: &'a ChannelSummary,
    /// The caller's subscription, ended ones included.
    own: Option<&'a Subscription>,
}

impl Shown<'_> {
    fn is_subscribed(&self) -> bool {
        self.own.is_some_and(|own| own.is_active)
    }
}

/// Channels that the caller may see, by id; archived ones for clients that can handle them.
fn visible<'a>(state: &'a State<'_>) -> Vec<Shown<'a>> {
    let directory = state.directory();
    let with_archived = state.request.capabilities.archived_channels;
    // Both lists are in the order of ids: one pass instead of a lookup for each channel.
    let own = state.me.into_iter().flat_map(|me| directory.subscriptions_of_user(me.id));
    let mut own = own.peekable();
    let mut channels = Vec::with_capacity(state.snapshot.channels.len());
    for (index, summary) in state.snapshot.channels.iter().enumerate() {
        let channel = &*summary.channel;
        while own.next_if(|(id, _)| *id < channel.id).is_some() {}
        let own = own.next_if(|(id, _)| *id == channel.id).map(|(_, own)| &**own);
        let shown = Shown { index, summary, own };
        let may_know = match state.me {
            Some(me) => sees_channel_as(directory, me, channel, shown.is_subscribed()),
            None => is_shown_to_spectators(directory, channel),
        };
        if may_know && (with_archived || !channel.is_archived) {
            channels.push(shown);
        }
    }
    channels
}

/// The channels that the caller may see, with the lists of subscriptions if they are requested.
fn own_channels(
    state: &State<'_>,
    source: &ChannelSource,
    encoded: &EncodedChannels,
) -> Result<Arc<OwnChannels>, ApiError> {
    let request = state.request;
    let directory = state.directory();
    let subscribers = SubscriberSource::new(&request.realm, directory, state.me, request.include_subscribers);
    let key = OwnChannelsKey {
        reader: state.me.map(|me| me.id),
        include_subscribers: request.include_subscribers,
        archived_channels: request.capabilities.archived_channels,
        notification_settings_null: request.capabilities.notification_settings_null,
        has_subscriptions: state.wants("subscription"),
    };
    let of = OwnChannelsOf { directory, encoded, prominent: &subscribers.prominent };
    request.shared.own_channels(key, &of, || {
        let channels = visible(state);
        let mut fields = OwnChannels::envelope(&of, if key.has_subscriptions { channels.len() } else { 0 });
        if key.has_subscriptions {
            list_subscriptions(&mut fields, state, (&subscribers, source, encoded), &channels)?;
        }
        Ok((fields, channels.iter().map(|shown| shown.index).collect()))
    })
}

/// Current, former and other channels of the caller.
fn list_subscriptions(
    envelope: &mut Envelope,
    state: &State<'_>,
    (subscribers, source, encoded): (&SubscriberSource<'_>, &ChannelSource, &EncodedChannels),
    channels: &[Shown<'_>],
) -> Result<(), ApiError> {
    let own_fields =
        state.me.map(|me| OwnSubscriptions::new(me, state.request.capabilities.notification_settings_null));
    let [mut subscribed, mut unsubscribed, mut never]: [Vec<&Shown>; 3] = Default::default();
    for shown in channels {
        let list = match shown.own {
            // The app shows spectators the channels that they seem to subscribe to.
            None if state.me.is_none() => &mut subscribed,
            Some(own) if own.is_active => &mut subscribed,
            Some(_) => &mut unsubscribed,
            None => &mut never,
        };
        list.push(shown);
    }
    let lists = [("subscriptions", subscribed), ("unsubscribed", unsubscribed), ("never_subscribed", never)];
    for (name, entries) in lists {
        envelope.open_field(name).push(b'[');
        for (position, shown) in entries.into_iter().enumerate() {
            if position > 0 {
                envelope.buffer().push(b',');
            }
            envelope.splice(encoded.object(shown.index));
            match (&own_fields, shown.own) {
                (Some(fields), Some(own)) => fields.push(envelope.buffer(), own)?,
                (Some(_), None) => {}
                (None, _) => push_fields(envelope.buffer(), &spectator_subscription())?,
            }
            subscribers.add_to(envelope, shown.summary, shown.is_subscribed(), source);
            envelope.buffer().push(b'}');
        }
        envelope.buffer().push(b']');
    }
    Ok(())
}
