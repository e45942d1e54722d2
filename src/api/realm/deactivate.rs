//! `POST /realm/deactivate`: deactivates the organization (docs/api/organization.md#deactivate-the-organization).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};

/// Days after which the data is to be deleted; none: never.
pub struct DeletionDelay(Option<i64>);

impl FromFields for DeletionDelay {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let days = fields.optional_json("deletion_delay_days")?;
        let days = days.filter(|days| !days.root().value().is_null());
        Ok(Self(days.map(|days| days.root().int()).transpose()?))
    }
}

/// Deactivates the organization; the operator of the server can reactivate it. Deleting the data is not implemented,
/// and refused.
pub async fn deactivate(caller: Caller, Params(DeletionDelay(days)): Params<DeletionDelay>) -> HandlerResult {
    if days.is_some() {
        let msg = "This server does not delete the data of deactivated organizations.";
        return Err(ApiError::bad_request(msg));
    }
    caller.realm.deactivate(Some(caller.user.id)).await?;
    reply_ok()
}
