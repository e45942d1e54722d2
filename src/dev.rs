//! The sample organization of a development server, which test suites of clients know.
//!
//! People, channels and texts are tables; `build` turns them into facts, so that the organization is there
//! in a few milliseconds and the same every time, apart from its dates.

mod build;
mod folder;
mod people;
mod places;
mod talk;

pub use folder::TemporaryFolder;
pub use people::PEOPLE;

use actors::{DomainError, NewRealm, RealmHandle, Server};

/// The name of the sample organization.
pub const SAMPLE_NAME: &str = "Zulip Dev";

/// The domain of its addresses.
const EMAIL_DOMAIN: &str = "zulip.com";

/// The organization at the root; the sample organization is made when there is none.
///
/// # Errors
/// `Storage` when it cannot be stored.
pub async fn ensure_sample(server: &Server) -> Result<RealmHandle, DomainError> {
    if let Some(realm) = server.realm_by_subdomain("") {
        return Ok(realm);
    }
    let new =
        NewRealm { subdomain: String::new(), name: SAMPLE_NAME.into(), email_domain: EMAIL_DOMAIN.into() };
    server.create_realm(new, |view, _| build::frames(&view.directory)).await
}
