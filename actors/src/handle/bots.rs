//! What the edge asks about bots.

use super::RealmHandle;
use model::UserId;

/// Seconds after which the owner of a bot is told again that nobody reads what it writes.
const OWNER_ALERT_SECS: u64 = 5 * 60;

impl RealmHandle {
    /// Whether the owner of a bot may be told now that nobody reads what it writes; if so, not again for a while.
    /// Not kept over a restart.
    pub fn may_alert_owner(&self, bot: UserId) -> bool {
        let now = self.now();
        let mut alerted = self.0.owner_alerts.lock();
        let is_fresh = alerted.get(&bot).is_some_and(|at| now.millis_since(*at) < OWNER_ALERT_SECS * 1000);
        if !is_fresh {
            alerted.insert(bot, now);
        }
        !is_fresh
    }
}
