//! `POST /users/me/subscriptions`.

use crate::support::shape::fields;
use crate::support::{Params, Person, TestServer};
use serde_json::{Value, json};

async fn add(who: &Person, params: Params<'_>) -> Value {
    who.post("/users/me/subscriptions", params).ok().await
}

#[tokio::test]
async fn oneself_to_old_and_new_channels() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    iago.create_channel("Verona").await;
    let wanted = json!([{"name": "Verona"}, {"name": "Padua", "description": "A *city*"}]);
    let body = add(&hamlet, &[("subscriptions", &wanted)]).await;
    let known = ["already_subscribed", "new_subscription_messages_sent", "subscribed"];
    assert!(fields(&body).iter().all(|field| known.contains(field)), "{body}");
    let mut names: Vec<Value> = body["subscribed"][hamlet.id.to_string()].as_array().unwrap().clone();
    names.sort_by_key(ToString::to_string);
    assert_eq!((names, &body["already_subscribed"]), (vec![json!("Padua"), json!("Verona")], &json!({})));
    let body = add(&hamlet, &[("subscriptions", &wanted)]).await;
    assert_eq!(body["subscribed"], json!({}));
    assert_eq!(body["already_subscribed"][hamlet.id.to_string()].as_array().unwrap().len(), 2);
    let streams = hamlet.get("/streams", &[]).ok().await;
    let padua = &streams["streams"][0];
    assert_eq!((&padua["description"], &padua["creator_id"]), (&json!("A *city*"), &json!(hamlet.id)));
}

#[tokio::test]
async fn others_are_told() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    iago.create_channel("Verona").await;
    let mut queue = hamlet.register().events(&["message"]).await;
    let names = json!([{"name": "Verona"}]);
    let principals = json!([hamlet.id]);
    let body = add(&iago, &[("subscriptions", &names), ("principals", &principals)]).await;
    assert_eq!(body["subscribed"], json!({hamlet.id.to_string(): ["Verona"]}));
    let notice = queue.next().await;
    assert_eq!(notice["message"]["type"], "private");
    let content = notice["message"]["content"].as_str().unwrap();
    assert!(content.contains("subscribed you to #**Verona**"), "{content}");
    // By address too, and quietly when asked.
    let principals = json!([cordelia.api_email]);
    let params: Params<'_> =
        &[("subscriptions", &names), ("principals", &principals), ("send_new_subscription_messages", &false)];
    let body = add(&iago, params).await;
    assert_eq!(body["subscribed"], json!({cordelia.id.to_string(): ["Verona"]}));
    assert!(cordelia.message_ids(json!([["is", "dm"]])).await.is_empty());
}

#[tokio::test]
async fn private_channels_stay_shut() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let secret = hamlet.create_channel("secret").private().await;
    iago.create_channel("Verona").await;
    let both = json!([{"name": "secret"}, {"name": "Verona"}]);
    cordelia
        .post("/users/me/subscriptions", &[("subscriptions", &both)])
        .bad("Unable to access channel (secret).")
        .await;
    let body = add(&cordelia, &[("subscriptions", &both), ("authorization_errors_fatal", &false)]).await;
    assert_eq!(body["unauthorized"], json!(["secret"]));
    assert_eq!(body["subscribed"], json!({cordelia.id.to_string(): ["Verona"]}));
    hamlet.subscribe_others(&secret, &[&cordelia]).await;
    let members = cordelia.get(&format!("/streams/{}/members", secret.id), &[]).ok().await;
    assert_eq!(members["subscribers"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn refusals() {
    let t = TestServer::start().await;
    let [hamlet, polonius, ghost] = t.users(["hamlet", "polonius", "ghost"]);
    let verona = json!([{"name": "Verona"}]);
    let ask = |params: Params<'_>| hamlet.post("/users/me/subscriptions", params);
    polonius
        .post("/users/me/subscriptions", &[("subscriptions", &verona)])
        .bad("Not allowed for guest users")
        .await;
    let missing = json!({
        "msg": "Missing 'subscriptions' argument",
        "code": "REQUEST_VARIABLE_MISSING", "var_name": "subscriptions",
    });
    ask(&[]).refused(400, missing).await;
    let (blank, long) = (json!([{"name": ""}]), json!([{"name": "x".repeat(61)}]));
    for (given, msg) in [
        ("[{", "subscriptions is not valid JSON"),
        ("{}", "subscriptions is not a list"),
        ("[5]", "subscriptions[0] is not a dict"),
        ("[{\"name\": 5}]", "subscriptions[0][\"name\"] is not a string"),
        (&blank.to_string(), "Channel name can't be empty."),
        (&long.to_string(), "Channel name too long (limit: 60 characters)."),
    ] {
        ask(&[("subscriptions", &given)]).bad(msg).await;
    }
    for (principals, msg) in [
        (json!([99_999]), "No such user"),
        (json!(["nobody@zulip.com"]), "No such user"),
        (json!([ghost.id]), "User is deactivated"),
    ] {
        let answer = ask(&[("subscriptions", &verona), ("principals", &principals)]).await;
        assert_eq!((answer.status, &answer.body["code"]), (400, &json!("BAD_REQUEST")), "{msg}: {answer:?}");
    }
    let streams = hamlet.get("/streams", &[]).ok().await;
    assert_eq!(streams["streams"], json!([]), "a refusal leaves nothing behind");
}
