//! `POST /fetch_api_key`: an API key for a password, stored here or checked by an LDAP directory
//! (docs/api/account.md#fetch-an-api-key).

use super::address::check_address;
use super::attempt::Attempt;
use super::new_login::note_login;
use crate::api::users::create::check_new_account;
use crate::http::{
    Address, ApiError, App, ClientName, Code, Fields, FromFields, HandlerResult, Params, Realm, reply,
};
use crate::integrations::ldap::{LdapAnswer, LdapDirectory, LdapFailure, LdapPerson};
use actors::login::PasswordHasher;
use actors::{DomainError, NewUser, RealmHandle, Server, commands};
use model::{Role, User};
use serde::Serialize;
use std::net::IpAddr;
use std::sync::Arc;

/// The parameters.
pub struct FetchApiKey {
    username: String,
    password: String,
}

impl FromFields for FetchApiKey {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { username: fields.required("username")?, password: fields.required("password")? })
    }
}

/// What one needs to call everything else.
#[derive(Serialize)]
pub struct ApiKey<'a> {
    api_key: String,
    email: &'a str,
    user_id: u32,
}

impl<'a> ApiKey<'a> {
    /// Those of an account.
    pub fn of(realm: &RealmHandle, user: &'a User) -> Self {
        Self { api_key: realm.api_key(user), email: &user.delivery_email, user_id: user.id.0 }
    }
}

/// Who knows the password gets the key. Failures are counted, and cleared by a success: see [`Attempt`].
///
/// Whom the directory knows is let in by the directory alone: a password of the same address here is none.
pub async fn fetch_api_key(
    app: App,
    Realm(realm): Realm,
    ClientName(client): ClientName,
    Address(address): Address,
    Params(FetchApiKey { username, password }): Params<FetchApiKey>,
) -> HandlerResult {
    if app.ldap.is_none() {
        check_address(&username)?;
    }
    if !realm.is_active() {
        return Err(DomainError::RealmDeactivated.into());
    }
    let known = match &app.ldap {
        Some(ldap) => ldap_login(&app, ldap, &realm, address, (&username, &password)).await?,
        None => None,
    };
    let user = match known {
        Some(user) => user,
        None => password_login(&app, &realm, address, (username, password)).await?,
    };
    note_login(&app, &realm, &user, client, address).await;
    reply(&ApiKey::of(&realm, &user))
}

async fn password_login(
    app: &App,
    realm: &RealmHandle,
    address: Option<IpAddr>,
    (username, password): (String, String),
) -> Result<Arc<User>, ApiError> {
    if !app.config.login.password {
        // With a directory it is a name that nobody knows.
        return Err(match &app.ldap {
            Some(_) => Attempt::login(app, realm, &username, address)?.failed(),
            None => ApiError::new(
                Code::PASSWORD_AUTH_DISABLED,
                "Password authentication is disabled in this organization",
            ),
        });
    }
    let permit = app.passwords.acquire_permit().await?;
    // Counted in one's turn: those who log in at once with the right password do not wait for each other.
    let attempt = Attempt::login(app, realm, &username, address)?;
    let (server, asked) = (app.server.clone(), realm.clone());
    let checked = permit.run(move |hasher| check(&server, &asked, &username, &password, hasher)).await?;
    match checked {
        Ok(Some(user)) => {
            attempt.succeeded(realm, &user);
            Ok(user)
        }
        Ok(None) => Err(ApiError::new(Code::NONEXISTENT_SUBDOMAIN, "Invalid subdomain")),
        Err(DomainError::WrongPassword) => Err(attempt.failed()),
        // The password was right, or nobody knows.
        Err(error) => Err(error.into()),
    }
}

/// The account of somebody the directory lets in, which is made at the first login; none where the directory knows
/// nobody of this name.
async fn ldap_login(
    app: &App,
    ldap: &LdapDirectory,
    realm: &RealmHandle,
    address: Option<IpAddr>,
    (username, password): (&str, &str),
) -> Result<Option<Arc<User>>, ApiError> {
    let permit = ldap.acquire_permit(username).await.map_err(unavailable)?;
    // Failures count for the account: whose it is comes first, whatever the directory calls somebody.
    let LdapAnswer::Person(person) = permit.find(username).await.map_err(unavailable)? else {
        return Ok(None);
    };
    let attempt = Attempt::login(app, realm, &person.email, address)?;
    let person = match permit.login(username, password).await.map_err(unavailable)? {
        LdapAnswer::Unknown => return Ok(None),
        LdapAnswer::Refused => return Err(attempt.failed()),
        LdapAnswer::Person(person) => person,
    };
    let user = match realm.user_by_email(&person.email) {
        Some(user) => user,
        None => match create_account(realm, &person).await {
            // Made by another login in the meantime.
            Err(error) => realm.user_by_email(&person.email).ok_or(error)?,
            Ok(user) => user,
        },
    };
    if user.is_bot() {
        return Err(DomainError::WrongPassword.into());
    }
    if !user.is_active {
        return Err(DomainError::UserDeactivated.into());
    }
    attempt.succeeded(realm, &user);
    Ok(Some(user))
}

/// A member's account without a password of its own. Whoever logs in first has joined.
async fn create_account(realm: &RealmHandle, person: &LdapPerson) -> Result<Arc<User>, ApiError> {
    let LdapPerson { email, full_name } = person;
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

/// Why the directory gives no answer is for those who run the server.
pub fn unavailable(failure: LdapFailure) -> ApiError {
    match failure {
        LdapFailure::Busy => DomainError::Overloaded.into(),
        LdapFailure::Unavailable(reason) => {
            tracing::error!(%reason, "the LDAP directory does not answer");
            let msg =
                "The directory that passwords are kept in cannot be reached at the moment; try again later";
            ApiError::retry_later(Code::LDAP_UNAVAILABLE, msg, 5.0)
        }
    }
}

/// The account; none for one of another organization. Who does not know its password does not learn that
/// it exists, and either way one password is computed.
fn check(
    server: &Server,
    realm: &RealmHandle,
    username: &str,
    password: &str,
    hasher: &mut PasswordHasher,
) -> Result<Option<Arc<User>>, DomainError> {
    let has = |realm: &RealmHandle| realm.user_by_email(username).is_some();
    let other = if has(realm) { None } else { server.realms().into_iter().find(has) };
    match other {
        None => realm.check_password(username, password, hasher).map(Some),
        Some(other) => match other.check_password(username, password, hasher) {
            Ok(_) => Ok(None),
            Err(_) => Err(DomainError::WrongPassword),
        },
    }
}
