//! `DELETE /users/{id}` and `DELETE /users/me`: deactivates an account (docs/api/users.md#deactivate-a-user).

use crate::http::params::check_length_max;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::UserId;
use rules::accounts::DEACTIVATION_COMMENT_LENGTH_MAX;
use rules::text::strip;

/// The parameters.
pub struct DeactivateUser {
    /// What the owner of the account is told by mail; none: nothing.
    comment: Option<String>,
}

impl FromFields for DeactivateUser {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let name = "deactivation_notification_comment";
        let comment = fields.optional_str(name).map(|comment| strip(comment).to_owned());
        check_length_max(name, comment.as_deref().unwrap_or_default(), DEACTIVATION_COMMENT_LENGTH_MAX)?;
        Ok(Self { comment })
    }
}

/// Somebody else's, for administrators. Its bots go with it, its key and queues stop at once.
pub async fn deactivate_user(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(DeactivateUser { comment }): Params<DeactivateUser>,
) -> HandlerResult {
    caller.realm.execute(commands::DeactivateAccount { by: caller.user.id, user: Some(id), comment }).await?;
    reply_ok()
}

/// One's own, unless nobody would be left to own the organization.
pub async fn deactivate_self(caller: Caller, Params(()): Params<()>) -> HandlerResult {
    caller
        .realm
        .execute(commands::DeactivateAccount { by: caller.user.id, user: None, comment: None })
        .await?;
    reply_ok()
}
