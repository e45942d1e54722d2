//! The record of an organization.

use crate::ids::{ChannelId, RealmId};
use crate::setting::Settings;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Prefix of personal settings among the settings of an organization: they are the defaults of new users.
pub const USER_DEFAULT_PREFIX: &str = "user_default/";

/// An organization with its own users, channels and messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Realm {
    pub id: RealmId,
    /// The short name in the host name (`sender_realm_str` on the wire); empty for the root organization.
    pub subdomain: String,
    pub name: String,
    /// Description as Markdown source.
    pub description: String,
    /// Domain of artificial e-mail addresses (`user12@{email_domain}`) and of bots' addresses.
    pub email_domain: String,
    pub created: Timestamp,
    /// False once deactivated.
    pub is_active: bool,
    /// Changed settings by wire name without the `realm_` prefix, and defaults of new users with
    /// [`USER_DEFAULT_PREFIX`].
    pub settings: Settings,
    /// Channels that new users are subscribed to.
    pub default_channels: Vec<ChannelId>,
    /// E-mail links that were requested up to this time have expired, whatever the wall clock shows. Changes when the wall
    /// clock is set back, and when a development server resets the organization.
    pub links_expired_until: Timestamp,
}

/// Validity of a link that confirms an e-mail address, in milliseconds (one day).
const LINK_MILLIS: u64 = 24 * 3600 * 1000;

/// A link from more than this far in the future, in milliseconds (one hour), dates from before the wall clock was set
/// back.
const FUTURE_MILLIS_MAX: u64 = 3600 * 1000;

impl Realm {
    /// Whether an e-mail link has expired; `asked` is the time of the request for it.
    pub fn has_link_expired(&self, asked: Timestamp, now: Timestamp) -> bool {
        asked <= self.links_expired_until
            || now.millis_since(asked) > LINK_MILLIS
            || asked.millis_since(now) > FUTURE_MILLIS_MAX
    }

    /// The record after the wall clock was set back from `before` to `now`: expired links stay expired, and links that
    /// are requested from now on are valid.
    pub fn after_clock_was_set_back(&self, before: Timestamp, now: Timestamp) -> Self {
        let expired = Timestamp(before.0.saturating_sub(LINK_MILLIS)).min(now);
        Self { links_expired_until: self.links_expired_until.min(now).max(expired), ..self.clone() }
    }

    /// A new, active organization with default settings.
    pub fn new(
        id: RealmId,
        subdomain: impl Into<String>,
        name: impl Into<String>,
        email_domain: impl Into<String>,
        created: Timestamp,
    ) -> Self {
        Self {
            id,
            subdomain: subdomain.into(),
            name: name.into(),
            email_domain: email_domain.into(),
            created,
            is_active: true,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600 * 1000;

    #[test]
    fn expired_links_stay_expired_when_the_clock_is_set_back() {
        let realm = Realm::new(RealmId(1), "", "x", "x.example", Timestamp(0));
        let (asked, later) = (Timestamp(1000 * HOUR), Timestamp(1025 * HOUR));
        assert!(
            !realm.has_link_expired(asked, Timestamp(1024 * HOUR)) && realm.has_link_expired(asked, later)
        );
        let back = Timestamp(1023 * HOUR);
        assert!(!realm.has_link_expired(asked, back));
        let realm = realm.after_clock_was_set_back(later, back);
        assert!(realm.has_link_expired(asked, back));
        assert!(!realm.has_link_expired(Timestamp(1002 * HOUR), back), "the link had not expired");
        assert!(!realm.has_link_expired(back, back));
        // Set back by days: links that are requested from then on are valid.
        let early = Timestamp(900 * HOUR);
        let realm = realm.after_clock_was_set_back(later, early);
        assert!(
            realm.has_link_expired(asked, early) && !realm.has_link_expired(Timestamp(early.0 + 1), early)
        );
    }
}
