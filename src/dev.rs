//! The sample organization of a development server, which test suites of clients know.
//!
//! People, lists, channels, messages and what happened to them are tables, which the actors turn into an organization within a few milliseconds: the same
//! one every time, apart from its dates.

pub mod calls;
mod changes;
mod channels;
pub mod faults;
mod files;
mod folder;
mod lists;
mod messages;
mod people;
pub mod tools;

pub use files::store_files;
pub use folder::{TemporaryFolder, is_marked, mark};
pub use people::PEOPLE;

use actors::{DomainError, NewRealm, RealmHandle, Seed, SeedGroup, Server};
use model::SettingValue;
use people::{CREATOR, EMAIL_DOMAIN, FIRST_ID, HAMLET_CHARACTERS};
use std::net::SocketAddr;

/// The name of the sample organization.
pub const SAMPLE_NAME: &str = "Zulip Dev";

/// The organization at the root; creates the sample organization if there is none.
pub async fn ensure_sample(server: &Server) -> Result<RealmHandle, DomainError> {
    if let Some(realm) = server.realm_by_subdomain("") {
        return Ok(realm);
    }
    new_sample(server, "").await
}

/// Creates an organization with the sample's content. Fails if the subdomain is invalid or taken.
pub async fn new_sample(server: &Server, subdomain: &str) -> Result<RealmHandle, DomainError> {
    let (name, email_domain) = (SAMPLE_NAME.into(), EMAIL_DOMAIN.into());
    server.create_seeded_realm(NewRealm { subdomain: subdomain.into(), name, email_domain }, &seed()).await
}

fn seed() -> Seed {
    let characters = SeedGroup {
        name: "hamletcharacters",
        description: "Characters of Hamlet",
        members: HAMLET_CHARACTERS.to_vec(),
    };
    Seed {
        description: "The sample organization of a development server. It is great for testing!",
        settings: vec![
            ("enable_spectator_access", SettingValue::Bool(true)),
            ("invite_required", SettingValue::Bool(false)),
        ],
        first_id: FIRST_ID,
        users: people::users(),
        creator: CREATOR,
        groups: vec![characters],
        fields: lists::fields(),
        folders: lists::folders(),
        onboarding_seen: vec!["narrow_to_dm_with_welcome_bot_new_user"],
        linkifiers: lists::linkifiers(),
        emoji: lists::emoji(),
        files: lists::files(),
        channels: channels::channels(),
        threads: messages::threads(),
        seen: lists::seen(),
    }
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
