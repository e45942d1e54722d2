//! `POST /bots` and `GET /bots`.

use super::{make, shown};
use crate::api::pictures::png;
use crate::support::shape::fields;
use crate::support::{Param, Params, TestServer};
use serde_json::{Value, json};

#[tokio::test]
async fn create_bot_usable_immediately() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = hamlet.create_channel("Verona").await;
    let (bot, body) = make(&hamlet, "rec", &[]).await;
    assert_eq!(
        fields(&body),
        [
            "api_key",
            "avatar_url",
            "default_all_public_streams",
            "default_events_register_stream",
            "default_sending_stream",
            "user_id"
        ]
    );
    assert_eq!(body["default_sending_stream"], Value::Null);
    assert_eq!(body["default_all_public_streams"], false);
    let me = bot.get("/users/me", &[]).ok().await;
    assert_eq!(me["bot_type"], 1);
    assert_eq!(me["bot_owner_id"], hamlet.id);
    assert_eq!(me["email"], "rec-bot@zulipdev.com");
    assert_eq!(me["role"], 400);
    bot.send(&channel, "t", "hello").await;
    // The list shows its owner the API key and the services.
    let bots = hamlet.get("/bots", &[]).ok().await;
    let bots = bots["bots"].as_array().unwrap().clone();
    assert_eq!(bots.len(), 1);
    assert_eq!(bots[0]["username"], "rec-bot@zulipdev.com");
    assert_eq!(bots[0]["api_key"], json!(bot.key));
    assert_eq!(
        fields(&bots[0]),
        [
            "api_key",
            "avatar_url",
            "default_all_public_streams",
            "default_events_register_stream",
            "default_sending_stream",
            "full_name",
            "username"
        ]
    );
    // Administrators see the bot without its key; other users do not see it.
    let seen = shown(&iago, &bot).await.unwrap();
    assert_eq!((&seen["owner_id"], &seen["services"]), (&json!(hamlet.id), &json!([])));
    assert_eq!(
        (&seen["api_key"], &shown(&hamlet, &bot).await.unwrap()["api_key"]),
        (&json!(""), &json!(bot.key))
    );
    assert!(shown(&t.user("othello"), &bot).await.is_none());
    assert_eq!(iago.get("/bots", &[]).ok().await["bots"], json!([]));
}

#[tokio::test]
async fn create_bot_defaults_and_services() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    hamlet.create_channel("Verona").await;
    let (kind, url) = (3, json!("https://bots.example.com/hook"));
    let params: Params<'_> = &[
        ("bot_type", &kind),
        ("payload_url", &url),
        ("interface_type", &2),
        ("default_sending_stream", &"Verona"),
        ("default_events_register_stream", &"Verona"),
        ("default_all_public_streams", &true),
        ("config_data", &"{}"),
    ];
    let (bot, body) = make(&hamlet, "out", params).await;
    assert_eq!(body["default_sending_stream"], "Verona");
    assert_eq!(body["default_events_register_stream"], "Verona");
    assert_eq!(body["default_all_public_streams"], true);
    let seen = shown(&hamlet, &bot).await.unwrap();
    let services = seen["services"].as_array().unwrap();
    assert_eq!(services.len(), 1);
    assert_eq!(services[0]["base_url"], "https://bots.example.com/hook");
    assert_eq!(services[0]["interface"], 2);
    let token = services[0]["token"].as_str().unwrap();
    assert!(token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{token}");
    assert_ne!(token, bot.key);
    // A value that is not valid JSON is taken as a plain string.
    let plain: Params<'_> = &[("bot_type", &kind), ("payload_url", &"http://bots.example.com")];
    make(&hamlet, "plain", plain).await;
}

