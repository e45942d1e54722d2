//! Events of the organization itself: its settings, and folders of channels.

use super::{Announcements, Moment};
use model::event::FolderChange;
use model::{Audience, ChannelFolder, Directory, EventBody, Realm, SettingValue};
use rules::permissions::group_setting::realm_group_setting;
use rules::posting;
use rules::settings::{RealmPermission, realm_text, realm_values, user_defaults};

/// The organization's record changed: one event with all that differs. Without the record from before nothing can
/// be said.
pub(super) fn changed(moment: &Moment<'_>, _: &Realm, out: &mut Announcements) {
    if moment.before.directory.is_none() || out.events.iter().any(|(event, _)| is_realm_change(&event.body)) {
        return;
    }
    defaults_changed(moment, out);
    let closed = |directory: &Directory| !directory.realm().is_active;
    if closed(moment.after) && !closed(moment.before()) {
        out.add(EventBody::RealmDeactivated(moment.after.realm().id), Audience::Everyone);
    }
    let (was, is) = (values(moment.before()), values(moment.after));
    let changed: Vec<(&'static str, SettingValue)> =
        was.into_iter().zip(is).filter(|(was, is)| was != is).map(|(_, is)| is).collect();
    if !changed.is_empty() {
        out.add(EventBody::RealmChanged(changed.into()), Audience::Everyone);
    }
}

/// What new people start with: one event for each setting.
fn defaults_changed(moment: &Moment<'_>, out: &mut Announcements) {
    let (was, is) = (user_defaults(moment.before().realm()), user_defaults(moment.after.realm()));
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

/// A folder is new, or something about it changed.
pub(super) fn folder_changed(moment: &Moment<'_>, is: &ChannelFolder, out: &mut Announcements) {
    let is_new = moment.before.new_folders.contains(&is.id);
    let Some(was) = moment.before().folder(is.id).filter(|_| !is_new) else {
        return out.add(EventBody::FolderAdded(is.clone().into()), Audience::Everyone);
    };
    let description = (is.description.clone(), is.rendered_description.clone());
    let change = FolderChange {
        name: (was.name != is.name).then(|| is.name.clone()),
        description: (was.description != is.description).then_some(description),
        is_archived: (was.is_archived != is.is_archived).then_some(is.is_archived),
    };
    if change != FolderChange::default() {
        out.add(EventBody::FolderChanged { folder: is.id, change }, Audience::Everyone);
    }
}
