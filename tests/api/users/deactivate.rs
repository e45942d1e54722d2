//! `DELETE /users/{id}`, `DELETE /users/me`, `POST /users/{id}/reactivate`.

use crate::api::groups::{group_id, read};
use crate::support::smtp::SmtpServer;
use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

async fn deactivate(who: &TestUser, whom: &TestUser) {
    who.delete(&format!("/users/{}", whom.id), &[]).ok().await;
}

async fn reactivate(who: &TestUser, whom: &TestUser) {
    who.post(&format!("/users/{}/reactivate", whom.id), &[]).ok().await;
}

fn deactivated() -> Value {
    json!({"msg": "Account is deactivated", "code": "USER_DEACTIVATED"})
}

#[tokio::test]
async fn deactivate_user_ends_polls_keys_and_bots() {
    let t = TestServer::start().await;
    let [iago, aaron, bot, hamlet] = t.users(["iago", "AARON", "default-bot", "hamlet"]);
    let queue = aaron.register().await;
    let poll = t.hold_poll(&queue).await;
    deactivate(&iago, &aaron).await;
    poll.await.unwrap().refused(401, deactivated());
    for user in [&aaron, &bot] {
        user.get("/users/me", &[]).refused(401, deactivated()).await;
    }
    let shown = iago.get(&format!("/users/{}", aaron.id), &[]).ok().await;
    assert_eq!(shown["user"]["is_active"], json!(false));
    let params: Params<'_> = &[("type", &"direct"), ("to", &json!([aaron.id])), ("content", &"x")];
    hamlet.post("/messages", params).bad("'AARON@zulip.com' is no longer using Zulip.").await;
    iago.get(&format!("/users/{}/presence", aaron.id), &[]).bad("No such user").await;
}

#[tokio::test]
async fn deactivate_user_deletes_queues() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let queue = hamlet.register().await;
    deactivate(&iago, &hamlet).await;
    queue.poll(true).await.refused(401, deactivated());
    reactivate(&iago, &hamlet).await;
    let msg = format!("Bad event queue ID: {}", queue.id);
    let gone = json!({"msg": msg, "code": "BAD_EVENT_QUEUE_ID", "queue_id": queue.id});
    queue.poll(true).await.refused(400, gone);
    // The API key stays the same.
    hamlet.get("/users/me", &[]).ok().await;
}

