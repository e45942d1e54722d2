//! Encodes every event in every form and compares the bytes with `golden.txt`.
//!
//! After an intended change of the format, run the test with `UPDATE_GOLDEN=1` and review the difference.

mod message_changes;
mod texts;
mod uploads;
use super::*;
use model::event::{
    BotChange, ChangedSetting, ChannelChange, FolderChange, GroupChange, SettingForm, StatusChange,
    SubscriptionChange, UserChange,
};
use model::picture::{RealmEmoji, RealmPicture};
use model::push::PushStatus;
use model::{
    Bot, BotConfig, BotKind, ChannelFolder, DomainOp, FieldKind, FolderId, GroupSetting, LinkifierRecord,
    Listed, NavigationView, Playground, ProfileField, ProfileFieldId, ProfileFields, ProfileValue, Reaction,
    RealmDomain, RealmId, Role, SettingValue, StatusEmoji, Submessage, TopicsPolicy, WebhookInterface,
    WebhookService,
};
use std::fmt::Write;

const BOT: UserId = UserId(9);

/// Everything that JSON escapes, and text beyond ASCII.
const TEXT: &str = "a \"b\" \\ <p>ü 🎉</p>\n\t\u{1}";

fn directory() -> Directory {
    let mut directory = fixture::directory();
    fixture::restrict_guests(&mut directory);
    let bot = Some(Bot { kind: BotKind::OutgoingWebhook, owner: Some(fixture::IAGO), is_system: false });
    let user = User::new(BOT, "tea-bot@zulip.com", "Tea", Role::Member, Timestamp(1_000));
    directory.put_user(User { bot, api_key_rotation: 4, ..user });
    directory.put_profile_fields(profile_fields());
    directory
}

fn profile_fields() -> ProfileFields {
    let field = |id, is_in_summary| ProfileField {
        id: ProfileFieldId(id),
        name: "Tea".into(),
        hint: TEXT.into(),
        kind: FieldKind::LongText,
        data: String::new(),
        order: 1,
        is_in_summary,
        is_required: true,
        is_editable_by_user: false,
    };
    ProfileFields { list: vec![field(1, true), field(2, false)], last: ProfileFieldId(2) }
}

fn person(id: UserId) -> Arc<User> {
    let mut user = User::clone(directory().user(id).unwrap());
    for (id, text, html) in [(1, TEXT, Some("<p>x</p>".into())), (2, "b", None)] {
        user.profile_data.insert(ProfileFieldId(id), ProfileValue { text: text.into(), html });
    }
    user.into()
}

fn anyone_of() -> GroupSetting {
    GroupSetting::Anonymous { members: vec![fixture::IAGO], subgroups: vec![GroupId(4)] }
}

fn message_events() -> Vec<EventBody> {
    let mut direct = fixture::direct(8);
    direct.content = TEXT.into();
    let users = || vec![person(fixture::IAGO), person(fixture::CORDELIA)];
    let context = MessageContext { sender: person(fixture::IAGO), channel_name: None, participants: users() };
    let detail = |id, channel| UnreadDetail {
        id: MessageId(id),
        is_mentioned: id == 1,
        channel,
        users: vec![fixture::IAGO],
    };
    let details = vec![detail(1, Some((fixture::VERONA, String::new(), true))), detail(2, None)];
    vec![
        message_body(fixture::in_topic(7, "")),
        message_body(fixture::in_topic(7, TEXT)),
        EventBody::Message { message: Arc::new(direct), context },
        flags_body(Flag::Starred, FlagOp::Add, &[1, 2], vec![]),
        flags_body(Flag::Read, FlagOp::Remove, &[1, 2], details),
        EventBody::MessagesDeleted {
            place: Some((fixture::VERONA, String::new())),
            messages: [1, 2].map(MessageId).to_vec(),
        },
        EventBody::MessagesDeleted { place: None, messages: vec![MessageId(1)] },
        reaction(true),
        reaction(false),
        EventBody::Submessage {
            message: MessageId(1),
            submessage: Submessage {
                id: 3,
                msg_type: "widget".into(),
                content: TEXT.into(),
                sender: fixture::IAGO,
            },
        },
        EventBody::Typing {
            sender: person(fixture::IAGO),
            is_start: true,
            conversation: TypingConversation::Direct(users()),
        },
        EventBody::Typing {
            sender: person(fixture::CORDELIA),
            is_start: false,
            conversation: TypingConversation::Channel { channel: fixture::VERONA, topic: String::new() },
        },
    ]
}

