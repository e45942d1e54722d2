//! Events about changes, for clients with and without all capabilities.

use super::*;
use model::event::{
    ChangedSetting, ChannelChange, GroupChange, MessageChange, MovedMessages, SettingForm, SubscriptionChange,
};
use model::{GroupSetting, PropagateMode, SettingValue, TopicLink};

#[test]
fn delete_message_in_bulk_or_one_by_one() {
    let body = EventBody::MessagesDeleted {
        place: Some((ChannelId(7), String::new())),
        messages: [3, 5, 8].map(MessageId).to_vec(),
    };
    let events = [delivered(12, body), delivered(13, EventBody::Heartbeat)];
    let new = write_for(fixture::CORDELIA, &options(everything()), &events);
    let expected = json!([
        {"type": "delete_message", "message_type": "stream", "stream_id": 7, "topic": "", "message_ids": [3, 5, 8],
         "id": 12},
        {"type": "heartbeat", "id": 13},
    ]);
    assert_eq!(new, expected);
    let old = write_for(fixture::CORDELIA, &options(ClientCapabilities::default()), &events);
    let one = |message: u32, id: u64| {
        json!({"type": "delete_message", "message_type": "stream", "stream_id": 7, "topic": "general chat",
               "message_id": message, "id": id})
    };
    let expected = json!([one(3, 10), one(5, 11), one(8, 12), {"type": "heartbeat", "id": 13}]);
    assert_eq!(old, expected);
    let direct = EventBody::MessagesDeleted { place: None, messages: vec![MessageId(3)] };
    let (old, new) = both(direct);
    assert_eq!(old, json!({"type": "delete_message", "message_type": "private", "message_id": 3, "id": 7}));
    assert_eq!(
        new,
        json!({"type": "delete_message", "message_type": "private", "message_ids": [3], "id": 7})
    );
}

#[test]
fn update_message_names_only_changed_fields() {
    let link = TopicLink { text: "#1".into(), url: "https://bugs.example/1".into() };
    let change = |new_channel, new_topic| MessageChange {
        by: fixture::IAGO,
        at: Timestamp(9_000),
        target: MessageId(3),
        messages: [3, 4].map(MessageId).to_vec(),
        channel: Some(ChannelId(7)),
        channel_name: Some("Verona".into()),
        movement: Some(MovedMessages {
            mode: PropagateMode::Later,
            topic: String::new(),
            new_channel,
            new_topic,
        }),
        content: None,
    };
    let renamed = change(None, Some(("ink".to_owned(), vec![link])));
    let mut event = delivered(7, EventBody::MessageChanged(Box::new(renamed)));
    event.flags = Flags::only(Flag::Read);
    let old = write_for(fixture::CORDELIA, &options(ClientCapabilities::default()), &[event]);
    let expected = json!({
        "type": "update_message", "user_id": 1, "rendering_only": false, "message_id": 3, "message_ids": [3, 4],
        "edit_timestamp": 9, "stream_id": 7, "stream_name": "Verona", "propagate_mode": "change_later",
        "orig_subject": "general chat", "subject": "ink",
        "topic_links": [{"text": "#1", "url": "https://bugs.example/1"}], "flags": ["read"], "id": 7,
    });
    assert_eq!(old[0], expected);
    let (_, moved) = both(EventBody::MessageChanged(Box::new(change(Some(ChannelId(8)), None))));
    assert_eq!((&moved["new_stream_id"], &moved["orig_subject"]), (&json!(8), &json!("")));
    assert_eq!((moved.get("subject"), moved.get("content")), (None, None));
}

#[test]
fn updates_include_related_properties() {
    let changed =
        |change| both(EventBody::ChannelChanged { channel: ChannelId(7), name: "Verona".into(), change }).0;
    let privacy = changed(ChannelChange::Privacy {
        invite_only: true,
        is_web_public: false,
        history_public_to_subscribers: true,
    });
    let expected = json!({
        "type": "stream", "op": "update", "stream_id": 7, "name": "Verona", "property": "invite_only", "value": true,
        "is_web_public": false, "history_public_to_subscribers": true, "id": 7,
    });
    assert_eq!(privacy, expected);
    let empty = GroupSetting::Anonymous { members: Vec::new(), subgroups: Vec::new() };
    let permission = changed(ChannelChange::Permission("can_subscribe_group", empty));
    assert_eq!(permission["value"], json!({"direct_members": [], "direct_subgroups": []}));
    assert_eq!(changed(ChannelChange::Folder(None))["value"], Value::Null);
    let change = SubscriptionChange::Notification {
        name: "wildcard_mentions_notify",
        inherits: "wildcard_mentions_notify",
        value: None,
    };
    let (old, new) = both(EventBody::SubscriptionChanged { channel: ChannelId(7), change });
    assert_eq!((&old["value"], &new["value"]), (&json!(true), &Value::Null));
    let change =
        GroupChange { name: Some("a".into()), is_deactivated: Some(false), ..GroupChange::default() };
    let (_, group) = both(EventBody::GroupChanged { group: GroupId(9), change: Box::new(change) });
    assert_eq!(group["data"], json!({"name": "a", "deactivated": false}));
}

#[test]
fn settings_in_modern_and_legacy_form() {
    let written = |form| {
        let value = SettingValue::Text("de".into());
        both(EventBody::SettingChanged(ChangedSetting { name: "default_language", value, form })).0
    };
    let expected = json!({
        "type": "user_settings", "op": "update", "property": "default_language", "value": "de",
        "language_name": "Deutsch", "id": 7,
    });
    assert_eq!(written(SettingForm::Modern), expected);
    let old = written(SettingForm::Display);
    assert_eq!(
        (&old["type"], &old["setting_name"]),
        (&json!("update_display_settings"), &json!("default_language"))
    );
    assert_eq!((&old["setting"], &old["language_name"]), (&json!("de"), &json!("Deutsch")));
    assert_eq!(written(SettingForm::Notifications)["notification_name"], "default_language");
}
