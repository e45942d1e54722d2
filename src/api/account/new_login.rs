//! Mails about logins from where somebody has not logged in lately.

use crate::http::App;
use actors::RealmHandle;
use model::{RealmId, Timestamp, User, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;

/// Whoever joined less than this ago need not be told that somebody logged in, in milliseconds.
const JUST_JOINED_MILLIS: u64 = 60 * 1000;
/// How long a client at an address is known, in milliseconds (one day). Many programs log in each time they start.
const KNOWN_MILLIS: u64 = 24 * 3600 * 1000;
/// Logins that are known at once. With more of them people are written to more often, not less.
const KNOWN_MAX: usize = 10_000;

/// Whose login, with which client, from where.
type Login = (RealmId, UserId, String, Option<IpAddr>);

/// Who logged in lately.
#[derive(Debug, Default)]
pub struct RecentLogins(Mutex<HashMap<Login, Timestamp>>);

impl RecentLogins {
    /// Whether nobody logged in like this within a day; from now on somebody has.
    fn is_new(&self, login: Login, now: Timestamp) -> bool {
        let mut known = self.0.lock();
        let is_recent = |at: &Timestamp| now.millis_since(*at) < KNOWN_MILLIS;
        if known.get(&login).is_some_and(is_recent) {
            return false;
        }
        if known.len() >= KNOWN_MAX {
            known.retain(|_, at| is_recent(at));
        }
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(login, now);
        true
    }
}

/// Writes to somebody whose account was logged in to, if that is news. The login succeeds whatever becomes of the mail.
pub async fn note_login(app: &App, realm: &RealmHandle, user: &User, client: String, ip: Option<IpAddr>) {
    let now = realm.now();
    if now.millis_since(user.joined) < JUST_JOINED_MILLIS
        || !app.logins.is_new((realm.id(), user.id, client.clone(), ip), now)
    {
        return;
    }
    let ip = ip.map_or_else(|| "unknown".to_owned(), |ip| ip.to_string());
    if let Err(error) = realm.note_login(user.id, client, ip).await {
        tracing::warn!(%error, "nobody is told of a login");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_login_is_news_once_a_day_and_memory_is_bounded() {
        let recent = RecentLogins::default();
        let login = |user: u32, client: &str| (RealmId(1), UserId(user), client.to_owned(), None);
        let day = |days: u64| Timestamp(days * KNOWN_MILLIS);
        assert!(recent.is_new(login(1, "phone"), day(1)));
        assert!(!recent.is_new(login(1, "phone"), Timestamp(day(2).0 - 1)));
        assert!(recent.is_new(login(1, "terminal"), day(1)) && recent.is_new(login(2, "phone"), day(1)));
        assert!(recent.is_new(login(1, "phone"), day(2)));
        for user in 0..KNOWN_MAX as u32 * 2 {
            recent.is_new(login(user, "x"), day(3));
            assert!(recent.0.lock().len() <= KNOWN_MAX);
        }
    }
}
