//! `PATCH /users/me/subscriptions/muted_topics`.

use super::policies;
use crate::support::{Params, TestServer, as_params};
use reqwest::Method;
use serde_json::json;

const PATH: &str = "/users/me/subscriptions/muted_topics";

#[tokio::test]
async fn mute_and_unmute_topic() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").await;
    let mut older = hamlet.register().events(&["muted_topics"]).await;
    let change = |params: Vec<(&'static str, String)>| {
        let hamlet = hamlet.clone();
        async move {
            let params = as_params(&params);
            hamlet.call(Method::PATCH, PATH, &params).ok().await
        }
    };
    let by_name = |op: &str| vec![("stream", "verona".into()), ("topic", "Lunch".into()), ("op", op.into())];
    let by_id =
        |op: &str| vec![("stream_id", verona.id.to_string()), ("topic", "LUNCH".into()), ("op", op.into())];
    change(by_name("add")).await;
    let event = older.next().await;
    assert_eq!(
        (&event["muted_topics"][0][0], &event["muted_topics"][0][1]),
        (&json!("Verona"), &json!("Lunch"))
    );
    change(by_id("add")).await;
    assert_eq!(policies(&hamlet).await, [json!([verona.id, "Lunch", 1])]);
    assert!(older.now().await.is_empty(), "muting twice is no news");
    change(by_id("remove")).await;
    assert_eq!(older.next().await["muted_topics"], json!([]));
    change(by_name("remove")).await;
    assert!(policies(&hamlet).await.is_empty() && older.now().await.is_empty());
}

#[tokio::test]
async fn mute_topic_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let verona = iago.create_channel("Verona").await;
    let secret = hamlet.create_channel("secret").private().await;
    let ask = |params: Params<'_>| hamlet.call(Method::PATCH, PATH, params);
    ask(&[("topic", &"t"), ("op", &"add")]).bad("Missing 'stream_id' argument").await;
    let both = json!({
        "msg": "Unsupported parameter combination: stream_id, stream",
        "code": "BAD_REQUEST", "parameters": "stream_id, stream",
    });
    let params: Params<'_> =
        &[("stream_id", &verona.id), ("stream", &"Verona"), ("topic", &"t"), ("op", &"add")];
    ask(params).refused(400, both).await;
    for (params, name) in [
        (&[("stream", &"Verona" as &(dyn std::fmt::Display + Sync)), ("op", &"add")] as Params<'_>, "topic"),
        (&[("stream", &"Verona"), ("topic", &"t")], "op"),
    ] {
        let body = json!({
            "msg": format!("Missing '{name}' argument"), "code": "REQUEST_VARIABLE_MISSING", "var_name": name,
        });
        ask(params).refused(400, body).await;
    }
    let long = "x".repeat(61);
    let by_name = |stream: &'static str, topic: &str, op: &'static str| {
        ask(&[("stream", &stream), ("topic", &topic), ("op", &op)])
    };
    by_name("Verona", "t", "bogus").bad("Invalid op").await;
    by_name("Verona", &long, "add").bad("topic is too long (limit: 60 characters)").await;
    by_name("Nowhere", "t", "add").bad("Invalid channel name 'Nowhere'").await;
    by_name("Nowhere", "t", "remove").bad("Topic is not muted").await;
    let by_id = |id: u64, op: &'static str| ask(&[("stream_id", &id), ("topic", &"t"), ("op", &op)]);
    by_id(99_999, "add").bad("Invalid channel ID").await;
    by_id(99_999, "remove").bad("Topic is not muted").await;
    // An inaccessible channel gives the error of a missing one.
    for (op, msg) in [("add", "Invalid channel ID"), ("remove", "Topic is not muted")] {
        let params: Params<'_> = &[("stream_id", &secret.id), ("topic", &"t"), ("op", &op)];
        polonius.call(Method::PATCH, PATH, params).bad(msg).await;
    }
}

#[tokio::test]
async fn muted_topics_of_a_lost_channel_are_hidden() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").await;
    let plans = iago.create_channel("plans").private().with(&hamlet).await;
    let mut older = hamlet.register().events(&["muted_topics"]).await;
    let mute = async |channel: u64| {
        let params: Params<'_> = &[("stream_id", &channel), ("topic", &"Lunch"), ("op", &"add")];
        hamlet.call(Method::PATCH, PATH, params).ok().await;
    };
    mute(plans.id).await;
    assert_eq!(older.next().await["muted_topics"][0][0], json!("plans"));
    let names = json!(["plans"]);
    let principals = json!([hamlet.id]);
    let params: Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
    iago.delete("/users/me/subscriptions", params).ok().await;
    iago.patch(&format!("/streams/{}", plans.id), &[("new_name", &"surprise")]).ok().await;
    let state = hamlet.register().events(&["muted_topics"]).await.state;
    assert_eq!(state["muted_topics"], json!([]));
    mute(verona.id).await;
    let muted = older.next().await["muted_topics"].clone();
    assert_eq!((muted.as_array().map(Vec::len), &muted[0][0]), (Some(1), &json!("Verona")));
    // The policy itself is kept for the case that access comes back.
    assert_eq!(policies(&hamlet).await.len(), 2);
}
