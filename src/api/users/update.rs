//! `PATCH /users/{id}` and `PATCH /users/{email}`: name, role, profile and e-mail address of an account
//! (docs/api/users.md#update-a-user).

use super::get::no_such_user;
use super::profile_data::render_entries;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::{Role, UserId};
use rules::accounts::{AccountUpdate, check_account_update};
use rules::permissions::users::find_user_by_email;
use rules::profile_fields::ProfileEntry;

/// The parameters; only those that are passed change anything.
pub struct UpdateUser(AccountUpdate);

impl FromFields for UpdateUser {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let full_name = fields.optional("full_name");
        let role = match fields.optional_int::<i64>("role")? {
            Some(code) => Some(Role::from_code(code).ok_or_else(|| ApiError::invalid_parameter("role"))?),
            None => None,
        };
        let mut profile_data = Vec::new();
        if let Some(data) = fields.optional_json("profile_data")? {
            for item in data.root().list()? {
                let entry = item.object()?;
                let (field, value) = (entry.required("id")?.int()?, entry.required("value")?);
                profile_data.push(ProfileEntry { field, value: value.value().clone(), html: None });
            }
        }
        Ok(Self(AccountUpdate { full_name, role, profile_data, new_email: fields.optional("new_email") }))
    }
}

/// By id.
pub async fn update_by_id(
    caller: Caller,
    Path(id): Path<UserId>,
    Params(UpdateUser(update)): Params<UpdateUser>,
) -> HandlerResult {
    change(&caller, id, update).await
}

/// By an address that the caller may see.
pub async fn update_by_email(
    caller: Caller,
    Path(email): Path<String>,
    Params(UpdateUser(update)): Params<UpdateUser>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let found = find_user_by_email(&directory, Some(&caller.user), &email).ok_or_else(no_such_user)?.id;
    change(&caller, found, update).await
}

/// Changes what is given, all of it or nothing.
async fn change(caller: &Caller, id: UserId, mut update: AccountUpdate) -> HandlerResult {
    let directory = caller.realm.directory();
    // Refused before anything is drawn for it; decided again by the organization.
    check_account_update(&directory, &caller.user, id, update.clone())?;
    render_entries(caller, &directory, &mut update.profile_data)?;
    caller.realm.execute(commands::UpdateAccount { by: caller.user.id, user: id, update }).await?;
    reply_ok()
}
