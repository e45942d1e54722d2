//! `POST /users/me/subscriptions`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer, TestUser, people};
use serde_json::{Value, json};

async fn add(who: &TestUser, params: Params<'_>) -> Value {
    who.post("/users/me/subscriptions", params).ok().await
}

#[tokio::test]
async fn subscribe_self_to_existing_and_new_channels() {
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
async fn subscribe_others_sends_notice() {
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
    // Users can be named by email address, and notices can be disabled.
    let principals = json!([cordelia.api_email]);
    let params: Params<'_> =
        &[("subscriptions", &names), ("principals", &principals), ("send_new_subscription_messages", &false)];
    let body = add(&iago, params).await;
    assert_eq!(body["subscribed"], json!({cordelia.id.to_string(): ["Verona"]}));
    assert!(cordelia.message_ids(json!([["is", "dm"]])).await.is_empty());
}

#[tokio::test]
async fn subscribe_private_channel_is_refused() {
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
async fn subscribe_several_channels_sends_one_notice() {
    let t = TestServer::start().await;
    let [iago, hamlet, bot] = t.users(["iago", "hamlet", "default-bot"]);
    for name in ["Verona", "Rome"] {
        iago.create_channel(name).await;
    }
    let names = json!([{"name": "Verona"}, {"name": "Rome"}, {"name": "brand new"}]);
    let principals = json!([hamlet.id, bot.id, iago.id]);
    let body = add(&iago, &[("subscriptions", &names), ("principals", &principals)]).await;
    assert_eq!(body["new_subscription_messages_sent"], true);
    let notices = hamlet.messages(json!([["is", "dm"]])).await;
    let [notice] = notices.as_slice() else { panic!("{notices:?}") };
    let content = notice["content"].as_str().unwrap();
    for word in ["subscribed you to the following channels:", "#Rome", "#Verona", "<ul>"] {
        assert!(content.contains(word), "{content}");
    }
    assert!(!content.contains("brand new"), "channels created by the request are not listed");
    for who in [&iago, &bot] {
        assert!(who.messages(json!([["is", "dm"]])).await.is_empty(), "{}", who.email);
    }
    // Users who were subscribed already get no notice.
    add(&iago, &[("subscriptions", &names), ("principals", &json!([hamlet.id]))]).await;
    assert_eq!(hamlet.messages(json!([["is", "dm"]])).await.len(), 1);
    let quiet: Params<'_> = &[("subscriptions", &names), ("send_new_subscription_messages", &false)];
    assert_eq!(add(&iago, quiet).await.get("new_subscription_messages_sent"), None);
}

#[tokio::test]
async fn subscribe_over_100_users_sends_no_notices() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    let mut ids = Vec::new();
    for number in 0..101 {
        let name = format!("extra{number}");
        let user = people::add(t.realm(), &name, &format!("Extra {number}"), model::Role::Member, None).await;
        ids.push(user.0);
    }
    let names = json!([{"name": "Verona"}]);
    let body = add(&iago, &[("subscriptions", &names), ("principals", &json!(ids[..100]))]).await;
    assert_eq!(body["new_subscription_messages_sent"], true);
    assert_eq!(t.user("extra7").messages(json!([["is", "dm"]])).await.len(), 1);
    let names = json!([{"name": "Rome"}]);
    iago.create_channel("Rome").await;
    let body = add(&iago, &[("subscriptions", &names), ("principals", &json!(ids))]).await;
    assert_eq!(body["new_subscription_messages_sent"], false);
    assert_eq!(body["subscribed"].as_object().unwrap().len(), 101);
    assert_eq!(t.user("extra7").messages(json!([["is", "dm"]])).await.len(), 1);
}

#[tokio::test]
async fn subscribe_others_permission() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia, othello] = t.users(["iago", "hamlet", "cordelia", "othello"]);
    let group = |name: &str| t.realm().directory().group_by_name(name).unwrap().id.0;
    let admins = json!({"new": group("role:administrators")});
    iago.call(reqwest::Method::PATCH, "/realm", &[("can_add_subscribers_group", &admins)]).ok().await;
    let only = |who: &TestUser| json!({"direct_members": [who.id], "direct_subgroups": []});
    iago.create_channel("Verona").set("can_add_subscribers_group", only(&hamlet)).await;
    iago.create_channel("Rome").set("can_administer_channel_group", only(&hamlet)).await;
    iago.create_channel("Padua").await;
    let principals = json!([othello.id]);
    for (who, name, may) in [
        (&hamlet, "Verona", true),
        (&hamlet, "Rome", true),
        (&hamlet, "Padua", false),
        (&cordelia, "Verona", false),
        (&iago, "Padua", true),
    ] {
        for fatal in [true, false] {
            let names = json!([{"name": name}]);
            let params: Params<'_> = &[
                ("subscriptions", &names),
                ("principals", &principals),
                ("authorization_errors_fatal", &fatal),
            ];
            let answer = who.post("/users/me/subscriptions", params).await;
            match may {
                true => drop(answer.ok()),
                false => {
                    answer.refused(400, json!({"msg": "Insufficient permission", "code": "BAD_REQUEST"}))
                }
            }
        }
    }
    // Naming oneself, by id or by email address, needs no permission to add others.
    let names = json!([{"name": "Padua"}]);
    for principals in [json!([hamlet.id]), json!([cordelia.api_email])] {
        let who = if principals[0].is_u64() { &hamlet } else { &cordelia };
        add(who, &[("subscriptions", &names), ("principals", &principals)]).await;
    }
    // If one channel is refused, nothing is changed.
    let names = json!([{"name": "Verona"}, {"name": "Padua"}]);
    let params: Params<'_> = &[("subscriptions", &names), ("principals", &json!([cordelia.id]))];
    hamlet.post("/users/me/subscriptions", params).bad("Insufficient permission").await;
    let own = cordelia.get("/users/me/subscriptions", &[]).ok().await;
    assert_eq!(own["subscriptions"].as_array().unwrap().len(), 1, "{own}");
}

