//! Tokens of outgoing webhooks, and the rate limit of notices to the owners of bots.

use super::RealmHandle;
use model::UserId;
use std::time::Duration;

/// Seconds between two notices to the owner of a bot about messages without readers.
const OWNER_ALERT_SECS: u64 = 5 * 60;

impl RealmHandle {
    /// The token by which the service of an outgoing webhook recognizes the server.
    pub fn webhook_token(&self, bot: UserId) -> String {
        self.shared.credentials.webhook_token(self.shared.id, bot)
    }

    /// Whether the owner of a bot may be notified now about a message without readers; if so, starts the next interval.
    /// Not stored: a restart ends the interval.
    pub fn may_alert_owner(&self, bot: UserId) -> bool {
        let now = self.monotonic();
        let mut alerted = self.shared.owner_alerts.lock();
        let is_fresh = alerted
            .get(&bot)
            .is_some_and(|at| now.saturating_sub(*at) < Duration::from_secs(OWNER_ALERT_SECS));
        if !is_fresh {
            alerted.insert(bot, now);
        }
        !is_fresh
    }
}
