//! `GET /users/me/subscriptions`: the requester's subscriptions (docs/api/subscriptions.md#list-subscriptions).

use super::include_subscribers::IncludeSubscribers;
use super::subscribers::SubscriberSource;
use crate::api::wire::channel::subscription;
use crate::api::wire::list::reply_list;
use crate::http::{Caller, HandlerResult, Params};
use actors::queries::channel_snapshot;

/// Lists `subscriptions` to channels that are not archived.
pub async fn list_subscriptions(
    caller: Caller,
    Params(include): Params<IncludeSubscribers>,
) -> HandlerResult {
    let me = &*caller.user;
    let snapshot = channel_snapshot(&caller.realm, |directory, channel| {
        !channel.is_archived && directory.is_subscribed(channel.id, me.id)
    });
    let directory = &snapshot.directory;
    let subscribers = SubscriberSource::new(&caller.realm, directory, Some(me), include);
    let lists: Vec<_> = snapshot.channels.iter().map(|summary| subscribers.of(summary)).collect();
    let items = snapshot.channels.iter().zip(&lists).filter_map(|(summary, lists)| {
        let own = directory.subscription(summary.channel.id, me.id)?;
        Some(subscription(directory, me, summary, own, true, lists.borrowed()))
    });
    reply_list("subscriptions", items)
}