fn reaction(is_added: bool) -> EventBody {
    let reaction = Reaction {
        emoji_name: "tada".into(),
        emoji_code: "1f389".into(),
        reaction_type: "unicode_emoji".into(),
        user: fixture::IAGO,
    };
    EventBody::Reaction { message: MessageId(1), reaction, user: person(fixture::IAGO), is_added }
}

fn channel_events() -> Vec<EventBody> {
    let subscribed = |subscription| SubscribedChannel {
        summary: summary(),
        subscription: Arc::new(subscription),
        subscribers: [fixture::IAGO, fixture::CORDELIA].into(),
    };
    let start = || Subscription::start("#76ce90".into(), MessageId(0));
    let own = Subscription { is_muted: true, push_notifications: Some(false), ..start() };
    let folder = ChannelFolder {
        id: FolderId(2),
        name: "Teas".into(),
        description: TEXT.into(),
        rendered_description: "<p>x</p>".into(),
        order: 1,
        created: Timestamp(5_000),
        creator: fixture::IAGO,
        is_archived: false,
    };
    let users: Arc<[UserId]> = [UserId(8), BOT].into();
    let change = |change| EventBody::FolderChanged { folder: FolderId(2), change };
    let mut bodies = vec![
        EventBody::ChannelsCreated(vec![summary(), summary()]),
        EventBody::ChannelsLost([3, 4].map(ChannelId).to_vec()),
        EventBody::SubscriptionsAdded(vec![subscribed(start()), subscribed(own)]),
        EventBody::SubscriptionsRemoved(vec![(fixture::VERONA, TEXT.into())]),
        EventBody::PeersAdded { channel: fixture::VERONA, users: users.clone() },
        EventBody::PeersRemoved { channel: fixture::VERONA, users },
        EventBody::DefaultChannels([3, 4].map(ChannelId).to_vec()),
        EventBody::FolderAdded(Arc::new(folder)),
        change(FolderChange { name: Some(TEXT.into()), description: None, is_archived: Some(true) }),
        change(FolderChange { description: Some((TEXT.into(), "<p>x</p>".into())), ..Default::default() }),
        change(FolderChange::default()),
        EventBody::FoldersReordered([2, 1].map(FolderId).to_vec()),
        EventBody::UserTopic {
            channel: fixture::VERONA,
            topic: String::new(),
            updated: Timestamp(9_000),
            policy: VisibilityPolicy::Followed,
        },
        EventBody::MutedTopics(vec![
            ("Verona".into(), TEXT.into(), Timestamp(9_000)),
            ("Verona".into(), String::new(), Timestamp(10_000)),
        ]),
    ];
    bodies.extend(channel_changes().map(|change| EventBody::ChannelChanged {
        channel: fixture::VERONA,
        name: TEXT.into(),
        change,
    }));
    bodies.extend(
        subscription_changes()
            .map(|change| EventBody::SubscriptionChanged { channel: fixture::VERONA, change }),
    );
    bodies
}

fn channel_changes() -> impl Iterator<Item = ChannelChange> {
    let privacy = ChannelChange::Privacy {
        invite_only: true,
        is_web_public: false,
        history_public_to_subscribers: true,
    };
    let changes = [
        ChannelChange::Name(TEXT.into()),
        ChannelChange::Description { text: TEXT.into(), rendered: "<p>x</p>".into() },
        privacy,
        ChannelChange::Retention(Some(-1)),
        ChannelChange::Retention(None),
        ChannelChange::TopicsPolicy(TopicsPolicy::Inherit),
        ChannelChange::Folder(Some(FolderId(2))),
        ChannelChange::Folder(None),
        ChannelChange::Permission("can_subscribe_group", anyone_of()),
        ChannelChange::Permission("can_send_message_group", GroupSetting::Group(GroupId(4))),
        ChannelChange::PostPolicy(2),
        ChannelChange::AnnouncementOnly(true),
        ChannelChange::Archived(true),
        ChannelChange::Activity(false),
        ChannelChange::FirstMessage(Some(MessageId(5))),
        ChannelChange::FirstMessage(None),
    ];
    changes.into_iter()
}

