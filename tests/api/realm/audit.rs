//! `GET /realm/audit`, and the acts that it lists.

use crate::api::pictures::png;
use crate::support::{TestServer, TestUser};
use serde_json::{Value, json};

async fn acts(owner: &TestUser) -> Vec<Value> {
    let answer = owner.get("/realm/audit", &[]).ok().await;
    assert_eq!(answer["next_before"], Value::Null);
    answer["acts"].as_array().expect("a list").clone()
}

/// What the acts did, the newest first.
async fn deeds(owner: &TestUser) -> Vec<String> {
    let all = acts(owner).await;
    let deeds = all.iter().flat_map(|act| act["deeds"].as_array().expect("a list").clone());
    deeds.map(|deed| deed.as_str().expect("a text").to_owned()).collect()
}

#[tokio::test]
async fn acts_say_who_did_what_through_which_client() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let known = acts(&desdemona).await.len();
    let path = format!("/users/{}", hamlet.id);
    iago.patch(&path, &[("role", &300)]).header("User-Agent", "ZulipTerminal/1.0 (Linux)").ok().await;
    let all = acts(&desdemona).await;
    assert_eq!(all.len(), known + 1, "{all:?}");
    let act = &all[0];
    assert_eq!(act["user_id"], json!(iago.id));
    assert_eq!((&act["origin"], &act["client"]), (&json!("api"), &json!("ZulipTerminal")));
    assert_eq!(act["address"], json!("127.0.0.1"));
    assert!(act["timestamp"].as_u64().expect("seconds") > 1_500_000_000);
    let who = act["who"].as_str().expect("a name");
    assert!(who.starts_with("Iago (iago@"), "{who}");
    let deed = act["deeds"][0].as_str().expect("a text");
    assert!(deed.starts_with("changed the account King Hamlet (hamlet@"), "{deed}");
    assert!(deed.ends_with("role from “member” to “moderator”"), "{deed}");
    // What did not happen is not listed.
    iago.patch("/users/999999", &[("role", &300)]).bad("No such user").await;
    hamlet.patch(&path, &[("role", &100)]).bad("Insufficient permission").await;
    assert_eq!(acts(&desdemona).await.len(), known + 1);
}

#[tokio::test]
async fn administrative_acts_of_every_family_are_listed() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, othello] = t.users(["desdemona", "iago", "hamlet", "othello"]);
    let channel = iago.create_channel("design").with(&hamlet).await;
    let sent = hamlet.send(&channel, "lunch", "hello").await;
    hamlet.send(&channel, "lunch", "still here").await;
    iago.edit(sent, &[("topic", &"dinner"), ("propagate_mode", &"change_one")]).ok().await;
    iago.delete(&format!("/messages/{sent}"), &[]).ok().await;
    iago.patch(&format!("/streams/{}", channel.id), &[("is_private", &true)]).ok().await;
    iago.subscribe_others(&channel, &[&othello]).await;
    iago.delete(&format!("/streams/{}", channel.id), &[]).ok().await;
    let members = json!([hamlet.id]);
    iago.post("/user_groups/create", &[("name", &"cooks"), ("description", &""), ("members", &members)])
        .ok()
        .await;
    desdemona.patch("/realm", &[("name", &"Tea"), ("waiting_period_threshold", &3)]).ok().await;
    iago.post(
        "/realm/filters",
        &[("pattern", &"#(?P<id>[0-9]+)"), ("url_template", &"https://x.example/{id}")],
    )
    .ok()
    .await;
    iago.post("/realm/profile_fields", &[("name", &"Phone"), ("field_type", &1)]).ok().await;
    desdemona.post("/realm/domains", &[("domain", &"acme.com")]).ok().await;
    iago.post("/invites/multiuse", &[("invite_as", &400), ("stream_ids", &"[]")]).ok().await;
    iago.post("/bots", &[("full_name", &"Robot"), ("short_name", &"robot")]).ok().await;
    iago.upload("/realm/emoji/teapot", &[], &[("a.png", png())]).ok().await;
    iago.delete(&format!("/users/{}", othello.id), &[]).ok().await;
    iago.post(&format!("/users/{}/reactivate", othello.id), &[]).ok().await;

    let mut all = deeds(&desdemona).await;
    all.reverse();
    let all = all.join("\n");
    let mut rest = all.as_str();
    for expected in [
        "created the channel #design: name design; privacy public",
        "moved 1 message of others in “lunch” in #design: topic from “lunch” to “dinner”",
        "deleted 1 message of others in “dinner” in #design",
        "changed the channel #design: privacy from “public” to “private with",
        "added Othello, the Moor of Venice (othello@",
        "archived the channel #design",
        "created the group cooks: name cooks",
        "changed the organization: name from “Zulip Dev” to “Tea”; waiting period threshold from “0” to “3”",
        "created the linkifier #(?P<id>[0-9]+)",
        "created the profile field Phone",
        "accepted the e-mail domain acme.com",
        "made a reusable invitation link: role member",
        "created the bot Robot",
        "created the emoji :teapot:",
        "deactivated the account Othello",
        "reactivated the account Othello",
    ] {
        let at =
            rest.find(expected).unwrap_or_else(|| panic!("{expected} is missing, or not in order:\n{all}"));
        rest = &rest[at + expected.len()..];
    }
}

