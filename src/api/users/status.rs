//! `POST /users/me/status`, `GET` and `POST /users/{user_id}/status`: what people say about themselves (endpoints.md 12,
//! companions.md 5).

use super::get::no_such_user;
use crate::api::wire::status::{StatusJson, status};
use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, Path, reply, reply_ok};
use actors::WantedStatus;
use model::{Directory, User, UserId};
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
pub async fn set_own(caller: Caller, Params(SetStatus(wanted)): Params<SetStatus>) -> Answer {
    caller.realm.set_status(caller.user.id, wanted).await?;
    reply_ok()
}

/// Sets that of somebody else, for administrators.
pub async fn set(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(SetStatus(wanted)): Params<SetStatus>,
) -> Answer {
    let user = find(&caller.realm.directory(), &caller.user, id)?.id;
    caller.realm.set_status(user, wanted).await?;
    reply_ok()
}

/// `status`, with what is set.
pub async fn show(caller: Caller, Path(id): Path<UserId>, _: Params<()>) -> Answer {
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
