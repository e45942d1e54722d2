//! `POST /dev/realms`.

use crate::support::TestServer;
use serde_json::json;

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
    let message: crate::support::Params<'_> =
        &[("type", &"channel"), ("to", &"Verona"), ("topic", &"there"), ("content", &"only there")];
    there.post("/messages", message).header("Host", host).ok().await;
    assert!(t.user("hamlet").message_ids(narrow).await.is_empty());

    let fault: crate::support::Params<'_> =
        &[("path", &"*/users/me"), ("kind", &"error"), ("code", &"BAD_NARROW")];
    t.anonymous().post("/dev/faults", fault).header("Host", host).ok().await;
    t.user("hamlet").get("/users/me", &[]).ok().await;
    assert_eq!(there.get("/users/me", &[]).header("Host", host).await.status, 400);
}

#[tokio::test]
async fn subdomain_can_be_chosen_once() {
    let t = TestServer::builder().development().start().await;
    let made = t.anonymous().post("/dev/realms", &[("subdomain", &"acme")]).ok().await;
    assert_eq!(made["subdomain"], "acme");
    t.anonymous().post("/dev/realms", &[("subdomain", &"acme")]).bad("The subdomain acme is in use").await;
    assert_eq!(t.anonymous().post("/dev/realms", &[("subdomain", &"not a name!")]).await.status, 400);
}
