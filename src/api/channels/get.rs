//! `GET /streams/{id}`: one channel (companions.md 6).

use crate::api::wire::channel::{ChannelJson, channel};
use crate::http::{Answer, Caller, Params, Path, reply};
use actors::queries::one_channel;
use model::ChannelId;
use rules::RuleError;
use rules::permissions::channel::sees_channel;
use serde::Serialize;

#[derive(Serialize)]
struct Found<'a> {
    stream: ChannelJson<'a>,
}

/// `stream`, for whoever may know of the channel; archived ones too.
pub async fn channel_by_id(caller: Caller, Path(id): Path<ChannelId>, _: Params<()>) -> Answer {
    let (directory, summary) = one_channel(&caller.realm, id);
    let summary = summary.filter(|summary| sees_channel(&directory, &caller.user, &summary.channel));
    let summary = summary.ok_or(RuleError::InvalidChannelId)?;
    reply(&Found { stream: channel(&directory, &summary) })
}
