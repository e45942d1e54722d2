//! Finds what the operator names: organizations by subdomain, accounts by address.

use super::request::UserName;
use crate::cli::error::CliError;
use actors::{RealmHandle, Server};
use model::{User, UserId};
use std::sync::Arc;

/// The organization with a subdomain.
///
/// # Errors
/// `Refused` when there is none.
pub fn find_realm(server: &Server, subdomain: &str) -> Result<RealmHandle, CliError> {
    let subdomain = if subdomain == "-" { "" } else { subdomain };
    server.realm_by_subdomain(subdomain).ok_or_else(|| {
        let which =
            if subdomain.is_empty() { "without a subdomain".into() } else { format!("`{subdomain}`") };
        CliError::Refused(format!("there is no organization {which}; see `millstream realm list`"))
    })
}

/// The account with an address.
pub(super) fn find_account(
    server: &Server,
    realm: &str,
    email: &str,
) -> Result<(RealmHandle, Arc<User>), CliError> {
    let realm = find_realm(server, realm)?;
    let user = account(&realm, email)?;
    Ok((realm, user))
}

/// The account of an organization with an address.
pub(super) fn account(realm: &RealmHandle, email: &str) -> Result<Arc<User>, CliError> {
    let found = realm.directory().user_by_email(email).filter(|user| !user.is_system_bot()).cloned();
    found.ok_or_else(|| CliError::Refused(format!("there is no account {email}; see `millstream user list`")))
}

/// The account of an organization with an id or an address.
pub(super) fn find_user(realm: &RealmHandle, user: &UserName) -> Result<Arc<User>, CliError> {
    let id = match user {
        UserName::Email(email) => return account(realm, email),
        UserName::Id(id) => *id,
    };
    let found = realm.directory().user(UserId(id)).filter(|user| !user.is_system_bot()).cloned();
    found.ok_or_else(|| CliError::Refused(format!("there is no account {id}; see `millstream user list`")))
}
