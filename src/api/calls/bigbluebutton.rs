//! `GET /calls/bigbluebutton/create`: this server has no BigBlueButton (docs/api/server-additions.md#video-calls).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};

/// The parameters of a call.
pub struct NewCall;

impl FromFields for NewCall {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        fields.required_str("meeting_name")?;
        Ok(Self)
    }
}

/// The error that clients show.
pub async fn create(_: Caller, _: Params<NewCall>) -> HandlerResult {
    Err(ApiError::bad_request("BigBlueButton is not configured."))
}
