//! The sample organization of a development server, which test suites of clients know.
//!
//! People, lists, channels, messages and what happened to them are tables, which the actors turn into an organization within a few milliseconds: the same
//! one every time, apart from its dates.

pub mod accounts;
pub mod calls;
mod changes;
mod channels;
pub mod faults;
mod files;
mod folder;
mod formula;
pub mod leftovers;
mod lists;
mod messages;
mod people;
pub mod seed;
pub mod seed_store;
pub mod tools;

pub use files::{replace_files, store_files};
pub use folder::{TemporaryFolder, is_marked, mark};
pub use people::PEOPLE;

use actors::{DomainError, RealmHandle, Server};
use model::RealmId;
use seed::SeedDocument;
use std::net::SocketAddr;

/// The name of the sample organization.
pub const SAMPLE_NAME: &str = "Zulip Dev";

/// The organization at the root; creates the sample organization if there is none.
pub async fn ensure_sample(server: &Server) -> Result<RealmHandle, DomainError> {
    match server.realm_by_subdomain("") {
        Some(realm) => Ok(realm),
        None => new_seeded(server, "", &SeedDocument::sample(), async |_| Ok(())).await,
    }
}

/// Creates an organization with the content of a seed, after `prepare`. Fails if the subdomain is invalid or taken.
pub async fn new_seeded<E: From<DomainError>>(
    server: &Server,
    subdomain: &str,
    seed: &SeedDocument,
    prepare: impl AsyncFnOnce(RealmId) -> Result<(), E>,
) -> Result<RealmHandle, E> {
    formula::make_known();
    server.create_seeded_realm(seed.new_realm(subdomain), &seed.seed(), prepare).await
}

/// The warning for a development server that listens on an address that other machines may reach; none for loopback
/// addresses.
pub fn exposure_warning(listening: SocketAddr) -> Option<String> {
    if listening.ip().to_canonical().is_loopback() {
        return None;
    }
    Some(format!(
        "WARNING: this development server listens on {listening}, which other machines may reach. Anyone who does can get \
         the API key of every account without a password, act as its owner, and read all mail at /emails."
    ))
}

#[cfg(test)]
mod tests;