#[tokio::test]
async fn personal_changes_and_messages_are_no_acts() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let channel = hamlet.create_channel("own").await;
    let known = acts(&desdemona).await.len();
    let sent = hamlet.send(&channel, "a", "hello").await;
    hamlet.edit(sent, &[("content", &"hello again")]).ok().await;
    hamlet.edit(sent, &[("topic", &"b")]).ok().await;
    hamlet.post(&format!("/messages/{sent}/reactions"), &[("emoji_name", &"tada")]).ok().await;
    hamlet.patch("/settings", &[("enter_sends", &true)]).ok().await;
    hamlet.post("/users/me/status", &[("status_text", &"out")]).ok().await;
    hamlet.register().await;
    hamlet.delete(&format!("/messages/{sent}"), &[]).ok().await;
    assert_eq!(acts(&desdemona).await.len(), known);
}

#[tokio::test]
async fn pages_go_back_in_time_and_survive_a_restart() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    for number in 0..5 {
        iago.patch("/realm", &[("name", &format!("Tea {number}"))]).ok().await;
    }
    iago.patch(&format!("/users/{}", hamlet.id), &[("role", &300)]).ok().await;
    let all = deeds(&desdemona).await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let desdemona = t.user("desdemona");
    let mut found = Vec::new();
    let mut before = Value::Null;
    loop {
        let page = match before.as_u64() {
            None => desdemona.get("/realm/audit", &[("limit", &2)]).ok().await,
            Some(before) => desdemona.get("/realm/audit", &[("limit", &2), ("before", &before)]).ok().await,
        };
        let acts = page["acts"].as_array().expect("a list").clone();
        assert!(acts.len() <= 2);
        for deed in acts.iter().flat_map(|act| act["deeds"].as_array().expect("a list").clone()) {
            found.push(deed.as_str().expect("a text").to_owned());
        }
        before = page["next_before"].clone();
        if before.is_null() {
            break;
        }
    }
    assert_eq!(found, all);
    let of_hamlet = desdemona.get("/realm/audit", &[("user_id", &hamlet.id)]).ok().await;
    let deeds = of_hamlet["acts"].as_array().expect("a list");
    assert!(deeds[0]["deeds"][0].as_str().expect("a text").contains("moderator"), "{deeds:?}");
    assert!(deeds.iter().all(|act| !act["deeds"].to_string().contains("Tea")));
    for (name, value) in
        [("limit", "0"), ("limit", "101"), ("limit", "x"), ("before", "-1"), ("user_id", "x")]
    {
        let answer = desdemona.get("/realm/audit", &[(name, &value)]).await;
        assert_eq!(answer.status, 400, "{name}={value}");
    }
}

#[tokio::test]
async fn passwords_and_keys_are_not_in_the_log() {
    let t = TestServer::start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let made = desdemona.post("/bots", &[("full_name", &"Robot"), ("short_name", &"robot")]).ok().await;
    let key = made["api_key"].as_str().expect("a key").to_owned();
    let new = desdemona.post(&format!("/bots/{}/api_key/regenerate", made["user_id"]), &[]).ok().await;
    let text = desdemona.get("/realm/audit", &[]).ok().await.to_string();
    assert!(text.contains("replaced the API key of the bot Robot"), "{text}");
    for secret in [key.as_str(), new["api_key"].as_str().expect("a key"), hamlet.key.as_str(), "argon2"] {
        assert!(!text.contains(secret));
    }
}
