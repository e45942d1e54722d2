//! `GET /messages/{message_id}/read_receipts`: who has read a message (companions.md 4).

use crate::http::{Answer, ApiError, Caller, Params, Path, reply};
use actors::queries::{locate, readers};
use model::{MessageId, UserId};
use rules::RuleError;
use rules::settings::realm_bool;
use serde::Serialize;

#[derive(Serialize)]
struct ReadBy {
    user_ids: Vec<UserId>,
}

/// Names those who have read a message that the caller may read.
pub async fn read_receipts(caller: Caller, Path(id): Path<MessageId>, Params(()): Params<()>) -> Answer {
    let Caller { realm, user } = caller;
    let user_ids = realm.read(|view| {
        if locate(view, Some(&user), id).is_none() {
            return Err(RuleError::InvalidMessage.into());
        }
        if !realm_bool(view.directory.realm(), "enable_read_receipts") {
            return Err(ApiError::bad_request("Read receipts are disabled in this organization."));
        }
        Ok(readers(view, user.id, id))
    })?;
    reply(&ReadBy { user_ids })
}
