//! `POST /json/fetch_api_key`: the API key of the account that is logged in, for its password
//! (docs/api/sessions.md#own-api-key).

use super::attempt::Attempt;
use super::fetch_api_key::unavailable;
use crate::http::{Address, ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, reply};
use crate::integrations::ldap::LdapAnswer;
use serde::Serialize;

/// The password of the account.
pub struct Password(String);

impl FromFields for Password {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required("password")?))
    }
}

#[derive(Serialize)]
struct OwnApiKey<'a> {
    api_key: String,
    email: &'a str,
}

/// Returns the key. Wrong guesses are limited like failed logins.
pub async fn fetch_own_api_key(
    app: App,
    caller: Caller,
    Address(address): Address,
    Params(Password(password)): Params<Password>,
) -> HandlerResult {
    let user = caller.user.clone();
    let permit = app.passwords.acquire_permit().await?;
    let attempt = Attempt::confirmation(&app, &caller, address).map_err(ApiError::from)?;
    let is_right = match is_directory_password(&app, &caller, &password).await? {
        Some(is_right) => is_right,
        None => {
            let stored = user.password_hash.clone().filter(|_| app.config.login.password);
            permit.run(move |hasher| hasher.check(stored.as_deref(), &password)).await?
        }
    };
    if !is_right {
        attempt.failed();
        return Err(ApiError::bad_request("Password is incorrect."));
    }
    attempt.succeeded(&caller.realm, &user);
    reply(&OwnApiKey { api_key: caller.realm.api_key(&user), email: &user.delivery_email })
}

/// Whether a password is that of the account in the LDAP directory; none if the account is not in one.
async fn is_directory_password(app: &App, caller: &Caller, password: &str) -> Result<Option<bool>, ApiError> {
    let Some(ldap) = &app.ldap else { return Ok(None) };
    let address = &caller.user.delivery_email;
    let asked = async { ldap.acquire_permit(address).await?.login(address, password).await };
    match asked.await.map_err(unavailable)? {
        LdapAnswer::Unknown => Ok(None),
        LdapAnswer::Refused => Ok(Some(false)),
        LdapAnswer::Person(_) => Ok(Some(true)),
    }
}
