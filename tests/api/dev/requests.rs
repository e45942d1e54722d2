//! `GET /dev/requests` and `DELETE /dev/requests`.

use crate::support::{Params, TestServer, poll_for};
use serde_json::{Value, json};

#[tokio::test]
async fn calls_are_recorded_with_what_was_ignored() {
    let t = TestServer::builder().development().start().await;
    let (hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
    // An endpoint without any parameters, too, and its answer says so as well.
    let me = hamlet.get("/users/me", &[("colour", &"blue")]).ok().await;
    assert_eq!(me["ignored_parameters_unsupported"], json!(["colour"]));
    let recorded = anonymous.get("/dev/requests", &[]).ok().await;
    assert_eq!(recorded["requests"][0]["ignored_parameters"], json!(["colour"]));
    anonymous.delete("/dev/requests", &[]).ok().await;
    hamlet.get("/users", &[("colour", &"blue")]).ok().await;
    hamlet.post("/messages", &[("type", &"channel")]).await;
    anonymous.post("/fetch_api_key", &[("username", &"a@example.com"), ("password", &"secret")]).await;
    let body = anonymous.get("/dev/requests", &[]).ok().await;
    let calls = body["requests"].as_array().unwrap();
    let [me, send, login] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!(
        (&me["method"], &me["path"], &me["user"]),
        (&json!("GET"), &json!("/api/v1/users"), &json!(hamlet.email))
    );
    assert_eq!(
        (&me["ignored_parameters"], &me["status"], &me["code"]),
        (&json!(["colour"]), &json!(200), &Value::Null)
    );
    assert_eq!((&send["status"], &send["code"]), (&json!(400), &json!("REQUEST_VARIABLE_MISSING")));
    assert_eq!(send["parameters"], json!([["type", "channel"]]));
    assert_eq!(login["parameters"], json!([["username", "a@example.com"], ["password", "***"]]));
    let after = anonymous.get("/dev/requests", &[("after", &send["id"])]).ok().await;
    assert_eq!(after["requests"], json!([login]));
    anonymous.delete("/dev/requests", &[]).ok().await;
    assert_eq!(anonymous.get("/dev/requests", &[]).ok().await["requests"], json!([]));
}

#[tokio::test]
async fn record_says_what_a_fault_did() {
    let t = TestServer::builder().development().start().await;
    let (hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
    let refused: Params<'_> =
        &[("path", &"*/users"), ("kind", &"error"), ("code", &"BAD_NARROW"), ("msg", &"as you asked")];
    let faults: [Params<'_>; 6] = [
        refused,
        &[("path", &"*/users"), ("kind", &"error"), ("status", &502)],
        &[("path", &"*/users"), ("kind", &"rate_limit")],
        &[("path", &"*/users"), ("kind", &"disconnect")],
        &[("path", &"*/users"), ("kind", &"lose_response")],
        &[("path", &"*/users"), ("kind", &"truncate")],
    ];
    let mut ids = Vec::new();
    for fault in faults {
        ids.push(anonymous.post("/dev/faults", fault).ok().await["id"].clone());
    }
    for _ in 0..=faults.len() {
        let call = hamlet.call(reqwest::Method::GET, "/users", &[("client_gravatar", &"true")]).request;
        // Some have no response.
        if let Ok(response) = call.send().await {
            let _ = response.bytes().await;
        }
    }
    let limited = "API usage exceeded rate limit";
    let mut expected = vec![
        json!([ids[0], 400, "BAD_NARROW", "as you asked"]),
        json!([ids[1], 502, null, null]),
        json!([ids[2], 429, "RATE_LIMIT_HIT", limited]),
        json!([ids[3], null, null, null]),
        json!([ids[4], null, null, null]),
        json!([ids[5], 200, null, null]),
        json!([null, 200, null, null]),
    ];
    let calls = anonymous.get("/dev/requests", &[]).ok().await["requests"].clone();
    for call in calls.as_array().unwrap() {
        assert_eq!(
            (&call["user"], &call["parameters"]),
            (&json!(hamlet.email), &json!([["client_gravatar", "true"]]))
        );
        let found = json!([call["fault"], call["status"], call["code"], call["msg"]]);
        assert_eq!(found, expected.remove(0));
    }
    assert!(expected.is_empty(), "{calls}");
}

#[tokio::test]
async fn record_of_a_refused_call_has_no_user_without_valid_credentials() {
    let t = TestServer::builder().development().start().await;
    let (mut hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
    anonymous.post("/dev/faults", &[("path", &"*/users"), ("kind", &"error"), ("times", &2)]).ok().await;
    hamlet.key = "0".repeat(32);
    assert_eq!(hamlet.get("/users", &[]).await.status, 500);
    assert_eq!(anonymous.get("/users", &[]).await.status, 500);
    let calls = anonymous.get("/dev/requests", &[]).ok().await["requests"].clone();
    assert_eq!((&calls[0]["user"], &calls[1]["user"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn record_of_a_call_that_no_handler_saw_has_what_its_head_says() {
    let limited = TestServer::builder().development().set("limits.enabled", true);
    let t = limited.set("limits.api_by_user", "[[60, 2]]").start().await;
    let (hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
    assert_eq!(hamlet.get("/no_such_path", &[("colour", &"blue")]).await.status, 404);
    for _ in 0..2 {
        hamlet.get("/users/me", &[]).ok().await;
    }
    assert_eq!(hamlet.get("/users/me", &[("size", &"large")]).await.status, 429);
    let calls = anonymous.get("/dev/requests", &[]).ok().await["requests"].clone();
    for (call, parameter) in [(&calls[0], ["colour", "blue"]), (&calls[3], ["size", "large"])] {
        assert_eq!(
            (&call["user"], &call["parameters"]),
            (&json!(hamlet.email), &json!([parameter])),
            "{calls}"
        );
    }
}

#[tokio::test]
async fn poll_that_its_client_gives_up_is_recorded_without_a_status() {
    let t = TestServer::builder().development().start().await;
    let (hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
    let queue = hamlet.register().events(&["message"]).await;
    let poll = t.hold_poll(&queue).await;
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    poll.abort();
    let call = poll_for("the poll is recorded", async || {
        let calls = anonymous.get("/dev/requests", &[]).ok().await["requests"].clone();
        calls.as_array().unwrap().iter().find(|call| call["path"] == "/api/v1/events").cloned()
    })
    .await;
    assert_eq!(
        (&call["user"], &call["status"], &call["fault"], &call["code"]),
        (&json!(hamlet.email), &Value::Null, &Value::Null, &Value::Null)
    );
    assert!(call["micros"].as_u64().unwrap() >= 100_000, "{call}");
}

#[tokio::test]
async fn uploads_are_recorded_with_names_and_sizes() {
    let t = TestServer::builder().development().start().await;
    let (iago, anonymous) = (t.user("iago"), t.anonymous());
    let text = vec![b'a'; 300_000];
    let stored = iago.upload("/user_uploads", &[("colour", &"blue")], &[("notes.txt", text)]).ok().await;
    assert_eq!(stored["ignored_parameters_unsupported"], json!(["colour"]));
    let two = iago
        .upload(
            "/users/me/avatar",
            &[("size", &"5")],
            &[("a.png", b"ab".to_vec()), ("b.png", b"abc".to_vec())],
        )
        .await;
    assert_eq!(two.status, 400);
    assert_eq!(iago.upload("/user_uploads", &[("colour", &"blue")], &[]).await.status, 400);
    iago.get("/users/me", &[]).ok().await;
    let calls = anonymous.get("/dev/requests", &[]).ok().await["requests"].clone();
    assert_eq!(
        (&calls[0]["path"], &calls[0]["parameters"], &calls[0]["files"]),
        (
            &json!("/api/v1/user_uploads"),
            &json!([["colour", "blue"]]),
            &json!([{"name": "notes.txt", "size": 300_000}])
        )
    );
    assert_eq!(calls[0]["ignored_parameters"], json!(["colour"]));
    assert_eq!(calls[1]["files"], json!([{"name": "a.png", "size": 2}, {"name": "b.png", "size": 3}]));
    // Those of a call that fails, too.
    assert_eq!(calls[1]["ignored_parameters"], json!(["size"]));
    assert_eq!(calls[2]["ignored_parameters"], json!(["colour"]));
    assert_eq!(calls[3]["files"], json!([]));
}

#[tokio::test]
async fn browsers_have_the_name_that_people_know() {
    let t = TestServer::builder().development().start().await;
    let (hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
    hamlet.get("/users/me", &[]).header("User-Agent", firefox).ok().await;
    hamlet.get("/users/me", &[]).header("User-Agent", "ZulipMobile/30.0 (iOS 17)").ok().await;
    let calls = anonymous.get("/dev/requests", &[]).ok().await["requests"].clone();
    assert_eq!(
        (&calls[0]["client"], &calls[1]["client"]),
        (&json!("Firefox on Linux"), &json!("ZulipMobile"))
    );
}
