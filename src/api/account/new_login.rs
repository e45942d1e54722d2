//! Mails about logins from a new client or address.

use crate::http::App;
use actors::{RealmHandle, commands};
use model::User;
use std::net::IpAddr;

/// Milliseconds after joining in which logins are not reported.
const JUST_JOINED_MILLIS: u64 = 60 * 1000;

/// Sends a mail to the owner of the account if the login is new. The login succeeds even if the mail fails.
pub async fn note_login(app: &App, realm: &RealmHandle, user: &User, client: String, ip: Option<IpAddr>) {
    if realm.now().millis_since(user.joined) < JUST_JOINED_MILLIS
        || !app.logins.is_new((realm.id(), user.id, client.clone(), ip), realm.monotonic())
    {
        return;
    }
    let ip = ip.map_or_else(|| "unknown".to_owned(), |ip| ip.to_string());
    if let Err(error) = realm.execute(commands::NoteLogin { user: user.id, client, ip }).await {
        tracing::warn!(%error, "login notification could not be sent");
    }
}
