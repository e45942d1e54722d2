//! Bots give no additional privileges: with any roles, owners and keys, a bot has at most the permissions of its owner.

use crate::api::bots::{make, shown};
use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

fn owner_required() -> Value {
    json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"})
}

const KEY_OF_OWNER: &str = "Only the owner of a bot can see or renew its API key. Become its owner first.";

/// The client of a user with another role, or with another key.
async fn set_role(by: &TestUser, whom: &TestUser, role: u32) {
    by.patch(&format!("/users/{}", whom.id), &[("role", &role)]).ok().await;
}

async fn role_of(by: &TestUser, whom: &TestUser) -> Value {
    by.get(&format!("/users/{}", whom.id), &[]).ok().await["user"]["role"].clone()
}

#[tokio::test]
async fn administrator_cannot_take_over_owners_bot() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let (bot, _) = make(&desdemona, "rec", &[]).await;
    let path = format!("/bots/{}", bot.id);
    // The bot's role is not above the administrator's, but its owner's is.
    iago.patch(&path, &[("bot_owner_id", &iago.id)]).refused(400, owner_required()).await;
    for call in
        [iago.get(&format!("{path}/api_key"), &[]), iago.post(&format!("{path}/api_key/regenerate"), &[])]
    {
        call.bad(KEY_OF_OWNER).await;
    }
    desdemona.patch(&path, &[("role", &100)]).ok().await;
    let attempts: [Params<'_>; 6] = [
        &[("bot_owner_id", &iago.id)],
        &[("full_name", &"Mine")],
        &[("short_name", &"mine")],
        &[("role", &400)],
        &[("service_payload_url", &"\"http://bots.example.com\"")],
        &[],
    ];
    for attempt in attempts {
        iago.patch(&path, attempt).refused(400, owner_required()).await;
        iago.patch(&format!("/users/{}", bot.id), &[("full_name", &"Mine")])
            .refused(400, owner_required())
            .await;
    }
    for call in [
        iago.get(&format!("{path}/api_key"), &[]),
        iago.post(&format!("{path}/api_key/regenerate"), &[]),
        iago.delete(&path, &[]),
    ] {
        call.refused(400, owner_required()).await;
    }
    desdemona.delete(&path, &[]).ok().await;
    iago.post(&format!("/users/{}/reactivate", bot.id), &[]).refused(400, owner_required()).await;
    let state = iago.register().events(&["realm_bot"]).await.state;
    assert!(!state.to_string().contains(&bot.key), "{state}");
    assert_eq!(shown(&iago, &bot).await.unwrap()["api_key"], "");
}

#[tokio::test]
async fn new_bot_owner_gets_no_private_channel_access() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let secret = othello.create_channel("core").private().await;
    let open = othello.create_channel("open").await;
    othello.subscribe_others(&secret, &[&bot]).await;
    othello.subscribe_others(&open, &[&bot]).await;
    othello.send(&secret, "t", "frobozz").await;
    let path = format!("/bots/{}", bot.id);
    let mut queue = bot.register().events(&["subscription"]).await;
    iago.patch(&path, &[("bot_owner_id", &iago.id)]).ok().await;
    // The old key is invalid, and the new owner gets a new one.
    assert_eq!(bot.get("/users/me", &[]).await.status, 401);
    let body = iago.get(&format!("{path}/api_key"), &[]).ok().await;
    let taken = TestUser { key: body["api_key"].as_str().unwrap().to_owned(), ..bot.clone() };
    queue.person.key = taken.key.clone();
    let received = queue.now().await;
    assert_eq!(
        (&received[0]["op"], &received[0]["subscriptions"][0]["name"]),
        (&json!("remove"), &json!("core"))
    );
    let own = taken.get("/users/me/subscriptions", &[]).ok().await["subscriptions"].clone();
    assert_eq!(own.as_array().unwrap().iter().map(|one| &one["name"]).collect::<Vec<_>>(), ["open"]);
    assert!(!json!(taken.messages(json!([])).await).to_string().contains("frobozz"));
}

#[tokio::test]
async fn demotion_of_owner_demotes_bots() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let (plain, _) = make(&hamlet, "plain", &[]).await;
    let above = "The role of a bot cannot be above that of its owner.";
    for path in [format!("/bots/{}", bot.id), format!("/users/{}", bot.id)] {
        desdemona.patch(&path, &[("role", &200)]).bad(above).await;
    }
    set_role(&desdemona, &hamlet, 200).await;
    assert_eq!(role_of(&iago, &bot).await, 400);
    set_role(&desdemona, &bot, 200).await;
    let rename = || bot.patch("/realm", &[("name", &"Elsinore")]);
    rename().ok().await;
    let mut queue = iago.register().events(&["realm_user"]).await;
    set_role(&desdemona, &hamlet, 400).await;
    let received = queue.now().await;
    let roles: Vec<(&Value, &Value)> =
        received.iter().map(|event| (&event["person"]["user_id"], &event["person"]["role"])).collect();
    assert_eq!(roles, [(&json!(hamlet.id), &json!(400)), (&json!(bot.id), &json!(400))]);
    let administrator =
        json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    rename().refused(400, administrator).await;
    set_role(&desdemona, &hamlet, 600).await;
    for bot in [&bot, &plain] {
        assert_eq!(role_of(&iago, bot).await, 600);
    }
    // Promoting the owner again does not promote the bots.
    set_role(&desdemona, &hamlet, 100).await;
    assert_eq!(role_of(&iago, &bot).await, 600);
}

/// A permission granted to a group, and one granted to the bot itself.
#[tokio::test]
async fn bot_loses_permission_with_owner() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let both = json!({"new": {"direct_members": [hamlet.id, bot.id], "direct_subgroups": []}});
    desdemona.patch("/realm", &[("can_create_groups", &both)]).ok().await;
    let create = |name: &str| {
        let members = json!([]);
        bot.post("/user_groups/create", &[("name", &name), ("description", &""), ("members", &members)])
    };
    create("one").ok().await;
    let alone = json!({"new": {"direct_members": [bot.id], "direct_subgroups": []}});
    desdemona.patch("/realm", &[("can_create_groups", &alone)]).ok().await;
    create("two").bad("Insufficient permission").await;
    // A bot and its owner manage what the bot created.
    let channel: Value = {
        let names = json!([{"name": "made by a bot"}]);
        bot.post("/users/me/subscriptions", &[("subscriptions", &names)]).ok().await;
        bot.get("/get_stream_id", &[("stream", &"made by a bot")]).ok().await["stream_id"].clone()
    };
    bot.patch(&format!("/streams/{channel}"), &[("description", &"ours")]).ok().await;
    hamlet.patch(&format!("/streams/{channel}"), &[("description", &"mine")]).ok().await;
}

#[tokio::test]
async fn channel_posting_limited_to_one_bot() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let only = json!({"direct_members": [bot.id], "direct_subgroups": []});
    let channel = iago.create_channel("news").set("can_send_message_group", only).await;
    let send = |who: &TestUser| {
        who.post(
            "/messages",
            &[("type", &"stream"), ("to", &channel.name), ("topic", &"t"), ("content", &"x")],
        )
    };
    send(&bot).ok().await;
    send(&hamlet).bad("You do not have permission to post in this channel.").await;
}

#[tokio::test]
async fn bot_cannot_deactivate_itself() {
    let t = TestServer::start().await;
    let [hamlet, bot] = t.users(["hamlet", "default-bot"]);
    bot.delete("/users/me", &[]).bad("This endpoint does not accept bot requests.").await;
    bot.get("/users/me", &[]).ok().await;
    hamlet.delete("/users/me", &[]).ok().await;
}
