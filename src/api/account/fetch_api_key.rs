//! `POST /fetch_api_key`: an API key for a password, which is stored here or known to an LDAP directory
//! (conventions.md 1).

use super::address::check_address;
use super::new_login::note_login;
use super::welcome::welcome;
use crate::api::users::create::check_new_account;
use crate::http::limits::Bucket;
use crate::http::{
    Address, Answer, ApiError, App, ClientName, Code, Fields, FromFields, Params, Realm, reply,
};
use crate::outside::ldap::{LdapAnswer, LdapDirectory, LdapFailure, LdapPerson};
use actors::login::PasswordHasher;
use actors::{DomainError, NewUser, RealmHandle, Server};
use model::{RealmId, Role, User};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

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

/// Who knows the password gets the key. Failures are counted by user name, and cleared by a success.
///
/// Whom the directory knows is let in by the directory alone: a password of the same address here is none.
pub async fn fetch_api_key(
    app: App,
    Realm(realm): Realm,
    ClientName(client): ClientName,
    Address(address): Address,
    Params(FetchApiKey { username, password }): Params<FetchApiKey>,
) -> Answer {
    if app.ldap.is_none() {
        check_address(&username)?;
    }
    if !realm.read(|view| view.directory.realm().is_active) {
        return Err(DomainError::RealmDeactivated.into());
    }
    let known = match &app.ldap {
        Some(ldap) => ldap_login(&app, ldap, &realm, &username, &password).await?,
        None => None,
    };
    let user = match known {
        Some(user) => user,
        None => password_login(&app, &realm, username, password).await?,
    };
    note_login(&app, &realm, &user, client, address).await;
    reply(&ApiKey::of(&realm, &user))
}

async fn password_login(
    app: &App,
    realm: &RealmHandle,
    username: String,
    password: String,
) -> Result<Arc<User>, ApiError> {
    let attempt = Attempt::of(app, realm, &username);
    if !app.config.login.password {
        // With a directory it is a name that nobody knows.
        return Err(match &app.ldap {
            Some(_) => attempt.failed(),
            None => ApiError::new(
                Code::PASSWORD_AUTH_DISABLED,
                "Password authentication is disabled in this organization",
            ),
        });
    }
    let turn = app.passwords.turn().await?;
    // Looked at in one's turn: of many guesses sent at once, no more get through than of patient ones.
    attempt.check()?;
    let (server, asked) = (app.server.clone(), realm.clone());
    let checked = turn.run(move |hasher| check(&server, &asked, &username, &password, hasher)).await?;
    match checked {
        Ok(Some(user)) => {
            attempt.succeeded();
            Ok(user)
        }
        Ok(None) => Err(ApiError::new(Code::NONEXISTENT_SUBDOMAIN, "Invalid subdomain")),
        Err(DomainError::WrongPassword) => Err(attempt.failed()),
        Err(error) => Err(error.into()),
    }
}

/// The account of somebody the directory lets in, which is made at the first login; none where the directory knows
/// nobody of this name.
async fn ldap_login(
    app: &App,
    ldap: &LdapDirectory,
    realm: &RealmHandle,
    username: &str,
    password: &str,
) -> Result<Option<Arc<User>>, ApiError> {
    let attempt = Attempt::of(app, realm, username);
    let turn = ldap.turn(username).await.map_err(unavailable)?;
    attempt.check()?;
    let person = match turn.login(username, password).await.map_err(unavailable)? {
        LdapAnswer::Unknown => return Ok(None),
        LdapAnswer::Refused => return Err(attempt.failed()),
        LdapAnswer::Person(person) => person,
    };
    attempt.succeeded();
    let known = |realm: &RealmHandle| realm.read(|view| view.directory.user_by_email(&person.email).cloned());
    let user = match known(realm) {
        Some(user) => user,
        None => match create_account(realm, &person).await {
            // Made by another login in the meantime.
            Err(error) => known(realm).ok_or(error)?,
            Ok(user) => user,
        },
    };
    if user.is_bot() {
        return Err(DomainError::WrongPassword.into());
    }
    if !user.is_active {
        return Err(DomainError::UserDeactivated.into());
    }
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
    let user = realm.create_user(user).await?;
    welcome(realm, &user, None).await;
    Ok(user)
}

/// Why the directory gives no answer is for those who run the server.
pub fn unavailable(failure: LdapFailure) -> ApiError {
    match failure {
        LdapFailure::Busy => DomainError::Overloaded.into(),
        LdapFailure::Unavailable(reason) => {
            tracing::error!(%reason, "the LDAP directory does not answer");
            ApiError::unavailable(
                "The directory that passwords are kept in cannot be reached at the moment; try again later",
            )
            .with("retry-after", 5.0)
        }
    }
}

/// One login of one user name, as far as failures are counted.
struct Attempt<'a> {
    app: &'a App,
    key: (RealmId, String),
}

impl<'a> Attempt<'a> {
    fn of(app: &'a App, realm: &RealmHandle, username: &str) -> Self {
        Self { app, key: (realm.id(), username.to_lowercase()) }
    }

    /// Refuses after too many failures.
    fn check(&self) -> Result<(), ApiError> {
        let standing = self.app.limits.peek(Bucket::AuthenticateByUsername, &self.key, now());
        standing.map_or(Ok(()), |standing| standing.check())
    }

    fn failed(&self) -> ApiError {
        self.app.limits.spend(Bucket::AuthenticateByUsername, &self.key, now());
        DomainError::WrongPassword.into()
    }

    fn succeeded(&self) {
        self.app.limits.clear(Bucket::AuthenticateByUsername, &self.key);
    }
}

fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
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
    let has = |realm: &RealmHandle| realm.read(|view| view.directory.user_by_email(username).is_some());
    let other = if has(realm) { None } else { server.realms().into_iter().find(has) };
    match other {
        None => realm.check_password(username, password, hasher).map(Some),
        Some(other) => match other.check_password(username, password, hasher) {
            Ok(_) => Ok(None),
            Err(_) => Err(DomainError::WrongPassword),
        },
    }
}
