//! `DELETE /streams/{id}`: archives a channel (docs/api/channels.md#archive-a-channel). Its messages stay readable.

use crate::http::{Caller, HandlerResult, Params, Path, reply_ok};
use model::ChannelId;

/// Archives a channel.
pub async fn archive_channel(caller: Caller, Path(id): Path<ChannelId>, _: Params<()>) -> HandlerResult {
    caller.realm.archive_channel(caller.user.id, id.0.into()).await?;
    reply_ok()
}
