//! `POST /users/{id}/reactivate`: taking an account back into use (companions.md 5).

use crate::http::{Answer, Caller, Params, Path, reply_ok};
use model::UserId;

/// For administrators. Subscriptions, groups and the API key are what they were.
pub async fn reactivate_user(caller: Caller, Path(id): Path<UserId>, Params(()): Params<()>) -> Answer {
    caller.realm.reactivate_account(caller.user.id, id).await?;
    reply_ok()
}
