//! `POST /users/{id}/reactivate`: reactivates an account (docs/api/users.md#reactivate-a-user).

use crate::http::{Caller, HandlerResult, Params, Path};
use actors::commands;
use model::UserId;

/// Reactivates an account with its subscriptions, groups and API key, for administrators.
pub async fn reactivate_user(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(()): Params<()>,
) -> HandlerResult {
    caller.execute(commands::ReactivateAccount { by: caller.user.id, user: id }).await
}
