//! `POST` and `DELETE /default_streams`: the channels that new people are subscribed to (companions.md 6).

use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply_ok};

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
pub async fn add_default_channel(caller: Caller, Params(params): Params<DefaultChannel>) -> Answer {
    caller.realm.set_default_channel(caller.user.id, params.channel.into(), true).await?;
    reply_ok()
}

/// No longer.
pub async fn remove_default_channel(caller: Caller, Params(params): Params<DefaultChannel>) -> Answer {
    caller.realm.set_default_channel(caller.user.id, params.channel.into(), false).await?;
    reply_ok()
}
