//! `GET /get_stream_id`: a channel's id by its name (docs/api/channels.md#get-a-channel).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_field};
use rules::permissions::channel::{Archived, ChannelRef, access_channel_content};

/// The name of a channel.
pub struct GetChannelId(String);

impl FromFields for GetChannelId {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required("stream")?))
    }
}

/// Returns the `stream_id` to users who can read the channel. Administrators get no ids of private channels here.
pub async fn channel_id_by_name(
    caller: Caller,
    Params(GetChannelId(name)): Params<GetChannelId>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let wanted = ChannelRef::Name(&name);
    let found = access_channel_content(&directory, &caller.user, wanted, Archived::Refused)?;
    reply_field("stream_id", &found.channel().id)
}
