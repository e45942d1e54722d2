//! `GET /dev_list_users`: accounts for `POST /dev_fetch_api_key` (docs/api/account.md#development-logins).

use super::dev_fetch_api_key::check_development;
use crate::http::{App, HandlerResult, Realm, RealmUrl, reply};
use serde::Serialize;

#[derive(Serialize)]
struct DevUsers<'a> {
    direct_admins: Vec<DevUser<'a>>,
    direct_users: Vec<DevUser<'a>>,
}

#[derive(Serialize)]
struct DevUser<'a> {
    email: &'a str,
    realm_url: &'a str,
}

/// Lists active users without bots; administrators and owners in a list of their own.
pub async fn dev_list_users(app: App, Realm(realm): Realm, RealmUrl(realm_url): RealmUrl) -> HandlerResult {
    check_development(&app)?;
    let directory = realm.directory();
    let list = |is_administrator| {
        let people = directory.users().filter(|user| user.is_active && !user.is_bot());
        let people = people.filter(|user| user.is_administrator() == is_administrator);
        people.map(|user| DevUser { email: &user.delivery_email, realm_url: &realm_url }).collect()
    };
    reply(&DevUsers { direct_admins: list(true), direct_users: list(false) })
}
