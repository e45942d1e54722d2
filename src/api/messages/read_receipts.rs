//! `GET /messages/{message_id}/read_receipts`: who has read a message (docs/api/messages.md#fetch-read-receipts).

use crate::http::{ApiError, Caller, HandlerResult, Params, Path, reply};
use model::{MessageId, UserId};
use rules::RuleError;
use rules::settings::realm_bool;
use serde::Serialize;

#[derive(Serialize)]
struct ReadBy {
    user_ids: Vec<UserId>,
}

/// Names those who have read a message that the caller may read.
pub async fn read_receipts(
    caller: Caller,
    Path(id): Path<MessageId>,
    Params(()): Params<()>,
) -> HandlerResult {
    let Caller { realm, user } = caller;
    let user_ids = realm.readers(&user, id).ok_or(RuleError::InvalidMessage)?;
    if !realm_bool(realm.directory().realm(), "enable_read_receipts") {
        return Err(ApiError::bad_request("Read receipts are disabled in this organization."));
    }
    reply(&ReadBy { user_ids })
}
