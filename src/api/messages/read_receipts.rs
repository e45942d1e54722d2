//! `GET /messages/{message_id}/read_receipts`: the users who have read a message
//! (docs/api/messages.md#fetch-read-receipts).

use crate::http::{ApiError, Caller, HandlerResult, Params, Path, reply_field};
use model::MessageId;
use rules::RuleError;
use rules::settings::realm_bool;

/// Returns the `user_ids` of users who have read a message.
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
    reply_field("user_ids", &user_ids)
}
