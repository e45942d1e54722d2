//! `subscription`: the user's own subscriptions, and other subscribers of channels that the user can see.

use super::writer::EventWriter;
use crate::api::wire::channel::{SubscriberLists, SubscriptionJson, subscription};
use model::event::{SubscribedChannel, SubscriptionChange};
use model::{ChannelId, UserId};
use rules::settings::user_bool;
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum Subscription<'e> {
    Add { subscriptions: Vec<SubscriptionJson<'e>> },
    Remove { subscriptions: Vec<RemovedJson<'e>> },
    Update { stream_id: ChannelId, property: &'e str, value: Value<'e> },
    PeerAdd { stream_ids: [ChannelId; 1], user_ids: &'e [UserId] },
    PeerRemove { stream_ids: [ChannelId; 1], user_ids: &'e [UserId] },
}

#[derive(Serialize)]
pub(super) struct RemovedJson<'e> {
    stream_id: ChannelId,
    name: &'e str,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Value<'e> {
    Text(&'e str),
    Bool(Option<bool>),
}

pub(super) fn add<'e>(writer: &EventWriter<'_>, added: &'e [SubscribedChannel]) -> Subscription<'e> {
    let null_notifications = writer.options.capabilities.notification_settings_null;
    let json = |added: &'e SubscribedChannel| {
        let lists = SubscriberLists { all: Some(&added.subscribers), partial: None };
        let (summary, own) = (&added.summary, &added.subscription);
        subscription(writer.directory, writer.owner, summary, own, null_notifications, lists)
    };
    Subscription::Add { subscriptions: added.iter().map(json).collect() }
}

pub(super) fn remove(removed: &[(ChannelId, String)]) -> Subscription<'_> {
    let removed = removed.iter().map(|(id, name)| RemovedJson { stream_id: *id, name });
    Subscription::Remove { subscriptions: removed.collect() }
}

pub(super) fn update<'e>(
    writer: &EventWriter<'_>,
    stream_id: ChannelId,
    change: &'e SubscriptionChange,
) -> Subscription<'e> {
    let (property, value) = match change {
        SubscriptionChange::Color(color) => ("color", Value::Text(color)),
        SubscriptionChange::IsMuted(is_muted) => ("is_muted", Value::Bool(Some(*is_muted))),
        SubscriptionChange::InHomeView(is_shown) => ("in_home_view", Value::Bool(Some(*is_shown))),
        SubscriptionChange::PinToTop(is_pinned) => ("pin_to_top", Value::Bool(Some(*is_pinned))),
        SubscriptionChange::Notification { name, inherits, value } => {
            let knows_null = writer.options.capabilities.notification_settings_null;
            let inherited = (!knows_null).then(|| user_bool(writer.owner, inherits));
            (*name, Value::Bool(value.or(inherited)))
        }
    };
    Subscription::Update { stream_id, property, value }
}
