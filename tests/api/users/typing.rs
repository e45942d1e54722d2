//! `POST /typing`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer, TestUser, people};
use model::Role;
use serde_json::{Value, json};

#[tokio::test]
async fn typing_to_users() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let mut queue = hamlet.register().modern().events(&["typing"]).await;
    let mut own = iago.register().modern().events(&["typing"]).await;
    let mut other = cordelia.register().modern().events(&["typing"]).await;
    let to = json!([hamlet.id]);
    for op in ["start", "stop"] {
        let body = iago.post("/typing", &[("op", &op), ("to", &to)]).ok().await;
        assert_eq!(fields(&body), [] as [&str; 0]);
        let event = queue.next().await;
        let user =
            |person: &crate::support::TestUser| json!({"user_id": person.id, "email": person.api_email});
        let mut recipients = vec![user(&iago), user(&hamlet)];
        recipients.sort_by_key(|user| user["user_id"].as_u64());
        let mut seen = event["recipients"].as_array().unwrap().clone();
        seen.sort_by_key(|user| user["user_id"].as_u64());
        assert_eq!(seen, recipients);
        let expected = json!({
            "id": event["id"], "type": "typing", "op": op, "message_type": "direct",
            "sender": user(&iago), "recipients": event["recipients"],
        });
        assert_eq!(event, expected);
    }
    assert_eq!(own.now().await.len(), 2);
    assert_eq!(other.now().await, [] as [Value; 0]);
}

#[tokio::test]
async fn typing_to_topic_for_capable_clients() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let mut modern = hamlet.register().modern().events(&["typing"]).await;
    let mut old = hamlet.register().events(&["typing"]).await;
    for kind in ["stream", "channel"] {
        let params: Params<'_> =
            &[("type", &kind), ("op", &"start"), ("stream_id", &channel.id), ("topic", &"t")];
        iago.post("/typing", params).ok().await;
        let event = modern.next().await;
        let expected = json!({
            "id": event["id"], "type": "typing", "op": "start", "message_type": "stream",
            "sender": {"user_id": iago.id, "email": iago.api_email}, "stream_id": channel.id, "topic": "t",
        });
        assert_eq!(event, expected);
    }
    assert_eq!(old.now().await, [] as [Value; 0]);
}

#[tokio::test]
async fn typing_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let secret = iago.create_channel("secret").private().await;
    let channel = hamlet.create_channel("Verona").await;
    let ask = |params: Params<'_>| hamlet.post("/typing", params);
    ask(&[("op", &"start")]).bad("Missing 'to' argument").await;
    ask(&[("op", &"start"), ("to", &"[]")]).bad("Empty 'to' list").await;
    ask(&[("op", &"start"), ("to", &"[99999]")]).bad("Invalid user ID 99999").await;
    ask(&[("op", &"begin"), ("to", &"[1]")]).bad("Invalid op").await;
    ask(&[("type", &"smoke"), ("op", &"start"), ("to", &"[1]")]).bad("Invalid type").await;
    ask(&[("type", &"stream"), ("op", &"start"), ("topic", &"t")]).bad("Missing 'stream_id' argument").await;
    let no_topic: Params<'_> = &[("type", &"stream"), ("op", &"start"), ("stream_id", &channel.id)];
    ask(no_topic).bad("Missing topic").await;
    let hidden: Params<'_> =
        &[("type", &"stream"), ("op", &"start"), ("stream_id", &secret.id), ("topic", &"t")];
    ask(hidden).bad("Invalid channel ID").await;
    let missing = json!({
        "msg": "Missing 'op' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "op"
    });
    ask(&[("to", &"[1]")]).refused(400, missing).await;
}

#[tokio::test]
async fn typing_hides_email_from_guests() {
    let t = TestServer::start().await;
    let [desdemona, othello, polonius] = t.users(["desdemona", "othello", "polonius"]);
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    desdemona.patch("/realm", &[("can_access_all_users_group", &json!({"new": members}))]).ok().await;
    let mut own = polonius.register().modern().events(&["typing"]).await;
    let type_to = || polonius.post("/typing", &[("op", &"start"), ("to", &json!([othello.id]))]);
    type_to().bad(&format!("Invalid user ID {}", othello.id)).await;
    assert_eq!(own.now().await, [] as [Value; 0]);
    // Nor in events to other subscribers of a channel.
    let channel = desdemona.create_channel("Verona").with(&polonius).await;
    let params: Params<'_> =
        &[("type", &"channel"), ("op", &"start"), ("stream_id", &channel.id), ("topic", &"t")];
    othello.post("/typing", params).ok().await;
    let sender = own.next().await["sender"].clone();
    assert_eq!(sender, json!({"user_id": othello.id, "email": format!("user{}@zulipdev.com", othello.id)}));
    othello.send_direct(&[&polonius], "We have met.").await;
    type_to().ok().await;
    assert_eq!(own.next().await["recipients"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn typing_needs_the_permission_to_send() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, cordelia] = t.users(["desdemona", "iago", "hamlet", "cordelia"]);
    let bot = t.user("default-bot");
    let mut queue = hamlet.register().modern().events(&["typing"]).await;
    let type_to = |who: &TestUser| iago.post("/typing", &[("op", &"start"), ("to", &json!([who.id]))]);
    iago.send_direct(&[&hamlet], "We talk.").await;
    let group = |name: &str| t.realm().directory().group_by_name(name).expect("a group").id.0;
    let initiators = json!({"new": group("role:owners")});
    desdemona.patch("/realm", &[("direct_message_initiator_group", &initiators)]).ok().await;
    type_to(&cordelia).bad("You do not have permission to initiate direct message conversations.").await;
    type_to(&hamlet).ok().await;
    assert_eq!(queue.next().await["type"], "typing");
    let no_users = json!({"new": group("role:nobody")});
    desdemona.patch("/realm", &[("direct_message_permission_group", &no_users)]).ok().await;
    type_to(&hamlet).bad("Direct messages are disabled in this organization.").await;
    assert_eq!(queue.now().await, [] as [Value; 0]);
    // As for messages, conversations with bots and with oneself are always permitted.
    type_to(&bot).ok().await;
    type_to(&iago).ok().await;
}

#[tokio::test]
async fn typing_names_as_many_people_as_a_message() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let mut ids = Vec::new();
    for number in 0..250 {
        let (name, full_name) = (format!("person{number}"), format!("Person {number}"));
        ids.push(people::add(t.realm(), &name, &full_name, Role::Member, None).await.0);
    }
    let too_many = "Too many participants of a direct message (maximum 250).";
    let all = json!(ids);
    iago.post("/typing", &[("op", &"start"), ("to", &all)]).bad(too_many).await;
    let message: Params<'_> = &[("type", &"direct"), ("to", &all), ("content", &"Hello")];
    iago.post("/messages", message).bad(too_many).await;
    let fewer = json!(ids[1..]);
    iago.post("/typing", &[("op", &"start"), ("to", &fewer)]).ok().await;
    let message: Params<'_> = &[("type", &"direct"), ("to", &fewer), ("content", &"Hello")];
    iago.post("/messages", message).ok().await;
}