fn subscription_changes() -> impl Iterator<Item = SubscriptionChange> {
    let notification = |value| SubscriptionChange::Notification {
        name: "wildcard_mentions_notify",
        inherits: "wildcard_mentions_notify",
        value,
    };
    let changes = [
        SubscriptionChange::Color(TEXT.into()),
        SubscriptionChange::IsMuted(true),
        SubscriptionChange::InHomeView(false),
        SubscriptionChange::PinToTop(true),
        notification(None),
        notification(Some(false)),
    ];
    changes.into_iter()
}

fn personal_events() -> Vec<EventBody> {
    let emoji = StatusEmoji { name: "tea".into(), code: "1f375".into(), kind: "unicode_emoji".into() };
    let status = |change| EventBody::UserStatus { user: fixture::IAGO, change };
    let view = |name: Option<&str>| EventBody::NavigationViewAdded {
        fragment: TEXT.into(),
        view: NavigationView { is_pinned: true, name: name.map(str::to_owned) },
    };
    let changed = |is_pinned, name: Option<&str>| EventBody::NavigationViewChanged {
        fragment: "inbox".into(),
        is_pinned,
        name: name.map(str::to_owned),
    };
    let setting = |form| {
        let value = SettingValue::Text("de".into());
        EventBody::SettingChanged(ChangedSetting { name: "default_language", value, form })
    };
    let other = |name, value, form| EventBody::SettingChanged(ChangedSetting { name, value, form });
    let presence = |active, idle| EventBody::Presence {
        user: person(fixture::CORDELIA),
        active,
        idle,
        is_active: true,
        server: Timestamp(6_500),
    };
    let push = |status| EventBody::PushDeviceChanged { account: -12, status };
    vec![
        EventBody::AlertWords(vec![TEXT.into(), "b".into()]),
        EventBody::AlertWords(vec![]),
        status(StatusChange { away: Some(true), text: Some(TEXT.into()), emoji: Some(Some(emoji)) }),
        status(StatusChange { away: None, text: None, emoji: Some(None) }),
        status(StatusChange::default()),
        EventBody::MutedUsers(vec![(fixture::IAGO, Timestamp(9_000)), (BOT, Timestamp(10_000))]),
        EventBody::MutedUsers(vec![]),
        view(Some(TEXT)),
        view(None),
        changed(Some(false), Some(TEXT)),
        changed(None, None),
        EventBody::NavigationViewRemoved(TEXT.into()),
        setting(SettingForm::Modern),
        setting(SettingForm::Display),
        other("enable_sounds", SettingValue::Bool(true), SettingForm::Notifications),
        other("default_language", SettingValue::Text("xx".into()), SettingForm::Modern),
        other("enter_sends", SettingValue::Bool(true), SettingForm::Modern),
        other("some_setting", SettingValue::Null, SettingForm::Modern),
        EventBody::DefaultSettingChanged { name: "enter_sends", value: SettingValue::Int(2) },
        presence(Some(Timestamp(5_000)), Some(Timestamp(6_000))),
        presence(None, None),
        push(PushStatus::Pending),
        push(PushStatus::Active(3)),
        push(PushStatus::Failed("BAD".into())),
        EventBody::Heartbeat,
    ]
}

