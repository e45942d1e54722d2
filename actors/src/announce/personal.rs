//! Events of what people say about themselves, whom they mute, and the views of their sidebar.

use super::access::everyone_who_sees;
use super::{Announcements, Moment};
use model::event::{StatusChange, UserChange};
use model::{EventBody, NamedStatus, NavigationView, ProfileFieldId, ProfileValue, User, UserId, UserStatus};
use rules::settings::user_bool;

/// Somebody says something else about themselves: everybody is told of what the request named.
pub(super) fn status_set(
    moment: &Moment<'_>,
    user: UserId,
    status: Option<&UserStatus>,
    named: NamedStatus,
    out: &mut Announcements,
) {
    let Some(about) = moment.after.user(user) else { return };
    let change = StatusChange {
        away: named.away,
        text: named.text.then(|| status.map(|status| status.text.clone()).unwrap_or_default()),
        emoji: named.emoji.then(|| status.and_then(|status| status.emoji.clone())),
    };
    if change != StatusChange::default() {
        out.to(everyone_who_sees(moment.after, about), EventBody::UserStatus { user, change });
    }
}

/// The status of somebody who comes into sight, or back, where there is one: the records of people do not say it.
pub(super) fn status_shown(moment: &Moment<'_>, about: &User, viewers: Vec<UserId>, out: &mut Announcements) {
    let status = moment.after.status(about.id);
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
pub(super) fn presence_setting_changed(moment: &Moment<'_>, was: &User, is: &User, out: &mut Announcements) {
    let shows = user_bool(is, "presence_enabled");
    if shows != user_bool(was, "presence_enabled") {
        let change = StatusChange { away: Some(!shows), ..StatusChange::default() };
        out.to(everyone_who_sees(moment.after, is), EventBody::UserStatus { user: is.id, change });
    }
}

/// The whole list of muted users, for those who keep it.
pub(super) fn muted(moment: &Moment<'_>, user: UserId, out: &mut Announcements) {
    out.to([user], EventBody::MutedUsers(moment.after.muted_by(user).collect()));
}

/// A view came, changed or went.
pub(super) fn navigation_view_set(
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
    moment: &Moment<'_>,
    user: UserId,
    values: &[(ProfileFieldId, Option<ProfileValue>)],
    out: &mut Announcements,
) {
    let Some(about) = moment.after.user(user) else { return };
    let viewers = everyone_who_sees(moment.after, about);
    for (field, value) in values {
        let change = UserChange::ProfileValue(*field, value.clone());
        out.to(viewers.iter().copied(), EventBody::UserChanged { user, change });
    }
}
