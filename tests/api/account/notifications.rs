//! Push notifications of messages.

use crate::support::http_stub::{HttpStub, StubReply, StubRequest};
use crate::support::phone::{Phone, service_url};
use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

async fn start() -> (TestServer, HttpStub) {
    let service = HttpStub::start().await;
    let t = TestServer::builder().set("push.service_url", service_url(&service)).start().await;
    (t, service)
}

/// The next request to the push service, which must be a notification.
async fn notification(service: &mut HttpStub) -> StubRequest {
    let asked = service.next_request().await;
    assert_eq!(asked.path, "/api/v1/remotes/push/e2ee/notify", "{asked:?}");
    asked
}

/// Asserts that the next notification is of message `id`: nothing was sent before it.
async fn next_is(service: &mut HttpStub, phone: &Phone, id: u64) -> Value {
    let said = phone.decrypt(&notification(service).await);
    assert_eq!((&said["type"], &said["message_id"]), (&json!("message"), &json!(id)), "{said}");
    said
}

/// A user who is notified of every direct message: once notified, all earlier messages were processed.
struct Marker {
    person: TestUser,
    phone: Phone,
}

impl Marker {
    async fn register(person: &TestUser, service: &mut HttpStub) -> Self {
        let phone = Phone::new(99, "fcm");
        phone.register(person, service).await;
        Self { person: person.clone(), phone }
    }

    async fn reach(&self, sender: &TestUser, service: &mut HttpStub) {
        let id = sender.send_direct(&[&self.person], "marker").await;
        next_is(service, &self.phone, id).await;
    }
}

async fn set(person: &TestUser, name: &str, value: &str) {
    person.patch("/settings", &[(name, &value)]).ok().await;
}

#[tokio::test]
async fn push_notification_payload_of_direct_message() {
    let (t, mut service) = start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    let id = iago.send_direct(&[&hamlet], "Are **you** there? :smile:").await;
    let said = next_is(&mut service, &phone, id).await;
    let keys: Vec<&String> = said.as_object().unwrap().keys().collect();
    let known = [
        "content",
        "message_id",
        "realm_name",
        "realm_url",
        "recipient_type",
        "sender_avatar_url",
        "sender_full_name",
        "sender_id",
        "time",
        "type",
        "user_id",
    ];
    assert_eq!(keys, known);
    assert_eq!(said["content"], "Are you there? \u{1f604}");
    assert_eq!((&said["sender_id"], &said["sender_full_name"]), (&json!(iago.id), &json!("Iago")));
    assert_eq!((&said["recipient_type"], &said["user_id"]), (&json!("direct"), &json!(hamlet.id)));
    assert!(said["sender_avatar_url"].as_str().unwrap().starts_with("http"), "{said}");
    // A group direct message lists its participants.
    let id = iago.send_direct(&[&hamlet, &othello], "both").await;
    let said = next_is(&mut service, &phone, id).await;
    let mut people = [iago.id, hamlet.id, othello.id];
    people.sort_unstable();
    assert_eq!(said["pm_users"], people.map(|id| id.to_string()).join(","));
    // No notification of one's own messages, nor of messages to oneself.
    hamlet.send_direct(&[&iago], "yes").await;
    hamlet.send_direct(&[&hamlet], "note").await;
    let id = othello.send_direct(&[&hamlet], "next").await;
    next_is(&mut service, &phone, id).await;
}

