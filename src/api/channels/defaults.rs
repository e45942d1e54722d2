//! `POST` and `DELETE /default_streams`: the channels that new users are subscribed to
//! (docs/api/channels.md#default-channels).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use actors::commands;

/// The id of a channel.
pub struct DefaultChannel(u32);

impl FromFields for DefaultChannel {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required_id("stream_id")?))
    }
}

/// Adds a default channel.
pub async fn add_default_channel(caller: Caller, Params(channel): Params<DefaultChannel>) -> HandlerResult {
    set(&caller, channel, true).await
}

/// Removes a default channel; users who are subscribed stay so.
pub async fn remove_default_channel(
    caller: Caller,
    Params(channel): Params<DefaultChannel>,
) -> HandlerResult {
    set(&caller, channel, false).await
}

async fn set(caller: &Caller, DefaultChannel(id): DefaultChannel, is_default: bool) -> HandlerResult {
    caller.execute(commands::SetDefaultChannel { by: caller.user.id, channel: id.into(), is_default }).await
}
