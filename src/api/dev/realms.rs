//! `POST /dev/realms`: one more organization with the content of a seed, so that tests which run in parallel do not meet
//! (docs/dev-server.md#organizations).

use super::{check_known, tools};
use crate::dev::accounts::{Account, accounts};
use crate::dev::seed::{SeedDocument, SeedError};
use crate::dev::tools::DevTools;
use crate::dev::{new_seeded, replace_files};
use crate::http::{ApiError, App, Fields, FromFields, HandlerResult, HostHeader, Params, reply};
use crate::integrations::blobs::BlobError;
use actors::{DomainError, RealmHandle, check_subdomain, subdomain_rule};
use model::RealmId;
use rules::RuleError;
use rules::error::OrganizationError;
use serde::Serialize;
use std::sync::Arc;

/// The most organizations of a development server.
const REALMS_MAX: usize = 10_000;

/// The subdomain to use, none for a new one; and a seed, none for that of the server.
pub struct NewOrganization {
    subdomain: Option<String>,
    seed: Option<String>,
}

impl FromFields for NewOrganization {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let (subdomain, seed) = (fields.optional("subdomain"), fields.optional("seed"));
        check_known(fields)?;
        let subdomain = subdomain.filter(|subdomain| !subdomain.is_empty());
        if subdomain.as_deref().is_some_and(|subdomain| check_subdomain(subdomain).is_err()) {
            return Err(ApiError::bad_request(format!("Invalid subdomain: {}", subdomain_rule())));
        }
        Ok(Self { subdomain, seed })
    }
}

/// Reads a seed on another thread: a large one takes a second.
async fn read_seed(text: String) -> Result<SeedDocument, ApiError> {
    let read = tokio::task::spawn_blocking(move || SeedDocument::read(&text)).await;
    let refused = |error: SeedError| ApiError::bad_request(format!("Invalid seed: {error}"));
    read.map_err(|_| ApiError::internal())?.map_err(refused)
}

#[derive(Serialize)]
struct SampleRealm<'a> {
    subdomain: &'a str,
    /// For clients that resolve names below `localhost`; others send its host as their `Host` header.
    url: &'a str,
    host: &'a str,
    users: Vec<Account>,
}

/// Creates an organization, and returns its address and its users with their API keys.
pub async fn create(
    app: App,
    HostHeader(host): HostHeader,
    Params(new): Params<NewOrganization>,
) -> HandlerResult {
    // Goes on if the client leaves: a part of an organization would be left.
    actix_rt::spawn(create_whole(app, host, new)).await.map_err(|_| ApiError::internal())?
}

async fn create_whole(app: App, host: Option<String>, new: NewOrganization) -> HandlerResult {
    let tools = tools(&app)?;
    let seed = match new.seed {
        Some(text) => Arc::new(read_seed(text).await?),
        None => tools.seed.clone(),
    };
    let realm = make(&app, tools, new.subdomain, &seed).await?;
    let subdomain = realm.subdomain();
    let url = app.hosts.give_url(&subdomain, host.as_deref());
    let host = url.split_once("://").map_or(url.as_str(), |(_, host)| host);
    reply(&SampleRealm { subdomain: &subdomain, url: &url, host, users: accounts(&realm) })
}

/// Makes an organization with the subdomain that was asked for, otherwise with the next number that is free. Calls wait for
/// each other, so that there are never more than [`REALMS_MAX`] and each number is used once.
async fn make(
    app: &App,
    tools: &DevTools,
    asked: Option<String>,
    seed: &Arc<SeedDocument>,
) -> Result<RealmHandle, ApiError> {
    let mut last_number = tools.last_number.lock().await;
    if app.server.realms().len() >= REALMS_MAX {
        return Err(ApiError::bad_request(format!("There are {REALMS_MAX} organizations already")));
    }
    if let Some(subdomain) = asked {
        return Ok(make_named(app, tools, &subdomain, seed).await?);
    }
    loop {
        *last_number += 1;
        let subdomain = format!("test-{last_number}");
        if app.server.realm_by_subdomain(&subdomain).is_some() {
            continue;
        }
        match make_named(app, tools, &subdomain, seed).await {
            // The command line makes organizations too.
            Err(MakeError::Refused(DomainError::Rule(RuleError::Organization(
                OrganizationError::SubdomainInUse { .. },
            )))) => {}
            made => return Ok(made?),
        }
    }
}

async fn make_named(
    app: &App,
    tools: &DevTools,
    subdomain: &str,
    seed: &Arc<SeedDocument>,
) -> Result<RealmHandle, MakeError> {
    new_seeded(&app.server, subdomain, seed, async |id| prepare(app, tools, id, seed).await).await
}

/// Stores the files and the seed of a new organization, which has them from its beginning.
async fn prepare(
    app: &App,
    tools: &DevTools,
    realm: RealmId,
    seed: &Arc<SeedDocument>,
) -> Result<(), MakeError> {
    replace_files(&app.blobs, realm, seed).await?;
    tools.set_seed(realm, seed.clone()).map_err(|error| DomainError::Storage(error.to_string()))?;
    Ok(())
}

/// Why an organization was not made.
enum MakeError {
    Refused(DomainError),
    Files(BlobError),
}

impl From<DomainError> for MakeError {
    fn from(error: DomainError) -> Self {
        Self::Refused(error)
    }
}

impl From<BlobError> for MakeError {
    fn from(error: BlobError) -> Self {
        Self::Files(error)
    }
}

impl From<MakeError> for ApiError {
    fn from(error: MakeError) -> Self {
        match error {
            MakeError::Refused(error) => error.into(),
            MakeError::Files(error) => error.into(),
        }
    }
}