#[tokio::test]
async fn push_notification_triggers_in_channels() {
    let (t, mut service) = start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let channel = iago.create_channel("Verona").await;
    hamlet.subscribe(&channel).await;
    let phone = Phone::new(1, "apns");
    phone.register(&hamlet, &mut service).await;
    let marker = Marker::register(&othello, &mut service).await;
    iago.send(&channel, "t", "nothing for anybody").await;
    iago.send(&channel, "t", "@_**King Hamlet** quietly").await;
    let id = iago.send(&channel, "t", "hey @**King Hamlet**").await;
    let said = next_is(&mut service, &phone, id).await;
    assert_eq!((&said["recipient_type"], &said["channel_name"]), (&json!("channel"), &json!("Verona")));
    assert_eq!((&said["channel_id"], &said["topic"]), (&json!(channel.id), &json!("t")));
    assert_eq!(said["content"], "hey @King Hamlet");
    assert!(said.get("mentioned_user_group_id").is_none(), "{said}");
    // A mention makes the user follow the topic.
    let id = iago.send(&channel, "t", "so?").await;
    next_is(&mut service, &phone, id).await;
    set(&hamlet, "enable_followed_topic_push_notifications", "false").await;
    iago.send(&channel, "t", "followed in vain").await;
    let id = iago.send(&channel, "t2", "@**all**").await;
    next_is(&mut service, &phone, id).await;
    set(&hamlet, "wildcard_mentions_notify", "false").await;
    iago.send(&channel, "t3", "@**all**").await;
    marker.reach(&iago, &mut service).await;
    set(&hamlet, "enable_stream_push_notifications", "true").await;
    let id = iago.send(&channel, "t4", "everything").await;
    next_is(&mut service, &phone, id).await;
    let members = json!([hamlet.id]).to_string();
    let group: Params<'_> = &[("name", &"princes"), ("description", &""), ("members", &members)];
    let group = iago.post("/user_groups/create", group).ok().await["group_id"].clone();
    let id = iago.send(&channel, "t5", "@*princes*").await;
    let said = next_is(&mut service, &phone, id).await;
    assert_eq!(
        (&said["mentioned_user_group_id"], &said["mentioned_user_group_name"]),
        (&group, &json!("princes"))
    );
}

#[tokio::test]
async fn push_notification_respects_settings_presence_and_muting() {
    let (t, mut service) = start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    let marker = Marker::register(&othello, &mut service).await;
    set(&hamlet, "enable_offline_push_notifications", "false").await;
    iago.send_direct(&[&hamlet], "unheard").await;
    marker.reach(&iago, &mut service).await;
    set(&hamlet, "enable_offline_push_notifications", "true").await;
    hamlet.post("/users/me/presence", &[("status", &"active")]).ok().await;
    let id = iago.send_direct(&[&hamlet], "heard while here").await;
    next_is(&mut service, &phone, id).await;
    set(&hamlet, "enable_online_push_notifications", "false").await;
    iago.send_direct(&[&hamlet], "unheard while here").await;
    marker.reach(&iago, &mut service).await;
    set(&hamlet, "enable_online_push_notifications", "true").await;
    hamlet.post(&format!("/users/me/muted_users/{}", iago.id), &[]).ok().await;
    // Muting a user removes the notifications of their messages.
    let said = phone.decrypt(&notification(&mut service).await);
    assert_eq!((&said["type"], &said["message_ids"]), (&json!("remove"), &json!([id])));
    iago.send_direct(&[&hamlet], "muted").await;
    let id = othello.send_direct(&[&hamlet], "not muted").await;
    next_is(&mut service, &phone, id).await;
}

#[tokio::test]
async fn push_notification_removed_when_read() {
    let (t, mut service) = start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    let first = iago.send_direct(&[&hamlet], "one").await;
    next_is(&mut service, &phone, first).await;
    let second = iago.send_direct(&[&hamlet], "two").await;
    next_is(&mut service, &phone, second).await;
    t.wait_for_empty_push_outbox().await;
    hamlet.flag("add", "read", &[first, second]).await;
    let asked = notification(&mut service).await;
    assert_eq!(asked.json()["push_requests"][0]["fcm_priority"], "normal");
    let said = phone.decrypt(&asked);
    let keys: Vec<&String> = said.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["message_ids", "realm_name", "realm_url", "type", "user_id"]);
    assert_eq!((&said["type"], &said["message_ids"]), (&json!("remove"), &json!([first, second])));
    // Deleting a message removes its notification, too.
    let third = iago.send_direct(&[&hamlet], "three").await;
    next_is(&mut service, &phone, third).await;
    t.wait_for_empty_push_outbox().await;
    iago.delete(&format!("/messages/{third}"), &[]).ok().await;
    let said = phone.decrypt(&notification(&mut service).await);
    assert_eq!((&said["type"], &said["message_ids"]), (&json!("remove"), &json!([third])));
}