fn people_events() -> Vec<EventBody> {
    let user = |change| EventBody::UserChanged { user: fixture::CORDELIA, change };
    let value = ProfileValue { text: TEXT.into(), html: Some("<p>x</p>".into()) };
    let avatar = UserChange::Avatar {
        url: "/a.png".into(),
        medium_url: "/a-medium.png".into(),
        source: "U",
        version: 3,
    };
    let group = directory().group_by_name("role:everyone").unwrap().clone();
    let changed = |change| EventBody::GroupChanged { group: GroupId(9), change: Box::new(change) };
    let subgroups = || [4, 5].map(GroupId).to_vec();
    vec![
        EventBody::UserAdded(person(fixture::IAGO)),
        EventBody::UserAdded(person(fixture::CORDELIA)),
        EventBody::UserAdded(person(BOT)),
        EventBody::UnknownUserAdded(person(fixture::IAGO)),
        EventBody::UserRemoved(fixture::IAGO),
        user(UserChange::FullName(TEXT.into())),
        user(UserChange::Role(Role::Moderator)),
        user(UserChange::IsActive(false)),
        user(UserChange::DeliveryEmail(Some("a@example.com".into()))),
        user(UserChange::DeliveryEmail(None)),
        user(UserChange::Email("user2@example.com".into())),
        user(UserChange::Timezone("Europe/Paris".into())),
        EventBody::UserChanged { user: UserId(77), change: UserChange::Timezone(String::new()) },
        user(UserChange::BotOwner(Some(fixture::IAGO))),
        user(UserChange::BotOwner(None)),
        user(avatar),
        user(UserChange::ProfileValue(ProfileFieldId(1), Some(value))),
        user(UserChange::ProfileValue(ProfileFieldId(1), None)),
        EventBody::GroupAdded(group),
        EventBody::GroupMembersAdded { group: GroupId(4), users: vec![BOT, fixture::IAGO] },
        EventBody::GroupMembersRemoved { group: GroupId(4), users: vec![BOT] },
        changed(GroupChange {
            name: Some(TEXT.into()),
            description: Some(TEXT.into()),
            is_deactivated: Some(true),
            permissions: vec![
                ("can_join_group", anyone_of()),
                ("can_leave_group", GroupSetting::Group(GroupId(4))),
            ],
        }),
        changed(GroupChange::default()),
        EventBody::SubgroupsAdded { group: GroupId(9), subgroups: subgroups() },
        EventBody::SubgroupsRemoved { group: GroupId(9), subgroups: subgroups() },
        EventBody::GroupRemoved(GroupId(9)),
    ]
}

fn bot_events() -> Vec<EventBody> {
    let service = || WebhookService {
        name: "tea".into(),
        base_url: "https://tea.example".into(),
        interface: WebhookInterface::Slack,
    };
    let config = || BotConfig {
        sending_channel: Some(fixture::VERONA),
        register_channel: None,
        all_public_channels: true,
        service: Some(service()),
    };
    let added = |with_secrets| further::bot_added(person(BOT), config(), with_secrets);
    let changed = |change| EventBody::BotChanged { bot: BOT, change };
    vec![
        added(true),
        added(false),
        further::bot_added(person(BOT), BotConfig::default(), false),
        EventBody::BotRemoved(BOT),
        changed(BotChange::FullName(TEXT.into())),
        changed(BotChange::Email("b@example.com".into())),
        changed(BotChange::IsActive(true)),
        changed(BotChange::ApiKey(7)),
        changed(BotChange::Avatar),
        EventBody::BotChanged { bot: UserId(77), change: BotChange::Avatar },
        EventBody::BotChanged { bot: UserId(77), change: BotChange::ApiKey(1) },
        changed(BotChange::Owner(Some(fixture::IAGO))),
        changed(BotChange::Owner(None)),
        changed(BotChange::ApiKeyHidden),
        changed(BotChange::SendingChannel(Some(fixture::VERONA))),
        changed(BotChange::SendingChannel(None)),
        changed(BotChange::RegisterChannel(Some(fixture::VERONA))),
        changed(BotChange::AllPublicChannels(false)),
        changed(BotChange::Service { service: Some(service()), with_secrets: true }),
        changed(BotChange::Service { service: Some(service()), with_secrets: false }),
        changed(BotChange::Service { service: None, with_secrets: true }),
    ]
}

