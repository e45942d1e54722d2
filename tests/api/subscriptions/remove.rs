//! `DELETE /users/me/subscriptions`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer, TestUser};
use serde_json::json;

#[tokio::test]
async fn unsubscribe_self() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let secret = iago.create_channel("secret").private().with(&hamlet).await;
    iago.create_channel("Verona").await;
    let names = json!(["secret", "Verona"]);
    let body = hamlet.delete("/users/me/subscriptions", &[("subscriptions", &names)]).ok().await;
    assert_eq!(fields(&body), ["not_removed", "removed"]);
    assert_eq!((&body["removed"], &body["not_removed"]), (&json!(["secret"]), &json!(["Verona"])));
    hamlet.get(&format!("/streams/{}", secret.id), &[]).bad("Invalid channel ID").await;
}

#[tokio::test]
async fn channels_that_are_left_are_named_in_the_order_of_the_request() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    iago.create_channel("Verona").await;
    let new: Vec<_> = (0..80).map(|number| json!({"name": format!("channel {number}")})).collect();
    hamlet.post("/users/me/subscriptions", &[("subscriptions", &json!(new))]).ok().await;
    let mut names: Vec<_> = new.iter().rev().map(|channel| channel["name"].clone()).collect();
    names.insert(40, json!("Verona"));
    let params: Params<'_> = &[("subscriptions", &json!(names))];
    let body = hamlet.delete("/users/me/subscriptions", params).ok().await;
    assert_eq!(json!(names.remove(40)), body["not_removed"][0]);
    assert_eq!(body["removed"], json!(names));
    let left = hamlet.get("/users/me/subscriptions", &[]).ok().await;
    assert_eq!(left["subscriptions"], json!([]));
}

#[tokio::test]
async fn unsubscribe_others() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    iago.create_channel("Verona").with(&hamlet).with(&cordelia).await;
    let names = json!(["Verona"]);
    let principals = json!([hamlet.id]);
    let params: Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
    cordelia.delete("/users/me/subscriptions", params).bad("Insufficient permission").await;
    let body = iago.delete("/users/me/subscriptions", params).ok().await;
    assert_eq!(body["removed"], json!(["Verona"]));
    // The creator of the channel may remove others, and every user may remove their own bots.
    let bot = t.user("default-bot");
    let own = cordelia.create_channel("Padua").with(&hamlet).with(&bot).await;
    let names = json!([own.name]);
    let body =
        cordelia.delete("/users/me/subscriptions", &[("subscriptions", &names), ("principals", &principals)]);
    assert_eq!(body.ok().await["removed"], json!(["Padua"]));
    let principals = json!([bot.api_email]);
    let params: Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
    assert_eq!(
        t.user("AARON").delete("/users/me/subscriptions", params).ok().await["removed"],
        json!(["Padua"])
    );
}

#[tokio::test]
async fn bots_leave_private_channels_with_their_owner() {
    let t = TestServer::start().await;
    let [iago, aaron, bot] = t.users(["iago", "AARON", "default-bot"]);
    let only_aaron = json!({"direct_members": [aaron.id], "direct_subgroups": []});
    let secret = iago.create_channel("secret").private().with(&aaron).with(&bot).await;
    let granted = iago.create_channel("granted").private().set("can_subscribe_group", only_aaron);
    granted.with(&aaron).with(&bot).await;
    iago.create_channel("Verona").with(&aaron).with(&bot).await;
    let mut queue = bot.register().events(&["subscription"]).await;
    let (names, principals) = (json!(["secret", "granted", "Verona"]), json!([aaron.id]));
    let params: Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
    let body = iago.delete("/users/me/subscriptions", params).ok().await;
    assert_eq!((&body["removed"], &body["not_removed"]), (&names, &json!([])));
    // Where the owner may read without being subscribed, and in public channels, the bot stays.
    let event = queue.next().await;
    assert_eq!((&event["op"], &event["subscriptions"][0]["name"]), (&json!("remove"), &json!("secret")));
    let body = bot.get("/users/me/subscriptions", &[]).ok().await;
    let left = body["subscriptions"].as_array().expect("a list").iter().map(|one| one["name"].clone());
    let mut left: Vec<_> = left.filter_map(|name| Some(name.as_str()?.to_owned())).collect();
    left.sort_unstable();
    assert_eq!(left, ["Verona", "granted"]);
    let later = iago.send(&secret, "plans", "for those who stayed").await;
    bot.get(&format!("/messages/{later}"), &[]).bad("Invalid message(s)").await;
}

