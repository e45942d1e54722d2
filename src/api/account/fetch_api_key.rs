//! `POST /fetch_api_key`: an API key for a password, stored here or checked by an LDAP directory
//! (docs/api/account.md#fetch-an-api-key).

use super::address::check_address;
use super::attempt::Attempt;
use super::new_login::note_login;
use crate::api::users::create::check_new_account;
use crate::http::error::domain::LDAP_RETRY_SECS;
use crate::http::{
    Address, ApiError, App, ClientName, Code, Fields, FromFields, HandlerResult, Params, Realm, reply,
};
use crate::integrations::ldap::{LdapAnswer, LdapDirectory, LdapFailure, LdapPerson};
use actix_web::http::StatusCode;
use actors::{DomainError, NewUser, RealmHandle, commands};
use model::{Role, User};
use serde::Serialize;
use std::net::IpAddr;
use std::sync::Arc;

/// A name and its password.
pub struct FetchApiKey {
    username: String,
    password: String,
}

impl FromFields for FetchApiKey {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { username: fields.required("username")?, password: fields.required("password")? })
    }
}

/// Credentials for all other endpoints.
#[derive(Serialize)]
pub struct ApiKey<'a> {
    api_key: String,
    email: &'a str,
    user_id: u32,
}

impl<'a> ApiKey<'a> {
    /// The credentials of an account.
    pub fn of(realm: &RealmHandle, user: &'a User) -> Self {
        Self { api_key: realm.api_key(user), email: &user.delivery_email, user_id: user.id.0 }
    }
}

/// Why a login failed.
pub enum LoginFailure {
    /// The login is refused, or not possible now.
    Refused(ApiError),
    /// The password is right, but no account can be created with the name and address in the directory.
    NoAccount(ApiError),
}

