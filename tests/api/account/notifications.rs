//! What phones hear of messages.

use crate::support::phone::{Phone, service_url};
use crate::support::service::{Asked, Reaction, Service};
use crate::support::{Params, Person, TestServer};
use serde_json::{Value, json};

async fn start() -> (TestServer, Service) {
    let service = Service::start().await;
    let t = TestServer::plan().set("push.service_url", service_url(&service)).start().await;
    (t, service)
}

/// What the service is asked next, which is a notification.
async fn notification(service: &mut Service) -> Asked {
    let asked = service.asked().await;
    assert_eq!(asked.path, "/api/v1/remotes/push/e2ee/notify", "{asked:?}");
    asked
}

/// Nothing was asked before something that certainly asks.
async fn next_is(service: &mut Service, phone: &Phone, id: u64) -> Value {
    let said = phone.reads(&notification(service).await);
    assert_eq!((&said["type"], &said["message_id"]), (&json!("message"), &json!(id)), "{said}");
    said
}

/// Somebody who hears of everything that is written to them: what was sent before was looked at, too.
struct Marker {
    person: Person,
    phone: Phone,
}

impl Marker {
    async fn register(person: &Person, service: &mut Service) -> Self {
        let phone = Phone::new(99, "fcm");
        phone.register(person, service).await;
        Self { person: person.clone(), phone }
    }

    async fn reach(&self, sender: &Person, service: &mut Service) {
        let id = sender.send_direct(&[&self.person], "marker").await;
        next_is(service, &self.phone, id).await;
    }
}

async fn set(person: &Person, name: &str, value: &str) {
    person.patch("/settings", &[(name, &value)]).ok().await;
}

#[tokio::test]
async fn direct_messages_say_all_that_a_phone_shows() {
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
    assert_eq!(said["content"], "Are you there? :smile:");
    assert_eq!((&said["sender_id"], &said["sender_full_name"]), (&json!(iago.id), &json!("Iago")));
    assert_eq!((&said["recipient_type"], &said["user_id"]), (&json!("direct"), &json!(hamlet.id)));
    assert!(said["sender_avatar_url"].as_str().unwrap().starts_with("http"), "{said}");
    // Of a group, who is in it.
    let id = iago.send_direct(&[&hamlet, &othello], "both").await;
    let said = next_is(&mut service, &phone, id).await;
    let mut people = [iago.id, hamlet.id, othello.id];
    people.sort_unstable();
    assert_eq!(said["pm_users"], people.map(|id| id.to_string()).join(","));
    // One's own words are no news, nor is what one writes to oneself.
    hamlet.send_direct(&[&iago], "yes").await;
    hamlet.send_direct(&[&hamlet], "note").await;
    let id = othello.send_direct(&[&hamlet], "next").await;
    next_is(&mut service, &phone, id).await;
}

#[tokio::test]
async fn channels_notify_of_what_is_meant_for_somebody() {
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
    // Being mentioned makes one follow.
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
async fn settings_presence_and_muting_are_respected() {
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
    // What their phone showed of the one who is muted goes with it.
    let said = phone.reads(&notification(&mut service).await);
    assert_eq!((&said["type"], &said["message_ids"]), (&json!("remove"), &json!([id])));
    iago.send_direct(&[&hamlet], "muted").await;
    let id = othello.send_direct(&[&hamlet], "not muted").await;
    next_is(&mut service, &phone, id).await;
}

#[tokio::test]
async fn what_is_read_leaves_the_phone() {
    let (t, mut service) = start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    let first = iago.send_direct(&[&hamlet], "one").await;
    next_is(&mut service, &phone, first).await;
    let second = iago.send_direct(&[&hamlet], "two").await;
    next_is(&mut service, &phone, second).await;
    t.outbox_is_empty().await;
    hamlet.flag("add", "read", &[first, second]).await;
    let asked = notification(&mut service).await;
    assert_eq!(asked.json()["push_requests"][0]["fcm_priority"], "normal");
    let said = phone.reads(&asked);
    let keys: Vec<&String> = said.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["message_ids", "realm_name", "realm_url", "type", "user_id"]);
    assert_eq!((&said["type"], &said["message_ids"]), (&json!("remove"), &json!([first, second])));
    // What is deleted, too.
    let third = iago.send_direct(&[&hamlet], "three").await;
    next_is(&mut service, &phone, third).await;
    t.outbox_is_empty().await;
    iago.delete(&format!("/messages/{third}"), &[]).ok().await;
    let said = phone.reads(&notification(&mut service).await);
    assert_eq!((&said["type"], &said["message_ids"]), (&json!("remove"), &json!([third])));
}

#[tokio::test]
async fn what_was_read_before_it_could_be_delivered_is_no_news() {
    let (t, mut service) = start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    service.then(Reaction::Refuse(503, ""));
    let read = iago.send_direct(&[&hamlet], "read in time").await;
    next_is(&mut service, &phone, read).await;
    hamlet.flag("add", "read", &[read]).await;
    // Neither shown nor taken away.
    t.outbox_is_empty().await;
    assert!(service.already().is_empty());
    let id = iago.send_direct(&[&hamlet], "next").await;
    next_is(&mut service, &phone, id).await;
}

#[tokio::test]
async fn a_service_that_fails_is_asked_again_and_holds_up_nobody() {
    let (t, mut service) = start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let phone = Phone::new(1, "fcm");
    phone.register(&hamlet, &mut service).await;
    for _ in 0..2 {
        service.then(Reaction::Refuse(500, ""));
    }
    let id = iago.send_direct(&[&hamlet], "insistent").await;
    for _ in 0..3 {
        next_is(&mut service, &phone, id).await;
    }
    // A phone on which the app is gone hears no more.
    service.then(Reaction::json(&json!({ "delete_device_ids": [phone.service_id] })));
    let id = iago.send_direct(&[&hamlet], "last").await;
    next_is(&mut service, &phone, id).await;
    t.outbox_is_empty().await;
    iago.send_direct(&[&hamlet], "to nobody").await;
    let state = hamlet.register().await.state.clone();
    assert_eq!(state["push_devices"]["1"]["status"], "failed");
}

#[tokio::test]
async fn an_edit_notifies_those_whom_it_mentions_first() {
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
async fn phones_of_the_older_way_hear_of_messages_too() {
    let (t, mut service) = start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let channel = iago.create_channel("Verona").await;
    hamlet.subscribe(&channel).await;
    hamlet.post("/users/me/android_gcm_reg_id", &[("token", &"android-token")]).ok().await;
    assert_eq!(service.asked().await.path, "/api/v1/remotes/push/register");
    let id = iago.send(&channel, "t", "hey @**King Hamlet**").await;
    let asked = service.asked().await;
    assert_eq!(asked.path, "/api/v1/remotes/push/notify");
    let said = asked.json();
    assert_eq!((&said["android_devices"], &said["apple_devices"]), (&json!(["android-token"]), &json!([])));
    let google = &said["gcm_payload"];
    assert_eq!((&google["event"], &google["zulip_message_id"]), (&json!("message"), &json!(id)));
    assert_eq!((&google["content"], &google["stream"]), (&json!("hey @King Hamlet"), &json!("Verona")));
    desdemona.patch("/realm", &[("require_e2ee_push_notifications", &"true")]).ok().await;
    iago.send_direct(&[&hamlet], "a secret").await;
    let asked = service.asked().await;
    assert!(!asked.body.contains("a secret"), "{}", asked.body);
    assert_eq!(asked.json()["gcm_payload"]["content"], "New message");
}
