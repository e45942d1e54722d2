mod changes;
mod further;
mod golden;
mod sizes;

use super::*;
use crate::api::wire::bot::BotSecrets;
use crate::api::wire::fixture;
use model::event::{
    ChannelChange, ChannelSummary, MessageContext, SubscribedChannel, TypingConversation, UnreadDetail,
};
use model::{
    ChannelId, ClientCapabilities, Directory, Event, EventKinds, EventNumber, Flag, FlagOp, Flags, GroupId,
    Message, MessageId, QueueOptions, Subscription, Timestamp, User, UserId, VisibilityPolicy,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Secrets that tests can read.
struct FixedSecrets;

impl BotSecrets for FixedSecrets {
    fn api_key(&self, bot: &User) -> String {
        format!("key {} {}", bot.id, bot.api_key_rotation)
    }

    fn webhook_token(&self, bot: UserId) -> String {
        format!("token {bot}")
    }
}

fn options(capabilities: ClientCapabilities) -> QueueOptions {
    QueueOptions {
        kinds: EventKinds::ALL,
        apply_markdown: true,
        client_gravatar: true,
        slim_presence: false,
        all_public_channels: false,
        narrow: Vec::new(),
        capabilities,
        idle_secs_max: 600,
    }
}

fn everything() -> ClientCapabilities {
    ClientCapabilities {
        notification_settings_null: true,
        bulk_message_deletion: true,
        user_avatar_url_field_optional: true,
        stream_typing_notifications: true,
        user_settings_object: true,
        linkifier_url_template: true,
        user_list_incomplete: true,
        include_deactivated_groups: true,
        archived_channels: true,
        empty_topic_name: true,
        simplified_presence_events: true,
    }
}

fn delivered(number: u64, body: EventBody) -> Delivered {
    let event = Arc::new(Event::new(EventNumber(number), body));
    Delivered { event, flags: Flags::NONE, local_id: None }
}

fn write_for(owner: UserId, options: &QueueOptions, events: &[Delivered]) -> Value {
    let directory = fixture::directory();
    let owner = directory.user(owner).unwrap().clone();
    let writer = EventWriter::new(&directory, &owner, options, &FixedSecrets);
    let mut out = Vec::new();
    writer.push_all(&mut out, events);
    serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out)))
}

/// The event for a client without and for one with all capabilities.
fn both(body: EventBody) -> (Value, Value) {
    let events = [delivered(7, body)];
    let old = write_for(fixture::CORDELIA, &options(ClientCapabilities::default()), &events);
    let new = write_for(fixture::CORDELIA, &options(everything()), &events);
    (old[0].clone(), new[0].clone())
}

fn message_body(message: Message) -> EventBody {
    let directory = fixture::directory();
    let sender = directory.user(message.sender).unwrap().clone();
    let context = MessageContext { sender, channel_name: Some("Verona".into()), participants: Vec::new() };
    EventBody::Message { message: Arc::new(message), context }
}

fn flags_body(flag: Flag, op: FlagOp, ids: &[u32], details: Vec<UnreadDetail>) -> EventBody {
    EventBody::Flags { flag, op, messages: ids.iter().copied().map(MessageId).collect(), details }
}

#[test]
fn message_has_flags_and_local_id_of_queue() {
    let mut mine = delivered(33, message_body(fixture::in_topic(319, "")));
    mine.flags = Flags::only(Flag::Mentioned);
    mine.local_id = Some("100.01".into());
    let theirs = Delivered { event: mine.event.clone(), flags: Flags::NONE, local_id: None };
    let written = write_for(fixture::IAGO, &options(everything()), &[mine.clone()]);
    let event = &written[0];
    assert_eq!(
        (&event["type"], &event["id"], &event["flags"], &event["local_message_id"]),
        (&json!("message"), &json!(33), &json!(["mentioned"]), &json!("100.01"))
    );
    assert_eq!(event["message"]["content"], "<p>hi</p>");
    assert_eq!(event["message"]["subject"], "");
    assert!(event["message"].get("flags").is_none());

    let markdown = QueueOptions { apply_markdown: false, ..options(ClientCapabilities::default()) };
    let written = write_for(fixture::CORDELIA, &markdown, &[theirs]);
    assert!(written[0].get("local_message_id").is_none());
    assert_eq!(written[0]["message"]["content"], "*hi*");
    assert_eq!(written[0]["message"]["subject"], "general chat");
    // Two forms were written, so two are kept.
    assert_eq!(mine.event.encoded.iter().filter(|kept| kept.get().is_some()).count(), 2);
}

/// A user who was removed from a channel does not learn what it is named since.
#[test]
fn message_has_the_channel_name_of_its_time() {
    let directory = fixture::directory();
    let message = Arc::new(fixture::in_topic(319, "lunch"));
    let sender = directory.user(message.sender).unwrap().clone();
    let then = MessageContext { sender, channel_name: Some("before".into()), participants: Vec::new() };
    let body = EventBody::Message { message, context: then };
    let written = write_for(fixture::CORDELIA, &options(everything()), &[delivered(1, body)]);
    assert_eq!(written[0]["message"]["display_recipient"], "before");
}

