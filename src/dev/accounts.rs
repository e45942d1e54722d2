//! The accounts of an organization, as the ready file and `POST /dev/realms` list them.

use super::seed::SeedDocument;
use actors::RealmHandle;
use actors::login::check_password;
use model::User;
use serde::Serialize;

/// An account with its API key.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    pub user_id: u32,
    pub email: String,
    pub full_name: String,
    /// The code of the role, such as 100 for owners.
    pub role: u16,
    pub api_key: String,
}

/// All active accounts by id, bots included; not the server's own bots.
pub fn accounts(realm: &RealmHandle) -> Vec<Account> {
    let directory = realm.directory();
    let active = directory.users().filter(|user| user.is_active && !user.is_system_bot());
    let described = active.map(|user| Account {
        user_id: user.id.0,
        email: user.delivery_email.clone(),
        full_name: user.full_name.clone(),
        role: user.role.code(),
        api_key: realm.api_key(user),
    });
    described.collect()
}

/// The password that the seed gave to a user; none if the user has another one by now, or is not of the seed. A user whose address was
/// changed is known by the stored password.
pub fn password_of_seed<'s>(seed: &'s SeedDocument, user: &User) -> Option<&'s str> {
    let stored = user.password_hash.as_deref()?;
    let known = seed.users.iter().find(|given| given.password_hash == stored);
    known.map(|given| given.given_password()).or_else(|| {
        // The seed of kept data is hashed anew at each start.
        let given = seed.users.iter().find(|given| given.email == user.delivery_email)?;
        Some(given.given_password()).filter(|password| check_password(Some(stored), password))
    })
}
