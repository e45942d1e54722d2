//! `GET /get_stream_id`: a channel's id by its name (docs/api/channels.md#get-a-channel).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply};
use model::ChannelId;
use rules::permissions::channel::{Archived, ChannelRef, access_channel_content};
use serde::Serialize;

/// The parameter.
pub struct GetChannelId {
    name: String,
}

impl FromFields for GetChannelId {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { name: fields.required("stream")? })
    }
}

#[derive(Serialize)]
struct ChannelIdResponse {
    stream_id: ChannelId,
}

/// `stream_id`, for whoever may read in the channel: administrators learn no names of private ones here.
pub async fn channel_id_by_name(caller: Caller, Params(params): Params<GetChannelId>) -> HandlerResult {
    let directory = caller.realm.directory();
    let wanted = ChannelRef::Name(&params.name);
    let found = access_channel_content(&directory, &caller.user, wanted, Archived::Refused)?;
    reply(&ChannelIdResponse { stream_id: found.channel().id })
}
