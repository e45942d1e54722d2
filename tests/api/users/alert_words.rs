//! `/users/me/alert_words`.

use crate::api::bots::make;
use crate::support::{TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/users/me/alert_words";

async fn listed(who: &TestUser) -> Value {
    who.get(PATH, &[]).ok().await["alert_words"].clone()
}

#[tokio::test]
async fn alert_words_add_and_remove() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    assert_eq!(listed(&hamlet).await, json!([]));
    let add = |words: Value| {
        let hamlet = hamlet.clone();
        async move { hamlet.post(PATH, &[("alert_words", &words)]).ok().await["alert_words"].clone() }
    };
    assert_eq!(add(json!(["Deploy", " on call ", "", "deploy"])).await, json!(["Deploy", "on call"]));
    assert_eq!(add(json!(["DEPLOY"])).await, json!(["Deploy", "on call"]));
    assert_eq!(add(json!([])).await, json!(["Deploy", "on call"]));
    assert_eq!(add(json!(["pizza"])).await, json!(["Deploy", "on call", "pizza"]));
    assert_eq!(hamlet.register().await.state["alert_words"], json!(["Deploy", "on call", "pizza"]));
    assert_eq!(listed(&iago).await, json!([]), "they are one's own");
    let words = json!(["On Call", "nothing"]);
    let body = hamlet.delete(PATH, &[("alert_words", &words)]).ok().await;
    assert_eq!(body["alert_words"], json!(["Deploy", "pizza"]));
    assert_eq!(listed(&hamlet).await, json!(["Deploy", "pizza"]));
}

#[tokio::test]
async fn alert_words_concurrent_changes() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let adding = (0..20).map(|number| {
        let hamlet = hamlet.clone();
        tokio::spawn(async move {
            hamlet.post(PATH, &[("alert_words", &json!([format!("word{number}")]))]).ok().await
        })
    });
    for added in adding.collect::<Vec<_>>() {
        added.await.unwrap();
    }
    assert_eq!(listed(&hamlet).await.as_array().unwrap().len(), 20);
}

#[tokio::test]
async fn alert_words_flag_messages() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    for (who, words) in [(&hamlet, json!(["deploy", "on call"])), (&iago, json!(["Pizza"]))] {
        who.post(PATH, &[("alert_words", &words)]).ok().await;
    }
    let mut queue = hamlet.register().events(&["message"]).await;
    for (content, hamlets, iagos) in [
        ("Time to DEPLOY!", true, false),
        ("who is on call, pizza eaters?", true, true),
        ("`deploy` again", true, false),
        ("redeployed pizzas", false, false),
        ("nothing at all", false, false),
    ] {
        let id = iago.send(&verona, "t", content).await;
        let event = queue.next().await;
        let has_word = |flags: &Value| flags.as_array().unwrap().contains(&json!("has_alert_word"));
        assert_eq!(has_word(&event["flags"]), hamlets, "{content}");
        for (who, expected) in [(&hamlet, hamlets), (&iago, iagos), (&cordelia, false)] {
            let message = &who.get(&format!("/messages/{id}"), &[]).ok().await["message"];
            assert_eq!(has_word(&message["flags"]), expected, "{} {content}", who.email);
        }
    }
    // Also in direct messages, and for recipients only.
    let id = iago.send_direct(&[&hamlet], "please deploy").await;
    let message = hamlet.get(&format!("/messages/{id}"), &[]).ok().await;
    assert!(message["message"]["flags"].as_array().unwrap().contains(&json!("has_alert_word")));
    assert_eq!(hamlet.messages(json!([["is", "alerted"]])).await.len(), 4);
    // Flags are determined when a message is sent.
    hamlet.delete(PATH, &[("alert_words", &json!(["deploy", "on call"]))]).ok().await;
    assert_eq!(hamlet.messages(json!([["is", "alerted"]])).await.len(), 4);
}

#[tokio::test]
async fn alert_words_errors() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let long = json!(["fine", "x".repeat(101)]).to_string();
    let many = json!((0..1001).map(|number| format!("w{number}")).collect::<Vec<_>>()).to_string();
    for (words, msg) in [
        ("[", "alert_words is not valid JSON"),
        ("\"x\"", "alert_words is not a list"),
        ("[1]", "alert_words[0] is not a string"),
        (&long, "alert_words[1] is too long (limit: 100 characters)"),
    ] {
        hamlet.post(PATH, &[("alert_words", &words)]).bad(msg).await;
        hamlet.delete(PATH, &[("alert_words", &words)]).bad(msg).await;
    }
    hamlet.post(PATH, &[("alert_words", &many)]).bad("Too many alert words (maximum 1000).").await;
    let missing = json!({
        "msg": "Missing 'alert_words' argument",
        "code": "REQUEST_VARIABLE_MISSING", "var_name": "alert_words",
    });
    hamlet.post(PATH, &[]).refused(400, missing.clone()).await;
    hamlet.delete(PATH, &[]).refused(400, missing).await;
    assert_eq!(listed(&hamlet).await, json!([]));
}

#[tokio::test]
async fn alert_words_of_bots_share_the_limit_of_their_owner() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let bots = [make(&hamlet, "one", &[]).await.0, make(&hamlet, "two", &[]).await.0];
    let many = |from: u32, to: u32| json!((from..to).map(|number| format!("w{number}")).collect::<Vec<_>>());
    let refused = "Too many alert words (maximum 1000).";
    hamlet.post(PATH, &[("alert_words", &many(0, 400))]).ok().await;
    bots[0].post(PATH, &[("alert_words", &many(0, 600))]).ok().await;
    bots[1].post(PATH, &[("alert_words", &many(0, 1))]).bad(refused).await;
    hamlet.post(PATH, &[("alert_words", &many(400, 401))]).bad(refused).await;
    hamlet.post(PATH, &[("alert_words", &many(0, 400))]).ok().await;
    iago.post(PATH, &[("alert_words", &many(0, 1000))]).ok().await;
    bots[0].delete(PATH, &[("alert_words", &many(0, 1))]).ok().await;
    bots[1].post(PATH, &[("alert_words", &many(0, 1))]).ok().await;
}
