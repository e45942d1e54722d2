//! `POST /dev_fetch_api_key`: an API key without a password, on development servers
//! (docs/api/account.md#development-logins).

use super::address::check_address;
use super::fetch_api_key::ApiKey;
use crate::http::{ApiError, App, Fields, FromFields, HandlerResult, Params, Realm, reply};
use actors::DomainError;

/// The e-mail address of the account.
pub struct DevFetchApiKey(String);

impl FromFields for DevFetchApiKey {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required("username")?))
    }
}

/// Returns the API key of any user or bot.
pub async fn dev_fetch_api_key(
    app: App,
    Realm(realm): Realm,
    Params(DevFetchApiKey(username)): Params<DevFetchApiKey>,
) -> HandlerResult {
    check_development(&app)?;
    check_address(&username)?;
    let directory = realm.directory();
    let user = directory.user_by_email(&username).ok_or(DomainError::WrongPassword)?;
    if !directory.realm().is_active {
        return Err(DomainError::RealmDeactivated.into());
    }
    if !user.is_active {
        return Err(DomainError::UserDeactivated.into());
    }
    reply(&ApiKey::of(&realm, user))
}

/// Refuses endpoints of development servers on other servers.
pub fn check_development(app: &App) -> Result<(), ApiError> {
    let refusal = || ApiError::bad_request("This endpoint is available on development servers only.");
    app.is_development.then_some(()).ok_or_else(refusal)
}
