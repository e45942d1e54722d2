//! `GET /streams/{id}/members`: the subscribers of a channel (docs/api/channels.md#get-a-channel).

use crate::api::wire::list::push_list;
use crate::http::{Caller, Envelope, HandlerResult, Params, Path};
use model::ChannelId;
use rules::permissions::channel::{
    Archived, ChannelRef, access_channel_metadata, check_may_list_subscribers,
};

/// `subscribers`: the ids of those with active accounts. Guests must be one of them.
pub async fn list_members(caller: Caller, Path(id): Path<ChannelId>, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let wanted = ChannelRef::Id(id.0.into());
    let found = access_channel_metadata(&directory, &caller.user, wanted, Archived::Allowed)?;
    check_may_list_subscribers(&directory, &caller.user, found.channel())?;
    let mut envelope = Envelope::with_capacity(1024);
    push_list(envelope.open_field("subscribers"), directory.subscriber_ids(id));
    envelope.reply()
}
