//! `POST /users`: creates an account, for administrators (docs/api/users.md#create-a-user).

use crate::api::account::address::is_address;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, reply_field};
use actors::{DomainError, NewUser, commands};
use model::{Directory, Role};
use rules::RuleError;
use rules::accounts::CAN_CREATE_USERS;
use rules::addresses::check_email_allowed;
use rules::error::AccountError;
use rules::names::{check_full_name_free, parse_full_name};
use rules::passwords::is_strong_password;

/// An account to create.
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

/// Creates a member, who is subscribed to the default channels and gets the welcome messages, and returns the
/// `user_id`.
pub async fn create_user(
    app: App,
    caller: Caller,
    Params(CreateUser { email, password, full_name }): Params<CreateUser>,
) -> HandlerResult {
    if !caller.user.bool_setting(CAN_CREATE_USERS, false) {
        return Err(RuleError::from(AccountError::CreationNotPermitted).into());
    }
    let full_name = check_new_account(Some(&caller.realm.directory()), &email, &full_name)?.to_owned();
    let permit = app.passwords.acquire_permit().await?;
    let (address, name) = (email.clone(), full_name.clone());
    let hash = permit.run(move |hasher| match is_strong_password(&password, &[&address, &name]) {
        true => hasher.hash(&password).map(Some),
        false => Ok(None),
    });
    let hash = hash.await??.ok_or_else(|| ApiError::bad_request("The password is too weak."))?;
    let user = NewUser {
        email,
        full_name,
        role: Role::Member,
        bot: None,
        password_hash: Some(hash),
        timezone: String::new(),
        channels: Vec::new(),
    };
    let user = caller.realm.execute(commands::CreateUser { user, sends_messages: true }).await?;
    reply_field("user_id", &user.id)
}

/// Checks name and address of a new account (no directory: in a new organization); returns the trimmed name.
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
        // Checked before the password is hashed, and again when the command is decided.
        Some(_) => Err(DomainError::EmailInUse(email.to_owned()).into()),
        None => Ok(full_name),
    }
}
