//! Creating and changing bots, and regenerating their keys (docs/api/bots.md).

use super::accounts::active_set;
use super::commands::NewUser;
use super::groups::requester;
use super::joining::{join_groups, new_user, system_group_facts};
use super::left_behind::leave_channels;
use super::pictures::avatar_set;
use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use crate::error::DomainError;
use model::{
    Bot, BotConfig, BotIntegration, BotKind, Directory, Fact, Role, User, UserFact, UserId, WebhookService,
};
use rules::RuleError;
use rules::bots::{
    IntegrationChange, access_bot, access_bot_key, bot_address, capped_role, check_address_free,
    check_bot_name, check_bot_role, check_may_create, check_new_owner, check_takeover, default_channel,
    parse_interface, parse_kind, parse_service_name, parse_service_url, with_new_owner,
};
use rules::error::BotError;
use std::sync::Arc;

/// A requested bot, with the parameters of the endpoint (docs/api/bots.md).
#[derive(Clone, Debug)]
pub struct NewBot {
    pub full_name: String,
    pub short_name: String,
    pub kind: i64,
    /// Empty: no URL yet.
    pub payload_url: String,
    /// The name of an outgoing webhook's service.
    pub service_name: Option<String>,
    /// For incoming webhooks.
    pub integration: IntegrationChange,
    pub interface: i64,
    pub defaults: BotDefaults,
    /// The stored file of its avatar; none: the avatar that is derived from its address.
    pub avatar: Option<String>,
}

/// Default channels of a bot, by name, for sending and for its event queues; an empty name is none.
#[derive(Clone, Debug, Default)]
pub struct BotDefaults {
    pub sending: Option<String>,
    pub register: Option<String>,
    pub all_public: Option<bool>,
}

impl BotDefaults {
    fn apply(&self, directory: &Directory, by: &User, config: &mut BotConfig) -> Result<(), RuleError> {
        if let Some(name) = &self.sending {
            config.sending_channel = default_channel(directory, by, name)?;
        }
        if let Some(name) = &self.register {
            config.register_channel = default_channel(directory, by, name)?;
        }
        if let Some(is_set) = self.all_public {
            config.all_public_channels = is_set;
        }
        Ok(())
    }
}

/// A bot that may be created.
struct NewAccount {
    user: NewUser,
    config: BotConfig,
    integration: BotIntegration,
}

/// Creates a bot owned by the acting user.
pub struct CreateBot {
    pub by: UserId,
    pub new: NewBot,
}

impl CreateBot {
    /// Validates the account and its configuration.
    fn check(&self, directory: &Directory, by: &User) -> Result<NewAccount, RuleError> {
        let new = &self.new;
        let email = bot_address(directory, &new.short_name)?;
        let kind = parse_kind(new.kind);
        if kind == Err(BotError::EmbeddedOff) {
            return Err(BotError::EmbeddedOff.into());
        }
        check_address_free(directory, &email, None)?;
        let kind = kind?;
        check_may_create(directory, by, kind)?;
        let full_name = check_bot_name(directory, &new.full_name, None)?.to_owned();
        let mut config = BotConfig { service: self.service(kind)?, ..BotConfig::default() };
        new.defaults.apply(directory, by, &mut config)?;
        let bot = Some(Bot { kind, owner: Some(by.id), is_system: false });
        let user = NewUser { bot, ..NewUser::new(email, full_name, capped_role(Role::Member, by)) };
        let integration = self.new.integration.apply(directory, Some(kind), &BotIntegration::default())?;
        Ok(NewAccount { user, config, integration })
    }

    /// The service of an outgoing webhook.
    fn service(&self, kind: BotKind) -> Result<Option<WebhookService>, RuleError> {
        let new = &self.new;
        let interface = parse_interface(new.interface)?;
        let base_url = match new.payload_url.as_str() {
            "" => String::new(),
            url => parse_service_url(url, "payload_url")?,
        };
        if kind != BotKind::OutgoingWebhook {
            return Ok(None);
        }
        let name = new.service_name.as_deref().map(parse_service_name).transpose()?;
        let name =
            name.filter(|name| !name.is_empty()).unwrap_or_else(|| rules::text::strip(&new.short_name));
        Ok(Some(WebhookService { name: name.to_owned(), base_url, interface }))
    }
}

impl SerializedCommand for CreateBot {
    type Outcome = Arc<User>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let new = self.check(directory, by)?;
        let user = new_user(context.ids.take_user()?, &new.user, context.now);
        let mut facts = vec![Fact::User(UserFact::Created(Box::new(user.clone())))];
        facts.extend(join_groups(directory, &user, context.now));
        let bot = user.id;
        if new.integration != BotIntegration::default() {
            let integration = Box::new(new.integration);
            facts.push(Fact::User(UserFact::BotIntegrationSet { bot, is_new: true, integration }));
        }
        let config = Box::new(new.config);
        facts.push(Fact::User(UserFact::BotConfigured { bot, before: None, config }));
        facts.extend(self.new.avatar.map(|file| avatar_set(&user, Some(file))));
        Ok((Arc::new(user), facts))
    }
}

/// Requested changes of a bot, with the parameters of the endpoint; absent ones stay unchanged.
#[derive(Clone, Debug, Default)]
pub struct BotUpdate {
    pub full_name: Option<String>,
    /// Changes the address.
    pub short_name: Option<String>,
    pub role: Option<i64>,
    pub owner: Option<i64>,
    pub payload_url: Option<String>,
    pub interface: Option<i64>,
    pub integration: IntegrationChange,
    pub defaults: BotDefaults,
    /// The stored file of a new avatar.
    pub avatar: Option<String>,
}

