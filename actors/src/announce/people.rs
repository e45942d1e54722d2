//! Events of people and bots: new ones, and what changed about them and their settings.

use super::access::everyone_who_sees;
use super::context::{Announcements, EventContext};
use super::{accounts, bots, personal, pictures, user_visibility};
use model::event::{ChangedSetting, Clients, SettingForm, UserChange};
use model::{EventBody, Fact, User, UserFact, UserId};
use rules::permissions::users::{api_email, sees_user, shown_delivery_email};
use rules::settings::{Setting, USER_SETTINGS, setting_forms, user_value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The events of a fact about users.
pub(super) fn announce(context: &EventContext<'_>, fact: &UserFact, out: &mut Announcements) {
    match fact {
        UserFact::Created(user) => created(context, user.id, out),
        UserFact::Changed(user) => changed(context, user, out),
        UserFact::ActiveSet { user, is_active, .. } => accounts::active_set(context, *user, *is_active, out),
        UserFact::VisibilityChanged { .. } => user_visibility::changed(context, out),
        UserFact::ProfileValuesSet { user, values } => {
            personal::profile_values_set(context, *user, values, out);
        }
        UserFact::SettingsRestated { user, settings } => settings_restated(context, *user, settings, out),
        UserFact::BotConfigured { bot, before, config } => {
            bots::configured(context, *bot, before.as_deref(), config, out);
        }
    }
}

/// Somebody came in.
fn created(context: &EventContext<'_>, user: UserId, out: &mut Announcements) {
    let Some(user) = context.after.user(user) else { return };
    let active = context.after.users().filter(|viewer| viewer.is_active);
    let (seeing, blind): (Vec<_>, Vec<_>) = active.partition(|viewer| sees_user(context.after, viewer, user));
    let ids = |users: Vec<&Arc<User>>| users.into_iter().map(|user| user.id).collect::<Vec<_>>();
    out.to(ids(seeing), EventBody::UserAdded(user.clone()));
    out.for_clients(Clients::ListEverybody, ids(blind), EventBody::UnknownUserAdded(user.clone()));
}

/// Somebody's record changed. Without the one from before nothing can be said.
fn changed(context: &EventContext<'_>, is: &User, out: &mut Announcements) {
    let Some(was) = context.before().user(is.id) else { return };
    let viewers = everyone_who_sees(context.after, is);
    for change in differences(context, was, is) {
        out.to(viewers.iter().copied(), EventBody::UserChanged { user: is.id, change });
    }
    address_changed(context, was, is, out);
    settings_changed(was, is, out);
    personal::presence_setting_changed(context, was, is, out);
    // A bot that goes out of use, or comes back, is told with all that changed then.
    let is_told_later =
        |fact: &Fact| matches!(fact, Fact::User(UserFact::ActiveSet { user, .. }) if *user == is.id);
    if let Some(bot) = context.after.user(is.id).filter(|user| user.is_bot())
        && !context.frame.facts.iter().any(is_told_later)
    {
        bots::changed(context, was, bot, out);
    }
    // Guests are not told of default channels.
    if was.is_guest() != is.is_guest() {
        let channels = if is.is_guest() { &[][..] } else { &context.after.realm().default_channels };
        out.to([is.id], EventBody::DefaultChannels(channels.to_vec()));
    }
}

fn differences(context: &EventContext<'_>, was: &User, is: &User) -> Vec<UserChange> {
    let mut found = Vec::new();
    if was.full_name != is.full_name {
        found.push(UserChange::FullName(is.full_name.clone()));
    }
    if was.role != is.role {
        found.push(UserChange::Role(is.role));
    }
    if was.is_active != is.is_active {
        found.push(UserChange::IsActive(is.is_active));
    }
    if was.timezone != is.timezone {
        found.push(UserChange::Timezone(is.timezone.clone()));
    }
    let owner = |user: &User| user.bot.as_ref().and_then(|bot| bot.owner);
    if owner(was) != owner(is) {
        found.push(UserChange::BotOwner(owner(is)));
    }
    let fields = was.profile_data.keys().chain(is.profile_data.keys()).collect::<BTreeSet<_>>();
    for field in fields {
        let value = is.profile_data.get(field);
        if was.profile_data.get(field) != value {
            found.push(UserChange::ProfileValue(*field, value.cloned()));
        }
    }
    let email = api_email(context.after, is);
    if api_email(context.before(), was) != email {
        found.push(UserChange::Email(email.into_owned()));
    }
    found
}

/// The real address changed, or who may see it: each is told what they see now.
fn address_changed(context: &EventContext<'_>, was: &User, is: &User, out: &mut Announcements) {
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
    // Another address comes with a fact of its own about the picture.
    if was.delivery_email == is.delivery_email {
        pictures::address_shown_or_hidden(context.after, is, viewers, out);
    }
}

/// Own settings: one event for each, and one more for clients that know the older form.
fn settings_changed(was: &User, is: &User, out: &mut Announcements) {
    for setting in USER_SETTINGS {
        if user_value(was, setting) != user_value(is, setting) {
            say_setting(is, setting, out);
        }
    }
}

/// Settings were given the values that they had.
fn settings_restated(context: &EventContext<'_>, user: UserId, names: &[String], out: &mut Announcements) {
    let Some(user) = context.after.user(user) else { return };
    for setting in USER_SETTINGS.iter().filter(|setting| names.iter().any(|name| name == setting.name)) {
        say_setting(user, setting, out);
    }
}

fn say_setting(user: &User, setting: &Setting, out: &mut Announcements) {
    let (name, value) = (setting.name, user_value(user, setting));
    for form in setting_forms(name) {
        let body = EventBody::SettingChanged(ChangedSetting { name, value: value.clone(), form });
        match form {
            SettingForm::Modern => out.to([user.id], body),
            _ => out.for_clients(Clients::LegacySettings, [user.id], body),
        }
    }
}
