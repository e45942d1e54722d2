//! In which organizations of this server an address has an account, and the mail that says so.

use super::app::App;
use actors::{RealmHandle, commands};
use model::User;
use std::sync::Arc;

/// Organizations in one mail.
pub const ORGANIZATIONS_MAX: usize = 500;

/// Name and URL of each organization.
pub type Organizations = Vec<(String, String)>;

fn account(realm: &RealmHandle, address: &str) -> Option<Arc<User>> {
    let directory = realm.directory();
    let user = directory.user_by_email(address).filter(|_| directory.realm().is_active)?;
    let has_it = user.delivery_email.eq_ignore_ascii_case(address) && user.is_active && !user.is_bot();
    has_it.then(|| user.clone())
}

/// The active organizations that run here and in which an address has an active account.
pub fn organizations(app: &App, address: &str) -> Organizations {
    let found = app.server.realms().into_iter().filter(|realm| account(realm, address).is_some());
    let name_and_url =
        |realm: RealmHandle| (realm.directory().realm().name.clone(), app.hosts.url(&realm, None));
    found.map(name_and_url).take(ORGANIZATIONS_MAX).collect()
}

/// Sends the list to the account of an address that runs here; without one nothing.
pub async fn send(app: &App, address: &str, mut organizations: Organizations) {
    organizations.truncate(ORGANIZATIONS_MAX);
    let found = app.server.realms().into_iter().find_map(|realm| Some((account(&realm, address)?.id, realm)));
    let Some((user, realm)) = found else { return };
    if let Err(error) = realm.execute(commands::SendFoundAccounts { user, organizations }).await {
        tracing::warn!(%error, "a mail with the organizations of an address could not be sent");
    }
}
