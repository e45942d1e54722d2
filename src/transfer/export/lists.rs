//! The organization's own row, the lists that administrators maintain, custom profile fields, and custom emoji.

use super::groups::AnonymousGroups;
use super::settings::{Columns, default_columns, realm_columns};
use super::snapshot::{Snapshot, seconds};
use super::tables::TableWriter;
use crate::transfer::problem::TransferError;
use model::picture::RealmPicture;
use model::{ChannelId, GroupSetting, Realm, SettingValue};
use rules::permissions::group_setting::system_group;
use rules::settings::REALM_PERMISSIONS;
use serde_json::{Value, json};

impl Snapshot<'_> {
    /// The organization and the defaults of its new users.
    pub fn realm_tables(
        &self,
        tables: &mut TableWriter,
        anonymous: &mut AnonymousGroups,
    ) -> Result<(), TransferError> {
        tables.table("zerver_realm", [self.realm_row(anonymous)?])?;
        let mut defaults = Columns::new();
        default_columns(self.directory.realm(), &mut defaults);
        defaults.insert("id".to_owned(), json!(1));
        defaults.insert("realm".to_owned(), json!(self.realm_id()));
        tables.table("zerver_realmuserdefault", [defaults])?;
        // How people log in is configured for the server.
        tables.table(
            "zerver_realmauthenticationmethod",
            [json!({"id": 1, "realm": self.realm_id(), "name": "Email"})],
        )?;
        tables.table("zerver_realmexport", Vec::<Value>::new())
    }

    fn realm_row(&self, anonymous: &mut AnonymousGroups) -> Result<Columns, TransferError> {
        let realm = self.directory.realm();
        let mut row = Columns::new();
        let has = |id: i64| u32::try_from(id).is_ok_and(|id| self.has_channel(ChannelId(id)));
        realm_columns(realm, has, &mut row);
        for rule in &REALM_PERMISSIONS {
            let value = self.permission(realm, rule.name, rule.default_group_name);
            row.insert(rule.name.to_owned(), json!(anonymous.id_of(&value)));
        }
        let pictures = self.directory.realm_pictures();
        for (which, column, plain) in [
            (RealmPicture::Icon, "icon", "G"),
            (RealmPicture::Logo, "logo", "D"),
            (RealmPicture::NightLogo, "night_logo", "D"),
        ] {
            let picture = pictures.get(which);
            let source = if picture.file.is_some() { "U" } else { plain };
            row.insert(format!("{column}_source"), json!(source));
            row.insert(format!("{column}_version"), json!(picture.version));
        }
        let others = json!({
            "id": realm.id, "name": realm.name, "description": realm.description,
            "string_id": realm.subdomain, "date_created": seconds(realm.created),
            "deactivated": !realm.is_active, "uuid": self.realm.push_uuid(None),
            "uuid_owner_secret": format!("zuliprealm_{}", crate::integrations::blobs::random_name()?),
            "push_notifications_enabled": false, "push_notifications_enabled_end_timestamp": null,
            "demo_organization_scheduled_deletion_date": null, "deactivated_redirect": null,
            "_max_invites": null, "message_visibility_limit": null, "first_visible_message_id": 0,
            "zulip_update_announcements_level": null, "plan_type": 1, "custom_upload_quota_gb": null,
        });
        if let Value::Object(others) = others {
            row.extend(others);
        }
        Ok(row)
    }

    fn permission(&self, realm: &Realm, name: &str, default: &str) -> GroupSetting {
        match realm.settings.get(name) {
            Some(SettingValue::Group(value)) => value.clone(),
            _ => system_group(&self.directory, default),
        }
    }

    /// Domains, linkifiers, playgrounds, custom emoji.
    pub fn lists(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        let realm = self.realm_id();
        let lists = self.directory.lists();
        let domains = lists.domains.items.iter().map(|domain| {
            json!({"id": domain.id, "realm": realm, "domain": domain.name,
                "allow_subdomains": domain.allows_subdomains})
        });
        tables.table("zerver_realmdomain", domains)?;
        let linkifiers = (0..).zip(&lists.linkifiers.items).map(|(order, linkifier)| {
            json!({"id": linkifier.id, "realm": realm, "pattern": linkifier.pattern,
                "url_template": linkifier.url_template, "order": order})
        });
        tables.table("zerver_realmfilter", linkifiers)?;
        let playgrounds = lists.playgrounds.items.iter().map(|playground| {
            json!({"id": playground.id, "realm": realm, "name": playground.name,
                "pygments_language": playground.language, "url_template": playground.url_template})
        });
        tables.table("zerver_realmplayground", playgrounds)?;
        let emoji = self.directory.realm_emoji().map(|emoji| {
            json!({"id": emoji.id, "realm": realm, "author": emoji.author, "name": emoji.name,
                "file_name": super::pictures::emoji_file_name(emoji), "is_animated": emoji.still.is_some(),
                "deactivated": emoji.is_deactivated})
        });
        tables.table("zerver_realmemoji", emoji)
    }

    /// Custom profile fields and their values, which everyone sees.
    pub fn profile_fields(&self, tables: &mut TableWriter) -> Result<(), TransferError> {
        let fields = &self.directory.profile_fields().list;
        let rows = fields.iter().map(|field| {
            json!({"id": field.id, "realm": self.realm_id(), "name": field.name, "hint": field.hint,
                "order": field.order, "display_in_profile_summary": field.is_in_summary,
                "required": field.is_required, "editable_by_user": field.is_editable_by_user,
                "field_type": field.kind.code(), "field_data": field.data})
        });
        tables.table("zerver_customprofilefield", rows)?;
        tables.begin("zerver_customprofilefieldvalue")?;
        for user in self.users() {
            for (field, value) in &user.profile_data {
                let id = tables.row_count() + 1;
                tables
                    .row(&json!({"id": id, "user_profile": user.id, "field": field, "value": value.text,
                    "rendered_value": value.html}))?;
            }
        }
        Ok(())
    }
}
