//! `GET /streams/{id}`: one channel (docs/api/channels.md#get-a-channel).

use crate::api::wire::channel::channel;
use crate::http::{Caller, HandlerResult, Params, Path, reply_field};
use actors::queries::one_channel;
use model::{Channel, ChannelId};
use rules::RuleError;
use rules::permissions::channel::sees_channel;

/// Returns a `stream` that the requester may see. An archived one counts as missing.
pub async fn channel_by_id(caller: Caller, Path(id): Path<ChannelId>, _: Params<()>) -> HandlerResult {
    let (directory, summary) = one_channel(&caller.realm, id);
    let is_shown =
        |channel: &Channel| !channel.is_archived && sees_channel(&directory, &caller.user, channel);
    let summary = summary.filter(|summary| is_shown(&summary.channel));
    let summary = summary.ok_or(RuleError::InvalidChannelId)?;
    reply_field("stream", &channel(&directory, &summary))
}
