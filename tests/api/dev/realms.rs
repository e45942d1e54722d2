//! `POST /dev/realms`.

use crate::support::{Params, TestServer, TestUser, poll_for};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::HashSet;

/// An organization that is made within a moment.
const SMALL: &str = r#"{"name": "Acme", "email_domain": "acme.example", "creator": "olga@acme.example",
    "users": [{"email": "olga@acme.example", "full_name": "Olga", "role": "owner"}]}"#;

#[tokio::test]
async fn new_organization_is_a_sample_of_its_own() {
    let t = TestServer::builder().development().start().await;
    let made = t.anonymous().post("/dev/realms", &[]).ok().await;
    let host = made["host"].as_str().unwrap();
    assert!(host.starts_with("test-1.localhost:"), "{made}");
    assert_eq!(made["url"], format!("http://{host}"));
    let users = made["users"].as_array().unwrap();
    let hamlet = users.iter().find(|user| user["email"] == "hamlet@zulip.com").unwrap();
    assert_eq!((&hamlet["full_name"], &hamlet["role"]), (&json!("King Hamlet"), &json!(400)));
    let mut there = t.user("hamlet");
    assert_ne!(hamlet["api_key"], there.key);
    there.key = hamlet["api_key"].as_str().unwrap().to_owned();
    let narrow = json!([["channel", "Verona"], ["topic", "there"]]);
    let message: Params<'_> =
        &[("type", &"channel"), ("to", &"Verona"), ("topic", &"there"), ("content", &"only there")];
    there.post("/messages", message).header("Host", host).ok().await;
    assert!(t.user("hamlet").message_ids(narrow).await.is_empty());

    let fault: Params<'_> = &[("path", &"*/users/me"), ("kind", &"error"), ("code", &"BAD_NARROW")];
    t.anonymous().post("/dev/faults", fault).header("Host", host).ok().await;
    t.user("hamlet").get("/users/me", &[]).ok().await;
    assert_eq!(there.get("/users/me", &[]).header("Host", host).await.status, 400);
}

#[tokio::test]
async fn mails_are_those_of_the_organization_until_it_is_reset() {
    let t = TestServer::builder().development().start().await;
    let anonymous = t.anonymous();
    // Behind a mapped port.
    let mapped = anonymous.post("/dev/realms", &[("seed", &SMALL)]).header("Host", "127.0.0.1:49153");
    let made = mapped.ok().await;
    let host = made["host"].as_str().unwrap();
    assert!(host.ends_with(".localhost:49153"), "{made}");
    let mut olga = t.user("iago");
    olga.email = "olga@acme.example".to_owned();
    olga.key = made["users"][0]["api_key"].as_str().unwrap().to_owned();
    let invite = async |address: &str| {
        let params: Params<'_> = &[("invitee_emails", &address), ("stream_ids", &json!([]))];
        olga.post("/invites", params).header("Host", host).ok().await;
        poll_for("the mail is listed", || async {
            let all = anonymous.get("/emails.json", &[]).header("Host", host).ok().await["emails"].clone();
            let all = all.as_array().unwrap().clone();
            all.iter().any(|mail| mail["to"] == address).then_some(all)
        })
        .await
    };
    let mails = invite("new@acme.example").await;
    assert_eq!(mails.len(), 1);
    assert!(mails[0]["text"].as_str().unwrap().contains(&format!("http://{host}/join/")), "{mails:?}");
    let page = anonymous.http.get(format!("{}/emails", t.url)).header("Host", host).send();
    assert!(page.await.unwrap().text().await.unwrap().contains("new@acme.example"));
    assert_eq!(anonymous.get("/emails.json", &[]).ok().await["emails"], json!([]));
    anonymous.post("/dev/reset", &[]).ok().await;
    assert_eq!(invite("second@acme.example").await.len(), 2);
    anonymous.post("/dev/reset", &[]).header("Host", host).ok().await;
    let none = anonymous.get("/emails.json", &[]).header("Host", host).ok().await;
    assert_eq!(none["emails"], json!([]));
    assert_eq!(invite("third@acme.example").await.len(), 1);
}

#[tokio::test]
async fn subdomain_can_be_chosen_once() {
    let t = TestServer::builder().development().start().await;
    let made = t.anonymous().post("/dev/realms", &[("subdomain", &"acme")]).ok().await;
    assert_eq!(made["subdomain"], "acme");
    t.anonymous().post("/dev/realms", &[("subdomain", &"acme")]).bad("The subdomain acme is in use").await;
    for subdomain in ["not a name!", "Acme", "acme-", "a.b", &"a".repeat(41)] {
        let refused = t.anonymous().post("/dev/realms", &[("subdomain", &subdomain)]);
        refused
            .bad("Invalid subdomain: it has at most 40 characters, which are lower-case letters (a to z), digits and hyphens, without \
                  a hyphen at the beginning or the end")
            .await;
    }
}

#[tokio::test]
async fn organizations_made_at_the_same_time_have_subdomains_of_their_own() {
    let t = TestServer::builder().development().start().await;
    let anonymous = t.anonymous();
    anonymous.post("/dev/realms", &[("subdomain", &"test-2"), ("seed", &SMALL)]).ok().await;
    let made = join_all((0..50).map(|_| anonymous.post("/dev/realms", &[("seed", &SMALL)]).ok())).await;
    let subdomains: HashSet<&str> = made.iter().map(|made| made["subdomain"].as_str().unwrap()).collect();
    assert_eq!(subdomains.len(), 50, "{subdomains:?}");
    assert!(subdomains.contains("test-1") && !subdomains.contains("test-2"), "{subdomains:?}");
    let keys: HashSet<&str> = made.iter().map(|made| made["users"][0]["api_key"].as_str().unwrap()).collect();
    assert_eq!(keys.len(), 50);
}

