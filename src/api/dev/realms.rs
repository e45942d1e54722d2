//! `POST /dev/realms`: one more organization with the sample's content, so that tests which run in parallel do not meet
//! (docs/dev-server.md#organizations).

use super::tools;
use crate::dev::{new_sample, store_files};
use crate::http::{ApiError, App, Fields, FromFields, HandlerResult, Params, reply};
use serde::Serialize;

/// The most organizations of a development server.
const REALMS_MAX: usize = 10_000;

/// The subdomain to use; none for a new one.
pub struct NewSample(Option<String>);

impl FromFields for NewSample {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.optional("subdomain")))
    }
}

#[derive(Serialize)]
struct SampleRealm<'a> {
    subdomain: &'a str,
    /// For clients that resolve names below `localhost`; others send its host as their `Host` header.
    url: &'a str,
    host: &'a str,
    users: Vec<SampleUser<'a>>,
}

#[derive(Serialize)]
struct SampleUser<'a> {
    user_id: u32,
    email: &'a str,
    full_name: &'a str,
    role: u16,
    api_key: String,
}

/// Creates an organization, and returns its address and its users with their API keys.
pub async fn create(app: App, Params(NewSample(subdomain)): Params<NewSample>) -> HandlerResult {
    tools(&app)?;
    let number = app.server.realms().len();
    if number >= REALMS_MAX {
        return Err(ApiError::bad_request(format!("There are {REALMS_MAX} organizations already")));
    }
    let subdomain = subdomain.unwrap_or_else(|| format!("test-{number}"));
    let realm = new_sample(&app.server, &subdomain).await?;
    store_files(&app.blobs, realm.id()).await?;
    let directory = realm.directory();
    let url = app.hosts.url(&realm, None);
    let users = directory.users().filter(|user| user.is_active);
    let users = users.map(|user| SampleUser {
        user_id: user.id.0,
        email: &user.delivery_email,
        full_name: &user.full_name,
        role: user.role.code(),
        api_key: realm.api_key(user),
    });
    let host = url.split_once("://").map_or(url.as_str(), |(_, host)| host);
    reply(&SampleRealm { subdomain: &subdomain, url: &url, host, users: users.collect() })
}
