//! `POST /users/me/status`, `GET` and `POST /users/{user_id}/status`
//! (docs/api/presence-and-status.md#set-the-own-status).

use super::get::no_such_user;
use crate::api::wire::status::{StatusJson, status};
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply, reply_ok};
use actors::{WantedStatus, commands};
use model::{Directory, User, UserId};
use rules::RuleError;
use rules::permissions::users::sees_user;
use serde::Serialize;
use std::sync::Arc;

/// The parameters; only those that are passed change anything.
pub struct SetStatus(WantedStatus);

impl FromFields for SetStatus {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(WantedStatus {
            text: fields.optional("status_text"),
            away: fields.optional_bool("away")?,
            emoji_name: fields.optional("emoji_name"),
            emoji_code: fields.optional("emoji_code"),
            reaction_type: fields.optional("reaction_type"),
        }))
    }
}

#[derive(Serialize)]
struct Shown<'a> {
    status: StatusJson<'a>,
}

/// Sets one's own.
pub async fn set_own(caller: Caller, Params(SetStatus(wanted)): Params<SetStatus>) -> HandlerResult {
    caller
        .realm
        .execute_and_report_presence(caller.user.id, commands::SetStatus { user: caller.user.id, wanted })
        .await?;
    reply_ok()
}

/// Sets that of somebody else, for administrators.
pub async fn set(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(SetStatus(wanted)): Params<SetStatus>,
) -> HandlerResult {
    let user = find(&caller.realm.directory(), &caller.user, id)?.id;
    if !caller.user.is_administrator() {
        return Err(RuleError::InsufficientPermission.into());
    }
    caller.realm.execute_and_report_presence(user, commands::SetStatus { user, wanted }).await?;
    reply_ok()
}

/// `status`, with what is set.
pub async fn show(caller: Caller, Path(id): Path<UserId>, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let user = find(&directory, &caller.user, id)?;
    reply(&Shown { status: status(&directory, &user) })
}

/// A person whom the caller may know of and who is not gone.
fn find(directory: &Directory, viewer: &User, id: UserId) -> Result<Arc<User>, ApiError> {
    let user = directory.user(id).filter(|user| !user.is_bot() && sees_user(directory, viewer, user));
    let user = user.ok_or_else(no_such_user)?;
    match user.is_active {
        true => Ok(user.clone()),
        false => Err(ApiError::bad_request("User is deactivated")),
    }
}
