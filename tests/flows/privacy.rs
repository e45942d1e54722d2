//! Content, subscribers and events of a private channel reach no user without access: no response and no event contains
//! any of its words. Guests see only what they have access to.

use crate::support::{Channel, Params, Queue, TestServer, TestUser, as_params};
use reqwest::Method;
use serde_json::{Value, json};

/// Words that occur only in the private channel.
const SECRETS: [&str; 4] = ["xyzzychannel", "plughtopic", "frobozzcontent", "grueword"];

struct Stage {
    t: TestServer,
    channel: Channel,
    message: u64,
}

async fn stage() -> Stage {
    let t = TestServer::start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let create = hamlet.create_channel("xyzzychannel").private().with(&cordelia);
    let channel = create.set("description", json!("grueword")).await;
    let message =
        hamlet.send(&channel, "plughtopic", "frobozzcontent @**Iago** @**Polonius** @**all**").await;
    Stage { t, channel, message }
}

/// Asserts that a response contains no secret; `requested` has the words that the request itself contained.
fn assert_silent(what: &str, body: &Value, requested: &[&str]) {
    let text = body.to_string();
    for secret in SECRETS.iter().filter(|secret| !requested.contains(secret)) {
        assert!(!text.contains(secret), "{what} tells {secret}: {text}");
    }
}

/// Method, path and parameters.
type Request = (Method, String, Vec<(String, String)>);

/// All requests about a channel, a topic and a message.
fn requests(s: &Stage) -> Vec<Request> {
    let (id, message) = (s.channel.id, s.message);
    let name = SECRETS[0];
    let get = |path: String, params: Value| ask(Method::GET, path, params);
    let post = |path: &str, params: Value| ask(Method::POST, path.to_owned(), params);
    let window = |narrow: Value| json!({"anchor": "oldest", "num_before": 0, "num_after": 100, "narrow": narrow.to_string()});
    let mut all = vec![
        get("/streams".into(), json!({})),
        get("/streams".into(), json!({"include_all_active": true, "include_can_access_content": true})),
        get(format!("/streams/{id}"), json!({})),
        get(format!("/streams/{id}/members"), json!({})),
        get("/get_stream_id".into(), json!({"stream": name})),
        get(format!("/users/me/{id}/topics"), json!({})),
        get("/users/me/subscriptions".into(), json!({"include_subscribers": true})),
        get(format!("/messages/{message}"), json!({})),
        get("/messages".into(), json!({"message_ids": [message]})),
        get("/messages/matches_narrow".into(), json!({"msg_ids": [message], "narrow": "[]"})),
        post("/messages/flags", json!({"messages": [message], "op": "add", "flag": "starred"})),
        post("/messages/flags", json!({"messages": [message], "op": "remove", "flag": "read"})),
        post("/mark_stream_as_read", json!({"stream_id": id})),
        post("/mark_topic_as_read", json!({"stream_id": id, "topic_name": "x"})),
        post("/messages", json!({"type": "stream", "to": name, "topic": "t", "content": "x"})),
        post("/messages", json!({"type": "stream", "to": id, "topic": "t", "content": "x"})),
        post("/messages/render", json!({"content": format!("#**{name}** #**{name}>plughtopic**")})),
        post("/typing", json!({"type": "stream", "op": "start", "stream_id": id, "topic": "t"})),
        post("/users/me/subscriptions", json!({"subscriptions": json!([{"name": name}]).to_string()})),
        post("/register", json!({"include_subscribers": true, "all_public_streams": false})),
        ask(Method::DELETE, "/users/me/subscriptions".into(), json!({"subscriptions": [name]})),
    ];
    for narrow in [
        json!([["channel", name]]),
        json!([{"operator": "channel", "operand": id}]),
        json!([["channel", name], ["topic", "plughtopic"]]),
        json!([["topic", "plughtopic"]]),
        json!([["is", "mentioned"]]),
        json!([["channels", "public"]]),
        json!([["with", message.to_string()]]),
        json!([["id", message.to_string()]]),
        json!([["is", "starred"]]),
        json!([["sender", "hamlet@zulip.com"]]),
        json!([]),
    ] {
        all.push(get("/messages".into(), window(narrow.clone())));
        let mut flags = window(narrow);
        (flags["op"], flags["flag"]) = (json!("add"), json!("starred"));
        all.push(post("/messages/flags/narrow", flags));
    }
    all
}

