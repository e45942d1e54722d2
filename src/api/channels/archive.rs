//! `DELETE /streams/{id}`: takes a channel out of use (companions.md 6). Its messages stay readable.

use crate::http::{Answer, Caller, Params, Path, reply_ok};
use model::ChannelId;

/// Nothing but success.
pub async fn archive_channel(caller: Caller, Path(id): Path<ChannelId>, _: Params<()>) -> Answer {
    caller.realm.archive_channel(caller.user.id, id.0.into()).await?;
    reply_ok()
}
