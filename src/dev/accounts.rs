//! The accounts of an organization, as the ready file and `POST /dev/realms` list them.

use actors::RealmHandle;
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