fn ask(method: Method, path: String, params: Value) -> Request {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs = params.as_object().expect("parameters").iter();
    (method, path, pairs.map(|(name, value)| (name.clone(), text(value))).collect())
}

async fn make_all_requests(s: &Stage, who: &TestUser) {
    for (method, path, params) in requests(s) {
        let params = as_params(&params);
        let call = who.call(method.clone(), &path, &params);
        let what = call.what.clone();
        let requested: Vec<&str> = SECRETS.iter().copied().filter(|secret| what.contains(secret)).collect();
        assert_silent(&what, &call.await.body, &requested);
    }
}

#[tokio::test]
async fn private_channel_hidden_from_outsiders_and_guests() {
    let s = stage().await;
    for name in ["othello", "polonius", "shiva", "default-bot"] {
        make_all_requests(&s, &s.t.user(name)).await;
    }
    // The requests changed nothing.
    let cordelia = s.t.user("cordelia");
    let body = cordelia.get(&format!("/streams/{}/members", s.channel.id), &[]).ok().await;
    assert_eq!(body["subscribers"].as_array().unwrap().len(), 2);
    assert_eq!(cordelia.message_ids(json!([["channel", SECRETS[0]], ["topic", "t"]])).await, [] as [u64; 0]);
}

#[tokio::test]
async fn private_channel_metadata_only_for_administrators() {
    let s = stage().await;
    let iago = s.t.user("iago");
    for (method, path, params) in requests(&s) {
        let params = as_params(&params);
        let call = iago.call(method, &path, &params);
        let what = call.what.clone();
        // They may know its name and description, but no message.
        let mut requested = vec![SECRETS[0], SECRETS[3]];
        requested.extend(SECRETS.iter().filter(|secret| what.contains(**secret)));
        assert_silent(&what, &call.await.body, &requested);
    }
}

#[tokio::test]
async fn private_channel_events_stay_inside() {
    let t = TestServer::start().await;
    let [hamlet, cordelia, othello, polonius] = t.users(["hamlet", "cordelia", "othello", "polonius"]);
    let [iago, bot] = t.users(["iago", "default-bot"]);
    let public = hamlet.create_channel("Verona").with(&polonius).await;
    let mut outside: Vec<Queue> = Vec::new();
    for person in [&othello, &polonius, &bot, &iago] {
        outside.push(person.register().modern().await);
    }
    outside.push(othello.register().set("all_public_streams", json!(true)).await);
    let narrow = json!([["stream", "xyzzychannel"]]);
    outside.push(othello.register().set("narrow", narrow).await);
    let create = hamlet.create_channel("xyzzychannel").private().with(&cordelia);
    let channel = create.set("description", json!("grueword")).await;
    let id = hamlet.send(&channel, "plughtopic", "frobozzcontent @**Iago** @**Polonius** @**all**").await;
    cordelia.send(&channel, "plughtopic", "frobozzcontent").await;
    cordelia.flag("add", "starred", &[id]).await;
    let typing: Params<'_> =
        &[("type", &"stream"), ("op", &"start"), ("stream_id", &channel.id), ("topic", &"plughtopic")];
    cordelia.post("/typing", typing).ok().await;
    cordelia.unsubscribe(&channel).await;
    // A public message, which proves that the queues of outsiders do receive events.
    hamlet.send(&public, "t", "in the open").await;
    // Polonius is subscribed to it, and the fifth queue gets all public channels.
    for (position, queue) in outside.iter_mut().enumerate() {
        let name = queue.person.email.clone();
        let events = json!(queue.now().await);
        if name == iago.email {
            assert_silent(&name, &events, &[SECRETS[0], SECRETS[3]]);
            assert!(!events.to_string().contains("typing"), "{events}");
        } else {
            assert_silent(&name, &events, &[]);
            let types: Vec<&Value> = events.as_array().unwrap().iter().map(|event| &event["type"]).collect();
            let expected = if [1, 4].contains(&position) { vec!["message"] } else { Vec::new() };
            assert_eq!(types, expected, "{name}");
        }
        let state = name_free_state(&queue.person).await;
        let allowed: &[&str] = if name == iago.email { &[SECRETS[0], SECRETS[3]] } else { &[] };
        assert_silent(&name, &state, allowed);
    }
}

/// The state of a new registration.
async fn name_free_state(person: &TestUser) -> Value {
    person.register().modern().await.state
}