#[tokio::test]
async fn create_bot_errors() {
    let t = TestServer::start().await;
    let [hamlet, polonius] = t.users(["hamlet", "polonius"]);
    let secret = t.user("iago").create_channel("secret").private().await;
    let default_bot = t.user("default-bot");
    make(&hamlet, "taken", &[]).await;
    let good: Params<'_> = &[("full_name", &"Good"), ("short_name", &"good")];
    polonius.post("/bots", good).bad("Not allowed for guest users").await;
    default_bot.post("/bots", good).bad("This endpoint does not accept bot requests.").await;
    let files = "--b\r\nContent-Disposition: form-data; name=\"full_name\"\r\n\r\nGood\r\n--b\r\n\
                 Content-Disposition: form-data; name=\"short_name\"\r\n\r\ngood\r\n--b--\r\n";
    for name in ["full_name", "short_name"] {
        let rest: Vec<_> = good.iter().copied().filter(|(other, _)| *other != name).collect();
        let missing = json!({
            "msg": format!("Missing '{name}' argument"), "code": "REQUEST_VARIABLE_MISSING", "var_name": name
        });
        hamlet.post("/bots", &rest).refused(400, missing).await;
    }
    let long = "n".repeat(101);
    let cases: [(&[(&str, &str)], &str); 21] = [
        (&[("short_name", "")], "Bad name or username"),
        (&[("short_name", "a b")], "Bad name or username"),
        (&[("short_name", "a@b")], "Bad name or username"),
        (&[("short_name", "taken")], "Username already in use"),
        (&[("short_name", "TAKEN")], "Username already in use"),
        (&[("full_name", "King Hamlet")], "Name is already in use!"),
        (&[("full_name", "taken the bot")], "Name is already in use!"),
        (&[("full_name", "B")], "Name too short!"),
        (&[("full_name", "B*t")], "Invalid characters in name!"),
        (&[("full_name", &long)], "Name too long!"),
        (&[("bot_type", "0")], "Invalid bot type"),
        (&[("bot_type", "5")], "Invalid bot type"),
        (&[("bot_type", "4")], "Embedded bots are not enabled."),
        (&[("bot_type", "4"), ("config_data", "{\"a\": \"b\"}")], "Embedded bots are not enabled."),
        (&[("interface_type", "3")], "Invalid interface type"),
        (&[("bot_type", "3"), ("service_name", &long)], "service_name is too long (limit: 100 characters)"),
        (&[("bot_type", "3"), ("payload_url", "\"nowhere\"")], "Invalid payload_url: Value error, Not a URL"),
        (
            &[("bot_type", "3"), ("payload_url", "\"http://127.0.0.:5002\"")],
            "Invalid payload_url: Value error, Not a URL",
        ),
        (
            &[("bot_type", "3"), ("payload_url", "\"ftp://a.example\"")],
            "Invalid payload_url: Value error, Not a URL",
        ),
        (&[("default_sending_stream", "nowhere")], "Invalid channel name 'nowhere'"),
        (&[("default_events_register_stream", &secret.name)], "Invalid channel name 'secret'"),
    ];
    for (changes, msg) in cases {
        let mut params: Vec<Param<'_>> = good.to_vec();
        for (name, value) in changes {
            params.retain(|(known, _)| known != name);
            params.push((name, value));
        }
        let answer = hamlet.post("/bots", &params).await;
        assert_eq!((answer.status, answer.body["msg"].as_str()), (400, Some(msg)), "{changes:?}");
        assert_eq!(answer.body["code"], "BAD_REQUEST");
    }
    // The failed requests created no bot; a form without files creates one.
    assert_eq!(hamlet.get("/bots", &[]).ok().await["bots"].as_array().unwrap().len(), 1);
    let form = "multipart/form-data; boundary=b";
    hamlet.send_body(reqwest::Method::POST, "/bots", form, files.into()).ok().await;
}

#[tokio::test]
async fn create_bot_permissions() {
    let t = TestServer::start().await;
    let [desdemona, shiva, hamlet] = t.users(["desdemona", "shiva", "hamlet"]);
    let group = |name: &str| t.realm().directory().group_by_name(name).unwrap().id.0;
    let restrict = async |setting: &'static str, name: &str| {
        let value = json!({"new": group(name)});
        desdemona.patch("/realm", &[(setting, &value)]).ok().await;
    };
    restrict("can_create_bots_group", "role:moderators").await;
    let try_it = async |name: &'static str, kind: u8| {
        let params: Params<'_> = &[("full_name", &name), ("short_name", &name), ("bot_type", &kind)];
        hamlet.post("/bots", params).await
    };
    for kind in [1, 3] {
        assert_eq!(try_it("generic", kind).await.body["msg"], "Insufficient permission");
    }
    assert_eq!(try_it("writer", 2).await.status, 200);
    restrict("can_create_write_only_bots_group", "role:nobody").await;
    assert_eq!(try_it("second", 2).await.body["msg"], "Insufficient permission");
    // Permission to create any bot includes bots that may only send.
    make(&shiva, "mod", &[("bot_type", &2)]).await;
    make(&shiva, "any", &[]).await;
}

