use super::*;
use crate::api::wire::fixture;
use model::message::{Reaction, Submessage, TopicLink};
use model::{ChannelId, MessageId, Realm, SettingValue, Timestamp};
use serde_json::{Value, json};

const WEB: MessageForm =
    MessageForm { apply_markdown: true, client_gravatar: false, allow_empty_topic: true };

fn write(directory: &Directory, reader: Option<UserId>, form: MessageForm, message: &Message) -> Value {
    let reader = reader.and_then(|id| directory.user(id)).cloned();
    let mut writer = MessageWriter::new(directory, reader.as_deref(), form);
    let mut once = Vec::new();
    writer.push(&mut once, message, Some(Flags::only(Flag::Read)));
    // The cached parts must be written identically.
    let mut twice = Vec::new();
    writer.push(&mut twice, message, Some(Flags::only(Flag::Read)));
    assert_eq!(once, twice);
    serde_json::from_slice(&once).unwrap()
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The documented fields of a channel message without edits.
const KEYS: [&str; 20] = [
    "avatar_url",
    "client",
    "content",
    "content_type",
    "display_recipient",
    "flags",
    "id",
    "is_me_message",
    "reactions",
    "recipient_id",
    "sender_email",
    "sender_full_name",
    "sender_id",
    "sender_realm_str",
    "stream_id",
    "subject",
    "submessages",
    "timestamp",
    "topic_links",
    "type",
];

#[test]
fn channel_message_has_exactly_the_documented_fields() {
    let directory = fixture::directory();
    let message = fixture::in_topic(7, "red \"pens\"");
    let written = write(&directory, Some(fixture::CORDELIA), WEB, &message);
    assert_eq!(keys(&written), KEYS);
    let expected = json!({
        "id": 7, "sender_id": 1, "sender_full_name": "Iago", "sender_email": "iago@zulip.com",
        "sender_realm_str": "zulip",
        "avatar_url": "/user_avatars/1/default/1.png",
        "recipient_id": 40, "type": "stream", "stream_id": 3, "display_recipient": "Verona",
        "subject": "red \"pens\"", "topic_links": [], "timestamp": 1_795_239_548, "client": "test",
        "content": "<p>hi</p>", "content_type": "text/html", "is_me_message": false,
        "reactions": [], "submessages": [], "flags": ["read"],
    });
    assert_eq!(written, expected);
}

#[test]
fn direct_message_lists_participants() {
    let directory = fixture::directory();
    let written = write(&directory, Some(fixture::CORDELIA), WEB, &fixture::direct(8));
    let without_channel: Vec<&str> = KEYS.into_iter().filter(|key| *key != "stream_id").collect();
    assert_eq!(keys(&written), without_channel);
    assert_eq!((&written["type"], &written["subject"]), (&json!("private"), &json!("")));
    let people = json!([
        {"id": 1, "email": "iago@zulip.com", "full_name": "Iago", "is_mirror_dummy": false},
        {"id": 2, "email": "user2@zulip.test", "full_name": "Cordelia", "is_mirror_dummy": false},
    ]);
    assert_eq!(written["display_recipient"], people);
}

#[test]
fn message_in_each_form() {
    let mut directory = fixture::directory();
    let mut message = fixture::in_topic(7, "");
    let form = MessageForm { apply_markdown: false, client_gravatar: true, allow_empty_topic: false };
    let written = write(&directory, Some(fixture::CORDELIA), form, &message);
    assert_eq!(written["content"], "*hi*");
    assert_eq!(written["content_type"], "text/x-markdown");
    assert_eq!(written["avatar_url"], "/user_avatars/1/default/1.png");
    assert_eq!(written["subject"], "general chat");
    assert_eq!(write(&directory, None, WEB, &message)["subject"], "");
    // Clients compute pictures where the organization says so, but not from a hidden address.
    let mut realm = Realm::clone(directory.realm());
    realm.settings.insert("default_avatar_source".into(), SettingValue::Text("G".into()));
    directory.put_realm(realm);
    assert_eq!(write(&directory, Some(fixture::CORDELIA), form, &message)["avatar_url"], Value::Null);
    message.sender = fixture::CORDELIA;
    let written = write(&directory, None, form, &message);
    assert_eq!(written["avatar_url"], "/user_avatars/1/default/2.png");
    assert_eq!(written["sender_email"], "user2@zulip.test");
}

#[test]
fn topic_links_reactions_and_submessages() {
    let directory = fixture::directory();
    let mut message = fixture::in_topic(7, "see example.com");
    let link = TopicLink { text: "example.com".into(), url: "https://example.com".into() };
    message.topic_links = vec![link.clone(), link];
    message.reactions = vec![Reaction {
        emoji_name: "tada".into(),
        emoji_code: "1f389".into(),
        reaction_type: "unicode_emoji".into(),
        user: fixture::CORDELIA,
    }];
    message.submessages =
        vec![Submessage { id: 5, msg_type: "widget".into(), content: "{}".into(), sender: fixture::IAGO }];
    let written = write(&directory, None, WEB, &message);
    assert_eq!(keys(&written), KEYS);
    assert_eq!(written["topic_links"].as_array().unwrap().len(), 2);
    assert_eq!(written["topic_links"][1], json!({"text": "example.com", "url": "https://example.com"}));
    assert_eq!(
        written["reactions"],
        json!([{"emoji_name": "tada", "emoji_code": "1f389", "reaction_type": "unicode_emoji", "user_id": 2}])
    );
    assert_eq!(
        written["submessages"],
        json!([{"id": 5, "message_id": 7, "sender_id": 1, "msg_type": "widget", "content": "{}"}])
    );
}

#[test]
fn edit_history_follows_visibility_policy() {
    let mut message = fixture::in_topic(7, "new");
    let entry = EditEntry {
        user: fixture::IAGO,
        at: Timestamp(9000),
        prev_content: None,
        prev_rendered: None,
        channel: None,
        topic: None,
    };
    let edited = EditEntry {
        prev_content: Some("ho".into()),
        prev_rendered: Some("<p>ho</p>".into()),
        ..entry.clone()
    };
    let moved = EditEntry {
        channel: Some((ChannelId(2), ChannelId(3))),
        topic: Some((String::new(), "new".into())),
        ..entry
    };
    message.edits = vec![edited, moved];
    message.version = 1;
    message.last_edited = Some(Timestamp(9000));
    message.last_moved = Some(Timestamp(8000));
    let shown_edit =
        json!({"user_id": 1, "timestamp": 9, "prev_content": "ho", "prev_rendered_content": "<p>ho</p>"});
    let shown_move = json!({"user_id": 1, "timestamp": 9, "prev_stream": 2, "stream": 3, "prev_topic": "", "topic": "new"});
    for (policy, expected) in
        [("all", json!([shown_edit, shown_move])), ("moves", json!([shown_move])), ("none", Value::Null)]
    {
        let mut directory = fixture::directory();
        let mut realm = model::Realm::clone(directory.realm());
        let value = SettingValue::Text(policy.into());
        realm.settings.insert("message_edit_history_visibility_policy".into(), value);
        directory.put_realm(realm);
        let written = write(&directory, None, WEB, &message);
        assert_eq!(written["edit_history"], expected, "{policy}");
        assert_eq!(written.get("edit_history").is_some(), policy != "none");
        assert_eq!(
            (&written["last_edit_timestamp"], &written["last_moved_timestamp"]),
            (&json!(9), &json!(8))
        );
    }
}

#[test]
fn wildcard_mentions_have_older_flag_name() {
    let words = |flags: Flags| {
        let mut out = b"{\"a\":1".to_vec();
        push_flags(&mut out, flags);
        out.push(b'}');
        serde_json::from_slice::<Value>(&out).unwrap()["flags"].to_string()
    };
    assert_eq!(words(Flags::NONE), "[]");
    assert_eq!(words(Flags::only(Flag::Read).with(Flag::HasAlertWord)), r#"["read","has_alert_word"]"#);
    let channel = Flags::only(Flag::ChannelWildcardMentioned);
    assert_eq!(words(channel), r#"["stream_wildcard_mentioned","wildcard_mentioned"]"#);
    assert_eq!(
        words(channel.with(Flag::TopicWildcardMentioned)),
        r#"["stream_wildcard_mentioned","topic_wildcard_mentioned","wildcard_mentioned"]"#
    );
    assert_eq!(
        words(Flags::only(Flag::TopicWildcardMentioned)),
        r#"["topic_wildcard_mentioned","wildcard_mentioned"]"#
    );
}

#[test]
fn hidden_sender_is_unknown_user() {
    let mut directory = fixture::directory();
    fixture::restrict_guests(&mut directory);
    let mut message = fixture::in_topic(7, "t");
    message.id = MessageId(9);
    let written = write(&directory, Some(fixture::GUEST), WEB, &message);
    assert_eq!(written["sender_full_name"], "Unknown user");
    assert_eq!(written["sender_email"], "user1@zulip.test");
    assert_eq!(written["avatar_url"], "/user_avatars/1/default/unknown.png");
    assert_eq!(write(&directory, Some(fixture::CORDELIA), WEB, &message)["sender_full_name"], "Iago");
}

#[test]
fn cached_body_is_that_of_the_message_as_it_is() {
    let directory = fixture::directory();
    let mut writer = MessageWriter::new(&directory, None, WEB);
    let mut written = |message: &Arc<Message>| {
        let (mut recent, mut plain) = (Vec::new(), Vec::new());
        writer.push_recent(&mut recent, message, Some(Flags::NONE));
        writer.push(&mut plain, message, Some(Flags::NONE));
        assert_eq!(recent, plain);
        String::from_utf8(recent).unwrap()
    };
    let mut kept = Arc::new(fixture::in_topic(7, "pens"));
    let reader = kept.clone();
    let first = written(&reader);
    assert_eq!(written(&reader), first);
    // A change is seen whether or not a reader holds the message.
    Arc::make_mut(&mut kept).rendered = "<p>held</p>".into();
    assert!(written(&kept.clone()).contains("held"));
    drop(reader);
    Arc::make_mut(&mut kept).rendered = "<p>alone</p>".into();
    assert!(written(&kept.clone()).contains("alone"));
    // Another message at the same place of the cache, and one that is longer than a cached body.
    assert!(written(&Arc::new(fixture::in_topic(7 + 1024, "ink")).clone()).contains("ink"));
    let mut long = fixture::in_topic(8, "pens");
    long.rendered = "a".repeat(5000);
    let long = Arc::new(long);
    assert_eq!(written(&long.clone()), written(&long));
}
