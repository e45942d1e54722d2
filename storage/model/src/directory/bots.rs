//! Configuration and ownership of bots.

use super::Directory;
use crate::bot::{BotConfig, BotIntegration};
use crate::ids::UserId;
use crate::user::User;
use std::sync::Arc;

impl Directory {
    /// A bot's configuration; none for bots that were never configured, and for people.
    pub fn bot_config(&self, bot: UserId) -> Option<&Arc<BotConfig>> {
        self.bot_configs.get(&bot)
    }

    /// Replaces a bot's configuration.
    pub fn put_bot_config(&mut self, bot: UserId, config: BotConfig) {
        self.bot_configs.insert(bot, Arc::new(config));
    }

    /// What an incoming webhook bot is for, with its configuration; none for bots without either, and for people.
    pub fn bot_integration(&self, bot: UserId) -> Option<&Arc<BotIntegration>> {
        self.bot_integrations.by_bot.get(&bot)
    }

    /// Bytes of the configuration of all bots.
    pub fn bot_integration_bytes(&self) -> usize {
        self.bot_integrations.bytes
    }

    /// Replaces what an incoming webhook bot is for, and its configuration.
    pub fn put_bot_integration(&mut self, bot: UserId, integration: BotIntegration) {
        let records = &mut self.bot_integrations;
        records.bytes += integration.bytes();
        if let Some(before) = records.by_bot.insert(bot, Arc::new(integration)) {
            records.bytes -= before.bytes();
        }
    }

    /// The owner of a bot; none for people and system bots.
    pub fn bot_owner(&self, bot: UserId) -> Option<UserId> {
        self.user(bot).and_then(|bot| bot.owner())
    }

    /// The bots of an owner, deactivated ones included, by id.
    pub fn bots_of(&self, owner: UserId) -> impl Iterator<Item = &Arc<User>> {
        self.bots().filter(move |bot| bot.owner() == Some(owner))
    }
}