fn realm_events() -> Vec<EventBody> {
    let domain = |op| EventBody::Domain {
        domain: RealmDomain { id: 1, name: "tea.example".into(), allows_subdomains: true },
        op,
    };
    let linkifier = LinkifierRecord {
        id: 1,
        pattern: "#(?P<id>[0-9]+)\\b".into(),
        url_template: "https://bugs.example/{id}".into(),
    };
    let playground = Playground {
        id: 1,
        name: "Tea".into(),
        language: "rust".into(),
        url_template: "https://play.example/{code}".into(),
    };
    let emoji = |id, still: Option<&str>, author| {
        Arc::new(RealmEmoji {
            id,
            name: "tea".into(),
            file: "abc.gif".into(),
            still: still.map(str::to_owned),
            author,
            is_deactivated: id == 1,
        })
    };
    let picture = |which| EventBody::RealmPictureChanged { which, url: "/icon.png".into(), source: "U" };
    let settings = [
        ("name", SettingValue::Text(TEXT.into())),
        ("can_invite_users_group", SettingValue::Group(anyone_of())),
    ];
    vec![
        EventBody::RealmChanged(settings.into()),
        EventBody::RealmChanged([].into()),
        EventBody::RealmDeactivated(RealmId(1)),
        picture(RealmPicture::Icon),
        picture(RealmPicture::Logo),
        picture(RealmPicture::NightLogo),
        EventBody::RealmEmoji([emoji(1, Some("abc.png"), Some(fixture::IAGO)), emoji(2, None, None)].into()),
        EventBody::RealmEmoji([].into()),
        domain(DomainOp::Added),
        domain(DomainOp::Changed),
        domain(DomainOp::Removed),
        EventBody::Linkifiers(Arc::new(Listed { items: vec![linkifier.clone(), linkifier], last_id: 1 })),
        EventBody::Linkifiers(Arc::default()),
        EventBody::Playgrounds(Arc::new(Listed { items: vec![playground.clone(), playground], last_id: 1 })),
        EventBody::Playgrounds(Arc::default()),
        EventBody::InvitationsChanged,
        EventBody::ProfileFields(Arc::new(profile_fields())),
        EventBody::ProfileFields(Arc::default()),
    ]
}

/// Queues without and with all capabilities, of a member and of a guest who sees only some users. They share
/// the encoded forms of each event.
fn queues() -> [(&'static str, UserId, QueueOptions); 4] {
    let none = options(ClientCapabilities::default());
    let slim =
        QueueOptions { apply_markdown: false, client_gravatar: false, slim_presence: true, ..none.clone() };
    [
        ("none", fixture::CORDELIA, none),
        ("all", fixture::CORDELIA, options(everything())),
        ("guest", fixture::GUEST, slim),
        ("guest, all", fixture::GUEST, options(everything())),
    ]
}

#[test]
fn every_event_is_encoded_as_recorded() {
    let directory = directory();
    let write = |owner, options: &QueueOptions, delivered: &Delivered| {
        let owner = directory.user(owner).unwrap();
        let mut out = Vec::new();
        let writer = EventWriter::new(&directory, owner, options, &FixedSecrets);
        writer.push_all(&mut out, std::slice::from_ref(delivered));
        let _: Value = serde_json::from_slice(&out).expect("valid JSON");
        String::from_utf8(out).unwrap()
    };
    let messages = message_events().into_iter().chain(message_changes::events()).chain(channel_events());
    let people =
        personal_events().into_iter().chain(texts::events()).chain(people_events()).chain(bot_events());
    let mut actual = String::new();
    let further = further::events(TEXT, &[fixture::IAGO, fixture::CORDELIA].map(person));
    let further = further.into_iter().chain(further::integrations(&person(BOT), TEXT));
    for body in messages.chain(people).chain(realm_events()).chain(further).chain(uploads::events()) {
        writeln!(actual, "{}", body.kind().as_str()).unwrap();
        let event =
            Delivered { flags: Flags::only(Flag::Read), local_id: Some("1.5".into()), ..delivered(70, body) };
        let mut last = String::new();
        for (name, owner, options) in queues() {
            let written = write(owner, &options, &event);
            if written != last {
                writeln!(actual, "  {name}: {written}").unwrap();
                last = written;
            }
        }
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api/wire/event/tests/golden.txt");
        std::fs::write(path, &actual).unwrap();
        return;
    }
    for (line, (actual, expected)) in actual.lines().zip(include_str!("golden.txt").lines()).enumerate() {
        assert_eq!(actual, expected, "line {}", line + 1);
    }
    assert_eq!(actual, include_str!("golden.txt"));
}
