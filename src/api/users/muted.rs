//! `POST` and `DELETE /users/me/muted_users/{user_id}`: mutes and unmutes a user (docs/api/users.md#mute-users).

use super::get::no_such_user;
use crate::http::{ApiError, Caller, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::UserId;
use rules::error::{PersonalError, RuleError};
use rules::permissions::users::sees_user;

/// Mutes a user: their messages, also later ones, are marked as read.
pub async fn mute(caller: Caller, Path(id): Path<UserId>, _: Params<()>) -> HandlerResult {
    if id == caller.user.id {
        return Err(RuleError::from(PersonalError::MuteSelf).into());
    }
    check_known(&caller, id)?;
    caller.realm.mute_user(caller.user.id, id).await?;
    reply_ok()
}

/// Unmutes a user; later messages are unread again.
pub async fn unmute(caller: Caller, Path(id): Path<UserId>, _: Params<()>) -> HandlerResult {
    check_known(&caller, id)?;
    caller.execute(commands::UnmuteUser { user: caller.user.id, muted: id }).await
}

/// Checks that the caller may see the user; bots and deactivated users can be muted, system bots cannot.
fn check_known(caller: &Caller, id: UserId) -> Result<(), ApiError> {
    let directory = caller.realm.directory();
    let user = directory.user(id).filter(|user| !user.is_system_bot());
    match user.is_some_and(|user| sees_user(&directory, &caller.user, user)) {
        true => Ok(()),
        false => Err(no_such_user()),
    }
}
