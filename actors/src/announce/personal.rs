//! Events of what people say about themselves, whom they mute, and the views of their sidebar.

use super::access::everyone_who_sees;
use super::context::{Announcements, EventContext};
use model::event::{StatusChange, UserChange};
use model::{
    EventBody, NamedStatus, NavigationView, PersonalFact, ProfileFieldId, ProfileValue, User, UserId,
    UserStatus,
};
use rules::settings::user_bool;

/// The events of a fact about personal records.
pub(super) fn announce(context: &EventContext<'_>, fact: &PersonalFact, out: &mut Announcements) {
    match fact {
        PersonalFact::StatusSet { user, status, named } => {
            status_set(context, *user, status.as_ref(), *named, out);
        }
        PersonalFact::Muted { user, .. } => muted(context, *user, out),
        PersonalFact::AlertWordsSet { user, words } => out.to([*user], EventBody::AlertWords(words.clone())),
        PersonalFact::NavigationViewSet { user, fragment, before, view } => {
            navigation_view_set(*user, fragment, before.as_ref(), view.as_ref(), out);
        }
    }
}

/// Somebody says something else about themselves: everybody is told of what the request named.
fn status_set(
    context: &EventContext<'_>,
    user: UserId,
    status: Option<&UserStatus>,
    named: NamedStatus,
    out: &mut Announcements,
) {
    let Some(about) = context.after.user(user) else { return };
    let change = StatusChange {
        away: named.away,
        text: named.text.then(|| status.map(|status| status.text.clone()).unwrap_or_default()),
        emoji: named.emoji.then(|| status.and_then(|status| status.emoji.clone())),
    };
    if change != StatusChange::default() {
        out.to(everyone_who_sees(context.after, about), EventBody::UserStatus { user, change });
    }
}

/// The status of somebody who comes into sight, or back, where there is one: the records of people do not say it.
pub(super) fn status_shown(
    context: &EventContext<'_>,
    about: &User,
    viewers: Vec<UserId>,
    out: &mut Announcements,
) {
    let status = context.after.status(about.id);
    let change = StatusChange {
        away: (!user_bool(about, "presence_enabled")).then_some(true),
        text: status.map(|status| status.text.clone()).filter(|text| !text.is_empty()),
        emoji: status.and_then(|status| status.emoji.clone()).map(Some),
    };
    if about.is_active && !about.is_bot() && change != StatusChange::default() {
        out.to(viewers, EventBody::UserStatus { user: about.id, change });
    }
}

/// Hiding one's presence is what clients knew as being away.
pub(super) fn presence_setting_changed(
    context: &EventContext<'_>,
    was: &User,
    is: &User,
    out: &mut Announcements,
) {
    let shows = user_bool(is, "presence_enabled");
    if shows != user_bool(was, "presence_enabled") {
        let change = StatusChange { away: Some(!shows), ..StatusChange::default() };
        out.to(everyone_who_sees(context.after, is), EventBody::UserStatus { user: is.id, change });
    }
}

/// The whole list of muted users, for those who keep it.
fn muted(context: &EventContext<'_>, user: UserId, out: &mut Announcements) {
    out.to([user], EventBody::MutedUsers(context.after.muted_by(user).collect()));
}

/// A view came, changed or went.
fn navigation_view_set(
    user: UserId,
    fragment: &str,
    before: Option<&NavigationView>,
    view: Option<&NavigationView>,
    out: &mut Announcements,
) {
    let fragment = fragment.to_owned();
    let body = match (before, view) {
        (None, Some(view)) => EventBody::NavigationViewAdded { fragment, view: view.clone() },
        (Some(before), Some(view)) => EventBody::NavigationViewChanged {
            fragment,
            is_pinned: (before.is_pinned != view.is_pinned).then_some(view.is_pinned),
            name: view.name.clone().filter(|_| before.name != view.name),
        },
        (_, None) => EventBody::NavigationViewRemoved(fragment),
    };
    out.to([user], body);
}

/// Values of somebody's profile: one event for each.
pub(super) fn profile_values_set(
    context: &EventContext<'_>,
    user: UserId,
    values: &[(ProfileFieldId, Option<ProfileValue>)],
    out: &mut Announcements,
) {
    let Some(about) = context.after.user(user) else { return };
    let viewers = everyone_who_sees(context.after, about);
    for (field, value) in values {
        let change = UserChange::ProfileValue(*field, value.clone());
        out.to(viewers.iter().copied(), EventBody::UserChanged { user, change });
    }
}
