//! `POST /users/me/api_key/regenerate`: a new API key (docs/api/account.md#regenerate-the-api-key).

use crate::http::{Caller, HandlerResult, Params, reply};
use actors::commands;
use serde::Serialize;

#[derive(Serialize)]
struct NewKey {
    api_key: String,
}

/// The old key stops at once; event queues go on, polled with the new one.
pub async fn regenerate_own(caller: Caller, Params(()): Params<()>) -> HandlerResult {
    let user = caller.realm.execute(commands::RegenerateKey { user: caller.user.id }).await?;
    reply(&NewKey { api_key: caller.realm.api_key(&user) })
}
