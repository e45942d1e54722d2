//! People and bots, and the system's own bots.

use super::scope::ExportKind;
use super::settings::{Columns, default_columns, user_columns};
use super::snapshot::{Snapshot, seconds};
use super::tables::TableWriter;
use crate::transfer::problem::TransferError;
use model::{BotConfig, User};
use rules::accounts::{CAN_CHANGE_USER_EMAILS, CAN_CREATE_USERS};
use rules::settings::user_int;
use serde_json::{Value, json};
use std::sync::Arc;

/// The value of `email_address_visibility` for everyone.
const EVERYONE: i64 = 1;
/// The value for no one.
const HIDDEN: i64 = 4;

impl Snapshot<'_> {
    /// People and bots, without those of the system.
    pub fn users(&self) -> impl Iterator<Item = &Arc<User>> {
        self.directory.users().filter(|user| !user.is_system_bot())
    }

    /// Whether a user becomes one that cannot log in: those who did not consent, or whose address may not be exported.
    fn is_dummy(&self, user: &User) -> bool {
        match self.scope.kind {
            ExportKind::Full => false,
            ExportKind::Consent => user.is_active && !self.scope.shares(user.id),
            ExportKind::Public => self.is_address_hidden(user),
        }
    }

    fn is_address_hidden(&self, user: &User) -> bool {
        !self.scope.shares(user.id) && user_int(user, "email_address_visibility") == HIDDEN
    }

    /// The tables of users.
    pub fn people(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        for (table, dummies) in [("zerver_userprofile", false), ("zerver_userprofile_mirrordummy", true)] {
            tables.begin(table)?;
            for user in self.users().filter(|user| self.is_dummy(user) == dummies) {
                tables.row(&self.user_row(user, dummies))?;
            }
        }
        let system = self.directory.users().filter(|user| user.is_system_bot());
        let rows = system.map(|bot| {
            let name = bot.delivery_email.split('@').next().unwrap_or_default();
            // Under these addresses Zulip finds its own ones.
            json!({"email": format!("{name}@zulip.com"), "id": bot.id, "recipient_id": self.personal(bot.id)})
        });
        tables.table("zerver_userprofile_crossrealm", rows)?;
        self.bots(tables)
    }

    fn addresses(&self, user: &User) -> (String, String) {
        if self.is_address_hidden(user) {
            let made_up = format!("exported-user-{}@{}", user.id, self.directory.realm().email_domain);
            return (made_up.clone(), made_up);
        }
        let shown = match user_int(user, "email_address_visibility") {
            EVERYONE => user.delivery_email.clone(),
            _ => self.directory.made_up_email(user.id),
        };
        (user.delivery_email.clone(), shown)
    }

    fn user_row(&self, user: &User, is_dummy: bool) -> Columns {
        let mut row = Columns::new();
        user_columns(user, &mut row);
        if !self.scope.shares(user.id) {
            let visibility = row.get("email_address_visibility").cloned().unwrap_or_default();
            default_columns(self.directory.realm(), &mut row);
            row.insert("email_address_visibility".to_owned(), visibility);
        }
        let (address, shown) = self.addresses(user);
        let config = self.directory.bot_config(user.id).map(|config| BotConfig::clone(config));
        let config = config.unwrap_or_default();
        let channel = |id: Option<model::ChannelId>| id.filter(|id| self.has_channel(*id));
        let is_marked = |mark: &str| user.bool_setting(mark, false);
        let source = if self.directory.avatar_file(user.id).is_some() { "U" } else { "G" };
        let others = json!({
            "id": user.id, "realm": self.realm_id(), "recipient": self.personal(user.id),
            "delivery_email": address, "email": shown, "full_name": user.full_name,
            "date_joined": seconds(user.joined), "last_login": null, "tos_version": null,
            "is_active": user.is_active && !is_dummy, "is_mirror_dummy": is_dummy,
            "is_superuser": false, "is_staff": false, "is_billing_admin": false,
            "is_bot": user.is_bot(), "bot_type": user.bot.as_ref().map(|bot| bot.kind.code()),
            "bot_owner": user.owner(), "role": user.role.code(), "timezone": user.timezone,
            "long_term_idle": false, "last_active_message_id": null, "last_reminder": null,
            "can_forge_sender": false, "can_create_users": is_marked(CAN_CREATE_USERS),
            "can_change_user_emails": is_marked(CAN_CHANGE_USER_EMAILS), "rate_limits": "",
            "default_sending_stream": channel(config.sending_channel),
            "default_events_register_stream": channel(config.register_channel),
            "default_all_public_streams": config.all_public_channels,
            "avatar_source": source, "avatar_version": user.avatar_version, "avatar_hash": null,
            "third_party_api_state": {}, "groups": [], "user_permissions": [],
        });
        if let Value::Object(others) = others {
            row.extend(others);
        }
        row
    }

    /// What bots are configured for. Tokens of outgoing webhooks are made of this server's secret, and are not exported.
    fn bots(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        let bots = || self.users().filter(|user| user.is_bot() && self.has_bot_data(user));
        tables.begin("zerver_service")?;
        for bot in bots() {
            let config = self.directory.bot_config(bot.id);
            let Some(service) = config.and_then(|config| config.service.as_ref()) else { continue };
            let id = tables.row_count() + 1;
            tables.row(&json!({
                "id": id, "name": service.name, "user_profile": bot.id, "base_url": service.base_url,
                "token": "", "interface": service.interface.code(),
            }))?;
        }
        tables.begin("zerver_botconfigdata")?;
        for bot in bots() {
            let Some(integration) = self.directory.bot_integration(bot.id) else { continue };
            let name = integration.name.iter().map(|name| ("integration_id", name.as_str()));
            let data = integration.data.iter().map(|(key, value)| (key.as_str(), value.as_str()));
            for (key, value) in name.chain(data) {
                let id = tables.row_count() + 1;
                tables.row(&json!({"id": id, "bot_profile": bot.id, "key": key, "value": value}))?;
            }
        }
        tables.begin("zerver_botstoragedata")?;
        for user in self.users().filter(|user| self.has_bot_data(user)) {
            for (key, value) in self.directory.bot_storage(user.id) {
                let id = tables.row_count() + 1;
                tables.row(&json!({"id": id, "bot_profile": user.id, "key": key, "value": value}))?;
            }
        }
        Ok(())
    }

    fn has_bot_data(&self, user: &User) -> bool {
        self.scope.shares(user.id)
    }
}
