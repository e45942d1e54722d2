//! What the edge asks about bots.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{BotUpdate, CreateBot, DeactivateBot, NewBot, RenewBotKey, UpdateBot};
use model::{User, UserId};
use std::sync::Arc;

/// Seconds after which the owner of a bot is told again that nobody reads what it writes.
const OWNER_ALERT_SECS: u64 = 5 * 60;

impl RealmHandle {
    /// Makes a bot that answers to `by`.
    ///
    /// # Errors
    /// As `rules::bots`.
    pub async fn create_bot(&self, by: UserId, new: NewBot) -> Result<Arc<User>, DomainError> {
        self.settle(CreateBot { by, new }).await
    }

    /// Changes a bot: all of it or nothing.
    ///
    /// # Errors
    /// As `rules::bots`.
    pub async fn update_bot(&self, by: UserId, bot: i64, update: BotUpdate) -> Result<UserId, DomainError> {
        self.settle(UpdateBot { by, bot, update }).await
    }

    /// Gives a bot a new API key, and gives its record as it is then. The old key stops at once.
    ///
    /// # Errors
    /// As `rules::bots::access_bot`.
    pub async fn renew_bot_key(&self, by: UserId, bot: i64) -> Result<Arc<User>, DomainError> {
        self.settle(RenewBotKey { by, bot }).await
    }

    /// Takes a bot out of use.
    ///
    /// # Errors
    /// As `rules::bots::access_bot`.
    pub async fn deactivate_bot(&self, by: UserId, bot: i64) -> Result<(), DomainError> {
        self.settle(DeactivateBot { by, bot }).await
    }

    /// What an outgoing webhook shows the service that it asks.
    pub fn webhook_token(&self, bot: UserId) -> String {
        self.0.credentials.webhook_token(self.0.id, bot)
    }

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