impl From<ApiError> for LoginFailure {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

impl From<LoginFailure> for ApiError {
    fn from(failure: LoginFailure) -> Self {
        match failure {
            LoginFailure::Refused(error) | LoginFailure::NoAccount(error) => error,
        }
    }
}

/// Returns the API key for the right password. Failures are counted, and reset by a success: see [`Attempt`].
///
/// Users of the LDAP directory can log in only with their directory password.
pub async fn fetch_api_key(
    app: App,
    Realm(realm): Realm,
    ClientName(client): ClientName,
    Address(address): Address,
    Params(FetchApiKey { username, password }): Params<FetchApiKey>,
) -> HandlerResult {
    let user = check_login(&app, &realm, address, (username, password)).await?;
    note_login(&app, &realm, &user, client, address).await;
    reply(&ApiKey::of(&realm, &user))
}

/// The account of a user name and its password, of the LDAP directory or of this server.
///
/// # Errors
/// AUTHENTICATION_FAILED, RATE_LIMIT_HIT, and what else prevents the login.
pub async fn check_login(
    app: &App,
    realm: &RealmHandle,
    address: Option<IpAddr>,
    (username, password): (String, String),
) -> Result<Arc<User>, LoginFailure> {
    if app.ldap.is_none() {
        check_address(&username)?;
    }
    if !realm.is_active() {
        return Err(ApiError::from(DomainError::RealmDeactivated).into());
    }
    let known = match &app.ldap {
        Some(ldap) => ldap_login(app, ldap, realm, address, (&username, &password)).await?,
        None => None,
    };
    match known {
        Some(user) => Ok(user),
        None => {
            let checked = password_login(app, realm, address, (username, password)).await;
            checked.map_err(LoginFailure::from)
        }
    }
}

async fn password_login(
    app: &App,
    realm: &RealmHandle,
    address: Option<IpAddr>,
    (username, password): (String, String),
) -> Result<Arc<User>, ApiError> {
    if !app.config.login.password {
        // With a directory, the name is unknown.
        return Err(match &app.ldap {
            Some(_) => Attempt::login(app, realm, &username, address)?.failed(),
            None => ApiError::new(
                Code::PASSWORD_AUTH_DISABLED,
                "Password authentication is disabled in this organization",
            ),
        });
    }
    let permit = app.passwords.acquire_permit().await?;
    // Counted only now: concurrent logins with the right password do not count against each other while they wait.
    let attempt = Attempt::login(app, realm, &username, address)?;
    // One password is hashed in every case. The thread does not keep the server, which may stop before it is done.
    let is_here = realm.has_delivery_email(&username);
    let other = if is_here { None } else { app.server.other_realm_of(&username, realm.id()) };
    let candidate = other.as_ref().unwrap_or(realm).login_candidate(&username);
    let checked = permit.run(move |hasher| candidate.check(&password, hasher)).await?;
    match (checked, other) {
        (Ok(user), None) => {
            attempt.succeeded(realm, &user);
            Ok(user)
        }
        (Ok(_), Some(_)) => Err(ApiError::new(Code::NONEXISTENT_SUBDOMAIN, "Invalid subdomain")),
        // Only the right password reveals that the address has an account.
        (Err(DomainError::WrongPassword), None) | (Err(_), Some(_)) => Err(attempt.failed()),
        (Err(error), None) => Err(error.into()),
    }
}

/// The account of a directory user with the right password, created at the first login; none if the directory has no
/// such user.
async fn ldap_login(
    app: &App,
    ldap: &LdapDirectory,
    realm: &RealmHandle,
    address: Option<IpAddr>,
    (username, password): (&str, &str),
) -> Result<Option<Arc<User>>, LoginFailure> {
    let permit = ldap.acquire_permit(username).await.map_err(unavailable)?;
    // Failures count per account, so the account is looked up before the password is checked.
    let LdapAnswer::Person(person) = permit.find(username).await.map_err(unavailable)? else {
        return Ok(None);
    };
    let attempt = Attempt::login(app, realm, &person.email, address)?;
    let person = match permit.login(username, password).await.map_err(unavailable)? {
        LdapAnswer::Unknown => return Ok(None),
        LdapAnswer::Refused => return Err(attempt.failed().into()),
        LdapAnswer::Person(person) => person,
    };
    let user = match realm.user_by_email(&person.email) {
        Some(user) => user,
        None => match create_account(realm, &person).await {
            // Another login may have created it meanwhile.
            Err(error) => {
                realm.user_by_email(&person.email).ok_or_else(|| no_account(realm, &person, error))?
            }
            Ok(user) => user,
        },
    };
    if user.is_bot() {
        return Err(ApiError::from(DomainError::WrongPassword).into());
    }
    if !user.is_active {
        return Err(ApiError::from(DomainError::UserDeactivated).into());
    }
    attempt.succeeded(realm, &user);
    Ok(Some(user))
}

/// The failure of a login whose account could not be created. If that is because of the entry, the operator finds it in the log.
fn no_account(realm: &RealmHandle, person: &LdapPerson, error: ApiError) -> LoginFailure {
    if error.status_code() != StatusCode::BAD_REQUEST {
        return LoginFailure::Refused(error);
    }
    tracing::warn!(
        organization = realm.subdomain(),
        dn = person.dn,
        reason = error.msg(),
        "no account can be created with the name and address of an entry in the directory: login refused"
    );
    LoginFailure::NoAccount(error)
}

/// Creates a member without a local password.
async fn create_account(realm: &RealmHandle, person: &LdapPerson) -> Result<Arc<User>, ApiError> {
    let LdapPerson { dn: _, email, full_name } = person;
    let full_name = check_new_account(Some(&realm.directory()), email, full_name)?.to_owned();
    let user = NewUser {
        email: email.clone(),
        full_name,
        role: Role::Member,
        bot: None,
        password_hash: None,
        timezone: String::new(),
        channels: Vec::new(),
    };
    let user = realm.execute(commands::CreateUser { user, sends_messages: true }).await?;
    Ok(user)
}

/// The error for a directory that does not answer, or with an error; the reason is only logged.
pub fn unavailable(failure: LdapFailure) -> ApiError {
    match failure {
        LdapFailure::Busy => return DomainError::Overloaded.into(),
        LdapFailure::Unavailable(reason) => {
            tracing::error!(%reason, "the LDAP directory does not answer");
        }
        LdapFailure::Refused(reason) => {
            tracing::error!(%reason, "the LDAP directory answers with an error");
        }
    }
    let msg = "The LDAP directory cannot be reached at the moment; try again later";
    ApiError::retry_later(Code::LDAP_UNAVAILABLE, msg, LDAP_RETRY_SECS)
}
