//! `GET /streams/{id}/members`: the subscribers of a channel (docs/api/channels.md#get-a-channel).

use crate::api::wire::list::reply_list;
use crate::http::{Caller, HandlerResult, Params, Path};
use model::ChannelId;
use rules::permissions::channel::{
    Archived, ChannelRef, access_channel_metadata, check_may_list_subscribers,
};

/// Lists the ids of active `subscribers`. Guests must be subscribed themselves.
pub async fn list_members(caller: Caller, Path(id): Path<ChannelId>, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let wanted = ChannelRef::Id(id.0.into());
    let channel = access_channel_metadata(&directory, &caller.user, wanted, Archived::Allowed)?;
    check_may_list_subscribers(&directory, &caller.user, channel)?;
    reply_list("subscribers", directory.subscriber_ids(id))
}
