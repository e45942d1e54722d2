//! `POST /users`: an account made by an administrator (companions.md 5).

use crate::api::account::address::is_address;
use crate::http::{Answer, ApiError, App, Caller, Fields, FromFields, Params, reply};
use actors::{DomainError, NewUser};
use model::{Directory, Role};
use rules::addresses::check_email_allowed;
use rules::names::{check_full_name_free, parse_full_name};
use serde::Serialize;

/// The mark of an account, among its settings, that may create others. Not a setting that anybody can
/// change over the API: whoever has it can let anybody in.
pub const CAN_CREATE_USERS: &str = "can_create_users";

/// The parameters.
pub struct CreateUser {
    email: String,
    password: String,
    full_name: String,
}

impl FromFields for CreateUser {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            email: fields.required("email")?,
            password: fields.required("password")?,
            full_name: fields.required("full_name")?,
        })
    }
}

#[derive(Serialize)]
struct Created {
    user_id: u32,
}

/// Creates a member, who is subscribed to the default channels. Everybody learns of it by event.
pub async fn create_user(
    app: App,
    caller: Caller,
    Params(CreateUser { email, password, full_name }): Params<CreateUser>,
) -> Answer {
    if !caller.user.bool_setting(CAN_CREATE_USERS, false) {
        return Err(ApiError::bad_request("User not authorized to create users"));
    }
    let full_name = check_new_account(Some(&caller.realm.directory()), &email, &full_name)?.to_owned();
    let turn = app.passwords.turn().await?;
    let hash = turn.run(move |hasher| hasher.hash(&password)).await?;
    let user = NewUser {
        email,
        full_name,
        role: Role::Member,
        bot: None,
        password_hash: Some(hash),
        timezone: String::new(),
        channels: Vec::new(),
    };
    let user = caller.realm.create_user(user).await?;
    reply(&Created { user_id: user.id.0 })
}

/// Refuses names and addresses that a new account cannot have (none: in a new organization); gives the name
/// without white space around.
pub fn check_new_account<'n>(
    directory: Option<&Directory>,
    email: &str,
    full_name: &'n str,
) -> Result<&'n str, ApiError> {
    let full_name = parse_full_name(full_name)?;
    if !is_address(email) {
        return Err(ApiError::bad_request("Bad name or username"));
    }
    let Some(directory) = directory else { return Ok(full_name) };
    check_full_name_free(directory, full_name, None)?;
    check_email_allowed(directory, email)
        .map_err(|refusal| ApiError::bad_request(refusal.for_new_account(email)))?;
    match directory.user_by_email(email) {
        // Before the password is computed; whether the address is still free is decided by the organization.
        Some(_) => Err(DomainError::EmailInUse(email.to_owned()).into()),
        None => Ok(full_name),
    }
}
