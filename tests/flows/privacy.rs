//! A private channel's content, members and events reach nobody outside it: whatever an outsider asks, no
//! answer and no event holds a word of it. A guest sees only what a guest may.

use crate::support::{Channel, Params, Person, Queue, TestServer};
use reqwest::Method;
use serde_json::{Value, json};

/// Words that appear in the private channel and nowhere else.
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

/// No secret stands in an answer; `asked` are words that the question itself held.
fn assert_silent(what: &str, body: &Value, asked: &[&str]) {
    let text = body.to_string();
    for secret in SECRETS.iter().filter(|secret| !asked.contains(secret)) {
        assert!(!text.contains(secret), "{what} tells {secret}: {text}");
    }
}

/// Method, path and parameters.
type Question = (Method, String, Vec<(String, String)>);

/// Everything one can ask about a channel, a topic and a message.
fn questions(s: &Stage) -> Vec<Question> {
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

fn ask(method: Method, path: String, params: Value) -> Question {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs = params.as_object().expect("parameters").iter();
    (method, path, pairs.map(|(name, value)| (name.clone(), text(value))).collect())
}

async fn ask_everything(s: &Stage, who: &Person) {
    for (method, path, params) in questions(s) {
        let params: Vec<(&str, &(dyn std::fmt::Display + Sync))> =
            params.iter().map(|(name, value)| (name.as_str(), value as _)).collect();
        let call = who.call(method.clone(), &path, &params);
        let what = call.what.clone();
        let mut asked: Vec<&str> = SECRETS.iter().copied().filter(|secret| what.contains(secret)).collect();
        if path == "/messages" && method == Method::POST {
            // The refusal names the channel, also to those who have only its id: endpoints.md 1, step 8.
            asked.push(SECRETS[0]);
        }
        assert_silent(&what, &call.await.body, &asked);
    }
}

#[tokio::test]
async fn outsiders_and_guests_learn_nothing() {
    let s = stage().await;
    for name in ["othello", "polonius", "shiva", "default-bot"] {
        ask_everything(&s, &s.t.user(name)).await;
    }
    // Nothing was changed by asking.
    let cordelia = s.t.user("cordelia");
    let body = cordelia.get(&format!("/streams/{}/members", s.channel.id), &[]).ok().await;
    assert_eq!(body["subscribers"].as_array().unwrap().len(), 2);
    assert_eq!(cordelia.message_ids(json!([["channel", SECRETS[0]], ["topic", "t"]])).await, [] as [u64; 0]);
}

#[tokio::test]
async fn administrators_know_of_the_channel_but_read_nothing() {
    let s = stage().await;
    let iago = s.t.user("iago");
    for (method, path, params) in questions(&s) {
        let params: Vec<(&str, &(dyn std::fmt::Display + Sync))> =
            params.iter().map(|(name, value)| (name.as_str(), value as _)).collect();
        let call = iago.call(method, &path, &params);
        let what = call.what.clone();
        // Its name and description they may know; of what is said there, nothing.
        let mut asked = vec![SECRETS[0], SECRETS[3]];
        asked.extend(SECRETS.iter().filter(|secret| what.contains(**secret)));
        assert_silent(&what, &call.await.body, &asked);
    }
}

#[tokio::test]
async fn no_event_of_it_leaves_the_channel() {
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
    // Something everybody outside may see, so that silence is not mistaken for deafness.
    hamlet.send(&public, "t", "in the open").await;
    for queue in &mut outside {
        let name = queue.person.email.clone();
        let events = json!(queue.now().await);
        if name == iago.email {
            assert_silent(&name, &events, &[SECRETS[0], SECRETS[3]]);
            assert!(!events.to_string().contains("typing"), "{events}");
        } else {
            assert_silent(&name, &events, &[]);
            let types: Vec<&Value> = events.as_array().unwrap().iter().map(|event| &event["type"]).collect();
            assert!(types.iter().all(|kind| *kind == "message"), "{name}: {types:?}");
        }
        let state = name_free_state(&queue.person).await;
        let allowed: &[&str] = if name == iago.email { &[SECRETS[0], SECRETS[3]] } else { &[] };
        assert_silent(&name, &state, allowed);
    }
}

/// A registration of now.
async fn name_free_state(person: &Person) -> Value {
    person.register().modern().await.state
}

#[tokio::test]
async fn a_guest_sees_only_what_a_guest_may() {
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