#[tokio::test]
async fn unsubscribe_others_permission() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, cordelia] = t.users(["desdemona", "iago", "hamlet", "cordelia"]);
    let only = |who: &TestUser| json!({"direct_members": [who.id], "direct_subgroups": []});
    desdemona
        .create_channel("Verona")
        .with(&cordelia)
        .set("can_remove_subscribers_group", only(&hamlet))
        .await;
    desdemona.create_channel("Rome").with(&cordelia).set("can_administer_channel_group", only(&hamlet)).await;
    let secret = desdemona.create_channel("secret").private().with(&cordelia);
    secret.set("can_remove_subscribers_group", only(&hamlet)).await;
    let principals = json!([cordelia.id]);
    let ask = |who: &TestUser, names: &[&str]| {
        let names = json!(names);
        let params: Params<'_> = &[("subscriptions", &names), ("principals", &principals)];
        who.delete("/users/me/subscriptions", params)
    };
    let refused = "Insufficient permission";
    // Not if two channels allow it by different permissions.
    ask(&hamlet, &["Verona", "Rome"]).bad(refused).await;
    // Nor from an inaccessible private channel, which gives the error of a missing one.
    let unknown: [(&[&str], &str); 3] = [
        (&["secret"], "Channel(s) (secret) do not exist"),
        (&["Verona", "secret"], "Channel(s) (secret) do not exist"),
        (&["secret", "Nowhere"], "Channel(s) (secret, Nowhere) do not exist"),
    ];
    for (names, msg) in unknown {
        assert_eq!(ask(&hamlet, names).await.body["msg"], msg);
    }
    assert_eq!(ask(&hamlet, &["Verona"]).ok().await["removed"], json!(["Verona"]));
    assert_eq!(ask(&hamlet, &["Verona"]).ok().await["not_removed"], json!(["Verona"]));
    assert_eq!(ask(&hamlet, &["Rome"]).ok().await["removed"], json!(["Rome"]));
    assert_eq!(ask(&iago, &["secret", "Rome"]).ok().await["removed"], json!(["secret"]));
    // Several users give one entry each.
    let verona = json!(["Verona"]);
    let both = json!([desdemona.id, cordelia.id]);
    let params: Params<'_> = &[("subscriptions", &verona), ("principals", &both)];
    let body = iago.delete("/users/me/subscriptions", params).ok().await;
    assert_eq!((&body["removed"], &body["not_removed"]), (&verona, &verona));
}

#[tokio::test]
async fn hidden_users_are_unknown_principals() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, polonius] = t.users(["desdemona", "iago", "hamlet", "polonius"]);
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    desdemona.patch("/realm", &[("can_access_all_users_group", &json!({"new": members}))]).ok().await;
    iago.delete(&format!("/users/{}", hamlet.id), &[]).ok().await;
    let names = json!([desdemona.create_channel("Verona").with(&polonius).await.name]);
    let made_up = |person: &TestUser| t.realm().directory().made_up_email(model::UserId(person.id));
    let hidden = [json!([iago.id]), json!([hamlet.id]), json!([made_up(&iago)]), json!([made_up(&hamlet)])];
    for principals in hidden.iter().chain([&json!([9999])]) {
        let params: Params<'_> = &[("subscriptions", &names), ("principals", principals)];
        polonius.delete("/users/me/subscriptions", params).bad("No such user").await;
    }
    let seen = json!([desdemona.id]);
    let params: Params<'_> = &[("subscriptions", &names), ("principals", &seen)];
    polonius.delete("/users/me/subscriptions", params).bad("Insufficient permission").await;
}

#[tokio::test]
async fn unsubscribe_errors() {
    let t = TestServer::start().await;
    let [iago, ghost] = t.users(["iago", "ghost"]);
    iago.create_channel("Verona").await;
    let ask = |params: Params<'_>| iago.delete("/users/me/subscriptions", params);
    let missing = json!({
        "msg": "Missing 'subscriptions' argument",
        "code": "REQUEST_VARIABLE_MISSING", "var_name": "subscriptions",
    });
    ask(&[]).refused(400, missing).await;
    let unknown = json!({
        "msg": "Channel(s) (Nowhere) do not exist", "code": "STREAM_DOES_NOT_EXIST", "stream": "Nowhere"
    });
    ask(&[("subscriptions", &json!(["Nowhere", "Verona"]))]).refused(400, unknown).await;
    let names = json!(["Verona"]);
    for (principals, msg) in [
        (json!([99_999]), "No such user"),
        (json!([ghost.id]), "User is deactivated"),
        (json!(["nobody@zulip.com"]), "No such user"),
    ] {
        ask(&[("subscriptions", &names), ("principals", &principals)]).bad(msg).await;
    }
    let (blank, long) = (json!([" "]), json!(["x".repeat(61)]));
    ask(&[("subscriptions", &blank)]).bad("Channel name can't be empty.").await;
    ask(&[("subscriptions", &long)]).bad("Channel name too long (limit: 60 characters).").await;
    ask(&[("subscriptions", &"\"Verona\"")]).bad("subscriptions is not a list").await;
    ask(&[("subscriptions", &"[5]")]).bad("subscriptions[0] is not a string").await;
    let subscribed = iago.get("/users/me/subscriptions", &[]).ok().await;
    assert_eq!(subscribed["subscriptions"].as_array().unwrap().len(), 1);
}
