//! `POST /users/me/api_key/regenerate`: another API key (conventions.md 1).

use crate::http::{Answer, Caller, Params, reply};
use serde::Serialize;

#[derive(Serialize)]
struct NewKey {
    api_key: String,
}

/// The old key stops at once; event queues go on, polled with the new one.
pub async fn regenerate_own(caller: Caller, Params(()): Params<()>) -> Answer {
    let user = caller.realm.regenerate_api_key(caller.user.id).await?;
    reply(&NewKey { api_key: caller.realm.api_key(&user) })
}
