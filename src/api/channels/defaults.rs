//! `POST` and `DELETE /default_streams`: the channels that new users are subscribed to
//! (docs/api/channels.md#default-channels).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use actors::commands;

/// The parameter.
pub struct DefaultChannel {
    channel: u32,
}

impl FromFields for DefaultChannel {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { channel: fields.required_id("stream_id")? })
    }
}

/// From now on new people are subscribed to the channel.
pub async fn add_default_channel(caller: Caller, Params(params): Params<DefaultChannel>) -> HandlerResult {
    caller
        .realm
        .execute(commands::SetDefaultChannel {
            by: caller.user.id,
            channel: params.channel.into(),
            is_default: true,
        })
        .await?;
    reply_ok()
}

/// No longer.
pub async fn remove_default_channel(caller: Caller, Params(params): Params<DefaultChannel>) -> HandlerResult {
    caller
        .realm
        .execute(commands::SetDefaultChannel {
            by: caller.user.id,
            channel: params.channel.into(),
            is_default: false,
        })
        .await?;
    reply_ok()
}
