//! The bytes that an event counts for in a queue are at least those of its JSON.

use super::*;
use model::event::{ChannelChange, UserChange};
use model::group::GroupPermissions;
use model::{
    FieldKind, GroupSetting, LinkifierRecord, Listed, NavigationView, ProfileField, ProfileFieldId,
    ProfileFields, ProfileValue, SettingValue, UserGroup,
};

/// Events with a text and many ids each.
fn large_events(text: &str, ids: u32) -> Vec<EventBody> {
    let members = (1..=ids).map(UserId).collect();
    let holders = GroupSetting::Anonymous { members, subgroups: Vec::new() };
    let group = UserGroup::new(GroupId(9), "tea", text, GroupPermissions::all(holders.clone()));
    let field = ProfileField {
        id: ProfileFieldId(1),
        name: "Tea".into(),
        hint: String::new(),
        kind: FieldKind::LongText,
        data: text.into(),
        order: 1,
        is_in_summary: false,
        is_required: true,
        is_editable_by_user: false,
    };
    let linkifier = LinkifierRecord { id: 1, pattern: text.into(), url_template: text.into() };
    let value = ProfileValue { text: text.into(), html: Some(text.into()) };
    let person = Arc::clone(fixture::directory().user(fixture::IAGO).unwrap());
    let people = (1..=ids).map(|id| Arc::new(User { id: UserId(id), ..User::clone(&person) })).collect();
    let settings = [
        ("name", SettingValue::Text(text.into())),
        ("can_invite_users_group", SettingValue::Group(holders.clone())),
    ];
    let channel = |change| EventBody::ChannelChanged { channel: fixture::VERONA, name: "x".into(), change };
    vec![
        EventBody::GroupAdded(group.into()),
        channel(ChannelChange::Description { text: text.into(), rendered: text.into() }),
        channel(ChannelChange::Permission("can_send_message_group", holders)),
        EventBody::SubgroupsAdded { group: GroupId(9), subgroups: (1..=ids).map(GroupId).collect() },
        EventBody::Linkifiers(Listed { items: vec![linkifier], last_id: 1 }.into()),
        EventBody::ProfileFields(ProfileFields { list: vec![field], last: ProfileFieldId(1) }.into()),
        EventBody::RealmChanged(settings.into()),
        EventBody::UserChanged {
            user: fixture::IAGO,
            change: UserChange::ProfileValue(ProfileFieldId(1), Some(value)),
        },
        EventBody::NavigationViewAdded {
            fragment: text.into(),
            view: NavigationView { is_pinned: true, name: Some(text.into()) },
        },
        EventBody::Typing {
            sender: person,
            is_start: true,
            conversation: TypingConversation::Direct(people),
        },
        EventBody::ChannelsLost((1..=ids).map(ChannelId).collect()),
    ]
}

#[test]
fn events_count_for_no_fewer_bytes_than_they_are_encoded_in() {
    for body in large_events(&"tea ".repeat(2_500), 250) {
        let event = [delivered(7, body)];
        for capabilities in [ClientCapabilities::default(), everything()] {
            let written = write_for(fixture::IAGO, &options(capabilities), &event).to_string().len();
            let counted = event[0].event.bytes();
            assert!(written <= counted, "{:?}: {written} > {counted}", event[0].event.body.kind());
        }
    }
}
