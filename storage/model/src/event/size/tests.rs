//! Longer texts and lists count more, in every event that has some.

use super::*;
use crate::bot::{BotConfig, WebhookInterface};
use crate::event::{MessageContext, SettingForm};
use crate::ids::{
    ChannelId, DraftId, EventNumber, FolderId, GroupId, MessageId, ProfileFieldId, RecipientId, UserId,
};
use crate::lists::Listed;
use crate::message::{Message, Place};
use crate::personal::NavigationView;
use crate::profile_field::{FieldKind, ProfileFields};
use crate::subscription::Subscription;
use crate::time::Timestamp;
use crate::user::Role;
use std::sync::Arc;

const CHANNEL: ChannelId = ChannelId(1);
const GROUP: GroupId = GroupId(1);
const USER: UserId = UserId(1);

fn bytes(body: EventBody) -> usize {
    Event::new(EventNumber(1), body).bytes()
}

fn summary(description: &str, holders: GroupSetting) -> ChannelSummary {
    let permissions = ChannelPermissions::all(holders);
    let channel = crate::Channel {
        description: description.to_owned(),
        ..crate::Channel::new(CHANNEL, RecipientId(1), "a", Timestamp(0), permissions)
    };
    ChannelSummary {
        channel: Arc::new(channel),
        first_message: None,
        subscriber_count: 0,
        weekly_traffic: None,
    }
}

fn named_group(description: &str, holders: GroupSetting) -> Arc<UserGroup> {
    UserGroup::new(GROUP, "a", description, GroupPermissions::all(holders)).into()
}

fn user() -> User {
    User::new(USER, "a@example.org", "a", Role::Member, Timestamp(0))
}

fn channel_events(text: &str) -> Vec<EventBody> {
    let group = || GroupSetting::Group(GROUP);
    let subscribed = SubscribedChannel {
        summary: summary(text, group()),
        subscription: Arc::new(Subscription::start(String::new(), MessageId(0))),
        subscribers: [].into(),
    };
    let folder = ChannelFolder {
        id: FolderId(1),
        name: "a".to_owned(),
        description: text.to_owned(),
        rendered_description: String::new(),
        order: 1,
        created: Timestamp(0),
        creator: USER,
        is_archived: false,
    };
    let description = Some((text.to_owned(), String::new()));
    vec![
        EventBody::ChannelsCreated(vec![summary(text, group())]),
        EventBody::ChannelChanged {
            channel: CHANNEL,
            name: String::new(),
            change: ChannelChange::Description { text: String::new(), rendered: text.to_owned() },
        },
        EventBody::FolderAdded(folder.into()),
        EventBody::FolderChanged {
            folder: FolderId(1),
            change: FolderChange { description, ..FolderChange::default() },
        },
        EventBody::SubscriptionsAdded(vec![subscribed]),
        EventBody::SubscriptionsRemoved(vec![(CHANNEL, text.to_owned())]),
        EventBody::MutedTopics(vec![(String::new(), text.to_owned(), Timestamp(0))]),
    ]
}

fn organization_events(text: &str) -> Vec<EventBody> {
    let empty = String::new;
    let linkifier = LinkifierRecord { id: 1, pattern: text.to_owned(), url_template: empty() };
    let playground = Playground { id: 1, name: empty(), language: empty(), url_template: text.to_owned() };
    let field = ProfileField {
        id: ProfileFieldId(1),
        name: empty(),
        hint: empty(),
        kind: FieldKind::Choice,
        data: text.to_owned(),
        order: 1,
        is_in_summary: false,
        is_required: false,
        is_editable_by_user: true,
    };
    let setting = || SettingValue::Text(text.to_owned());
    let change = GroupChange { description: Some(text.to_owned()), ..GroupChange::default() };
    vec![
        EventBody::GroupAdded(named_group(text, GroupSetting::Group(GROUP))),
        EventBody::GroupChanged { group: GROUP, change: change.into() },
        EventBody::Linkifiers(Listed { items: vec![linkifier], last_id: 1 }.into()),
        EventBody::Playgrounds(Listed { items: vec![playground], last_id: 1 }.into()),
        EventBody::ProfileFields(ProfileFields { list: vec![field], last: ProfileFieldId(1) }.into()),
        EventBody::RealmChanged([("description", setting())].into()),
        EventBody::DefaultSettingChanged { name: "color_scheme", value: setting() },
        EventBody::SettingChanged(ChangedSetting {
            name: "color_scheme",
            value: setting(),
            form: SettingForm::Modern,
        }),
    ]
}

