//! `DELETE /users/{id}` and `DELETE /users/me`: deactivates an account (docs/api/users.md#deactivate-a-user).

use crate::http::params::check_length_max;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path};
use actors::commands;
use model::UserId;
use rules::accounts::DEACTIVATION_COMMENT_LENGTH_MAX;
use rules::text::strip;

/// A comment that is mailed to the user; none: no mail.
pub struct DeactivateUser(Option<String>);

impl FromFields for DeactivateUser {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let name = "deactivation_notification_comment";
        let comment = fields.optional_str(name).map(|comment| strip(comment).to_owned());
        check_length_max(name, comment.as_deref().unwrap_or_default(), DEACTIVATION_COMMENT_LENGTH_MAX)?;
        Ok(Self(comment))
    }
}

/// Deactivates an account and its bots, for administrators. Its API key and queues end at once.
pub async fn deactivate_user(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(DeactivateUser(comment)): Params<DeactivateUser>,
) -> HandlerResult {
    caller.execute(commands::DeactivateAccount { by: caller.user.id, user: Some(id), comment }).await
}

/// Deactivates the requester's own account. The last owner cannot do this.
pub async fn deactivate_self(caller: Caller, Params(()): Params<()>) -> HandlerResult {
    caller.execute(commands::DeactivateAccount { by: caller.user.id, user: None, comment: None }).await
}
