//! `POST /realm/deactivate`: deactivates the organization (docs/api/organization.md#deactivate-the-organization).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};

/// The parameters.
pub struct Deactivate {
    /// After how many days the data are to go; none: never.
    deletion_delay_days: Option<i64>,
}

impl FromFields for Deactivate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let deletion_delay_days = match fields.optional_json("deletion_delay_days")? {
            None => None,
            Some(days) if days.root().value().is_null() => None,
            Some(days) => Some(days.root().int()?),
        };
        Ok(Self { deletion_delay_days })
    }
}

/// Closes it: people are told and get no further. Whoever runs the server can open it again; nothing is deleted, and
/// whoever asks for that is told so.
pub async fn deactivate(
    caller: Caller,
    Params(Deactivate { deletion_delay_days }): Params<Deactivate>,
) -> HandlerResult {
    if deletion_delay_days.is_some() {
        let msg = "This server does not delete the data of deactivated organizations.";
        return Err(ApiError::bad_request(msg));
    }
    caller.realm.deactivate(Some(caller.user.id)).await?;
    reply_ok()
}
