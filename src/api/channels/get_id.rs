//! `GET /get_stream_id`: a channel's id by its name (companions.md 6).

use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply};
use model::ChannelId;
use rules::permissions::channel::{Archived, ChannelRef, access_channel_metadata};
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
struct Found {
    stream_id: ChannelId,
}

/// `stream_id`, for whoever may know of the channel.
pub async fn channel_id_by_name(caller: Caller, Params(params): Params<GetChannelId>) -> Answer {
    let directory = caller.realm.directory();
    let wanted = ChannelRef::Name(&params.name);
    let found = access_channel_metadata(&directory, &caller.user, wanted, Archived::Refused)?;
    reply(&Found { stream_id: found.channel().id })
}
