//! `POST /users/me/status`, `GET` and `POST /users/{user_id}/status`
//! (docs/api/presence-and-status.md#set-the-own-status).

use super::get::no_such_user;
use crate::api::wire::status::status;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_field, reply_ok};
use actors::{WantedStatus, commands};
use model::{Directory, User, UserId};
use rules::RuleError;
use rules::permissions::users::sees_user;
use std::sync::Arc;

impl FromFields for WantedStatus {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            text: fields.optional("status_text"),
            away: fields.optional_bool("away")?,
            emoji_name: fields.optional("emoji_name"),
            emoji_code: fields.optional("emoji_code"),
            reaction_type: fields.optional("reaction_type"),
        })
    }
}

/// Sets the status of the requester.
pub async fn set_own(caller: Caller, Params(wanted): Params<WantedStatus>) -> HandlerResult {
    let user = caller.user.id;
    caller.realm.execute_and_report_presence(user, commands::SetStatus { user, wanted }).await?;
    reply_ok()
}

/// Sets the status of another user, for administrators.
pub async fn set(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(wanted): Params<WantedStatus>,
) -> HandlerResult {
    let user = find(&caller.realm.directory(), &caller.user, id)?.id;
    if !caller.user.is_administrator() {
        return Err(RuleError::InsufficientPermission.into());
    }
    caller.realm.execute_and_report_presence(user, commands::SetStatus { user, wanted }).await?;
    reply_ok()
}

/// Returns the `status` of a user.
pub async fn show(caller: Caller, Path(id): Path<UserId>, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let user = find(&directory, &caller.user, id)?;
    reply_field("status", &status(&directory, &user))
}

/// An active user whom the caller may see.
fn find(directory: &Directory, viewer: &User, id: UserId) -> Result<Arc<User>, ApiError> {
    let user = directory.user(id).filter(|user| !user.is_bot() && sees_user(directory, viewer, user));
    let user = user.ok_or_else(no_such_user)?;
    match user.is_active {
        true => Ok(user.clone()),
        false => Err(ApiError::bad_request("User is deactivated")),
    }
}