#[tokio::test]
async fn guest_visibility() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let inside = iago.create_channel("inside").with(&polonius).await;
    let outside = iago.create_channel("outside").await;
    let mut queue = polonius.register().modern().await;
    let hidden = hamlet.send(&outside, "t", "for members").await;
    let shown = iago.send(&inside, "t", "for all").await;
    let events = queue.now().await;
    let messages: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "message")
        .map(|event| &event["message"]["id"])
        .collect();
    assert_eq!(messages, [&json!(shown)]);
    let state = polonius.register().modern().await.state;
    let names = |key: &str| -> Vec<&str> {
        state[key].as_array().unwrap().iter().map(|channel| channel["name"].as_str().unwrap()).collect()
    };
    assert_eq!((names("streams"), names("subscriptions")), (vec!["inside"], vec!["inside"]));
    assert_eq!((names("never_subscribed"), names("unsubscribed")), (vec![], vec![]));
    assert_eq!(state["realm_default_streams"], json!([]));
    polonius.get(&format!("/messages/{hidden}"), &[]).bad("Invalid message(s)").await;
    let public = polonius.message_ids(json!([["channels", "public"]])).await;
    assert!(!public.contains(&hidden), "{public:?}");
    let members = format!("/streams/{}/members", outside.id);
    polonius.get(&members, &[]).bad("Invalid channel ID").await;
    let subscribe = json!([{"name": "outside"}]);
    let call = polonius.post("/users/me/subscriptions", &[("subscriptions", &subscribe)]);
    call.bad("Not allowed for guest users").await;
}

/// A hidden email address and its hash appear in no response and no event to other users, even if the organization uses
/// Gravatar.
#[tokio::test]
async fn hidden_email_appears_nowhere() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, othello, polonius] = t.users(["desdemona", "hamlet", "othello", "polonius"]);
    desdemona.patch("/realm", &[("default_avatar_source", &"G")]).ok().await;
    othello.patch("/settings", &[("email_address_visibility", &4)]).ok().await;
    let bot = t.user("default-bot");
    let channel = othello.create_channel("Verona").with(&hamlet).with(&polonius).with(&bot).await;
    let readers = [&desdemona, &hamlet, &polonius, &bot];
    let mut queues = Vec::new();
    for reader in readers {
        queues.push(reader.register().await);
        queues.push(reader.register().modern().await);
    }
    let message = othello.send(&channel, "t", "hello @**King Hamlet**").await;
    let direct = othello.send_direct(&[&hamlet, &polonius], "psst").await;
    for id in [message, direct] {
        let path = format!("/messages/{id}/reactions");
        othello.post(&path, &[("emoji_name", &"tada")]).ok().await;
    }
    othello.edit(message, &[("content", &"hello again")]).ok().await;
    let place: Params<'_> =
        &[("type", &"stream"), ("op", &"start"), ("stream_id", &channel.id), ("topic", &"t")];
    othello.post("/typing", place).ok().await;
    othello.post("/typing", &[("op", &"start"), ("to", &json!([hamlet.id, polonius.id]))]).ok().await;
    othello.post("/users/me/presence", &[("status", &"active")]).ok().await;
    othello.post("/users/me/status", &[("status_text", &"away")]).ok().await;
    othello.patch("/settings", &[("timezone", &"Europe/Rome")]).ok().await;
    desdemona.patch(&format!("/users/{}", othello.id), &[("role", &300)]).ok().await;
    othello.delete("/users/me/avatar", &[]).ok().await;
    let mut read = Vec::new();
    for mut queue in queues {
        read.push(queue.state.clone());
        read.push(json!(queue.now().await));
    }
    for reader in readers {
        read.push(reader.get("/users", &[("client_gravatar", &false)]).await.body);
        read.push(reader.get("/users", &[]).await.body);
        read.push(reader.get("/realm/presence", &[]).await.body);
        read.push(reader.get(&format!("/messages/{message}/history"), &[]).await.body);
        read.push(json!(reader.messages(json!([])).await));
        for path in ["", "/presence", "/status"] {
            read.push(reader.get(&format!("/users/{}{path}", othello.id), &[]).await.body);
        }
        let picture = reader.bare(Method::GET, &format!("/avatar/{}", othello.id)).await;
        read.push(json!(picture.header("Location")));
    }
    // The second secret is the MD5 hash of the address, by which Gravatar knows it.
    let secrets = ["othello@zulip.com", "23f350365c96af9aaf864778f4728375"];
    for text in read.iter().map(Value::to_string) {
        assert!(!secrets.iter().any(|secret| text.contains(secret)), "{text}");
    }
}
