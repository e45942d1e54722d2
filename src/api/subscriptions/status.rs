//! `GET /users/{user_id}/subscriptions/{stream_id}`: whether a user subscribes to a channel
//! (docs/api/subscriptions.md#subscription-status).

use crate::api::users::get::no_such_user;
use crate::http::{Caller, HandlerResult, Params, Path, reply};
use model::{ChannelId, UserId};
use rules::permissions::channel::{
    Archived, ChannelRef, access_channel_metadata, check_may_list_subscribers,
};
use rules::permissions::users::sees_user;
use serde::Serialize;

#[derive(Serialize)]
struct Status {
    is_subscribed: bool,
}

/// `is_subscribed`, where the caller may know of the user and see who subscribes to the channel.
pub async fn subscription_status(
    caller: Caller,
    Path((user, channel)): Path<(UserId, ChannelId)>,
    _: Params<()>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let user = directory.user(user).filter(|user| sees_user(&directory, &caller.user, user));
    let user = user.ok_or_else(no_such_user)?;
    let wanted = ChannelRef::Id(channel.0.into());
    let found = access_channel_metadata(&directory, &caller.user, wanted, Archived::Allowed)?;
    if user.id != caller.user.id {
        check_may_list_subscribers(&directory, &caller.user, found.channel())?;
    }
    reply(&Status { is_subscribed: directory.is_subscribed(channel, user.id) })
}
