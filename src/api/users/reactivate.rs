//! `POST /users/{id}/reactivate`: reactivates an account (docs/api/users.md#reactivate-a-user).

use crate::http::{Caller, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::UserId;

/// For administrators. Subscriptions, groups and the API key are what they were.
pub async fn reactivate_user(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(()): Params<()>,
) -> HandlerResult {
    caller.realm.execute(commands::ReactivateAccount { by: caller.user.id, user: id }).await?;
    reply_ok()
}
