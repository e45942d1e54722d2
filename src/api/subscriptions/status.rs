//! `GET /users/{user_id}/subscriptions/{stream_id}`: whether a user subscribes to a channel
//! (docs/api/subscriptions.md#subscription-status).

use crate::api::users::get::no_such_user;
use crate::http::{Caller, HandlerResult, Params, Path, reply_field};
use model::{ChannelId, UserId};
use rules::permissions::channel::{
    Archived, ChannelRef, access_channel_metadata, check_may_list_subscribers,
};
use rules::permissions::users::sees_user;

/// Returns `is_subscribed`, if the caller may see the user and the subscribers of the channel.
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
        check_may_list_subscribers(&directory, &caller.user, found)?;
    }
    reply_field("is_subscribed", &directory.is_subscribed(channel, user.id))
}