#[test]
fn consecutive_equal_flag_changes_are_merged() {
    let add = |number, ids: &[u32]| delivered(number, flags_body(Flag::Read, FlagOp::Add, ids, vec![]));
    let star = delivered(5, flags_body(Flag::Starred, FlagOp::Add, &[9], vec![]));
    let events = [add(1, &[1, 2]), add(3, &[2, 4]), star, add(6, &[5]), delivered(7, EventBody::Heartbeat)];
    let written = write_for(fixture::IAGO, &options(everything()), &events);
    let expected = json!([
        {"type": "update_message_flags", "op": "add", "operation": "add", "flag": "read", "messages": [1, 2, 4],
         "all": false, "id": 3},
        {"type": "update_message_flags", "op": "add", "operation": "add", "flag": "starred", "messages": [9],
         "all": false, "id": 5},
        {"type": "update_message_flags", "op": "add", "operation": "add", "flag": "read", "messages": [5],
         "all": false, "id": 6},
        {"type": "heartbeat", "id": 7},
    ]);
    assert_eq!(written, expected);
}

#[test]
fn unread_messages_have_details_and_are_not_merged() {
    let detail = |id, channel, users: &[u32]| UnreadDetail {
        id: MessageId(id),
        is_mentioned: id == 1,
        channel,
        users: users.iter().copied().map(UserId).collect(),
    };
    let in_topic = detail(1, Some((ChannelId(3), String::new(), true)), &[]);
    let event = |number, details: Vec<UnreadDetail>| {
        let ids: Vec<u32> = details.iter().map(|detail| detail.id.0).collect();
        delivered(number, flags_body(Flag::Read, FlagOp::Remove, &ids, details))
    };
    let events = [event(1, vec![in_topic, detail(2, None, &[4])]), event(2, vec![detail(3, None, &[])])];
    let written = write_for(fixture::IAGO, &options(ClientCapabilities::default()), &events);
    assert_eq!(written.as_array().unwrap().len(), 2, "they are not merged");
    assert_eq!(
        written[0]["message_details"],
        json!({
            "1": {"type": "stream", "stream_id": 3, "topic": "general chat", "unmuted_stream_msg": true, "mentioned": true},
            "2": {"type": "private", "user_ids": [4]},
        })
    );
    assert_eq!(written[1]["message_details"], json!({"3": {"type": "private", "user_ids": []}}));
    assert_eq!((&written[1]["op"], &written[1]["id"]), (&json!("remove"), &json!(2)));
}

#[test]
fn user_topic_and_muted_topics() {
    let topic = EventBody::UserTopic {
        channel: ChannelId(3),
        topic: String::new(),
        updated: Timestamp(9_000),
        policy: VisibilityPolicy::Followed,
    };
    let (old, new) = both(topic);
    let expected = |name| {
        json!({"type": "user_topic", "stream_id": 3, "topic_name": name, "last_updated": 9,
               "visibility_policy": 3, "id": 7})
    };
    assert_eq!((old, new), (expected("general chat"), expected("")));
    let (old, _) = both(EventBody::MutedTopics(vec![("Verona".into(), "t".into(), Timestamp(9_000))]));
    assert_eq!(old, json!({"type": "muted_topics", "muted_topics": [["Verona", "t", 9]], "id": 7}));
}

#[test]
fn typing_direct_and_in_topic() {
    let directory = fixture::directory();
    let user = |id| directory.user(id).unwrap().clone();
    let sender = user(fixture::IAGO);
    let conversation = TypingConversation::Direct(vec![user(fixture::IAGO), user(fixture::CORDELIA)]);
    let (old, _) = both(EventBody::Typing { sender: sender.clone(), is_start: true, conversation });
    let iago = json!({"user_id": 1, "email": "iago@zulip.com"});
    let cordelia = json!({"user_id": 2, "email": "user2@zulip.test"});
    assert_eq!(
        old,
        json!({"type": "typing", "op": "start", "message_type": "direct", "sender": iago,
               "recipients": [iago, cordelia], "id": 7})
    );
    let conversation = TypingConversation::Channel { channel: ChannelId(3), topic: String::new() };
    let (old, new) = both(EventBody::Typing { sender, is_start: false, conversation });
    let expected = |topic| {
        json!({"type": "typing", "op": "stop", "message_type": "stream", "sender": iago, "stream_id": 3,
               "topic": topic, "id": 7})
    };
    assert_eq!((old, new), (expected("general chat"), expected("")));
}

