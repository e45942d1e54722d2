//! Creating and changing bots, and regenerating their keys (docs/api/bots.md).

use super::accounts::{active_set, leave_channels};
use super::commands::NewUser;
use super::groups::requester;
use super::joining::{join_groups, new_user, system_group_facts};
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Bot, BotConfig, BotKind, Directory, Fact, Role, User, UserFact, UserId, WebhookService};
use rules::bots::{
    access_bot, access_bot_key, bot_address, capped_role, check_address_free, check_bot_name, check_bot_role,
    check_may_create, check_new_owner, check_takeover, default_channel, handed_on, parse_interface,
    parse_kind, parse_service_url,
};
use rules::error::BotError;
use std::sync::Arc;

/// A bot to be made, as asked for.
#[derive(Clone, Debug)]
pub struct NewBot {
    /// `full_name`
    pub full_name: String,
    /// `short_name`
    pub short_name: String,
    /// `bot_type`
    pub kind: i64,
    /// `payload_url`; empty for none yet.
    pub payload_url: String,
    /// `service_name`
    pub service_name: Option<String>,
    /// `interface_type`
    pub interface: i64,
    /// Where it sends and listens.
    pub defaults: BotDefaults,
}

/// Default channels of a bot, for sending and for its event queues; an empty name is none.
#[derive(Clone, Debug, Default)]
pub struct BotDefaults {
    /// `default_sending_stream`
    pub sending: Option<String>,
    /// `default_events_register_stream`
    pub register: Option<String>,
    /// `default_all_public_streams`
    pub all_public: Option<bool>,
}

impl BotDefaults {
    fn apply(&self, directory: &Directory, by: &User, config: &mut BotConfig) -> Result<(), DomainError> {
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

/// Creates a bot owned by the acting user.
pub struct CreateBot {
    /// The acting user.
    pub by: UserId,
    /// The bot to create.
    pub new: NewBot,
}

impl CreateBot {
    /// The account, and what is set for it, if all of it may be.
    fn check(&self, directory: &Directory, by: &User) -> Result<(NewUser, BotConfig), DomainError> {
        let new = &self.new;
        let email = bot_address(directory, &new.short_name).map_err(rules::RuleError::from)?;
        let kind = parse_kind(new.kind);
        if kind == Err(BotError::EmbeddedOff) {
            return Err(rules::RuleError::from(BotError::EmbeddedOff).into());
        }
        check_address_free(directory, &email, None).map_err(rules::RuleError::from)?;
        let kind = kind.map_err(rules::RuleError::from)?;
        check_may_create(directory, by, kind)?;
        let full_name = check_bot_name(directory, &new.full_name, None)?.to_owned();
        let mut config = BotConfig { service: self.service(kind)?, ..BotConfig::default() };
        new.defaults.apply(directory, by, &mut config)?;
        let user = NewUser {
            email,
            full_name,
            role: capped_role(Role::Member, by),
            bot: Some(Bot { kind, owner: Some(by.id), is_system: false }),
            password_hash: None,
            timezone: String::new(),
            channels: Vec::new(),
        };
        Ok((user, config))
    }

    /// Whom it asks, for outgoing webhooks.
    fn service(&self, kind: BotKind) -> Result<Option<WebhookService>, rules::RuleError> {
        let new = &self.new;
        let interface = parse_interface(new.interface)?;
        let base_url = match new.payload_url.as_str() {
            "" => String::new(),
            url => parse_service_url(url, "payload_url")?,
        };
        let name = new.service_name.as_deref().map(rules::text::strip).filter(|name| !name.is_empty());
        match (kind, name) {
            (BotKind::IncomingWebhook, Some(name)) => {
                Err(BotError::InvalidIntegration { name: name.to_owned() }.into())
            }
            (BotKind::OutgoingWebhook, name) => {
                let name = name.unwrap_or_else(|| rules::text::strip(&new.short_name)).to_owned();
                Ok(Some(WebhookService { name, base_url, interface }))
            }
            _ => Ok(None),
        }
    }
}

impl SerializedCommand for CreateBot {
    type Outcome = Arc<User>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let (new, config) = self.check(directory, by)?;
        let user = new_user(context.ids.take_user(), &new, context.now);
        let mut facts = vec![Fact::User(UserFact::Created(Box::new(user.clone())))];
        facts.extend(join_groups(directory, &user, context.now));
        facts.push(Fact::User(UserFact::BotConfigured {
            bot: user.id,
            before: None,
            config: Box::new(config),
        }));
        Ok((Arc::new(user), facts))
    }
}

/// What is to change about a bot, as asked for; absent stays as it is.
#[derive(Clone, Debug, Default)]
pub struct BotUpdate {
    /// `full_name`
    pub full_name: Option<String>,
    /// `short_name`: another address.
    pub short_name: Option<String>,
    /// `role`
    pub role: Option<i64>,
    /// `bot_owner_id`
    pub owner: Option<i64>,
    /// `service_payload_url`
    pub payload_url: Option<String>,
    /// `service_interface`
    pub interface: Option<i64>,
    /// Where it sends and listens.
    pub defaults: BotDefaults,
}

/// Change a bot: all or nothing.
pub struct UpdateBot {
    /// The acting user.
    pub by: UserId,
    /// Which, as sent.
    pub bot: i64,
    /// The requested changes.
    pub update: BotUpdate,
}

impl UpdateBot {
    fn record(&self, directory: &Directory, by: &User, before: &User) -> Result<User, rules::RuleError> {
        let update = &self.update;
        let mut after = User::clone(before);
        // The name that it has is good, whatever the rules say today.
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
            after = handed_on(&after, check_new_owner(directory, new)?);
        }
        if let Some(code) = update.role {
            let owner = after.owner().and_then(|owner| directory.user(owner));
            after.role = check_bot_role(by, before, owner.map_or(by, |owner| &**owner), code)?;
        }
        Ok(after)
    }

    /// `bot` is the record after the change: only the owner decides where the bot's messages are sent.
    fn config(&self, directory: &Directory, by: &User, bot: &User) -> Result<BotConfig, DomainError> {
        if self.update.payload_url.is_some() && bot.owner() != Some(by.id) {
            return Err(rules::RuleError::from(BotError::ServiceOfOwner).into());
        }
        let mut config =
            directory.bot_config(bot.id).map(|config| BotConfig::clone(config)).unwrap_or_default();
        self.update.defaults.apply(directory, by, &mut config)?;
        self.service(bot, &mut config)?;
        Ok(config)
    }

    fn service(&self, bot: &User, config: &mut BotConfig) -> Result<(), rules::RuleError> {
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

impl SerializedCommand for UpdateBot {
    type Outcome = UserId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(UserId, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let before = access_bot(directory, by, self.bot)?;
        let after = self.record(directory, by, before)?;
        let config = self.config(directory, by, &after)?;
        let config_before =
            directory.bot_config(before.id).map(|config| BotConfig::clone(config)).unwrap_or_default();
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
        Ok((bot, facts))
    }
}

/// Give a bot another API key; the old one is no longer valid.
pub struct RenewBotKey {
    /// The acting user.
    pub by: UserId,
    /// Which, as sent.
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
    /// The acting user.
    pub by: UserId,
    /// Which, as sent.
    pub bot: i64,
}

impl SerializedCommand for DeactivateBot {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let bot = access_bot(&context.directory, requester(&context.directory, self.by)?, self.bot)?;
        let facts = bot.is_active.then(|| active_set(context, bot.id, false));
        Ok(((), facts.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests;
