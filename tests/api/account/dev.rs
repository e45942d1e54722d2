//! `POST /dev_fetch_api_key` and `GET /dev_list_users`, which only development servers offer.

use crate::support::TestServer;
use crate::support::shape::fields;
use serde_json::json;

#[tokio::test]
async fn dev_server_gives_api_keys_without_password() {
    let t = TestServer::builder().development().start().await;
    let anonymous = t.anonymous();
    let iago = t.user("iago");
    let body = anonymous.post("/dev_fetch_api_key", &[("username", &"iago@zulip.com")]).ok().await;
    assert_eq!(fields(&body), ["api_key", "email", "user_id"]);
    assert_eq!((&body["api_key"], &body["user_id"]), (&json!(iago.key), &json!(iago.id)));
    let password: crate::support::Params<'_> =
        &[("username", &"iago@zulip.com"), ("password", &"iago@zulip.com")];
    assert_eq!(anonymous.post("/fetch_api_key", password).ok().await["api_key"], json!(iago.key));
    let body = anonymous.get("/dev_list_users", &[]).ok().await;
    assert_eq!(fields(&body), ["direct_admins", "direct_users"]);
    let addresses = |list: &str| {
        let list = body[list].as_array().unwrap().iter();
        let mut list: Vec<&str> = list.map(|user| user["email"].as_str().unwrap()).collect();
        list.sort_unstable();
        list
    };
    assert_eq!(addresses("direct_admins"), ["desdemona@zulip.com", "iago@zulip.com"]);
    let users = addresses("direct_users");
    assert!(users.contains(&"hamlet@zulip.com") && users.contains(&"polonius@zulip.com"), "{users:?}");
    assert!(!users.iter().any(|user| user.contains("bot")), "{users:?}");
}

#[tokio::test]
async fn sample_organization_content() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let state = hamlet.register().modern().await.state;
    let names = |key: &str, field: &str| {
        let mut names: Vec<String> = state[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item[field].as_str().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    let subscribed = names("subscriptions", "name");
    for name in ["Denmark", "Rome", "Scotland", "Venice", "Verona"] {
        assert!(subscribed.contains(&name.to_owned()), "{subscribed:?}");
    }
    assert!(!names("streams", "name").contains(&"core team".to_owned()));
    let people = names("realm_users", "full_name");
    for name in ["Desdemona", "Iago", "Shiva", "Zoe", "King Hamlet", "Polonius", "Zulip Default Bot"] {
        assert!(people.contains(&name.to_owned()), "{people:?}");
    }
    assert!(names("realm_user_groups", "name").contains(&"hamletcharacters".to_owned()));
    let iago = t.user("iago").register().await.state;
    assert!(iago["streams"].as_array().unwrap().iter().any(|channel| channel["name"] == "core team"));
    assert!(state["max_message_id"].as_u64().unwrap() >= 200);
    assert!(hamlet.message_ids(json!([["is", "dm"]])).await.len() > 5);
    assert!(hamlet.message_ids(json!([["channel", "Verona"]])).await.len() > 20);
}

#[tokio::test]
async fn sample_organization_has_an_uploaded_picture() {
    let t = TestServer::builder().development().start().await;
    let [hamlet, cordelia] = t.users(["hamlet", "cordelia"]);
    let messages = cordelia.messages(json!([["has", "attachment"]])).await;
    let [message] = &messages[..] else { panic!("{messages:?}") };
    let html = message["content"].as_str().unwrap();
    assert!(html.contains("data-original-dimensions=\"320x200\""), "{html}");
    let list = hamlet.get("/attachments", &[]).ok().await;
    let file = &list["attachments"][0];
    assert_eq!((&file["name"], &file["messages"][0]["id"]), (&json!("buckets.png"), &message["id"]));
    let path = format!("/user_uploads/{}", file["path_id"].as_str().unwrap());
    let (status, kind, bytes) = cordelia.fetch(&path).await;
    assert_eq!((status, kind.as_str()), (200, "image/png"));
    assert_eq!(bytes, include_bytes!("../../../src/dev/buckets.png"));
}

#[tokio::test]
async fn dev_fetch_api_key_errors() {
    let t = TestServer::builder().development().start().await;
    let answer = t.anonymous().post("/dev_fetch_api_key", &[("username", &"nobody@zulip.com")]).await;
    assert_eq!(answer.body["result"], "error", "{answer:?}");
    let missing = json!({
        "msg": "Missing 'username' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "username"
    });
    t.anonymous().post("/dev_fetch_api_key", &[]).refused(400, missing).await;
    let serious = TestServer::start().await;
    let answer = serious.anonymous().post("/dev_fetch_api_key", &[("username", &"iago@zulip.com")]).await;
    assert_eq!((answer.body["result"].clone(), answer.body.get("api_key")), (json!("error"), None));
    let answer = serious.anonymous().get("/dev_list_users", &[]).await;
    assert_eq!((answer.body["result"].clone(), answer.body.get("direct_users")), (json!("error"), None));
}
