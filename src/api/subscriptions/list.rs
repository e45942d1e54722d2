//! `GET /users/me/subscriptions`: the requester's subscriptions (docs/api/subscriptions.md#list-subscriptions).

use super::subscribers::{IncludeSubscribers, SubscriberSource};
use crate::api::wire::channel::subscription;
use crate::api::wire::list::push_list;
use crate::http::{ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params};
use actors::queries::channel_snapshot;

/// The parameter.
pub struct ListSubscriptions {
    include_subscribers: IncludeSubscribers,
}

impl FromFields for ListSubscriptions {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { include_subscribers: IncludeSubscribers::from_fields(fields)? })
    }
}

/// `subscriptions`, to channels that are not archived.
pub async fn list_subscriptions(caller: Caller, Params(params): Params<ListSubscriptions>) -> HandlerResult {
    let me = &*caller.user;
    let snapshot = channel_snapshot(&caller.realm, |directory, channel| {
        !channel.is_archived && directory.is_subscribed(channel.id, me.id)
    });
    let directory = &snapshot.directory;
    let subscribers = SubscriberSource::new(&caller.realm, directory, Some(me), params.include_subscribers);
    let mut envelope = Envelope::with_capacity(snapshot.channels.len() * 1024);
    let out = envelope.open_field("subscriptions");
    let lists: Vec<_> = snapshot.channels.iter().map(|summary| subscribers.of(&summary.channel)).collect();
    let items = snapshot.channels.iter().zip(&lists).filter_map(|(summary, lists)| {
        let own = directory.subscription(summary.channel.id, me.id)?;
        Some(subscription(directory, me, summary, own, true, lists.borrowed()))
    });
    push_list(out, items);
    envelope.reply()
}
