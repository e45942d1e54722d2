//! Events of people and bots: new ones, and what changed about them and their settings.

use super::access::everyone_who_sees;
use super::{Announcements, Moment, bots, personal, pictures};
use model::event::{ChangedSetting, Clients, SettingForm, UserChange};
use model::{EventBody, Fact, User, UserId};
use rules::permissions::users::{api_email, sees_user, shown_delivery_email};
use rules::settings::{USER_SETTINGS, setting_forms, user_value};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Somebody came in.
pub(super) fn created(moment: &Moment<'_>, user: UserId, out: &mut Announcements) {
    let Some(user) = moment.after.user(user) else { return };
    let active = moment.after.users().filter(|viewer| viewer.is_active);
    let (seeing, blind): (Vec<_>, Vec<_>) = active.partition(|viewer| sees_user(moment.after, viewer, user));
    let ids = |users: Vec<&Arc<User>>| users.into_iter().map(|user| user.id).collect::<Vec<_>>();
    out.to(ids(seeing), EventBody::UserAdded(user.clone()));
    out.for_clients(Clients::ListEverybody, ids(blind), EventBody::UnknownUserAdded(user.clone()));
}

/// Somebody's record changed. Without the one from before nothing can be said.
pub(super) fn changed(moment: &Moment<'_>, is: &User, out: &mut Announcements) {
    let Some(was) = moment.before().user(is.id) else { return };
    let viewers = everyone_who_sees(moment.after, is);
    for change in differences(moment, was, is) {
        out.to(viewers.iter().copied(), EventBody::UserChanged { user: is.id, change });
    }
    address_changed(moment, was, is, out);
    settings_changed(was, is, out);
    personal::presence_setting_changed(moment, was, is, out);
    // A bot that goes out of use, or comes back, is told with all that changed then.
    let is_told_later = |fact: &Fact| matches!(fact, Fact::UserActiveSet { user, .. } if *user == is.id);
    if let Some(bot) = moment.after.user(is.id).filter(|user| user.is_bot())
        && !moment.frame.facts.iter().any(is_told_later)
    {
        bots::changed(moment, was, bot, out);
    }
    // Guests are not told of default channels.
    if was.is_guest() != is.is_guest() {
        let channels = if is.is_guest() { &[][..] } else { &moment.after.realm().default_channels };
        out.to([is.id], EventBody::DefaultChannels(channels.to_vec()));
    }
}

fn differences(moment: &Moment<'_>, was: &User, is: &User) -> Vec<UserChange> {
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
    let email = api_email(moment.after, is);
    if api_email(moment.before(), was) != email {
        found.push(UserChange::Email(email.into_owned()));
    }
    found
}

/// The real address changed, or who may see it: each is told what they see now.
fn address_changed(moment: &Moment<'_>, was: &User, is: &User, out: &mut Announcements) {
    let shown =
        |directory, viewer, user| shown_delivery_email(directory, Some(viewer), user).map(str::to_owned);
    let (mut seeing, mut blind) = (Vec::new(), Vec::new());
    for viewer in moment.after.users().filter(|viewer| viewer.is_active) {
        let now = shown(moment.after, viewer, is);
        let Some(viewer_before) = moment.before().user(viewer.id) else { continue };
        if now == shown(moment.before(), viewer_before, was) || !sees_user(moment.after, viewer, is) {
            continue;
        }
        if now.is_some() { seeing.push(viewer.id) } else { blind.push(viewer.id) }
    }
    let change = |address| EventBody::UserChanged { user: is.id, change: UserChange::DeliveryEmail(address) };
    let viewers = [&seeing[..], &blind[..]].concat();
    out.each([(seeing, change(Some(is.delivery_email.clone()))), (blind, change(None))]);
    // Another address comes with a fact of its own about the picture.
    if was.delivery_email == is.delivery_email {
        pictures::address_shown_or_hidden(moment.after, is, viewers, out);
    }
}

/// Own settings: one event for each, and one more for clients that know the older form.
fn settings_changed(was: &User, is: &User, out: &mut Announcements) {
    for setting in USER_SETTINGS {
        let (name, value) = (setting.name, user_value(is, setting));
        if user_value(was, setting) == value {
            continue;
        }
        for form in setting_forms(name) {
            let body = EventBody::SettingChanged(ChangedSetting { name, value: value.clone(), form });
            match form {
                SettingForm::Modern => out.to([is.id], body),
                _ => out.for_clients(Clients::LegacySettings, [is.id], body),
            }
        }
    }
}