#[tokio::test]
async fn reactivate_user_restores_memberships() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let members = group_id(&t, "role:members");
    let before = iago.send(&channel, "t", "before").await;
    let is_member =
        async || read(&iago, members).await["members"].as_array().unwrap().contains(&json!(hamlet.id));
    let subscribers = async || {
        let path = format!("/streams/{}", channel.id);
        let count = iago.get(&path, &[]).ok().await["stream"]["subscriber_count"].clone();
        let listed = iago.get(&format!("{path}/members"), &[]).ok().await["subscribers"].clone();
        assert_eq!(count, json!(listed.as_array().unwrap().len()));
        count
    };
    assert_eq!((is_member().await, subscribers().await), (true, json!(2)));
    deactivate(&iago, &hamlet).await;
    assert_eq!((is_member().await, subscribers().await), (false, json!(1)));
    let meanwhile = iago.send(&channel, "t", "meanwhile").await;
    reactivate(&iago, &hamlet).await;
    assert_eq!((is_member().await, subscribers().await), (true, json!(2)));
    let after = iago.send(&channel, "t", "after").await;
    // Messages sent while the account was deactivated are not unread.
    let unread = hamlet.message_ids(json!([["is", "unread"]])).await;
    assert!(unread.contains(&before) && unread.contains(&after), "{unread:?}");
    assert!(!unread.contains(&meanwhile), "{unread:?}");
    let subscriptions = hamlet.get("/users/me/subscriptions", &[]).ok().await;
    assert_eq!(subscriptions["subscriptions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn deactivate_user_errors() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, bot] = t.users(["desdemona", "iago", "hamlet", "default-bot"]);
    let path = |person: &TestUser| format!("/users/{}", person.id);
    let owner = json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    iago.delete(&path(&desdemona), &[]).refused(400, owner).await;
    desdemona.delete(&path(&desdemona), &[]).bad("Cannot deactivate the only organization owner").await;
    iago.delete(&path(&bot), &[]).bad("No such user").await;
    iago.delete("/users/99999", &[]).bad("No such user").await;
    let name = "deactivation_notification_comment";
    let long = "x".repeat(2001);
    let msg = format!("{name} is too long (limit: 2000 characters)");
    iago.delete(&path(&hamlet), &[(name, &long)]).bad(&msg).await;
    let reactivate = |person: &TestUser| format!("/users/{}/reactivate", person.id);
    // Reactivating an active user changes nothing and sends no event.
    let queue = hamlet.register().await;
    iago.post(&reactivate(&hamlet), &[]).ok().await;
    assert_eq!(queue.poll(true).await.ok()["events"], json!([]));
    for (method, path) in [("DELETE", path(&hamlet)), ("POST", reactivate(&hamlet))] {
        let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
        t.user("othello").call(method, &path, &[]).bad("Insufficient permission").await;
    }
    iago.post("/users/99999/reactivate", &[]).bad("No such user").await;
    iago.delete(&path(&hamlet), &[(name, &"x".repeat(2000))]).ok().await;
    iago.delete(&path(&hamlet), &[]).bad("User is deactivated").await;
}

#[tokio::test]
async fn deactivate_self_but_not_last_owner() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let last = json!({
        "msg": "Cannot deactivate the only organization owner.",
        "code": "CANNOT_DEACTIVATE_LAST_USER", "is_last_owner": true, "entity": "organization owner",
    });
    desdemona.delete("/users/me", &[]).refused(400, last.clone()).await;
    hamlet.delete("/users/me", &[]).ok().await;
    hamlet.get("/users/me", &[]).refused(401, deactivated()).await;
    desdemona.patch(&format!("/users/{}", iago.id), &[("role", &100)]).ok().await;
    desdemona.delete("/users/me", &[]).ok().await;
    // He is the last owner now.
    iago.delete("/users/me", &[]).refused(400, last).await;
}

#[tokio::test]
async fn reactivate_bot_assigns_new_owner() {
    let t = TestServer::start().await;
    let [iago, aaron, bot] = t.users(["iago", "AARON", "default-bot"]);
    deactivate(&iago, &aaron).await;
    reactivate(&iago, &bot).await;
    // It gets a new API key, which its former owner does not know.
    assert_eq!(bot.get("/users/me", &[]).await.status, 401);
    let key = iago.get(&format!("/bots/{}/api_key", bot.id), &[]).ok().await["api_key"].clone();
    TestUser { key: key.as_str().unwrap().to_owned(), ..bot.clone() }.get("/users/me", &[]).ok().await;
    let shown = iago.get(&format!("/users/{}", bot.id), &[]).ok().await;
    assert_eq!(shown["user"]["bot_owner_id"], json!(iago.id));
    // Reactivating the former owner does not change the bots.
    reactivate(&iago, &aaron).await;
    aaron.get("/users/me", &[]).ok().await;
}

#[tokio::test]
async fn deactivated_user_after_restart() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    deactivate(&iago, &hamlet).await;
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    hamlet.get("/users/me", &[]).refused(401, deactivated()).await;
    reactivate(&iago, &hamlet).await;
    let after = iago.send(&channel, "t", "after").await;
    assert_eq!(hamlet.message_ids(json!([["is", "unread"]])).await.last(), Some(&after));
}

#[tokio::test]
async fn deactivate_user_with_comment_sends_email() {
    let smtp = SmtpServer::start().await;
    let t = TestServer::builder().mail(smtp.port()).start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    deactivate(&iago, &othello).await;
    let comment = "Thank you for everything.";
    let params: Params<'_> = &[("deactivation_notification_comment", &comment)];
    iago.delete(&format!("/users/{}", hamlet.id), params).ok().await;
    let mails = smtp.wait_for(1).await;
    assert_eq!(mails[0].to, "hamlet@zulip.com");
    let text = mails[0].text();
    assert!(text.contains("was deactivated") && text.contains(comment), "{text}");
}
