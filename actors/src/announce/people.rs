//! Events of people and bots: new ones, and what changed about them and their settings.

use super::access::guests_without_access;
use super::context::{Announcements, EventContext};
use super::{accounts, bots, personal, pictures, user_visibility};
use model::event::{ChangedSetting, Clients, SettingForm, UserChange};
use model::{EventBody, Fact, User, UserFact, UserId};
use rules::permissions::users::{api_email, sees_user, shown_delivery_email};
use rules::settings::{EXPORT_CONSENT, Setting, USER_SETTINGS, setting_forms, user_bool, user_value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The events of a fact about users.
pub(super) fn announce(fact: &UserFact, out: &mut Announcements<'_>) {
    match fact {
        UserFact::Created(user) => created(user.id, out),
        UserFact::Changed(user) => changed(user, out),
        UserFact::ActiveSet { user, is_active, .. } => accounts::active_set(*user, *is_active, out),
        UserFact::VisibilityChanged { .. } => user_visibility::changed(out),
        // Clients receive the record that follows.
        UserFact::DataErased { .. } => {}
        UserFact::ProfileValuesSet { user, values } => {
            personal::profile_values_set(*user, values, out);
        }
        UserFact::SettingsRestated { user, settings } => settings_restated(*user, settings, out),
        UserFact::BotConfigured { bot, before, config } => {
            bots::configured(*bot, before.as_deref(), config, out);
        }
        UserFact::BotIntegrationSet { bot, is_new, integration } => {
            // A new bot is announced with its integration.
            if !is_new {
                bots::integration_set(*bot, integration, out);
            }
        }
    }
}

fn created(user: UserId, out: &mut Announcements<'_>) {
    let context = out.context;
    let Some(user) = context.after.user(user) else { return };
    let blind = guests_without_access(context.after, user);
    out.add(EventBody::UserAdded(user.clone()), context.viewers_of(user));
    out.for_clients(Clients::ListEverybody, blind, EventBody::UnknownUserAdded(user.clone()));
}

/// A user's record changed. No events if the record before is unknown.
fn changed(is: &User, out: &mut Announcements<'_>) {
    let context = out.context;
    let Some(was) = context.before().user(is.id) else { return };
    let viewers = context.viewers_of(is);
    for change in differences(context, was, is) {
        out.add(EventBody::UserChanged { user: is.id, change }, viewers.clone());
    }
    address_changed(was, is, out);
    settings_changed(was, is, out);
    personal::presence_setting_changed(was, is, out);
    export_consent_changed(was, is, out);
    // When a bot is deactivated or reactivated, that fact announces all changes.
    let is_announced_later =
        |fact: &Fact| matches!(fact, Fact::User(UserFact::ActiveSet { user, .. }) if *user == is.id);
    if let Some(bot) = context.after.user(is.id).filter(|user| user.is_bot())
        && !context.frame.facts.iter().any(is_announced_later)
    {
        bots::changed(was, bot, out);
    }
    // Guests receive no default channels.
    if was.is_guest() != is.is_guest() {
        let channels = if is.is_guest() { &[][..] } else { &context.after.realm().default_channels };
        out.to([is.id], EventBody::DefaultChannels(channels.to_vec()));
        let groups = context.after.default_groups();
        if !groups.items.is_empty() {
            let groups = if is.is_guest() { Arc::default() } else { groups.clone() };
            out.to([is.id], EventBody::DefaultChannelGroups(groups));
        }
    }
}

/// Administrators receive whether a user agrees to the export of private data.
fn export_consent_changed(was: &User, is: &User, out: &mut Announcements<'_>) {
    let consented = user_bool(is, EXPORT_CONSENT);
    if consented != user_bool(was, EXPORT_CONSENT) && !is.is_bot() {
        let users = out.context.after.users();
        let administrators = users.filter(|user| user.is_active && user.is_administrator() && !user.is_bot());
        out.to(administrators.map(|user| user.id), EventBody::ExportConsent { user: is.id, consented });
    }
}

fn differences(context: &EventContext<'_>, was: &User, is: &User) -> Vec<UserChange> {
    let owner = (was.owner() != is.owner()).then(|| UserChange::BotOwner(is.owner()));
    let fields: BTreeSet<_> = was.profile_data.keys().chain(is.profile_data.keys()).collect();
    let values = fields.into_iter().filter(|field| was.profile_data.get(field) != is.profile_data.get(field));
    let email = api_email(context.after, is);
    let email = (api_email(context.before(), was) != email).then(|| UserChange::Email(email.into_owned()));
    [
        (was.full_name != is.full_name).then(|| UserChange::FullName(is.full_name.clone())),
        (was.role != is.role).then_some(UserChange::Role(is.role)),
        (was.is_active != is.is_active).then_some(UserChange::IsActive(is.is_active)),
        (was.timezone != is.timezone).then(|| UserChange::Timezone(is.timezone.clone())),
        owner,
    ]
    .into_iter()
    .flatten()
    .chain(values.map(|field| UserChange::ProfileValue(*field, is.profile_data.get(field).cloned())))
    .chain(email)
    .collect()
}

/// The real address changed, or who may see it: each viewer receives what they see now.
fn address_changed(was: &User, is: &User, out: &mut Announcements<'_>) {
    let context = out.context;
    let shown =
        |directory, viewer, user| shown_delivery_email(directory, Some(viewer), user).map(str::to_owned);
    let (mut seeing, mut blind) = (Vec::new(), Vec::new());
    for viewer in context.after.users().filter(|viewer| viewer.is_active) {
        let now = shown(context.after, viewer, is);
        let Some(viewer_before) = context.before().user(viewer.id) else { continue };
        if now == shown(context.before(), viewer_before, was) || !sees_user(context.after, viewer, is) {
            continue;
        }
        if now.is_some() { seeing.push(viewer.id) } else { blind.push(viewer.id) }
    }
    let change = |address| EventBody::UserChanged { user: is.id, change: UserChange::DeliveryEmail(address) };
    let viewers = [&seeing[..], &blind[..]].concat();
    out.each([(seeing, change(Some(is.delivery_email.clone()))), (blind, change(None))]);
    // A new address has a separate fact about the picture.
    if was.delivery_email == is.delivery_email {
        pictures::address_shown_or_hidden(context.after, is, viewers, out);
    }
}

fn settings_changed(was: &User, is: &User, out: &mut Announcements<'_>) {
    for setting in USER_SETTINGS {
        if user_value(was, setting) != user_value(is, setting) {
            announce_setting(is, setting, out);
        }
    }
}

/// Settings were set to the values that they had.
fn settings_restated(user: UserId, names: &[String], out: &mut Announcements<'_>) {
    let Some(user) = out.context.after.user(user) else { return };
    for setting in USER_SETTINGS.iter().filter(|setting| names.iter().any(|name| name == setting.name)) {
        announce_setting(user, setting, out);
    }
}

fn announce_setting(user: &User, setting: &Setting, out: &mut Announcements<'_>) {
    let (name, value) = (setting.name, user_value(user, setting));
    for form in setting_forms(name) {
        let body = EventBody::SettingChanged(ChangedSetting { name, value: value.clone(), form });
        match form {
            SettingForm::Modern => out.to([user.id], body),
            _ => out.for_clients(Clients::LegacySettings, [user.id], body),
        }
    }
}