#[tokio::test]
async fn subscribe_private_channel_by_group_permission() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia, polonius] = t.users(["iago", "hamlet", "cordelia", "polonius"]);
    let only = |who: &TestUser| json!({"direct_members": [who.id], "direct_subgroups": []});
    hamlet.create_channel("join").private().set("can_subscribe_group", only(&cordelia)).await;
    hamlet.create_channel("invite").private().set("can_add_subscribers_group", only(&cordelia)).await;
    let one = |name: &str| json!([{"name": name}]);
    // The administrator role does not give access.
    for name in ["join", "invite"] {
        let refused = format!("Unable to access channel ({name}).");
        iago.post("/users/me/subscriptions", &[("subscriptions", &one(name))]).bad(&refused).await;
    }
    add(&cordelia, &[("subscriptions", &one("join"))]).await;
    add(&cordelia, &[("subscriptions", &one("invite")), ("principals", &json!([polonius.id]))]).await;
    add(&cordelia, &[("subscriptions", &one("invite"))]).await;
    let own = polonius.get("/users/me/subscriptions", &[]).ok().await;
    assert_eq!(own["subscriptions"][0]["name"], "invite");
    let names = json!([{"name": "invite"}]);
    let add_by_guest: Params<'_> = &[("add", &names)];
    let patch = polonius.call(reqwest::Method::PATCH, "/users/me/subscriptions", add_by_guest);
    patch.bad("Not allowed for guest users").await;
}

#[tokio::test]
async fn subscribe_archived_channel() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let old = iago.create_channel("old").await;
    iago.delete(&format!("/streams/{}", old.id), &[]).ok().await;
    let body = add(&hamlet, &[("subscriptions", &json!([{"name": "old"}]))]).await;
    assert_eq!(body["subscribed"], json!({hamlet.id.to_string(): ["old"]}));
    let names = json!(["old"]);
    let body = hamlet.delete("/users/me/subscriptions", &[("subscriptions", &names)]).ok().await;
    assert_eq!(body["removed"], json!(["old"]));
}

#[tokio::test]
async fn subscribe_errors() {
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
        ask(&[("subscriptions", &verona), ("principals", &principals)]).bad(msg).await;
    }
    let streams = hamlet.get("/streams", &[]).ok().await;
    assert_eq!(streams["streams"], json!([]), "a refusal leaves nothing behind");
}
