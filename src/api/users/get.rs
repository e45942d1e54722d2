//! `GET /users/{id}` and `GET /users/{email}`: one account (docs/api/users.md#get-a-user).

use crate::api::wire::user::{UserForm, user};
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_field};
use model::{Directory, User, UserId};
use rules::permissions::users::{find_user_by_email, sees_user};
use std::sync::Arc;

/// The form of a single user.
impl FromFields for UserForm {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            client_gravatar: fields.bool_or("client_gravatar", true)?,
            profile_data: fields.bool_or("include_custom_profile_fields", false)?,
            is_active: true,
        })
    }
}

/// Returns the `user` with an id. `No such user` for unknown and hidden users.
pub async fn user_by_id(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(form): Params<UserForm>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    show(&directory, &caller.user, directory.user(id), form)
}

/// Returns the `user` with an address that the caller may see: the API address, or the real one unless it is hidden.
pub async fn user_by_email(
    caller: Caller,
    Path(email): Path<String>,
    Params(form): Params<UserForm>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let found = find_user_by_email(&directory, Some(&caller.user), &email);
    show(&directory, &caller.user, found, form)
}

fn show(directory: &Directory, viewer: &User, found: Option<&Arc<User>>, form: UserForm) -> HandlerResult {
    let found = found.filter(|user| sees_user(directory, viewer, user)).ok_or_else(no_such_user)?;
    reply_field("user", &user(directory, Some(viewer), found, form))
}

/// The error for unknown and hidden users.
pub fn no_such_user() -> ApiError {
    ApiError::bad_request("No such user")
}