#[test]
fn presence_modern_legacy_and_slim() {
    let directory = fixture::directory();
    let body = EventBody::Presence {
        user: directory.user(fixture::CORDELIA).unwrap().clone(),
        active: Some(Timestamp(5_000)),
        idle: Some(Timestamp(6_000)),
        is_active: true,
        server: Timestamp(6_500),
    };
    let events = [delivered(7, body)];
    let mut wanted = options(ClientCapabilities::default());
    let website =
        json!({"website": {"client": "website", "status": "active", "timestamp": 5, "pushable": false}});
    let mut legacy = json!({"type": "presence", "user_id": 2, "email": "user2@zulip.test",
                            "server_timestamp": 6.5, "presence": website, "id": 7});
    assert_eq!(write_for(fixture::IAGO, &wanted, &events)[0], legacy);
    wanted.slim_presence = true;
    legacy.as_object_mut().unwrap().remove("email");
    assert_eq!(write_for(fixture::IAGO, &wanted, &events)[0], legacy);
    wanted.capabilities.simplified_presence_events = true;
    let modern = json!({"type": "presence", "presences": {"2": {"active_timestamp": 5, "idle_timestamp": 6}}, "id": 7});
    assert_eq!(write_for(fixture::IAGO, &wanted, &events)[0], modern);
}

fn summary() -> ChannelSummary {
    let directory = fixture::directory();
    let channel = directory.channel(fixture::VERONA).unwrap().clone();
    ChannelSummary { channel, first_message: Some(MessageId(1)), subscriber_count: 2, weekly_traffic: None }
}

#[test]
fn stream_create_delete_update() {
    let (created, _) = both(EventBody::ChannelsCreated(vec![summary()]));
    assert_eq!((&created["type"], &created["op"]), (&json!("stream"), &json!("create")));
    assert_eq!(created["streams"][0]["name"], "Verona");
    let (lost, _) = both(EventBody::ChannelsLost(vec![ChannelId(3)]));
    assert_eq!(
        lost,
        json!({"type": "stream", "op": "delete", "stream_ids": [3], "streams": [{"stream_id": 3}], "id": 7})
    );
    let (active, _) = both(EventBody::ChannelChanged {
        channel: summary().channel.id,
        name: summary().channel.name.clone(),
        change: ChannelChange::Activity(summary().channel.is_recently_active),
    });
    assert_eq!(
        active,
        json!({"type": "stream", "op": "update", "stream_id": 3, "name": "Verona",
               "property": "is_recently_active", "value": true, "id": 7})
    );
    let (defaults, _) = both(EventBody::DefaultChannels(vec![ChannelId(3)]));
    assert_eq!(defaults, json!({"type": "default_streams", "default_streams": [3], "id": 7}));
}

#[test]
fn subscription_add_remove_peers() {
    let own = SubscribedChannel {
        summary: summary(),
        subscription: Arc::new(Subscription::start("#76ce90".into(), MessageId(0))),
        subscribers: [fixture::IAGO, fixture::CORDELIA].into(),
    };
    let (old, new) = both(EventBody::SubscriptionsAdded(vec![own]));
    for event in [&old, &new] {
        assert_eq!((&event["type"], &event["op"]), (&json!("subscription"), &json!("add")));
        assert_eq!(event["subscriptions"][0]["subscribers"], json!([1, 2]));
    }
    assert_eq!(old["subscriptions"][0]["wildcard_mentions_notify"], json!(true));
    assert_eq!(new["subscriptions"][0]["wildcard_mentions_notify"], Value::Null);
    let (removed, _) = both(EventBody::SubscriptionsRemoved(vec![(ChannelId(3), "Verona".into())]));
    assert_eq!(
        removed,
        json!({"type": "subscription", "op": "remove", "subscriptions": [{"stream_id": 3, "name": "Verona"}], "id": 7})
    );
    let users: Arc<[UserId]> = [UserId(8)].into();
    let (added, _) = both(EventBody::PeersAdded { channel: ChannelId(3), users: users.clone() });
    assert_eq!(
        added,
        json!({"type": "subscription", "op": "peer_add", "stream_ids": [3], "user_ids": [8], "id": 7})
    );
    let (removed, _) = both(EventBody::PeersRemoved { channel: ChannelId(3), users });
    assert_eq!(removed["op"], "peer_remove");
}

#[test]
fn realm_user_and_user_group() {
    let directory = fixture::directory();
    let (added, _) = both(EventBody::UserAdded(directory.user(fixture::IAGO).unwrap().clone()));
    assert_eq!((&added["type"], &added["op"]), (&json!("realm_user"), &json!("add")));
    assert_eq!((&added["person"]["user_id"], &added["person"]["is_active"]), (&json!(1), &json!(true)));
    let group = directory.group_by_name("role:everyone").unwrap().clone();
    let (added, _) = both(EventBody::GroupAdded(group));
    assert_eq!((&added["type"], &added["op"]), (&json!("user_group"), &json!("add")));
    assert_eq!(added["group"]["name"], "role:everyone");
    let members = EventBody::GroupMembersAdded { group: GroupId(4), users: vec![UserId(8)] };
    assert_eq!(
        both(members).0,
        json!({"type": "user_group", "op": "add_members", "group_id": 4, "user_ids": [8], "id": 7})
    );
    let members = EventBody::GroupMembersRemoved { group: GroupId(4), users: vec![UserId(8)] };
    assert_eq!(both(members).0["op"], "remove_members");
}
