//! `POST /users/me/api_key/regenerate`: a new API key (docs/api/account.md#regenerate-the-api-key).

use crate::http::{Caller, HandlerResult, Params, reply_field};
use actors::commands;

/// Returns the new `api_key`. The old one is invalid at once; event queues stay, and are polled with the new one.
pub async fn regenerate_own(caller: Caller, Params(()): Params<()>) -> HandlerResult {
    let user = caller.realm.execute(commands::RegenerateKey { user: caller.user.id }).await?;
    reply_field("api_key", &caller.realm.api_key(&user))
}