#[tokio::test]
async fn push_notification_skipped_when_read_before_delivery() {
    let (t, mut service) = start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    service.reply_next(StubReply::Status(503, ""));
    let read = iago.send_direct(&[&hamlet], "read in time").await;
    next_is(&mut service, &phone, read).await;
    hamlet.flag("add", "read", &[read]).await;
    // Neither shown nor removed.
    t.wait_for_empty_push_outbox().await;
    assert!(service.take_received().is_empty());
    let id = iago.send_direct(&[&hamlet], "next").await;
    next_is(&mut service, &phone, id).await;
}

#[tokio::test]
async fn push_service_failure_is_retried_without_blocking_others() {
    let (t, mut service) = start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    for _ in 0..2 {
        service.reply_next(StubReply::Status(500, ""));
    }
    let id = iago.send_direct(&[&hamlet], "insistent").await;
    for _ in 0..3 {
        next_is(&mut service, &phone, id).await;
    }
    // The push service reports that the app was uninstalled; the device gets no more notifications.
    service.reply_next(StubReply::json(&json!({ "delete_device_ids": [phone.service_id] })));
    let id = iago.send_direct(&[&hamlet], "last").await;
    next_is(&mut service, &phone, id).await;
    t.wait_for_empty_push_outbox().await;
    iago.send_direct(&[&hamlet], "to a removed device").await;
    let state = hamlet.register().await.state.clone();
    assert_eq!(state["push_devices"]["1"]["status"], "failed");
}

#[tokio::test]
async fn push_notification_for_mention_added_by_edit() {
    let (t, mut service) = start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    hamlet.subscribe(&channel).await;
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    let id = iago.send(&channel, "t", "hey you").await;
    iago.edit(id, &[("content", &"hey @**King Hamlet**")]).ok().await;
    next_is(&mut service, &phone, id).await;
    iago.edit(id, &[("content", &"hey there, @**King Hamlet**")]).ok().await;
    let id = iago.send_direct(&[&hamlet], "next").await;
    next_is(&mut service, &phone, id).await;
}

#[tokio::test]
async fn push_notification_to_legacy_tokens() {
    let (t, mut service) = start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    hamlet.subscribe(&channel).await;
    hamlet.post("/users/me/android_gcm_reg_id", &[("token", &"android-token")]).ok().await;
    assert_eq!(service.next_request().await.path, "/api/v1/remotes/push/register");
    let id = iago.send(&channel, "t", "hey @**King Hamlet**").await;
    let asked = service.next_request().await;
    assert_eq!(asked.path, "/api/v1/remotes/push/notify");
    let said = asked.json();
    assert_eq!((&said["android_devices"], &said["apple_devices"]), (&json!(["android-token"]), &json!([])));
    let google = &said["gcm_payload"];
    assert_eq!((&google["event"], &google["zulip_message_id"]), (&json!("message"), &json!(id)));
    assert_eq!((&google["content"], &google["stream"]), (&json!("hey @King Hamlet"), &json!("Verona")));
    desdemona.patch("/realm", &[("require_e2ee_push_notifications", &"true")]).ok().await;
    iago.send_direct(&[&hamlet], "a secret").await;
    let asked = service.next_request().await;
    assert!(!asked.body.contains("a secret"), "{}", asked.body);
    assert_eq!(asked.json()["gcm_payload"]["content"], "New message");
}
