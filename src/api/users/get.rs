//! `GET /users/{id}` and `GET /users/{email}`: one account (docs/api/users.md#get-a-user).

use crate::api::wire::user::{UserForm, UserJson, user};
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply};
use model::{Directory, User, UserId};
use rules::permissions::users::{find_user_by_email, sees_user};
use serde::Serialize;
use std::sync::Arc;

/// The parameters.
pub struct GetUser {
    client_gravatar: bool,
    include_custom_profile_fields: bool,
}

impl FromFields for GetUser {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            client_gravatar: fields.bool_or("client_gravatar", true)?,
            include_custom_profile_fields: fields.bool_or("include_custom_profile_fields", false)?,
        })
    }
}

#[derive(Serialize)]
struct UserResponse<'a> {
    user: UserJson<'a>,
}

/// By id. `No such user` for unknown ones and for those the caller must not know of.
pub async fn user_by_id(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(params): Params<GetUser>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    show(&directory, &caller.user, directory.user(id), &params)
}

/// By an address that the caller may see: the API address, or the real one unless it is hidden.
pub async fn user_by_email(
    caller: Caller,
    Path(email): Path<String>,
    Params(params): Params<GetUser>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let found = find_user_by_email(&directory, Some(&caller.user), &email);
    show(&directory, &caller.user, found, &params)
}

fn show(directory: &Directory, viewer: &User, found: Option<&Arc<User>>, params: &GetUser) -> HandlerResult {
    let found = found.filter(|user| sees_user(directory, viewer, user)).ok_or_else(no_such_user)?;
    let form = UserForm {
        client_gravatar: params.client_gravatar,
        profile_data: params.include_custom_profile_fields,
        is_active: true,
    };
    reply(&UserResponse { user: user(directory, Some(viewer), found, form) })
}

/// The answer for unknown users, and for those whom the caller must not know of.
pub fn no_such_user() -> ApiError {
    ApiError::bad_request("No such user")
}
