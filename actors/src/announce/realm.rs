//! Events of the organization itself: its settings, its lists and its profile fields.

use super::context::Announcements;
use model::event::Clients;
use model::{Audience, Directory, Event, EventBody, Listed, ProfileFields, RealmFact, SettingValue};
use rules::permissions::group_setting::realm_group_setting;
use rules::posting;
use rules::settings::{RealmPermission, realm_text, realm_values, user_defaults};

/// The events of a fact about the organization.
pub(super) fn announce(fact: &RealmFact, out: &mut Announcements<'_>) {
    match fact {
        RealmFact::Changed(_) => changed(out),
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
        RealmFact::ExportsChanged(all) => {
            let users = out.context.after.users();
            let administrators =
                users.filter(|user| user.is_active && user.is_administrator() && !user.is_bot());
            let administrators: Vec<_> = administrators.map(|user| user.id).collect();
            out.to(administrators, EventBody::Exports(Listed::clone(all).into()));
        }
        RealmFact::Created(_) => {}
    }
}

/// The organization's record changed: one event with all that differs. No event if the record before is unknown.
fn changed(out: &mut Announcements<'_>) {
    let context = out.context;
    // All changes of the organization in one frame are one event.
    let is_announced = |(event, _): &(Event, Audience)| matches!(event.body, EventBody::RealmChanged(_));
    if context.before.directory.is_none() || out.events.iter().any(is_announced) {
        return;
    }
    defaults_changed(out);
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

/// Default settings of new users: one event for each.
fn defaults_changed(out: &mut Announcements<'_>) {
    let (was, is) = (user_defaults(out.context.before().realm()), user_defaults(out.context.after.realm()));
    for ((name, value), _) in is.zip(was).filter(|(is, was)| is != was) {
        out.add(EventBody::DefaultSettingChanged { name, value }, Audience::Everyone);
    }
}

/// All values of an organization that clients receive, by name; always in the same order.
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
    // Legacy forms for older clients.
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
