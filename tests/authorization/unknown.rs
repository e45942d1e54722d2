//! An inaccessible channel and a missing one are indistinguishable: responses to the same requests are equal, byte for
//! byte, except for the requested id or name.

use crate::support::{Param, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

/// All requests about a channel by id or name, which `{id}` and `{name}` stand for.
#[allow(clippy::too_many_lines, reason = "a table")]
fn requests(message: u64, me: u32) -> Vec<(Method, String, Value)> {
    let window =
        |narrow: &str| json!({"anchor": "newest", "num_before": 5, "num_after": 0, "narrow": narrow});
    let mut all = vec![
        (Method::GET, "/streams/{id}".to_owned(), json!({})),
        (Method::GET, "/streams/{id}/members".to_owned(), json!({})),
        (Method::PATCH, "/streams/{id}".to_owned(), json!({"description": "x"})),
        (Method::PATCH, "/streams/{id}".to_owned(), json!({"new_name": "other"})),
        (Method::DELETE, "/streams/{id}".to_owned(), json!({})),
        (Method::POST, "/streams/{id}/delete_topic".to_owned(), json!({"topic_name": "t"})),
        (Method::GET, "/get_stream_id".to_owned(), json!({"stream": "{name}"})),
        (Method::GET, "/users/me/{id}/topics".to_owned(), json!({})),
        (Method::GET, format!("/users/{me}/subscriptions/{{id}}"), json!({})),
        (Method::POST, "/default_streams".to_owned(), json!({"stream_id": "{id}"})),
        (Method::POST, "/mark_stream_as_read".to_owned(), json!({"stream_id": "{id}"})),
        (Method::POST, "/mark_topic_as_read".to_owned(), json!({"stream_id": "{id}", "topic_name": "t"})),
        (
            Method::POST,
            "/typing".to_owned(),
            json!({"type": "stream", "op": "start", "stream_id": "{id}", "topic": "t"}),
        ),
        (Method::PATCH, format!("/messages/{message}"), json!({"stream_id": "{id}"})),
        (
            Method::POST,
            "/register".to_owned(),
            json!({"narrow": "[[\"channel\",\"{name}\"]]", "event_types": "[]"}),
        ),
        (
            Method::POST,
            "/invites".to_owned(),
            json!({"invitee_emails": "a@x.example", "stream_ids": "[{id}]"}),
        ),
        (
            Method::POST,
            "/bots".to_owned(),
            json!({"full_name": "B", "short_name": "b", "default_sending_stream": "{name}"}),
        ),
        (Method::DELETE, "/users/me/subscriptions".to_owned(), json!({"subscriptions": "[\"{name}\"]"})),
        (
            Method::DELETE,
            "/users/me/subscriptions".to_owned(),
            json!({"subscriptions": "[\"{name}\"]", "principals": format!("[{me}]")}),
        ),
        (Method::PATCH, "/users/me/subscriptions".to_owned(), json!({"delete": "[\"{name}\"]"})),
        (
            Method::POST,
            "/users/me/subscriptions/properties".to_owned(),
            json!({"subscription_data": "[{\"stream_id\":{id},\"property\":\"is_muted\",\"value\":true}]"}),
        ),
    ];
    let property = json!({"property": "is_muted", "value": "true"});
    all.push((Method::PATCH, "/users/me/subscriptions/{id}".to_owned(), property));
    let group = json!({"group_name": "g", "description": "", "stream_names": "[\"{name}\"]"});
    all.push((Method::POST, "/default_stream_groups/create".to_owned(), group));
    for to in ["{id}", "[{id}]", "{name}", "\"{name}\"", " {name} "] {
        let params = json!({"type": "stream", "to": to, "topic": "t", "content": "x"});
        all.push((Method::POST, "/messages".to_owned(), params));
    }
    for (operation, policy) in [("add", 1), ("remove", 0)] {
        let muted = "/users/me/subscriptions/muted_topics";
        for (key, of) in [("stream_id", "{id}"), ("stream", "{name}")] {
            all.push((Method::PATCH, muted.to_owned(), json!({key: of, "topic": "t", "op": operation})));
        }
        let params = json!({"stream_id": "{id}", "topic": "t", "visibility_policy": policy});
        all.push((Method::POST, "/user_topics".to_owned(), params));
    }
    for narrow in [
        "[[\"channel\",\"{name}\"]]",
        "[{\"operator\":\"channel\",\"operand\":{id}}]",
        "[{\"operator\":\"channel\",\"operand\":\"{name}\",\"negated\":true}]",
        "[[\"stream\",\"{name}\"],[\"topic\",\"t\"]]",
        "[[\"channel\",\"{name}\"],[\"is\",\"starred\"]]",
    ] {
        all.push((Method::GET, "/messages".to_owned(), window(narrow)));
        let mut flags = window(narrow);
        (flags["op"], flags["flag"]) = (json!("add"), json!("starred"));
        all.push((Method::POST, "/messages/flags/narrow".to_owned(), flags));
        let matches = json!({"msg_ids": format!("[{message}]"), "narrow": narrow});
        all.push((Method::GET, "/messages/matches_narrow".to_owned(), matches));
    }
    all
}

/// Status and body, with the requested id and name removed.
async fn ask(who: &TestUser, request: &(Method, String, Value), id: &str, name: &str) -> (u16, String) {
    let fill = |text: &str| text.replace("{id}", id).replace("{name}", name);
    let (method, path, params) = request;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let pairs: Vec<(String, String)> =
        params.as_object().unwrap().iter().map(|(key, value)| (key.clone(), fill(&text(value)))).collect();
    let params: Vec<Param<'_>> = pairs.iter().map(|(key, value)| (key.as_str(), value as _)).collect();
    let answer = who.call(method.clone(), &fill(path), &params).await;
    let mut body = answer.body;
    // Names of queues and bots differ each time.
    let momentary = ["queue_id", "last_event_id", "user_id", "api_key", "avatar_url"];
    // Digits within them must not be mistaken for ids.
    let versions = ["zulip_feature_level", "zulip_merge_base", "zulip_version"];
    for key in momentary.into_iter().chain(versions) {
        if let Some(value) = body.get_mut(key) {
            *value = Value::Null;
        }
    }
    (answer.status, body.to_string().replace(id, "{id}").replace(name, "{name}"))
}

#[tokio::test]
async fn inaccessible_channel_is_indistinguishable_from_missing() {
    let t = TestServer::start().await;
    let [hamlet, othello, polonius, bot] = t.users(["hamlet", "othello", "polonius", "default-bot"]);
    let secret = hamlet.create_channel("xyzzy").private().await;
    hamlet.send(&secret, "t", "frobozz").await;
    let empty = hamlet.create_channel("grue").private().await;
    hamlet.unsubscribe(&empty).await;
    let open = othello.create_channel("open").with(&polonius).with(&bot).await;
    let mut wrong = Vec::new();
    for who in [&othello, &polonius, &bot] {
        let message = who.send(&open, "t", "mine").await;
        for hidden in [&secret, &empty] {
            for request in requests(message, who.id) {
                let id = hidden.id.to_string();
                let is_there = ask(who, &request, &id, &hidden.name).await;
                let nothing = ask(who, &request, &(7_000_000 + hidden.id).to_string(), "plugh").await;
                if is_there != nothing {
                    let (method, path, params) = &request;
                    wrong.push(format!("{} {method} {path} {params}: {is_there:?} {nothing:?}", who.email));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} answers tell of it:\n{}", wrong.len(), wrong.join("\n"));
}

/// A user who may not create channels cannot find out names of channels by subscribing to them either.
#[tokio::test]
async fn channel_names_cannot_be_probed() {
    let t = TestServer::start().await;
    let [desdemona, othello] = t.users(["desdemona", "othello"]);
    let administrators =
        json!({"new": t.realm().directory().group_by_name("role:administrators").unwrap().id.0});
    for name in ["can_create_public_channel_group", "can_create_private_channel_group"] {
        desdemona.patch("/realm", &[(name, &administrators)]).ok().await;
    }
    desdemona.create_channel("Xyzzy").private().await;
    let subscribe = async |name: &str| {
        let names = json!([{"name": name}]);
        let answer = othello.post("/users/me/subscriptions", &[("subscriptions", &names)]).await;
        (answer.status, answer.body.to_string().replace(name, "{name}"))
    };
    assert_eq!(subscribe("xyzzy").await, subscribe("plugh").await);
}