/// Changes a bot: all or nothing.
pub struct UpdateBot {
    pub by: UserId,
    pub bot: i64,
    pub update: BotUpdate,
}

impl UpdateBot {
    fn record(&self, directory: &Directory, by: &User, before: &User) -> Result<User, RuleError> {
        let update = &self.update;
        let mut after = User::clone(before);
        // The current name is valid even if the rules have changed.
        let name = update.full_name.as_ref().filter(|name| rules::text::strip(name) != before.full_name);
        if let Some(raw) = name {
            after.full_name = check_bot_name(directory, raw, Some(before.id))?.to_owned();
        }
        if let Some(short_name) = &update.short_name {
            let address = bot_address(directory, short_name)?;
            check_address_free(directory, &address, Some(before.id))?;
            after.delivery_email = address;
        }
        let owner = before.owner().map(|owner| i64::from(owner.0));
        if let Some(new) = update.owner.filter(|new| Some(*new) != owner) {
            check_takeover(directory, by, before)?;
            after = with_new_owner(&after, check_new_owner(directory, new)?);
        }
        if let Some(code) = update.role {
            let owner = after.owner().and_then(|owner| directory.user(owner));
            after.role = check_bot_role(by, before, owner.map_or(by, |owner| &**owner), code)?;
        }
        Ok(after)
    }

    /// `bot` is the record after the change: only the owner decides where the bot's messages are sent.
    fn config(&self, directory: &Directory, by: &User, bot: &User) -> Result<BotConfig, RuleError> {
        if self.update.payload_url.is_some() && bot.owner() != Some(by.id) {
            return Err(BotError::ServiceOfOwner.into());
        }
        let mut config = current_config(directory, bot.id);
        self.update.defaults.apply(directory, by, &mut config)?;
        self.service(bot, &mut config)?;
        Ok(config)
    }

    fn service(&self, bot: &User, config: &mut BotConfig) -> Result<(), RuleError> {
        let (url, interface) = (&self.update.payload_url, self.update.interface);
        let url = url.as_ref().map(|url| parse_service_url(url, "service_payload_url")).transpose()?;
        let interface = interface.map(parse_interface).transpose()?;
        if url.is_none() && interface.is_none() {
            return Ok(());
        }
        if bot.bot.as_ref().is_none_or(|bot| bot.kind != BotKind::OutgoingWebhook) {
            // The interface alone changes nothing for a bot without a service.
            return if url.is_none() { Ok(()) } else { Err(BotError::NoService.into()) };
        }
        let service = config.service.get_or_insert_with(|| WebhookService {
            name: String::new(),
            base_url: String::new(),
            interface: model::WebhookInterface::Generic,
        });
        service.base_url = url.unwrap_or_else(|| service.base_url.clone());
        service.interface = interface.unwrap_or(service.interface);
        Ok(())
    }
}

fn current_config(directory: &Directory, bot: UserId) -> BotConfig {
    directory.bot_config(bot).map(|config| BotConfig::clone(config)).unwrap_or_default()
}

impl SerializedCommand for UpdateBot {
    type Outcome = UserId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(UserId, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let before = access_bot(directory, by, self.bot)?;
        let after = self.record(directory, by, before)?;
        let config = self.config(directory, by, &after)?;
        let config_before = current_config(directory, before.id);
        let integration_before = directory.bot_integration(before.id).cloned().unwrap_or_default();
        let kind = before.bot.as_ref().map(|bot| bot.kind);
        let integration = self.update.integration.apply(directory, kind, &integration_before)?;
        let (bot, mut facts) = (before.id, Vec::new());
        if after != **before {
            facts.push(Fact::User(UserFact::Changed(Box::new(after.clone()))));
            if after.role != before.role {
                facts.extend(system_group_facts(directory, &after, context.now));
            }
            if let Some(owner) = after.owner().filter(|owner| before.owner() != Some(*owner)) {
                facts.extend(leave_channels(context, before, owner, self.by));
            }
        }
        if config != config_before {
            let (before, config) = (Some(Box::new(config_before)), Box::new(config));
            facts.push(Fact::User(UserFact::BotConfigured { bot, before, config }));
        }
        if integration != *integration_before {
            let integration = Box::new(integration);
            facts.push(Fact::User(UserFact::BotIntegrationSet { bot, is_new: false, integration }));
        }
        facts.extend(self.update.avatar.map(|file| avatar_set(&after, Some(file))));
        Ok((bot, facts))
    }
}

/// Replaces the API key of a bot; the old one is no longer valid.
pub struct RenewBotKey {
    pub by: UserId,
    pub bot: i64,
}

impl SerializedCommand for RenewBotKey {
    type Outcome = Arc<User>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let bot = access_bot_key(&context.directory, requester(&context.directory, self.by)?, self.bot)?;
        let mut bot = User::clone(bot);
        bot.api_key_rotation = bot.api_key_rotation.wrapping_add(1);
        Ok((Arc::new(bot.clone()), vec![Fact::User(UserFact::Changed(Box::new(bot)))]))
    }
}

/// Deactivates a bot.
pub struct DeactivateBot {
    pub by: UserId,
    pub bot: i64,
}

impl SerializedChange for DeactivateBot {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let bot = access_bot(&context.directory, requester(&context.directory, self.by)?, self.bot)?;
        let facts = bot.is_active.then(|| active_set(context, bot.id, false));
        Ok(facts.into_iter().collect())
    }
}

#[cfg(test)]
mod tests;
