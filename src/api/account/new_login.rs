//! Mails about logins from where somebody has not logged in lately.

use crate::http::App;
use actors::{RealmHandle, commands};
use model::User;
use std::net::IpAddr;

/// Whoever joined less than this ago need not be told that somebody logged in, in milliseconds.
const JUST_JOINED_MILLIS: u64 = 60 * 1000;
/// Writes to somebody whose account was logged in to, if that is news. The login succeeds whatever becomes of the mail.
pub async fn note_login(app: &App, realm: &RealmHandle, user: &User, client: String, ip: Option<IpAddr>) {
    if realm.now().millis_since(user.joined) < JUST_JOINED_MILLIS
        || !app.logins.is_new((realm.id(), user.id, client.clone(), ip), realm.monotonic())
    {
        return;
    }
    let ip = ip.map_or_else(|| "unknown".to_owned(), |ip| ip.to_string());
    if let Err(error) = realm.execute(commands::NoteLogin { user: user.id, client, ip }).await {
        tracing::warn!(%error, "nobody is told of a login");
    }
}
