//! Events of the organization itself: its settings, its lists and its profile fields.

use super::context::{Announcements, EventContext};
use model::event::Clients;
use model::{Audience, Directory, EventBody, Listed, ProfileFields, RealmFact, SettingValue};
use rules::permissions::group_setting::realm_group_setting;
use rules::posting;
use rules::settings::{RealmPermission, realm_text, realm_values, user_defaults};

/// The events of a fact about the organization.
pub(super) fn announce(context: &EventContext<'_>, fact: &RealmFact, out: &mut Announcements) {
    match fact {
        RealmFact::Changed(_) => changed(context, out),
        RealmFact::ProfileFieldsChanged(fields) => {
            out.add(EventBody::ProfileFields(ProfileFields::clone(fields).into()), Audience::Everyone);
        }
        RealmFact::DomainSet { domain, op } => {
            out.add(EventBody::Domain { domain: domain.clone(), op: *op }, Audience::Everyone);
        }
        RealmFact::LinkifiersChanged(all) => {
            let body = EventBody::Linkifiers(Listed::clone(all).into());
            out.push(out.next, Clients::KnowLinkifiers, body, Audience::Everyone);
        }
        RealmFact::PlaygroundsChanged(all) => {
            out.add(EventBody::Playgrounds(Listed::clone(all).into()), Audience::Everyone);
        }
        RealmFact::Created(_) => {}
    }
}

/// The organization's record changed: one event with all that differs. Without the record from before nothing can
/// be said.
fn changed(context: &EventContext<'_>, out: &mut Announcements) {
    if context.before.directory.is_none() || out.events.iter().any(|(event, _)| is_realm_change(&event.body))
    {
        return;
    }
    defaults_changed(context, out);
    let closed = |directory: &Directory| !directory.realm().is_active;
    if closed(context.after) && !closed(context.before()) {
        out.add(EventBody::RealmDeactivated(context.after.realm().id), Audience::Everyone);
    }
    let (was, is) = (values(context.before()), values(context.after));
    let changed: Vec<(&'static str, SettingValue)> =
        was.into_iter().zip(is).filter(|(was, is)| was != is).map(|(_, is)| is).collect();
    if !changed.is_empty() {
        out.add(EventBody::RealmChanged(changed.into()), Audience::Everyone);
    }
}

/// What new people start with: one event for each setting.
fn defaults_changed(context: &EventContext<'_>, out: &mut Announcements) {
    let (was, is) = (user_defaults(context.before().realm()), user_defaults(context.after.realm()));
    for ((name, value), _) in is.zip(was).filter(|(is, was)| is != was) {
        out.add(EventBody::DefaultSettingChanged { name, value }, Audience::Everyone);
    }
}

/// One frame is one change, however many facts it took.
fn is_realm_change(body: &EventBody) -> bool {
    matches!(body, EventBody::RealmChanged(_))
}

/// Everything of an organization that clients are told of, by name; always in the same order.
fn values(directory: &Directory) -> Vec<(&'static str, SettingValue)> {
    let realm = directory.realm();
    let text = |text: &str| SettingValue::Text(text.to_owned());
    let number = |number: u8| SettingValue::Int(number.into());
    let mut found = vec![("name", text(&realm.name)), ("description", text(&realm.description))];
    found.extend(realm_values(realm));
    for permission in RealmPermission::ALL {
        let value = SettingValue::Group(realm_group_setting(directory, permission));
        found.push((permission.rule().name, value));
    }
    // What older clients read instead.
    found.extend([
        ("mandatory_topics", SettingValue::Bool(realm_text(realm, "topics_policy") == "disable_empty_topic")),
        (
            "allow_edit_history",
            SettingValue::Bool(realm_text(realm, "message_edit_history_visibility_policy") != "none"),
        ),
        ("wildcard_mention_policy", number(posting::wildcard_mention_policy(directory))),
        ("create_public_stream_policy", number(posting::create_public_policy(directory))),
        ("create_private_stream_policy", number(posting::create_private_policy(directory))),
        ("create_web_public_stream_policy", number(posting::create_web_public_policy(directory))),
    ]);
    found
}