#[tokio::test]
async fn subdomain_that_is_asked_for_at_the_same_time_is_in_use_for_all_but_one() {
    let t = TestServer::builder().development().start().await;
    let anonymous = t.anonymous();
    let parameters: Params<'_> = &[("subdomain", &"acme"), ("seed", &SMALL)];
    let calls = (0..10).map(|_| anonymous.post("/dev/realms", parameters).into_future());
    let answers = join_all(calls).await;
    let refused = answers.iter().filter(|answer| answer.status == 400);
    let refusals: Vec<&str> = refused.map(|answer| answer.body["msg"].as_str().unwrap()).collect();
    assert_eq!(refusals, ["The subdomain acme is in use"; 9]);
}

#[tokio::test]
async fn seed_may_be_larger_than_other_parameters() {
    let t = TestServer::builder().development().start().await;
    // 4 MB, of which the form makes 10; compressed, all messages would fit into one frame.
    let messages = vec!["é! ".repeat(3300); 300];
    let mut seed: Value = serde_json::from_str(SMALL).unwrap();
    seed["channels"] = json!([{"name": "plans", "subscribers": "everyone"}]);
    seed["topics"] =
        json!([{"channel": "plans", "name": "t", "writers": ["olga@acme.example"], "messages": messages}]);
    let seed = seed.to_string();
    assert!(seed.len() > 3_900_000, "{}", seed.len());
    let made = t.anonymous().post("/dev/realms", &[("seed", &seed)]).ok().await;
    assert_eq!(made["users"][0]["email"], "olga@acme.example");
    let other = t.anonymous().post("/dev/faults", &[("path", &seed)]).await;
    assert_eq!(other.status, 413, "{other:?}");
}

#[tokio::test]
async fn permissions_of_a_seed_are_those_of_the_organization() {
    let t = TestServer::builder().development().start().await;
    let mut seed: Value = serde_json::from_str(SMALL).unwrap();
    let pia = json!({"email": "pia@acme.example", "full_name": "Pia"});
    let max = json!({"email": "max@acme.example", "full_name": "Max"});
    seed["users"].as_array_mut().unwrap().extend([pia, max]);
    seed["groups"] = json!([{"name": "designers", "members": ["max@acme.example"]}]);
    seed["settings"] = json!({
        "can_create_public_channel_group": {"users": ["pia@acme.example"]},
        "can_create_private_channel_group": "role:moderators",
        "can_add_custom_emoji_group": "designers",
    });
    let made = t.anonymous().post("/dev/realms", &[("seed", &seed.to_string())]).ok().await;
    let host = made["host"].as_str().unwrap();
    let person = |number: usize| {
        let mut user = t.user("hamlet");
        let account = &made["users"][number];
        user.email = account["email"].as_str().unwrap().to_owned();
        (user.api_email, user.key) = (user.email.clone(), account["api_key"].as_str().unwrap().to_owned());
        user
    };
    let (pia, max) = (person(1), person(2));
    let state = pia.post("/register", &[]).header("Host", host).ok().await;
    let groups = state["realm_user_groups"].as_array().unwrap();
    let id = |name: &str| groups.iter().find(|group| group["name"] == name).unwrap()["id"].clone();
    let only_pia = json!({"direct_members": [made["users"][1]["user_id"]], "direct_subgroups": []});
    assert_eq!(state["realm_can_create_public_channel_group"], only_pia);
    assert_eq!(state["realm_can_create_private_channel_group"], id("role:moderators"));
    assert_eq!(state["realm_can_add_custom_emoji_group"], id("designers"));
    let create = |user: &TestUser, name: &str| {
        let channels = json!([{"name": name}]);
        user.post("/users/me/subscriptions", &[("subscriptions", &channels)]).header("Host", host)
    };
    create(&pia, "plans").ok().await;
    assert_eq!(create(&max, "others").await.status, 400);
}

#[tokio::test]
async fn address_of_an_organization_has_the_port_that_the_server_was_called_at() {
    let t = TestServer::builder().development().start().await;
    let call = t.anonymous().post("/dev/realms", &[("seed", &SMALL)]);
    let made = call.header("Host", "127.0.0.1:49153").ok().await;
    assert_eq!(made["host"], "test-1.localhost:49153");
    assert_eq!(made["url"], "http://test-1.localhost:49153");
}

#[tokio::test]
async fn mails_of_the_first_organization_have_the_port_that_the_server_was_called_at() {
    let t = TestServer::builder().development().start().await;
    let anonymous = t.anonymous();
    anonymous.get("/server_settings", &[]).header("Host", "127.0.0.1:49153").ok().await;
    let params: Params<'_> = &[("invitee_emails", &"new@zulip.com"), ("stream_ids", &json!([]))];
    t.user("iago").post("/invites", params).ok().await;
    let mail = poll_for("the mail is listed", || async {
        anonymous.get("/emails.json", &[]).ok().await["emails"].as_array().unwrap().first().cloned()
    });
    let mail = mail.await;
    assert!(mail["text"].as_str().unwrap().contains("http://127.0.0.1:49153/join/"), "{mail}");
}
