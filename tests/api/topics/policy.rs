//! `POST /user_topics`.

use super::policies;
use crate::support::{Param, Params, TestServer, TestUser};
use serde_json::json;

const PATH: &str = "/user_topics";

#[tokio::test]
async fn topic_policy_set_each_value() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    // Neither a subscription nor a message in the topic is needed.
    let verona = iago.create_channel("Verona").await;
    let mut queue = hamlet.register().modern().events(&["user_topic"]).await;
    let set = |topic: &'static str, policy: u8| {
        let (hamlet, id) = (hamlet.clone(), verona.id);
        async move {
            let params: Params<'_> = &[("stream_id", &id), ("topic", &topic), ("visibility_policy", &policy)];
            hamlet.post(PATH, params).ok().await
        }
    };
    for policy in [1, 2, 3] {
        set(" Lunch ", policy).await;
        assert_eq!(policies(&hamlet).await, [json!([verona.id, "Lunch", policy])]);
        let event = queue.next().await;
        let found = [&event["stream_id"], &event["topic_name"], &event["visibility_policy"]];
        assert_eq!(found, [&json!(verona.id), &json!("Lunch"), &json!(policy)]);
        assert!(event["last_updated"].is_u64(), "{event}");
    }
    // The current value again, with the topic in another case, changes nothing.
    set("LUNCH", 3).await;
    set("elsewhere", 0).await;
    assert!(queue.now().await.is_empty());
    set("lunch", 0).await;
    assert_eq!(queue.next().await["visibility_policy"], 0);
    assert!(policies(&hamlet).await.is_empty());
}

#[tokio::test]
async fn topic_policy_of_empty_topic_aliases() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let mut modern = hamlet.register().modern().events(&["user_topic"]).await;
    let mut older = hamlet.register().events(&["user_topic"]).await;
    for (topic, policy) in [("", 1), ("(no topic)", 2), (" general chat", 3)] {
        let params: Params<'_> =
            &[("stream_id", &verona.id), ("topic", &topic), ("visibility_policy", &policy)];
        hamlet.post(PATH, params).ok().await;
        assert_eq!(policies(&hamlet).await, [json!([verona.id, "", policy])]);
        assert_eq!(modern.next().await["topic_name"], "");
        assert_eq!(older.next().await["topic_name"], "general chat");
    }
    let state = hamlet.register().await.state;
    assert_eq!(state["user_topics"][0]["topic_name"], "general chat");
}

#[tokio::test]
async fn topic_policy_concurrent_changes_converge() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    for _ in 0..10 {
        let mut queue = hamlet.register().modern().events(&["user_topic"]).await;
        let set = |policy: u8| {
            let (hamlet, id) = (hamlet.clone(), verona.id);
            async move {
                let params: Params<'_> =
                    &[("stream_id", &id), ("topic", &"t"), ("visibility_policy", &policy)];
                hamlet.post(PATH, params).ok().await
            }
        };
        tokio::join!(set(1), set(2), set(3), set(0), set(1));
        let before = policies(&hamlet).await;
        let last = queue.now().await.pop();
        let received = last.map(|event| event["visibility_policy"].clone());
        let shown = before.first().map_or(json!(0), |own| own[2].clone());
        if let Some(received) = received {
            assert_eq!(received, shown);
        }
    }
}

#[tokio::test]
async fn topic_policy_not_lowered_by_sending() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let data = json!([{"stream_id": verona.id, "property": "is_muted", "value": true}]);
    hamlet.post("/users/me/subscriptions/properties", &[("subscription_data", &data)]).ok().await;
    hamlet.send(&verona, "t", "first").await;
    for _ in 0..5 {
        let params: Params<'_> = &[("stream_id", &verona.id), ("topic", &"t"), ("visibility_policy", &0)];
        hamlet.post(PATH, params).ok().await;
        let params: Params<'_> = &[("stream_id", &verona.id), ("topic", &"t"), ("visibility_policy", &3)];
        tokio::join!(async { hamlet.post(PATH, params).ok().await }, hamlet.send(&verona, "t", "hi"));
        assert_eq!(policies(&hamlet).await, [json!([verona.id, "t", 3])]);
    }
}

#[tokio::test]
async fn topic_policy_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let secret = hamlet.create_channel("secret").private().await;
    let verona = hamlet.create_channel("Verona").await;
    for name in ["stream_id", "topic", "visibility_policy"] {
        let all: [Param<'_>; 3] = [("stream_id", &verona.id), ("topic", &"t"), ("visibility_policy", &1)];
        let params: Vec<_> = all.into_iter().filter(|(other, _)| *other != name).collect();
        let body = json!({
            "msg": format!("Missing '{name}' argument"), "code": "REQUEST_VARIABLE_MISSING", "var_name": name,
        });
        hamlet.post(PATH, &params).refused(400, body).await;
    }
    let long = "x".repeat(61);
    for (topic, policy, msg) in [
        ("t", "99", "Invalid visibility_policy: Value error, Not in the list of possible values"),
        ("t", "-1", "Invalid visibility_policy: Value error, Not in the list of possible values"),
        ("t", "4", "Invalid visibility_policy: Value error, Not in the list of possible values"),
        ("t", "\"1\"", "visibility_policy is not an integer"),
        (&long, "1", "topic is too long (limit: 60 characters)"),
    ] {
        let params: Params<'_> =
            &[("stream_id", &verona.id), ("topic", &topic), ("visibility_policy", &policy)];
        hamlet.post(PATH, params).bad(msg).await;
    }
    for (who, channel, policy) in
        [(&iago, secret.id, 1), (&polonius, verona.id, 3), (&hamlet, 99_999, 1), (&hamlet, 99_999, 0)]
    {
        let params: Params<'_> = &[("stream_id", &channel), ("topic", &"t"), ("visibility_policy", &policy)];
        who.post(PATH, params).bad("Invalid channel ID").await;
    }
    // A policy can be removed without access to its channel; without a policy, the channel is unknown.
    let set = |who: &TestUser, policy: u8| {
        who.post(PATH, &[("stream_id", &secret.id), ("topic", &"t"), ("visibility_policy", &policy)])
    };
    set(&polonius, 0).bad("Invalid channel ID").await;
    set(&hamlet, 1).ok().await;
    hamlet.unsubscribe(&secret).await;
    set(&hamlet, 0).ok().await;
}
