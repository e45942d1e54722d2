//! `GET /streams/{id}`: one channel (docs/api/channels.md#get-a-channel).

use crate::api::wire::channel::{ChannelJson, channel};
use crate::http::{Caller, HandlerResult, Params, Path, reply};
use actors::queries::one_channel;
use model::{Channel, ChannelId};
use rules::RuleError;
use rules::permissions::channel::sees_channel;
use serde::Serialize;

#[derive(Serialize)]
struct ChannelResponse<'a> {
    stream: ChannelJson<'a>,
}

/// `stream`, for whoever may know of the channel. An archived one counts as missing.
pub async fn channel_by_id(caller: Caller, Path(id): Path<ChannelId>, _: Params<()>) -> HandlerResult {
    let (directory, summary) = one_channel(&caller.realm, id);
    let is_shown =
        |channel: &Channel| !channel.is_archived && sees_channel(&directory, &caller.user, channel);
    let summary = summary.filter(|summary| is_shown(&summary.channel));
    let summary = summary.ok_or(RuleError::InvalidChannelId)?;
    reply(&ChannelResponse { stream: channel(&directory, &summary) })
}
