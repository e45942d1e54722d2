//! People and bots.

use super::organization::Builder;
use super::settings::user_settings;
use crate::transfer::rows::Row;
use actors::SYSTEM_BOTS;
use model::bot::{WebhookInterface, WebhookService};
use model::{Bot, BotConfig, BotIntegration, BotKind, Fact, Role, SettingValue, User, UserFact, UserId};
use rules::accounts::{CAN_CHANGE_USER_EMAILS, CAN_CREATE_USERS};
use std::collections::{BTreeMap, HashSet};

/// The tables with users. Those of the second never logged in.
const USERS: [&str; 2] = ["zerver_userprofile", "zerver_userprofile_mirrordummy"];
const SYSTEM_USERS: &str = "zerver_userprofile_crossrealm";
/// The key of a bot's configuration with the name of its integration.
const INTEGRATION_KEY: &str = "integration_id";

impl Builder<'_> {
    /// The system bots, with the ids of the export, then everyone else.
    pub fn people(&mut self) {
        let tables = self.tables;
        let ids = USERS.iter().flat_map(|table| tables.rows(table)).filter_map(|row| row.id("id"));
        let people: HashSet<u32> = ids.collect();
        let system = tables.rows(SYSTEM_USERS);
        let system_ids = system.iter().filter_map(|row| row.id("id"));
        let mut last = system_ids.chain(people.iter().copied()).max().unwrap_or_default();
        let domain = self.directory.realm().email_domain.clone();
        let mut addresses = HashSet::new();
        for (address, name) in SYSTEM_BOTS {
            let is_it = |row: &&Row| row.text("email").split('@').next() == Some(address);
            let known = system.iter().find(is_it).and_then(|row| row.id("id"));
            let id = known.filter(|id| !people.contains(id)).unwrap_or_else(|| {
                last += 1;
                last
            });
            let email = format!("{address}@{domain}");
            addresses.insert(email.to_lowercase());
            let created = self.directory.realm().created;
            let mut bot = User::new(UserId(id), email, name, Role::Member, created);
            bot.bot = Some(Bot { kind: BotKind::Generic, owner: None, is_system: true });
            self.put_user(bot);
        }
        self.report.carry(SYSTEM_USERS, system.len() as u64);
        for table in USERS {
            self.each_row(table, |own, row| own.person(row, &people, &mut addresses));
        }
    }

    fn person(
        &mut self,
        row: &Row,
        people: &HashSet<u32>,
        addresses: &mut HashSet<String>,
    ) -> Result<(), &'static str> {
        let id = row.id("id").filter(|id| *id > 0).ok_or("without an id")?;
        let mut email = [row.text("delivery_email"), row.text("email")]
            .into_iter()
            .find(|email| email.contains('@'))
            .map_or_else(|| format!("user{id}@{}", self.directory.realm().email_domain), str::to_owned);
        if !addresses.insert(email.to_lowercase()) {
            self.report.change("accounts with an address that another account has got another one", 1);
            email = format!("imported{id}-{email}");
            addresses.insert(email.to_lowercase());
        }
        let role = row.int("role").and_then(Role::from_code).unwrap_or_else(|| {
            self.report.change("accounts with an unknown role became members", 1);
            Role::Member
        });
        let joined = row.time("date_joined").unwrap_or(self.now);
        let mut user = User::new(UserId(id), email, row.text("full_name"), role, joined);
        user.is_active = row.flag("is_active").unwrap_or(true) && !row.is("is_mirror_dummy");
        user.avatar_version = row.id("avatar_version").unwrap_or(1).max(1);
        let zone = row.text("timezone");
        user.timezone = if jiff::tz::TimeZone::get(zone).is_ok() { zone.to_owned() } else { String::new() };
        if row.is("is_bot") {
            let owner = row.id("bot_owner").filter(|owner| people.contains(owner)).map(UserId);
            user.bot = Some(Bot { kind: kind_of(row.int("bot_type")), owner, is_system: false });
        }
        let (settings, refused) = user_settings(row);
        self.report.change("personal settings with a value that is not known here have the default", refused);
        user.settings = settings;
        for mark in [CAN_CREATE_USERS, CAN_CHANGE_USER_EMAILS] {
            if row.is(mark) {
                user.settings.insert(mark.to_owned(), SettingValue::Bool(true));
            }
        }
        self.put_user(user);
        Ok(())
    }

    fn put_user(&mut self, user: User) {
        self.directory.put_user(user.clone());
        self.facts.push(Fact::User(UserFact::Created(Box::new(user))));
    }

    /// The default channels of bots, and what outgoing webhooks call. Channels are known.
    pub fn bot_configs(&mut self) {
        let tables = self.tables;
        let services = tables.rows("zerver_service");
        for row in tables.rows(USERS[0]).iter().filter(|row| row.is("is_bot")) {
            let Some(bot) = self.user(row.id("id")) else { continue };
            let service = services.iter().find(|service| service.id("user_profile") == Some(bot.0));
            let config = BotConfig {
                sending_channel: self.channel(row.id("default_sending_stream")),
                register_channel: self.channel(row.id("default_events_register_stream")),
                all_public_channels: row.is("default_all_public_streams"),
                service: service.map(service_of),
            };
            if config != BotConfig::default() {
                self.directory.put_bot_config(bot, config.clone());
                let config = Box::new(config);
                self.facts.push(Fact::User(UserFact::BotConfigured { bot, before: None, config }));
            }
        }
        let known = services.iter().filter(|row| self.user(row.id("user_profile")).is_some()).count() as u64;
        self.report.carry("zerver_service", known);
        let others = services.len() as u64 - known;
        self.report.leave_out("zerver_service", "of a bot that is not in the export", others);
        self.report.change("tokens of outgoing webhooks are new; the bots' pages show them", known);
        self.bot_integrations();
    }

    /// The configuration of incoming webhook bots; one of its keys has the name of the integration.
    fn bot_integrations(&mut self) {
        let mut integrations: BTreeMap<UserId, BotIntegration> = BTreeMap::new();
        self.each_row("zerver_botconfigdata", |own, row| {
            let bot = own.user(row.id("bot_profile")).ok_or("of a bot that is not in the export")?;
            let kind = own.directory.user(bot).and_then(|bot| bot.bot.as_ref()).map(|bot| bot.kind);
            if kind != Some(BotKind::IncomingWebhook) {
                return Err("of a bot that is no incoming webhook");
            }
            let integration = integrations.entry(bot).or_default();
            match row.text("key") {
                INTEGRATION_KEY => integration.name = Some(row.text("value").to_owned()),
                key => _ = integration.data.insert(key.to_owned(), row.text("value").to_owned()),
            }
            Ok(())
        });
        for (bot, integration) in integrations {
            self.directory.put_bot_integration(bot, integration.clone());
            let integration = Box::new(integration);
            self.facts.push(Fact::User(UserFact::BotIntegrationSet { bot, is_new: true, integration }));
        }
    }
}

fn service_of(row: &Row) -> WebhookService {
    WebhookService {
        name: row.text("name").to_owned(),
        base_url: row.text("base_url").to_owned(),
        interface: row
            .int("interface")
            .and_then(WebhookInterface::from_code)
            .unwrap_or(WebhookInterface::Generic),
    }
}

fn kind_of(code: Option<i64>) -> BotKind {
    let kinds = [BotKind::Generic, BotKind::IncomingWebhook, BotKind::OutgoingWebhook, BotKind::Embedded];
    kinds.into_iter().find(|kind| Some(i64::from(kind.code())) == code).unwrap_or(BotKind::Generic)
}
