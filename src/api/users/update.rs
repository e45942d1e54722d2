//! `PATCH /users/{id}` and `PATCH /users/{email}`: name, role, profile and e-mail address of an account
//! (docs/api/users.md#update-a-user).

use super::get::no_such_user;
use super::profile_data::{render_entries, texts_of};
use crate::api::formulas;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path};
use actors::commands;
use model::{Role, UserId};
use rules::accounts::{AccountUpdate, check_account_update};
use rules::permissions::users::find_user_by_email;
use rules::profile_fields::ProfileEntry;

impl FromFields for AccountUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let full_name = fields.optional("full_name");
        let role = |code: i64| Role::from_code(code).ok_or_else(|| ApiError::invalid_parameter("role"));
        let role = fields.optional_int("role")?.map(role).transpose()?;
        let mut profile_data = Vec::new();
        if let Some(data) = fields.optional_json("profile_data")? {
            for item in data.root().list()? {
                let entry = item.object()?;
                let (field, value) = (entry.required("id")?.int()?, entry.required("value")?);
                profile_data.push(ProfileEntry { field, value: value.value().clone(), html: None });
            }
        }
        Ok(Self { full_name, role, profile_data, new_email: fields.optional("new_email") })
    }
}

/// Updates the account with an id.
pub async fn update_by_id(
    app: App,
    caller: Caller,
    Path(id): Path<UserId>,
    Params(update): Params<AccountUpdate>,
) -> HandlerResult {
    change(&app, &caller, id, update).await
}

/// Updates the account with an address that the caller may see.
pub async fn update_by_email(
    app: App,
    caller: Caller,
    Path(email): Path<String>,
    Params(update): Params<AccountUpdate>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let found = find_user_by_email(&directory, Some(&caller.user), &email).ok_or_else(no_such_user)?.id;
    change(&app, &caller, found, update).await
}

/// Changes the given properties, or none if any is refused.
async fn change(app: &App, caller: &Caller, id: UserId, mut update: AccountUpdate) -> HandlerResult {
    let directory = caller.realm.directory();
    // Checked before values are rendered, and again when the command is decided.
    check_account_update(&directory, &caller.user, id, update.clone())?;
    formulas::prepare(app, caller, texts_of(&update.profile_data)).await?;
    render_entries(caller, &directory, &mut update.profile_data)?;
    caller.execute(commands::UpdateAccount { by: caller.user.id, user: id, update }).await
}
