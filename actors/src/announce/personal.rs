//! Events of statuses, muted users, alert words, navigation views and profile values.

use super::context::Announcements;
use model::event::{StatusChange, TextChange, UserChange};
use model::{
    EventBody, NamedStatus, NavigationView, PersonalFact, ProfileFieldId, ProfileValue, User, UserId,
    UserStatus,
};
use rules::onboarding::remaining_steps;
use rules::settings::user_bool;

/// The events of a fact about personal records.
pub(super) fn announce(fact: &PersonalFact, out: &mut Announcements<'_>) {
    match fact {
        PersonalFact::StatusSet { user, status, named } => {
            status_set(*user, status.as_ref(), *named, out);
        }
        PersonalFact::Muted { user, .. } => muted(*user, out),
        PersonalFact::AlertWordsSet { user, words } => out.to([*user], EventBody::AlertWords(words.clone())),
        PersonalFact::NavigationViewSet { user, fragment, before, view } => {
            navigation_view_set(*user, fragment, before.as_ref(), view.as_ref(), out);
        }
        PersonalFact::OnboardingStepSeen { user, steps } => {
            let left = remaining_steps(steps).map(|step| (step.kind, step.name)).collect();
            out.to([*user], EventBody::OnboardingSteps(left));
        }
        PersonalFact::BotStorageChanged { .. } => {}
        PersonalFact::SavedSnippetSet { user, id, is_new, snippet } => {
            let body = EventBody::SavedSnippets(text_set(*id, *is_new, snippet.clone()));
            out.to([*user], body);
        }
        PersonalFact::DraftsAdded { user, drafts } => {
            let change = TextChange::Added(drafts.clone());
            out.to([*user], EventBody::Drafts { owner: *user, change });
        }
        PersonalFact::DraftSet { user, id, draft } => {
            let change = text_set(*id, false, draft.clone());
            out.to([*user], EventBody::Drafts { owner: *user, change });
        }
        PersonalFact::DraftsForgotten { .. } | PersonalFact::WebSession { .. } => {}
        PersonalFact::ScheduledMessageSet { user, id, is_new, is_reminder, message } => {
            let (owner, change) = (*user, text_set(*id, *is_new, message.as_deref().cloned()));
            let body = match is_reminder {
                true => EventBody::Reminders { owner, change },
                false => EventBody::ScheduledMessages { owner, change },
            };
            out.to([owner], body);
        }
    }
}

/// A user's status changed: users who may see them receive the parts that the request named.
fn status_set(user: UserId, status: Option<&UserStatus>, named: NamedStatus, out: &mut Announcements<'_>) {
    let Some(about) = out.context.after.user(user) else { return };
    let change = StatusChange {
        away: named.away,
        text: named.text.then(|| status.map(|status| status.text.clone()).unwrap_or_default()),
        emoji: named.emoji.then(|| status.and_then(|status| status.emoji.clone())),
    };
    if change != StatusChange::default() {
        out.add(EventBody::UserStatus { user, change }, out.context.viewers_of(about));
    }
}

/// The status of a user who became visible or was reactivated, if there is one: the user's record does not include it.
pub(super) fn status_shown(about: &User, viewers: Vec<UserId>, out: &mut Announcements<'_>) {
    let status = out.context.after.status(about.id);
    let change = StatusChange {
        away: (!user_bool(about, "presence_enabled")).then_some(true),
        text: status.map(|status| status.text.clone()).filter(|text| !text.is_empty()),
        emoji: status.and_then(|status| status.emoji.clone()).map(Some),
    };
    if about.is_active && !about.is_bot() && change != StatusChange::default() {
        out.to(viewers, EventBody::UserStatus { user: about.id, change });
    }
}

/// A user was deactivated: the status that clients have of the user, if there is one, is removed. `was` is the record before.
pub(super) fn status_removed(was: &User, viewers: Vec<UserId>, out: &mut Announcements<'_>) {
    let status = out.context.before().status(was.id);
    let change = StatusChange {
        away: (!user_bool(was, "presence_enabled")).then_some(false),
        text: status.filter(|status| !status.text.is_empty()).map(|_| String::new()),
        emoji: status.filter(|status| status.emoji.is_some()).map(|_| None),
    };
    if !was.is_bot() && change != StatusChange::default() {
        out.to(viewers, EventBody::UserStatus { user: was.id, change });
    }
}

/// Older clients show a hidden presence as `away`.
pub(super) fn presence_setting_changed(was: &User, is: &User, out: &mut Announcements<'_>) {
    let shows = user_bool(is, "presence_enabled");
    if shows != user_bool(was, "presence_enabled") {
        let change = StatusChange { away: Some(!shows), ..StatusChange::default() };
        out.add(EventBody::UserStatus { user: is.id, change }, out.context.viewers_of(is));
    }
}

/// The event has the whole list of muted users.
fn muted(user: UserId, out: &mut Announcements<'_>) {
    out.to([user], EventBody::MutedUsers(out.context.after.muted_by(user).collect()));
}

fn navigation_view_set(
    user: UserId,
    fragment: &str,
    before: Option<&NavigationView>,
    view: Option<&NavigationView>,
    out: &mut Announcements<'_>,
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

/// The change of a text that is new, replaced or deleted.
fn text_set<I, T>(id: I, is_new: bool, text: Option<T>) -> TextChange<I, T> {
    match text {
        Some(text) if is_new => TextChange::Added(vec![(id, text)]),
        Some(text) => TextChange::Changed(id, text),
        None => TextChange::Removed(id),
    }
}

/// One event for each profile value.
pub(super) fn profile_values_set(
    user: UserId,
    values: &[(ProfileFieldId, Option<ProfileValue>)],
    out: &mut Announcements<'_>,
) {
    let Some(about) = out.context.after.user(user) else { return };
    let viewers = out.context.viewers_of(about);
    for (field, value) in values {
        let change = UserChange::ProfileValue(*field, value.clone());
        out.add(EventBody::UserChanged { user, change }, viewers.clone());
    }
}
