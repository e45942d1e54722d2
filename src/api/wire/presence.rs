//! Presence as clients read it, in the modern and the legacy form (docs/api/presence-and-status.md#presence).

use model::Timestamp;
use serde::Serialize;

/// A user is active if the last report of activity is at most this much older than the last report.
const ACTIVE_LAG_SECS: u64 = 70;

/// Times of the last report of activity and of the last report, in Unix seconds; zero is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    active_secs: u64,
    idle_secs: u64,
}

/// A user's presence from the reported times; activity counts as a report.
pub fn shown(active: Option<Timestamp>, idle: Option<Timestamp>) -> Seen {
    let active_secs = active.map_or(0, Timestamp::secs);
    Seen { active_secs, idle_secs: idle.map_or(active_secs, Timestamp::secs) }
}

impl Seen {
    /// The later of both times, in Unix seconds.
    pub fn latest_secs(self) -> u64 {
        self.active_secs.max(self.idle_secs)
    }

    fn is_active(self) -> bool {
        self.active_secs > 0 && self.active_secs + ACTIVE_LAG_SECS >= self.idle_secs
    }

    /// `active` or `idle`, and its time in Unix seconds.
    pub fn status(self) -> (&'static str, u64) {
        if self.is_active() { ("active", self.active_secs) } else { ("idle", self.idle_secs) }
    }
}

/// The modern form; maps are keyed by user id.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ModernPresence {
    active_timestamp: u64,
    idle_timestamp: u64,
}

/// Presence in the modern form.
pub fn modern(seen: Seen) -> ModernPresence {
    ModernPresence { active_timestamp: seen.active_secs, idle_timestamp: seen.idle_secs }
}

/// The legacy form, keyed by e-mail address: a single client, and the aggregate of all clients.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LegacyPresence {
    aggregated: LegacyAggregate,
    website: LegacyClientPresence,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct LegacyAggregate {
    client: &'static str,
    status: &'static str,
    timestamp: u64,
}

/// The entry of one client in the legacy form.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LegacyClientPresence {
    client: &'static str,
    status: &'static str,
    timestamp: u64,
    pushable: bool,
}

impl LegacyClientPresence {
    /// The entry of the only client.
    pub fn of(seen: Seen) -> Self {
        let (status, timestamp) = seen.status();
        Self { client: "website", status, timestamp, pushable: false }
    }
}

/// Presence in the legacy form.
pub fn legacy(seen: Seen) -> LegacyPresence {
    let (status, timestamp) = seen.status();
    LegacyPresence {
        aggregated: LegacyAggregate { client: "website", status, timestamp },
        website: LegacyClientPresence::of(seen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(value: &impl Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn modern_and_legacy_form() {
        let at = |secs: u64| Some(Timestamp(secs * 1000));
        let active = shown(at(1000), at(1060));
        assert_eq!(json(&modern(active)), r#"{"active_timestamp":1000,"idle_timestamp":1060}"#);
        assert_eq!(
            json(&legacy(active)),
            r#"{"aggregated":{"client":"website","status":"active","timestamp":1000},"website":{"client":"website","status":"active","timestamp":1000,"pushable":false}}"#
        );
        assert_eq!(shown(at(1000), at(1071)).status(), ("idle", 1071));
        assert_eq!(shown(None, at(1071)).status(), ("idle", 1071));
        assert_eq!(json(&modern(shown(None, at(7)))), r#"{"active_timestamp":0,"idle_timestamp":7}"#);
        assert_eq!(shown(at(9), None).status(), ("active", 9));
    }
}
