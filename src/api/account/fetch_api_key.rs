//! `POST /fetch_api_key`: an API key for a password (conventions.md 1).

use super::address::check_address;
use crate::http::limits::Bucket;
use crate::http::{Answer, ApiError, App, Code, Fields, FromFields, Params, Realm, reply};
use actors::login::PasswordHasher;
use actors::{DomainError, RealmHandle, Server};
use model::User;
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
pub async fn fetch_api_key(
    app: App,
    Realm(realm): Realm,
    Params(FetchApiKey { username, password }): Params<FetchApiKey>,
) -> Answer {
    check_address(&username)?;
    let key = (realm.id(), username.to_lowercase());
    let bucket = Bucket::AuthenticateByUsername;
    let turn = app.passwords.turn().await?;
    // Looked at in one's turn: of many guesses sent at once, no more get through than of patient ones.
    app.limits.peek(bucket, &key, now()).map_or(Ok(()), |standing| standing.check())?;
    let (server, asked) = (app.server.clone(), realm.clone());
    let checked = turn.run(move |hasher| check(&server, &asked, &username, &password, hasher)).await;
    match checked {
        Ok(Some(user)) => {
            app.limits.clear(bucket, &key);
            reply(&ApiKey::of(&realm, &user))
        }
        Ok(None) => Err(ApiError::new(Code::NONEXISTENT_SUBDOMAIN, "Invalid subdomain")),
        Err(error) => {
            if matches!(error, DomainError::WrongPassword) {
                app.limits.spend(bucket, &key, now());
            }
            Err(error.into())
        }
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
