//! The logins of the last day, by account, client and IP address: only new combinations are notified by e-mail.

use model::{RealmId, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

/// How long a combination is remembered. Many programs log in each time they start.
const KNOWN_FOR: Duration = Duration::from_secs(24 * 3600);
/// Maximum number of remembered logins. Beyond it, people get more e-mails, not fewer.
const KNOWN_MAX: usize = 10_000;

/// The account, the client and its address.
pub type Login = (RealmId, UserId, String, Option<IpAddr>);

/// The remembered logins, with their monotonic time.
#[derive(Debug, Default)]
pub struct RecentLogins(Mutex<HashMap<Login, Duration>>);

impl RecentLogins {
    /// Whether there was no such login within a day; records it.
    pub fn is_new(&self, login: Login, now: Duration) -> bool {
        let mut known = self.0.lock();
        let is_recent = |at: &Duration| now.saturating_sub(*at) < KNOWN_FOR;
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

    /// Forgets the logins of an organization.
    pub fn forget(&self, realm: RealmId) {
        self.0.lock().retain(|(of, ..), _| *of != realm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_login_is_new_once_a_day() {
        let recent = RecentLogins::default();
        let login = |user: u32, client: &str| (RealmId(1), UserId(user), client.to_owned(), None);
        let day = |days: u32| KNOWN_FOR * days;
        assert!(recent.is_new(login(1, "phone"), day(1)));
        assert!(!recent.is_new(login(1, "phone"), day(2) - Duration::from_millis(1)));
        assert!(recent.is_new(login(1, "terminal"), day(1)) && recent.is_new(login(2, "phone"), day(1)));
        assert!(recent.is_new(login(1, "phone"), day(2)));
        recent.forget(RealmId(2));
        assert!(!recent.is_new(login(1, "phone"), day(2)));
        recent.forget(RealmId(1));
        assert!(recent.is_new(login(1, "phone"), day(2)));
        for user in 0..KNOWN_MAX as u32 * 2 {
            recent.is_new(login(user, "x"), day(3));
            assert!(recent.0.lock().len() <= KNOWN_MAX);
        }
    }
}