fn user_events(text: &str) -> Vec<EventBody> {
    let value = |html: Option<&str>| ProfileValue { text: "a".to_owned(), html: html.map(str::to_owned) };
    let mut with_profile = user();
    with_profile.profile_data.insert(ProfileFieldId(1), value(Some(text)));
    let service = || WebhookService {
        name: "a".to_owned(),
        base_url: text.to_owned(),
        interface: WebhookInterface::Generic,
    };
    let config = BotConfig { service: Some(service()), ..BotConfig::default() };
    let user = Arc::new(with_profile);
    vec![
        EventBody::UserAdded(user.clone()),
        EventBody::UnknownUserAdded(user.clone()),
        EventBody::UserChanged {
            user: USER,
            change: UserChange::ProfileValue(ProfileFieldId(1), Some(value(Some(text)))),
        },
        EventBody::BotAdded {
            bot: user,
            config: config.into(),
            integration: Arc::default(),
            with_secrets: false,
        },
        EventBody::BotChanged {
            bot: USER,
            change: BotChange::Service { service: Some(service()), with_secrets: false },
        },
    ]
}

fn personal_events(text: &str) -> Vec<EventBody> {
    let fragment = || "inbox".to_owned();
    let name = || Some(text.to_owned());
    let view = NavigationView { is_pinned: false, name: name() };
    let draft = SavedDraft { to: DraftTo::Nowhere, content: text.to_owned(), edited: Timestamp(0) };
    let mut message = Message::new(MessageId(1), USER, RecipientId(1), Place::Direct, Timestamp(0));
    message.content = text.to_owned();
    let context = MessageContext { sender: user().into(), channel_name: None, participants: Vec::new() };
    vec![
        EventBody::AlertWords(vec![text.to_owned()]),
        EventBody::NavigationViewAdded { fragment: fragment(), view },
        EventBody::NavigationViewChanged { fragment: fragment(), is_pinned: None, name: name() },
        EventBody::NavigationViewRemoved(text.to_owned()),
        EventBody::Drafts { owner: USER, change: TextChange::Changed(DraftId(1), draft) },
        EventBody::Message { message: Arc::new(message), context },
    ]
}

#[test]
fn longer_texts_count_more() {
    let events = |text: &str| {
        let with_text = channel_events(text).into_iter().chain(organization_events(text));
        with_text.chain(user_events(text)).chain(personal_events(text))
    };
    for (short, long) in events("").zip(events(&"a".repeat(10_000))) {
        let kind = long.kind();
        // As stored and as encoded.
        assert_eq!(bytes(long) - bytes(short), 20_000, "{kind:?}");
    }
}

fn events_with_ids(count: u32) -> Vec<EventBody> {
    let users = || (1..=count).map(UserId).collect::<Vec<_>>();
    let groups = || (1..=count).map(GroupId).collect::<Vec<_>>();
    let channels = || (1..=count).map(ChannelId).collect::<Vec<_>>();
    let holders = || GroupSetting::Anonymous { members: users(), subgroups: Vec::new() };
    let setting =
        || SettingValue::Group(GroupSetting::Anonymous { members: Vec::new(), subgroups: groups() });
    let draft = SavedDraft { to: DraftTo::People(users()), content: String::new(), edited: Timestamp(0) };
    let people = || (0..count).map(|_| Arc::new(user())).collect::<Vec<_>>();
    let change = GroupChange { permissions: vec![("can_join_group", holders())], ..GroupChange::default() };
    let members = UserGroup {
        members: users().into_iter().collect(),
        ..UserGroup::clone(&named_group("", GroupSetting::Group(GROUP)))
    };
    vec![
        EventBody::ChannelsCreated(vec![summary("", holders())]),
        EventBody::ChannelChanged {
            channel: CHANNEL,
            name: String::new(),
            change: ChannelChange::Permission("can_send_message_group", holders()),
        },
        EventBody::ChannelsLost(channels()),
        EventBody::DefaultChannels(channels()),
        EventBody::FoldersReordered((1..=count).map(FolderId).collect()),
        EventBody::GroupAdded(named_group("", holders())),
        EventBody::GroupAdded(members.into()),
        EventBody::GroupChanged { group: GROUP, change: change.into() },
        EventBody::SubgroupsAdded { group: GROUP, subgroups: groups() },
        EventBody::SubgroupsRemoved { group: GROUP, subgroups: groups() },
        EventBody::RealmChanged([("create_multiuse_invite_group", setting())].into()),
        EventBody::Drafts { owner: USER, change: TextChange::Changed(DraftId(1), draft) },
        EventBody::Typing {
            sender: user().into(),
            is_start: true,
            conversation: TypingConversation::Direct(people()),
        },
    ]
}

#[test]
fn longer_lists_count_more() {
    for (short, long) in events_with_ids(1).into_iter().zip(events_with_ids(1_001)) {
        let kind = long.kind();
        assert!(bytes(long) - bytes(short) >= 1_000 * ID_BYTES, "{kind:?}");
    }
}
