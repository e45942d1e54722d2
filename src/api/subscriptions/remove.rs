//! `DELETE /users/me/subscriptions`: unsubscribes the requester or others (docs/api/subscriptions.md#unsubscribe).

use super::principals::Principals;
use crate::api::users::get::no_such_user;
use crate::http::{ApiError, Caller, Code, Fields, FromFields, HandlerResult, Params, reply};
use futures_util::{StreamExt, TryStreamExt, stream};
use model::{Channel, Directory, UserId};
use rules::names::parse_channel_name;
use rules::permissions::channel::sees_channel;
use rules::permissions::create::{check_may_remove_subscribers, is_own_subscription};
use rules::subscribing::check_subscription_count;
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;

/// Channels of a request that are left at the same time: a commit waits for the disk, and those that come meanwhile are written
/// together.
const CHANNELS_AT_ONCE: usize = 32;

/// The channels to leave, and the users who leave them.
pub struct Removing {
    names: Vec<String>,
    principals: Principals,
}

impl Removing {
    /// Unsubscribes the caller from channels with these names.
    pub fn own(names: Vec<String>) -> Self {
        Self { names, principals: Principals::Caller }
    }
}

impl FromFields for Removing {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            names: fields.required_strings("subscriptions")?,
            principals: Principals::from_fields(fields)?,
        })
    }
}

/// The result of unsubscribing: names of channels, one entry for each user.
#[derive(Default, Serialize)]
pub struct Removed {
    removed: Vec<String>,
    not_removed: Vec<String>,
}

/// A checked request: users and channels.
pub struct CheckedRemoval {
    people: Vec<UserId>,
    channels: Vec<Arc<Channel>>,
}

/// Unsubscribes users, and returns `removed` and `not_removed`.
pub async fn unsubscribe(caller: Caller, Params(params): Params<Removing>) -> HandlerResult {
    let checked = check_removal(&caller, &caller.realm.directory(), &params)?;
    reply(&remove_subscriptions(&caller, checked).await?)
}

/// Resolves channels and users, and checks the permissions of the caller.
///
/// # Errors
/// The rules of names; principals; `Insufficient permission`; `STREAM_DOES_NOT_EXIST` for unknown names.
pub fn check_removal(
    caller: &Caller,
    directory: &Directory,
    removing: &Removing,
) -> Result<CheckedRemoval, ApiError> {
    let (mut channels, mut unknown): (Vec<Arc<Channel>>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut seen = HashSet::new();
    for raw in &removing.names {
        let name = parse_channel_name(raw)?;
        match directory.channel_by_name(name).filter(|channel| is_known(caller, directory, channel)) {
            Some(channel) if !seen.insert(channel.id) => {}
            Some(channel) => channels.push(channel.clone()),
            None => unknown.push(name),
        }
    }
    let people = removing.principals.resolve(directory, caller, |_| no_such_user())?;
    check_subscription_count(channels.len(), people.len())?;
    if people.iter().any(|user| !is_own_subscription(directory, caller.user.id, *user)) {
        let channels: Vec<&Channel> = channels.iter().map(|channel| &**channel).collect();
        check_may_remove_subscribers(directory, &caller.user, &channels)?;
    }
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        let error = ApiError::new(Code::STREAM_DOES_NOT_EXIST, format!("Channel(s) ({names}) do not exist"));
        return Err(error.with("stream", names));
    }
    Ok(CheckedRemoval { people, channels })
}

/// Whether the caller may see a channel, directly or because one of their bots is subscribed.
fn is_known(caller: &Caller, directory: &Directory, channel: &Channel) -> bool {
    let mut bots = directory.subscriber_ids(channel.id);
    sees_channel(directory, &caller.user, channel)
        || bots.any(|bot| directory.bot_owner(bot) == Some(caller.user.id))
}

/// Unsubscribes the users. Each channel is a commit of its own, and several are on their way to the disk together.
pub async fn remove_subscriptions(caller: &Caller, checked: CheckedRemoval) -> Result<Removed, ApiError> {
    let CheckedRemoval { people, channels } = checked;
    let leave = |channel: Arc<Channel>| {
        let people = people.clone();
        async move {
            let done = caller.realm.unsubscribe(channel.id, people, caller.user.id).await?;
            Ok::<_, ApiError>((channel, done))
        }
    };
    let mut left = stream::iter(channels).map(leave).buffered(CHANNELS_AT_ONCE);
    let mut outcome = Removed::default();
    while let Some((channel, done)) = left.try_next().await? {
        let entries = |count: usize| std::iter::repeat_n(channel.name.clone(), count);
        outcome.removed.extend(entries(done.removed.len()));
        outcome.not_removed.extend(entries(done.not_subscribed.len()));
    }
    Ok(outcome)
}
