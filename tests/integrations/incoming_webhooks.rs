//! Incoming webhooks: `POST /external/{integration}`.

use crate::api::bots::make;
use crate::support::channel::Channel;
use crate::support::{ApiResponse, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

/// An owner, a bot of the kind for incoming webhooks, and a channel.
async fn stage() -> (TestServer, TestUser, TestUser, Channel) {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let channel = hamlet.create_channel("harbour").await;
    let (bot, _) = make(&hamlet, "hook", &[("bot_type", &2)]).await;
    (t, hamlet, bot, channel)
}

async fn post(
    bot: &TestUser,
    name: &str,
    query: &[(&str, &str)],
    body: &Value,
    header: Option<(&str, &str)>,
) -> ApiResponse {
    let mut pairs = vec![("api_key", bot.key.as_str())];
    pairs.extend(query);
    post_as(bot, name, &pairs, "application/json", body.to_string().into_bytes(), header).await
}

async fn post_as(
    bot: &TestUser,
    name: &str,
    query: &[(&str, &str)],
    kind: &str,
    body: Vec<u8>,
    header: Option<(&str, &str)>,
) -> ApiResponse {
    let anonymous = TestUser { key: String::new(), ..bot.clone() };
    let mut call = anonymous.send_body(Method::POST, &format!("/external/{name}"), kind, body);
    call.request = call.request.query(query);
    if let Some((name, value)) = header {
        call = call.header(name, value);
    }
    call.await
}

fn starred(is_private: bool) -> Value {
    let repository = json!({
        "name": "pier", "full_name": "tidewater/pier", "html_url": "https://github.com/tidewater/pier", "private": is_private,
    });
    json!({
        "action": "created",
        "repository": repository,
        "sender": {"login": "mara", "html_url": "https://github.com/mara"},
    })
}

const STAR: Option<(&str, &str)> = Some(("X-GitHub-Event", "star"));
const TEXT: &str = "[mara](https://github.com/mara) starred the repository \
                    [tidewater/pier](https://github.com/tidewater/pier).";

async fn newest(person: &TestUser) -> Value {
    person.messages(json!([])).await.last().cloned().unwrap_or_default()
}

#[tokio::test]
async fn delivery_becomes_a_message_of_the_bot() {
    let (_t, hamlet, bot, channel) = stage().await;
    let answer = post(&bot, "github", &[("stream", "harbour")], &starred(false), STAR).await;
    assert_eq!(answer.ok(), json!({"result": "success", "msg": ""}));
    let sent = newest(&hamlet).await;
    assert_eq!((&sent["subject"], &sent["sender_id"]), (&json!("pier"), &json!(bot.id)));
    assert_eq!((&sent["client"], &sent["stream_id"]), (&json!("ZulipGitHubWebhook"), &json!(channel.id)));
    assert!(sent["content"].as_str().unwrap().contains("starred the repository"), "{sent}");
    // By id, with a topic in the URL.
    let id = channel.id.to_string();
    post(&bot, "github", &[("stream", &id), ("topic", "  stars ")], &starred(false), STAR).await.ok();
    assert_eq!(newest(&hamlet).await["subject"], "stars");
    // Without a channel: to the owner.
    post(&bot, "github", &[], &starred(false), STAR).await.ok();
    let sent = newest(&hamlet).await;
    assert_eq!((&sent["type"], &sent["sender_id"]), (&json!("private"), &json!(bot.id)));
    let source = hamlet.get(&format!("/messages/{}", sent["id"]), &[("apply_markdown", &false)]).ok().await;
    assert_eq!(source["message"]["content"], TEXT);
}

#[tokio::test]
async fn filters_keep_events_away() {
    let (_t, hamlet, bot, _channel) = stage().await;
    let before = newest(&hamlet).await;
    for query in [
        ("exclude_events", "[\"star\"]"),
        ("exclude_events", "[\"push\", \"st*\"]"),
        ("only_events", "[\"push*\"]"),
        ("only_events", "[]"),
    ] {
        post(&bot, "github", &[("stream", "harbour"), query], &starred(false), STAR).await.ok();
    }
    let private = [("stream", "harbour"), ("ignore_private_repositories", "true")];
    post(&bot, "github", &private, &starred(true), STAR).await.ok();
    assert_eq!(newest(&hamlet).await, before);
    post(&bot, "github", &[("stream", "harbour"), ("only_events", "[\"s?ar\"]")], &starred(true), STAR)
        .await
        .ok();
    assert_ne!(newest(&hamlet).await, before);
    for (query, msg) in [
        (("only_events", "star"), "only_events is not valid JSON"),
        (("exclude_events", "5"), "exclude_events is not a list"),
        (("exclude_events", "[1]"), "exclude_events[0] is not a string"),
        (("ignore_private_repositories", "5"), "ignore_private_repositories is not a boolean"),
    ] {
        post(&bot, "github", &[("stream", "harbour"), query], &starred(false), STAR).await.bad(msg);
    }
}

#[tokio::test]
async fn deliveries_that_are_not_understood() {
    let (t, hamlet, bot, _channel) = stage().await;
    let to = [("stream", "harbour")];
    let answer = post(&bot, "github", &to, &starred(false), Some(("X-GitHub-Event", "no_such_event"))).await;
    let mut unknown = starred(false);
    unknown.as_object_mut().unwrap().remove("action");
    assert_eq!((answer.status, &answer.body["event_type"]), (200, &json!("no_such_event:created")));
    let answer = post(&bot, "github", &to, &unknown, Some(("X-GitHub-Event", "no_such_event"))).await;
    assert_eq!(
        answer.body,
        json!({
            "result": "success",
            "msg": "The 'no_such_event:???' event isn't currently supported by the GitHub webhook; ignoring",
            "webhook_name": "GitHub", "event_type": "no_such_event:???", "code": "UNSUPPORTED_WEBHOOK_EVENT_TYPE",
        })
    );
    let missing = json!({
        "msg": "Missing the HTTP event header 'X-GitHub-Event'", "header": "X-GitHub-Event",
        "code": "MISSING_HTTP_EVENT_HEADER",
    });
    post(&bot, "github", &to, &starred(false), None).await.refused(400, missing);
    // The owner is notified, once in five minutes.
    let received = newest(&hamlet).await;
    assert_eq!(received["sender_full_name"], "Notification Bot");
    assert!(received["content"].as_str().unwrap().contains("X-GitHub-Event"), "{received}");
    let broken = json!({
        "msg": "Unable to parse request: Did GitHub generate this event?", "webhook_name": "GitHub",
        "code": "ANOMALOUS_WEBHOOK_PAYLOAD",
    });
    post(&bot, "github", &to, &json!({"action": "created"}), STAR).await.refused(400, broken);
    post(&bot, "json", &to, &json!([1, 2]), None).await.bad("request is not a dict");
    let key = [("api_key", bot.key.as_str()), ("stream", "harbour")];
    for body in [&b"hello"[..], b"", b"{", b"\xff\xfe"] {
        post_as(&bot, "json", &key, "application/json", body.to_vec(), None).await.bad("Malformed JSON");
    }
    let unknown = json!({"msg": "Not Found", "code": "NOT_FOUND"});
    post(&bot, "no_such_service", &to, &json!({}), None).await.refused(404, unknown);
    assert_eq!(newest(&hamlet).await, received);
    drop(t);
}

#[tokio::test]
async fn bodies_are_json_or_forms() {
    let (_t, hamlet, bot, _channel) = stage().await;
    let key = [("api_key", bot.key.as_str()), ("stream", "harbour")];
    let form = "application/x-www-form-urlencoded";
    let payload =
        br#"payload=%7B%22text%22%3A%22deployed+*v2*%22%2C%22channel%22%3A%22%23devops%22%7D"#.to_vec();
    let answer = post_as(&bot, "slack_incoming", &key, form, payload, None).await.ok();
    assert_eq!(answer, json!({"result": "success", "msg": "", "ok": true}));
    let sent = newest(&hamlet).await;
    assert_eq!(sent["subject"], "devops");
    assert_eq!(sent["content"], "<p>deployed <strong>v2</strong></p>");
    // As `curl -d` sends it.
    post_as(&bot, "slack_incoming", &key, form, br#"{"text":"plain"}"#.to_vec(), None).await.ok();
    assert_eq!(newest(&hamlet).await["content"], "<p>plain</p>");
}

#[tokio::test]
async fn keys_decide_who_sends() {
    let (t, hamlet, bot, channel) = stage().await;
    let othello = t.user("othello");
    let body = json!({"a": 1}).to_string().into_bytes();
    let send = |query: Vec<(&'static str, String)>| {
        let (bot, body) = (bot.clone(), body.clone());
        async move {
            let query: Vec<(&str, &str)> =
                query.iter().map(|(name, value)| (*name, value.as_str())).collect();
            post_as(&bot, "json", &query, "application/json", body, None).await
        }
    };
    let missing = json!({"msg": "Missing 'api_key' argument", "var_name": "api_key", "code": "REQUEST_VARIABLE_MISSING"});
    send(vec![("stream", "harbour".into())]).await.refused(400, missing);
    for (key, msg) in [("A".repeat(32), "Invalid API key"), ("short".into(), "Malformed API key")] {
        let refusal = json!({"msg": msg, "code": "INVALID_API_KEY"});
        send(vec![("api_key", key), ("stream", "harbour".into())]).await.refused(401, refusal);
    }
    // The key of a person sends as that person, but has no owner to write to.
    send(vec![("api_key", hamlet.key.clone()), ("stream", "harbour".into())]).await.ok();
    assert_eq!(newest(&hamlet).await["sender_id"], hamlet.id);
    let missing =
        json!({"msg": "Missing 'stream' argument", "var_name": "stream", "code": "REQUEST_VARIABLE_MISSING"});
    send(vec![("api_key", hamlet.key.clone())]).await.refused(400, missing);
    // The rights are those of the bot.
    let secret = othello.create_channel("secret").private().await;
    let before = newest(&othello).await;
    for name in ["secret".to_owned(), secret.id.to_string(), "no such channel".to_owned()] {
        send(vec![("api_key", bot.key.clone()), ("stream", name)]).await.ok();
    }
    assert_eq!(newest(&othello).await, before);
    let received = newest(&hamlet).await;
    assert_eq!(received["sender_full_name"], "Notification Bot", "{received}");
    // Nothing else works with the key in the URL, and with another method.
    let call = hamlet.get(&format!("/external/json?api_key={}", bot.key), &[]);
    assert_eq!(call.await.status, 405);
    hamlet.delete(&format!("/bots/{}", bot.id), &[]).ok().await;
    let refusal = json!({"msg": "Account is deactivated", "code": "USER_DEACTIVATED"});
    send(vec![("api_key", bot.key.clone()), ("stream", channel.id.to_string())]).await.refused(401, refusal);
}

#[tokio::test]
async fn bodies_and_messages_are_bounded() {
    let t = TestServer::builder().set("incoming_webhooks.body_bytes_max", 20_000).start().await;
    let hamlet = t.user("hamlet");
    hamlet.create_channel("harbour").await;
    let (bot, _) = make(&hamlet, "hook", &[("bot_type", &2)]).await;
    let to = [("stream", "harbour")];
    let long = json!({"text": "x".repeat(15_000), "channel": "y".repeat(200)});
    post(&bot, "slack_incoming", &to, &long, None).await.ok();
    let sent = newest(&hamlet).await;
    assert_eq!(sent["subject"].as_str().unwrap().chars().count(), 60);
    assert!(sent["content"].as_str().unwrap().contains("[message truncated]"), "truncated");
    let answer = post(&bot, "slack_incoming", &to, &json!({"text": "x".repeat(30_000)}), None).await;
    let msg = json!({"msg": "Request body is too large (limit: 20000 bytes)", "code": "BAD_REQUEST"});
    answer.refused(413, msg);
}

#[tokio::test]
async fn wildcard_mentions_do_not_get_through() {
    let (_t, hamlet, bot, _channel) = stage().await;
    let push = json!({
        "ref": "refs/heads/main", "compare": "https://x.example", "deleted": false, "forced": false,
        "commits": [{"id": "a".repeat(40), "url": "https://x.example/a", "message": "hi @**all** @**King Hamlet**", "author": {"name": "mara"}}],
        "repository": {"name": "pier", "private": false}, "sender": {"login": "mara"},
    });
    post(&bot, "github", &[("stream", "harbour")], &push, Some(("X-GitHub-Event", "push"))).await.ok();
    let sent = newest(&hamlet).await;
    assert!(!sent["content"].as_str().unwrap().contains("user-mention"), "{sent}");
    assert!(!sent["flags"].as_array().unwrap().iter().any(|flag| flag.as_str().unwrap().contains("mention")));
}

#[tokio::test]
async fn clients_are_offered_the_catalog() {
    let t = TestServer::start().await;
    let queue = t.user("hamlet").register().events(&["realm_incoming_webhook_bots"]).await;
    let offered = queue.state["realm_incoming_webhook_bots"].as_array().unwrap().clone();
    let github = offered.iter().find(|offer| offer["name"] == "github").unwrap();
    assert_eq!(github["display_name"], "GitHub");
    assert!(github["all_event_types"].as_array().unwrap().contains(&json!("star")));
    assert_eq!(github["url_options"][1]["key"], "ignore_private_repositories");
    assert_eq!(github["config_options"], json!([]));
    let json = offered.iter().find(|offer| offer["name"] == "json").unwrap();
    assert_eq!(json["all_event_types"], Value::Null);
    let bitbucket = offered.iter().find(|offer| offer["name"] == "bitbucket2").unwrap();
    assert_eq!(bitbucket["display_name"], "Bitbucket");
}

#[tokio::test]
async fn operators_add_integrations() {
    let folder = tempfile::tempdir().unwrap();
    let acme = r#"
        name = "acme"
        display_name = "Acme"
        [[events]]
        name = "alarm"
        when = "payload.alarm"
        topic = "{{ payload.alarm }}"
        body = "**{{ payload.alarm }}** rings"
        sample = { payload = '{"alarm": "fire"}' }
    "#;
    std::fs::write(folder.path().join("acme.toml"), acme).unwrap();
    let plan = TestServer::builder().set("incoming_webhooks.catalog_dir", folder.path().display());
    let t = plan.start().await;
    let hamlet = t.user("hamlet");
    hamlet.create_channel("harbour").await;
    let (bot, _) = make(&hamlet, "hook", &[("bot_type", &2)]).await;
    post(&bot, "acme", &[("stream", "harbour")], &json!({"alarm": "flood"}), None).await.ok();
    assert_eq!(newest(&hamlet).await["content"], "<p><strong>flood</strong> rings</p>");
}

#[test]
fn mistakes_in_the_catalog_have_file_and_line() {
    use millstream::integrations::incoming::Catalog;
    let head = "name = \"acme\"\ndisplay_name = \"Acme\"\n\n[[events]]\nname = \"alarm\"\nwhen = \"true\"\ntopic = \"t\"\n";
    for (text, expected) in [
        ("name = acme".to_owned(), "acme.toml:1: "),
        (format!("{head}body = '''\nfirst\n{{{{ x | }}}}\n'''\n"), "acme.toml:10: "),
        (format!("{head}body = '''\n{{% if %}}\n'''\n"), "acme.toml:9: "),
        (format!("{head}body = 'x'\nbodi = 1\n"), "acme.toml:9: unknown field `bodi`"),
        (
            format!("{head}body = '{{{{ x | nosuchfilter }}}}'\nsample = {{ payload = '{{\"x\":1}}' }}\n"),
            "acme.toml:9: the sample does not make a message",
        ),
        (head.to_owned(), "acme.toml:5: an event has both topic and body, or neither"),
        (
            head.replace("\"acme\"", "\"other\"") + "body = 'x'\n",
            "acme.toml:1: the name must be that of the file",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("acme.toml"), &text).unwrap();
        let error = Catalog::load(Some(folder.path())).err().expect("an error").to_string();
        assert!(error.contains(expected), "{error}\n{text}");
    }
    let error = Catalog::load(Some(std::path::Path::new("/nowhere/at/all"))).err().expect("an error");
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}