#[tokio::test]
async fn incoming_webhook_bot_may_only_send() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let channel = hamlet.create_channel("Verona").await;
    let (bot, _) = make(&hamlet, "in", &[("bot_type", &2)]).await;
    bot.send(&channel, "t", "built").await;
    for path in ["/users/me", "/messages", "/bots"] {
        bot.get(path, &[]).bad("This API is not available to incoming webhook bots.").await;
    }
}

#[tokio::test]
async fn bot_default_streams() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let rome = hamlet.create_channel("Rome").await;
    let params: Params<'_> =
        &[("default_sending_stream", &"Verona"), ("default_events_register_stream", &"Verona")];
    let (bot, _) = make(&hamlet, "shy", params).await;
    bot.post("/messages", &[("type", &"stream"), ("topic", &"t"), ("content", &"here")]).ok().await;
    let found = hamlet.messages(json!([{"operator": "channel", "operand": verona.id}])).await;
    assert!(found.iter().any(|message| message["content"].as_str().unwrap().contains("here")));
    // All public channels, but only messages from the default one.
    let mut queue = bot.register().events(&["message"]).set("all_public_streams", json!(true)).await;
    hamlet.send(&rome, "t", "elsewhere").await;
    let id = hamlet.send(&verona, "t", "for bots").await;
    assert_eq!(queue.next().await["message"]["id"], id);
    let (curious, _) = make(&hamlet, "curious", &[("default_all_public_streams", &true)]).await;
    let mut queue = curious.register().events(&["message"]).await;
    let id = hamlet.send(&rome, "t", "for all").await;
    assert_eq!(queue.next().await["message"]["id"], id);
}

/// A bot that exists without the answer that has its key could not be used, and its name would be taken.
#[tokio::test]
async fn bot_whose_avatar_cannot_be_stored_is_not_created() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let create = || {
        let params: Params<'_> = &[("full_name", &"Painted"), ("short_name", &"painted")];
        hamlet.upload("/bots", params, &[("a.png", png())])
    };
    // Where the folder of the files is, there is a file now.
    let (blobs, aside) = (t.data().join("blobs"), t.data().join("aside"));
    std::fs::rename(&blobs, &aside).unwrap();
    std::fs::write(&blobs, "").unwrap();
    let failed = create().await;
    assert_eq!((failed.status, &failed.body["code"]), (503, &json!("FILES_UNAVAILABLE")), "{failed:?}");
    assert_eq!(hamlet.get("/bots", &[]).ok().await["bots"], json!([]));
    std::fs::remove_file(&blobs).unwrap();
    std::fs::rename(&aside, &blobs).unwrap();
    // The name is free.
    let made = create().ok().await;
    assert!(made["avatar_url"].as_str().unwrap().starts_with("/user_avatars/"), "{made}");
}

#[tokio::test]
async fn create_bot_with_avatar() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let part = |name: &str, value: &str| {
        format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let file = |name: &str, bytes: &[u8]| {
        let head =
            format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"a.png\"\r\n\r\n");
        [head.as_bytes(), bytes, b"\r\n"].concat()
    };
    let picture = png();
    let form = async |path: &str, method: reqwest::Method, parts: Vec<Vec<u8>>| {
        let body = [parts.concat(), b"--b--\r\n".to_vec()].concat();
        hamlet.send_body(method, path, "multipart/form-data; boundary=b", body).await
    };
    let names = |name: &str| [part("full_name", name), part("short_name", name)].concat().into_bytes();
    let post = reqwest::Method::POST;
    let answer = form("/bots", post.clone(), vec![names("painted"), file("f", &picture)]).await.ok();
    let url = answer["avatar_url"].as_str().unwrap();
    assert!(url.starts_with("/user_avatars/"), "{url}");
    let path = format!("/bots/{}", answer["user_id"]);
    let again = form(&path, reqwest::Method::PATCH, vec![file("f", &picture)]).await.ok();
    assert_ne!(again["avatar_url"], answer["avatar_url"]);
    // A bot with an invalid avatar is not created.
    let bad = form("/bots", post.clone(), vec![names("blank"), file("f", b"no picture")]).await;
    assert_eq!((bad.status, bad.body["code"].as_str()), (400, Some("BAD_IMAGE")));
    let two = vec![names("blank"), file("f", &picture), file("g", &picture)];
    assert_eq!(form("/bots", post, two).await.body["msg"], "You may only upload one file at a time");
    assert_eq!(hamlet.get("/bots", &[]).ok().await["bots"].as_array().unwrap().len(), 1);
}
