//! Retention of messages, and when a channel is inactive (docs/api/channels.md#retention).

use crate::settings::realm_int;
use model::{Channel, Realm, Timestamp};

const DAY_MILLIS: u64 = 24 * 3600 * 1000;

/// Days without messages after which a channel is no longer recently active.
const ACTIVE_DAYS: u64 = 180;

/// Messages of a channel (none: direct messages) sent before this time are deleted; none if retention is unlimited. A
/// channel without its own value has the organization's.
pub fn kept_since(realm: &Realm, channel: Option<&Channel>, now: Timestamp) -> Option<Timestamp> {
    let own = channel.and_then(|channel| channel.message_retention_days).map(i64::from);
    let days = own.or_else(|| realm_int(realm, "message_retention_days")).unwrap_or(-1);
    let days = u64::try_from(days).ok().filter(|days| *days > 0)?;
    Some(Timestamp(now.0.saturating_sub(days.saturating_mul(DAY_MILLIS))))
}

/// Whether a channel had no message for so long that clients may hide it. New channels are not idle.
pub fn is_idle(channel: &Channel, newest: Option<Timestamp>, now: Timestamp) -> bool {
    let last = newest.unwrap_or(channel.created).max(channel.created);
    now.millis_since(last) > ACTIVE_DAYS * DAY_MILLIS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::SettingValue;

    #[test]
    fn channels_inherit_the_retention_period() {
        let now = Timestamp(100 * DAY_MILLIS);
        let mut realm = fixture::realm();
        let mut channel = fixture::channel(1, "a");
        for (organization, own, expected) in [
            (None, None, None),
            (Some(-1), None, None),
            (Some(3), None, Some(97)),
            (Some(3), Some(-1), None),
            (Some(3), Some(30), Some(70)),
            (None, Some(1), Some(99)),
            (None, Some(i32::MAX), Some(0)),
        ] {
            realm.settings.clear();
            if let Some(days) = organization {
                realm.settings.insert("message_retention_days".into(), SettingValue::Int(days));
            }
            channel.message_retention_days = own;
            let since = kept_since(&realm, Some(&channel), now);
            assert_eq!(
                since,
                expected.map(|day: u64| Timestamp(day * DAY_MILLIS)),
                "{organization:?} {own:?}"
            );
        }
        realm.settings.insert("message_retention_days".into(), SettingValue::Int(3));
        assert_eq!(kept_since(&realm, None, now), Some(Timestamp(97 * DAY_MILLIS)));
    }

    #[test]
    fn channels_become_idle_after_half_a_year() {
        let mut channel = fixture::channel(1, "a");
        channel.created = Timestamp(0);
        let day = |days: u64| Timestamp(days * DAY_MILLIS);
        for (created, newest, now, expected) in [
            (0, None, 180, false),
            (0, None, 181, true),
            (0, Some(100), 280, false),
            (0, Some(100), 281, true),
            // Messages that moved here are older than the channel.
            (200, Some(10), 220, false),
        ] {
            channel.created = day(created);
            assert_eq!(is_idle(&channel, newest.map(day), day(now)), expected, "{created} {newest:?} {now}");
        }
    }
}
