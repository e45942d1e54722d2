//! Events that say what one property of something is now: channels, subscriptions, folders, groups, people, settings
//! (events.md 3).

use super::{EventWriter, organization, personal};
use crate::api::wire::folder::folder as folder_json;
use crate::api::wire::group::group_setting;
use crate::api::wire::json::{push_field, push_name, push_text, push_text_field, push_value};
use crate::api::wire::profile::changed_value;
use crate::api::wire::settings::setting;
use crate::api::wire::user::UNKNOWN_NAME;
use model::event::{
    ChangedSetting, ChannelChange, FolderChange, GroupChange, SettingForm, SubscriptionChange, UserChange,
};
use model::{EventBody, SettingValue, UserId};
use rules::permissions::users::api_email;
use rules::settings::{language_name, user_bool};

pub(super) fn push_open(out: &mut Vec<u8>, kind: &str, op: &str) {
    out.extend_from_slice(b"{\"type\":");
    push_text(out, kind);
    push_text_field(out, "op", op);
}

impl EventWriter<'_> {
    /// Writes an event about a property, up to its number. False: it is of another kind.
    pub(super) fn push_change(&self, out: &mut Vec<u8>, body: &EventBody) -> bool {
        match body {
            EventBody::ChannelChanged { channel, name, change } => {
                push_open(out, "stream", "update");
                push_field(out, "stream_id", channel);
                push_text_field(out, "name", name);
                self.push_channel_property(out, change);
            }
            EventBody::SubscriptionChanged { channel, change } => {
                push_open(out, "subscription", "update");
                push_field(out, "stream_id", channel);
                self.push_subscription_property(out, change);
            }
            EventBody::AlertWords(words) => {
                out.extend_from_slice(b"{\"type\":\"alert_words\"");
                push_field(out, "alert_words", words);
            }
            EventBody::UserStatus { .. }
            | EventBody::MutedUsers(_)
            | EventBody::InvitationsChanged
            | EventBody::NavigationViewAdded { .. }
            | EventBody::NavigationViewChanged { .. }
            | EventBody::NavigationViewRemoved(_)
            | EventBody::ProfileFields(_) => personal::push(out, body),
            EventBody::PushDeviceChanged { account, status } => {
                super::push::push(out, *account, status);
            }
            EventBody::RealmChanged(changes) => self.push_realm(out, changes),
            EventBody::UserChanged { user, change } => self.push_user(out, *user, change),
            EventBody::UserRemoved(user) => {
                push_open(out, "realm_user", "remove");
                push_name(out, "person");
                let mut person = Vec::new();
                push_field(&mut person, "user_id", user);
                push_text_field(&mut person, "full_name", UNKNOWN_NAME);
                push_object(out, &person);
            }
            EventBody::DefaultSettingChanged { name, value } => {
                push_open(out, "realm_user_settings_defaults", "update");
                push_text_field(out, "property", name);
                push_field(out, "value", &setting(self.directory, value));
            }
            EventBody::SettingChanged(changed) => self.push_setting(out, changed),
            EventBody::FolderAdded(_) | EventBody::FolderChanged { .. } | EventBody::FoldersReordered(_) => {
                push_folder_event(out, body);
            }
            _ => {
                return self.push_group_event(out, body)
                    || self.push_bot_event(out, body)
                    || self.push_picture_event(out, body)
                    || organization::push(out, body);
            }
        }
        true
    }

    fn push_channel_property(&self, out: &mut Vec<u8>, change: &ChannelChange) {
        let property = |out: &mut Vec<u8>, name: &str| {
            push_text_field(out, "property", name);
            push_name(out, "value");
        };
        match change {
            ChannelChange::Name(name) => {
                property(out, "name");
                push_text(out, name);
            }
            ChannelChange::Description { text, rendered } => {
                property(out, "description");
                push_text(out, text);
                push_text_field(out, "rendered_description", rendered);
            }
            ChannelChange::Privacy { invite_only, is_web_public, history_public_to_subscribers } => {
                property(out, "invite_only");
                push_value(out, invite_only);
                push_field(out, "is_web_public", is_web_public);
                push_field(out, "history_public_to_subscribers", history_public_to_subscribers);
            }
            ChannelChange::Permission(name, value) => {
                property(out, name);
                push_value(out, &group_setting(self.directory, value));
            }
            ChannelChange::TopicsPolicy(policy) => {
                property(out, "topics_policy");
                push_text(out, policy.word());
            }
            ChannelChange::Retention(days) => {
                property(out, "message_retention_days");
                push_value(out, days);
            }
            ChannelChange::Folder(folder) => {
                property(out, "folder_id");
                push_value(out, folder);
            }
            ChannelChange::PostPolicy(policy) => {
                property(out, "stream_post_policy");
                push_value(out, policy);
            }
            ChannelChange::FirstMessage(message) => {
                property(out, "first_message_id");
                push_value(out, message);
            }
            ChannelChange::AnnouncementOnly(is_set) => {
                property(out, "is_announcement_only");
                push_value(out, is_set);
            }
            ChannelChange::Archived(is_set) => {
                property(out, "is_archived");
                push_value(out, is_set);
            }
            ChannelChange::Activity(is_set) => {
                property(out, "is_recently_active");
                push_value(out, is_set);
            }
        }
    }

    fn push_subscription_property(&self, out: &mut Vec<u8>, change: &SubscriptionChange) {
        let mut push = |name: &str, value: Option<bool>| {
            push_text_field(out, "property", name);
            push_field(out, "value", &value);
        };
        match change {
            SubscriptionChange::Color(color) => {
                push_text_field(out, "property", "color");
                push_text_field(out, "value", color);
            }
            SubscriptionChange::IsMuted(is_muted) => push("is_muted", Some(*is_muted)),
            SubscriptionChange::InHomeView(is_shown) => push("in_home_view", Some(*is_shown)),
            SubscriptionChange::PinToTop(is_pinned) => push("pin_to_top", Some(*is_pinned)),
            SubscriptionChange::Notification { name, inherits, value } => {
                let knows_null = self.options.capabilities.notification_settings_null;
                let inherited = || user_bool(self.owner, inherits);
                push(name, if knows_null { *value } else { Some(value.unwrap_or_else(inherited)) });
            }
        }
    }

    fn push_realm(&self, out: &mut Vec<u8>, changes: &[(&'static str, SettingValue)]) {
        push_open(out, "realm", "update_dict");
        push_text_field(out, "property", "default");
        push_name(out, "data");
        let mut data = Vec::new();
        for (name, value) in changes {
            push_field(&mut data, name, &setting(self.directory, value));
        }
        push_object(out, &data);
    }

    fn push_user(&self, out: &mut Vec<u8>, user: UserId, change: &UserChange) {
        push_open(out, "realm_user", "update");
        push_name(out, "person");
        let mut person = Vec::new();
        push_field(&mut person, "user_id", &user);
        match change {
            UserChange::FullName(name) => push_text_field(&mut person, "full_name", name),
            UserChange::Role(role) => push_field(&mut person, "role", &role.code()),
            UserChange::IsActive(is_active) => push_field(&mut person, "is_active", is_active),
            UserChange::DeliveryEmail(address) => push_field(&mut person, "delivery_email", address),
            UserChange::Email(address) => push_text_field(&mut person, "new_email", address),
            UserChange::BotOwner(owner) => push_field(&mut person, "bot_owner_id", owner),
            UserChange::ProfileValue(field, value) => {
                push_field(&mut person, "custom_profile_field", &changed_value(*field, value.as_ref()));
            }
            UserChange::Avatar { url, medium_url, source, version } => {
                push_text_field(&mut person, "avatar_url", url);
                push_text_field(&mut person, "avatar_url_medium", medium_url);
                push_text_field(&mut person, "avatar_source", source);
                push_field(&mut person, "avatar_version", version);
            }
            UserChange::Timezone(zone) => {
                push_text_field(&mut person, "timezone", zone);
                if let Some(user) = self.directory.user(user) {
                    push_text_field(&mut person, "email", &api_email(self.directory, user));
                }
            }
        }
        push_object(out, &person);
    }

    fn push_setting(&self, out: &mut Vec<u8>, changed: &ChangedSetting) {
        let value = setting(self.directory, &changed.value);
        match changed.form {
            SettingForm::Modern => {
                push_open(out, "user_settings", "update");
                push_text_field(out, "property", changed.name);
                push_field(out, "value", &value);
            }
            SettingForm::Display => {
                out.extend_from_slice(b"{\"type\":\"update_display_settings\"");
                push_text_field(out, "user", &api_email(self.directory, self.owner));
                push_text_field(out, "setting_name", changed.name);
                push_field(out, "setting", &value);
            }
            SettingForm::Notifications => {
                out.extend_from_slice(b"{\"type\":\"update_global_notifications\"");
                push_text_field(out, "user", &api_email(self.directory, self.owner));
                push_text_field(out, "notification_name", changed.name);
                push_field(out, "setting", &value);
            }
        }
        if let ("default_language", SettingValue::Text(code)) = (changed.name, &changed.value) {
            push_text_field(out, "language_name", language_name(code).unwrap_or(code));
        }
    }

    fn push_group_event(&self, out: &mut Vec<u8>, body: &EventBody) -> bool {
        match body {
            EventBody::GroupChanged { group, change } => {
                push_open(out, "user_group", "update");
                push_field(out, "group_id", group);
                push_name(out, "data");
                push_object(out, &self.group_data(change));
            }
            EventBody::SubgroupsAdded { group, subgroups } => {
                push_open(out, "user_group", "add_subgroups");
                push_field(out, "group_id", group);
                push_field(out, "direct_subgroup_ids", subgroups);
            }
            EventBody::SubgroupsRemoved { group, subgroups } => {
                push_open(out, "user_group", "remove_subgroups");
                push_field(out, "group_id", group);
                push_field(out, "direct_subgroup_ids", subgroups);
            }
            EventBody::GroupRemoved(group) => {
                push_open(out, "user_group", "remove");
                push_field(out, "group_id", group);
            }
            _ => return false,
        }
        true
    }

    fn group_data(&self, change: &GroupChange) -> Vec<u8> {
        let mut data = Vec::new();
        if let Some(name) = &change.name {
            push_text_field(&mut data, "name", name);
        }
        if let Some(description) = &change.description {
            push_text_field(&mut data, "description", description);
        }
        if let Some(is_deactivated) = change.is_deactivated {
            push_field(&mut data, "deactivated", &is_deactivated);
        }
        for (name, value) in &change.permissions {
            push_field(&mut data, name, &group_setting(self.directory, value));
        }
        data
    }
}

fn push_folder_event(out: &mut Vec<u8>, body: &EventBody) {
    match body {
        EventBody::FolderAdded(record) => {
            push_open(out, "channel_folder", "add");
            push_field(out, "channel_folder", &folder_json(record));
        }
        EventBody::FolderChanged { folder, change } => {
            push_open(out, "channel_folder", "update");
            push_field(out, "channel_folder_id", folder);
            push_name(out, "data");
            push_object(out, &folder_data(change));
        }
        EventBody::FoldersReordered(order) => {
            push_open(out, "channel_folder", "reorder");
            push_field(out, "order", order);
        }
        _ => {}
    }
}

fn folder_data(change: &FolderChange) -> Vec<u8> {
    let mut data = Vec::new();
    if let Some(name) = &change.name {
        push_text_field(&mut data, "name", name);
    }
    if let Some((text, rendered)) = &change.description {
        push_text_field(&mut data, "description", text);
        push_text_field(&mut data, "rendered_description", rendered);
    }
    if let Some(is_archived) = change.is_archived {
        push_field(&mut data, "is_archived", &is_archived);
    }
    data
}

/// Writes fields, each with the comma in front of it, as an object.
pub(super) fn push_object(out: &mut Vec<u8>, fields: &[u8]) {
    out.push(b'{');
    out.extend_from_slice(fields.get(1..).unwrap_or_default());
    out.push(b'}');
}
