//! How long web sessions last, and how many a user has (docs/api/sessions.md).

use model::{Directory, Timestamp, UserId, WebSession, WebSessionKey};

/// Sessions that one frame ends.
pub const ENDED_AT_ONCE_MAX: usize = 1_000;
/// Maximum length of a device's description, in characters.
const DEVICE_LENGTH_MAX: usize = 200;
/// Milliseconds after which the use of a session is recorded again.
const USE_MILLIS: u64 = 3_600_000;

/// The bounds of web sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebSessionLimits {
    /// Seconds without use after which a session ends.
    pub idle_secs: u64,
    /// Seconds after the login after which a session ends in any case.
    pub lifetime_secs: u64,
    /// Sessions of one user. With more, the one that was not used for longest ends.
    pub per_user_max: usize,
}

impl Default for WebSessionLimits {
    fn default() -> Self {
        const DAY_SECS: u64 = 24 * 3600;
        Self { idle_secs: 14 * DAY_SECS, lifetime_secs: 90 * DAY_SECS, per_user_max: 50 }
    }
}

impl WebSessionLimits {
    /// Whether a session has expired.
    pub fn has_expired(&self, session: &WebSession, now: Timestamp) -> bool {
        now.millis_since(session.used) >= self.idle_secs.saturating_mul(1000)
            || now.millis_since(session.created) >= self.lifetime_secs.saturating_mul(1000)
    }

    /// The sessions of a user that end when another one starts: the expired ones, and those beyond the bound.
    pub fn replaced(&self, directory: &Directory, user: UserId, now: Timestamp) -> Vec<WebSessionKey> {
        let mut ended = Vec::new();
        let mut kept = Vec::new();
        for (key, session) in directory.web_sessions_of(user) {
            match self.has_expired(session, now) {
                true => ended.push(key),
                false => kept.push((session.used, session.created, key)),
            }
        }
        kept.sort_unstable();
        let left = self.per_user_max.saturating_sub(1);
        ended.extend(kept.iter().rev().skip(left).map(|(.., key)| *key));
        ended
    }
}

/// Whether the use of a session is to be recorded now.
pub fn is_use_due(session: &WebSession, now: Timestamp) -> bool {
    now.millis_since(session.used) >= USE_MILLIS
}

/// The description of a device from a `User-Agent` header.
pub fn device(user_agent: &str) -> String {
    let text: String = user_agent.chars().filter(|c| !c.is_control()).take(DEVICE_LENGTH_MAX).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Realm, RealmId};

    const HOUR: u64 = 3_600_000;

    fn session(created_hours: u64, used_hours: u64) -> WebSession {
        let (created, used) = (Timestamp(created_hours * HOUR), Timestamp(used_hours * HOUR));
        WebSession { created, used, device: String::new() }
    }

    #[test]
    fn sessions_expire_after_idle_time_and_lifetime() {
        let limits = WebSessionLimits { idle_secs: 2 * 3600, lifetime_secs: 5 * 3600, per_user_max: 9 };
        let cases = [(0, 0, 1, false), (0, 0, 2, true), (0, 3, 4, false), (0, 4, 5, true), (1, 1, 0, false)];
        for (created, used, now, has_expired) in cases {
            let found = limits.has_expired(&session(created, used), Timestamp(now * HOUR));
            assert_eq!(found, has_expired, "{created} {used} {now}");
        }
        assert!(is_use_due(&session(0, 1), Timestamp(2 * HOUR)));
        assert!(!is_use_due(&session(0, 1), Timestamp(2 * HOUR - 1)));
    }

    #[test]
    fn least_recently_used_sessions_are_replaced() {
        let limits = WebSessionLimits { idle_secs: 10 * 3600, lifetime_secs: 99 * 3600, per_user_max: 3 };
        let mut directory = Directory::new(Realm::new(RealmId(1), "", "x", "x.example", Timestamp(0)));
        let key = |number: u8| WebSessionKey([number; 32]);
        for (number, used) in [(1, 8), (2, 2), (3, 9), (4, 7), (5, 1)] {
            directory.put_web_session(UserId(7), key(number), Some(session(0, used)));
        }
        directory.put_web_session(UserId(8), key(6), Some(session(0, 3)));
        let replaced = limits.replaced(&directory, UserId(7), Timestamp(11 * HOUR));
        assert_eq!(replaced, [key(5), key(4), key(2)], "one has expired, and two of the others are left");
        assert_eq!(limits.replaced(&directory, UserId(8), Timestamp(11 * HOUR)), []);
    }

    #[test]
    fn devices_are_short_and_printable() {
        assert_eq!(device(" Mozilla/5.0\n(X11)\u{7} "), "Mozilla/5.0(X11)");
        assert_eq!(device(&"ü".repeat(300)).chars().count(), DEVICE_LENGTH_MAX);
    }
}
