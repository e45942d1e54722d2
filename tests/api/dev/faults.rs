//! `/dev/faults` and `POST /dev/queues/expire`.

use crate::support::{Params, TestServer, TestUser, poll_for, wait_until};
use reqwest::Method;
use serde_json::json;
use std::time::{Duration, Instant};

async fn add(t: &TestServer, params: Params<'_>) -> u64 {
    t.anonymous().post("/dev/faults", params).ok().await["id"].as_u64().unwrap()
}

/// Sends a call that may get no response.
async fn send(user: &TestUser, path: &str) -> reqwest::Result<String> {
    let request = user.call(reqwest::Method::GET, path, &[]).request;
    request.send().await?.text().await
}

#[tokio::test]
async fn errors_are_for_their_calls_only() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let wrong: Params<'_> = &[
        ("path", &"/api/v1/users/{user_id}"),
        ("kind", &"error"),
        ("code", &"BAD_NARROW"),
        ("msg", &"as you asked"),
        ("times", &2),
    ];
    let id = add(&t, wrong).await;
    let expected = json!({"code": "BAD_NARROW", "msg": "as you asked"});
    let own = format!("/users/{}", hamlet.id);
    hamlet.get(&own, &[]).refused(400, expected.clone()).await;
    hamlet.get("/users", &[]).ok().await;
    let list = t.anonymous().get("/dev/faults", &[]).ok().await;
    assert_eq!((&list["faults"][0]["hits"], &list["faults"][0]["times"]), (&json!(1), &json!(1)));
    hamlet.get(&own, &[]).refused(400, expected).await;
    hamlet.get(&own, &[]).ok().await;
    t.anonymous().delete("/dev/faults", &[("id", &(id + 1))]).bad("Fault does not exist").await;

    let proxy: Params<'_> =
        &[("path", &"*/users"), ("http_method", &"get"), ("kind", &"error"), ("status", &502)];
    add(&t, proxy).await;
    let answer = hamlet.get("/users", &[]).await;
    assert_eq!(answer.status, 502);
    assert!(answer.body.as_str().is_some_and(|page| page.starts_with("<html>")), "{answer:?}");

    add(&t, &[("path", &"*/users"), ("kind", &"rate_limit"), ("retry_after", &7), ("seconds", &3600)]).await;
    let limited = hamlet.get("/users", &[]).await;
    assert_eq!((limited.status, limited.header("Retry-After")), (429, "7.0"));
    t.anonymous().delete("/dev/faults", &[]).ok().await;
    hamlet.get("/users", &[]).ok().await;
    let never: [Params<'_>; 2] = [
        &[("path", &"users/me"), ("kind", &"disconnect")],
        &[("path", &"*/users"), ("kind", &"disconnect"), ("times", &0)],
    ];
    for (fault, name) in never.into_iter().zip(["path", "times"]) {
        let refused = t.anonymous().post("/dev/faults", fault).await;
        let msg = refused.body["msg"].as_str().unwrap();
        assert!(refused.status == 400 && msg.starts_with(&format!("Invalid {name}: must be ")), "{msg}");
    }
}

#[tokio::test]
async fn errors_have_the_members_of_those_of_a_server() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    add(&t, &[("path", &"*/events"), ("kind", &"error"), ("code", &"BAD_EVENT_QUEUE_ID")]).await;
    let poll = hamlet.get("/events", &[("queue_id", &"abc"), ("last_event_id", &-1)]).await;
    assert_eq!((poll.status, &poll.body["queue_id"]), (400, &json!("abc")), "{poll:?}");
    for (code, status, wait) in [
        ("SERVER_OVERLOADED", 503, Some("1.0")),
        ("STORAGE_FULL", 503, Some("10.0")),
        ("RATE_LIMIT_HIT", 429, Some("1.0")),
        ("BAD_REQUEST", 503, None),
    ] {
        let fault: Params<'_> =
            &[("path", &"*/users"), ("kind", &"error"), ("code", &code), ("status", &status)];
        add(&t, fault).await;
        let refused = hamlet.get("/users", &[]).await;
        let header = refused.headers.get("Retry-After").map(|value| value.to_str().unwrap());
        assert_eq!((refused.status, header), (status, wait), "{code}");
        assert_eq!(refused.body.get("retry-after").map(ToString::to_string).as_deref(), wait, "{code}");
    }
    add(&t, &[("path", &"*/users"), ("kind", &"error"), ("status", &503)]).await;
    let of_proxy = hamlet.get("/users", &[]).await;
    assert_eq!((of_proxy.status, of_proxy.headers.get("Retry-After")), (503, None));
    // Without a status it is that of the code, and 500 without one.
    add(&t, &[("path", &"*/users"), ("kind", &"error"), ("code", &"CSRF_FAILED")]).await;
    add(&t, &[("path", &"*/users"), ("kind", &"error")]).await;
    assert_eq!((hamlet.get("/users", &[]).await.status, hamlet.get("/users", &[]).await.status), (403, 500));
}

#[tokio::test]
async fn errors_name_the_wait_that_was_asked_for() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    for (code, status) in [("SERVER_OVERLOADED", 503), ("BAD_REQUEST", 503), ("RATE_LIMIT_HIT", 429)] {
        let fault: Params<'_> = &[
            ("path", &"*/users"),
            ("kind", &"error"),
            ("code", &code),
            ("status", &status),
            ("retry_after", &2.5),
        ];
        add(&t, fault).await;
        let listed = t.anonymous().get("/dev/faults", &[]).ok().await;
        assert_eq!(listed["faults"][0]["retry_after"], 2.5, "{listed}");
        let refused = hamlet.get("/users", &[]).await;
        assert_eq!((refused.status, refused.header("Retry-After")), (status, "2.5"), "{code}");
        assert_eq!(refused.body["retry-after"], 2.5, "{code}");
    }
    for status in [429, 503] {
        let proxy: Params<'_> =
            &[("path", &"*/users"), ("kind", &"error"), ("status", &status), ("retry_after", &30)];
        add(&t, proxy).await;
        let of_proxy = hamlet.get("/users", &[]).await;
        assert_eq!((of_proxy.status, of_proxy.header("Retry-After")), (status, "30"));
    }
    let other: Params<'_> = &[("path", &"*/users"), ("kind", &"error"), ("retry_after", &1)];
    let refused = t.anonymous().post("/dev/faults", other);
    refused.bad("'retry_after' is for errors with status 429 or 503, and not for 500").await;
}

#[tokio::test]
async fn mails_are_a_tool() {
    let t = TestServer::builder().development().start().await;
    add(&t, &[("path", &"*"), ("kind", &"error"), ("status", &502), ("times", &2)]).await;
    let mails = |params: Params<'_>| t.anonymous().bare(Method::GET, "/emails.json").query(params);
    assert_eq!(mails(&[]).await.body["emails"], json!([]));
    assert_eq!(t.anonymous().bare(Method::GET, "/emails").await.status, 200);
    mails(&[("foo", &1)]).bad("There is no parameter 'foo' here").await;
    let list = t.anonymous().get("/dev/faults", &[]).ok().await;
    assert_eq!((&list["faults"][0]["hits"], &list["faults"][0]["times"]), (&json!(0), &json!(2)));
    assert_eq!(t.anonymous().get("/dev/requests", &[]).ok().await["requests"], json!([]));
}

#[tokio::test]
async fn lost_connections() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    add(&t, &[("path", &"*/users/me"), ("kind", &"disconnect")]).await;
    assert!(send(&hamlet, "/users/me").await.is_err());
    assert!(send(&hamlet, "/users/me").await.is_ok());

    add(&t, &[("path", &"*/users"), ("kind", &"truncate")]).await;
    let request = hamlet.call(reqwest::Method::GET, "/users", &[]).request;
    let mut response = request.send().await.unwrap();
    assert_eq!(response.status(), 200);
    let length = response.content_length().unwrap();
    let mut received = 0;
    while let Ok(Some(part)) = response.chunk().await {
        received += part.len() as u64;
    }
    assert_eq!(received, length / 2);

    add(&t, &[("path", &"*/messages"), ("kind", &"lose_response")]).await;
    let message: Params<'_> =
        &[("type", &"channel"), ("to", &"Verona"), ("topic", &"lost"), ("content", &"stored all the same")];
    assert!(hamlet.call(reqwest::Method::POST, "/messages", message).request.send().await.is_err());
    assert_eq!(hamlet.message_ids(json!([["channel", "Verona"], ["topic", "lost"]])).await.len(), 1);

    add(&t, &[("path", &"*/users/me"), ("kind", &"delay"), ("delay_ms", &50)]).await;
    let begun = Instant::now();
    hamlet.get("/users/me", &[]).ok().await;
    assert!(begun.elapsed() >= Duration::from_millis(50));
}

/// The usual bad day: the client gives up, and sends again what was sent already.
#[tokio::test]
async fn delayed_call_is_done_at_once_and_also_if_its_client_leaves() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let send: Params<'_> =
        &[("type", &"channel"), ("to", &"Verona"), ("topic", &"twice"), ("content", &"hello")];
    let sent = || hamlet.message_ids(json!([["channel", "Verona"], ["topic", "twice"]]));
    let posts: Params<'_> =
        &[("path", &"*/messages"), ("http_method", &"POST"), ("kind", &"delay"), ("delay_ms", &3_600_000)];
    let fault = add(&t, posts).await;
    let waiting = tokio::spawn(hamlet.call(Method::POST, "/messages", send).request.send());
    poll_for("the message is there", || async { (sent().await.len() == 1).then_some(()) }).await;
    assert!(!waiting.is_finished());
    waiting.abort();
    let call = poll_for("the call is recorded", || async {
        let calls = t.anonymous().get("/dev/requests", &[]).ok().await;
        calls["requests"].as_array().unwrap().iter().find(|call| call["fault"] == fault).cloned()
    })
    .await;
    assert_eq!((&call["status"], &call["user"]), (&json!(null), &json!("hamlet@zulip.com")));
    hamlet.post("/messages", send).ok().await;
    assert_eq!(sent().await.len(), 2);
}

#[tokio::test]
async fn events_of_a_delayed_answer_come_again() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let queue = hamlet.register().await;
    add(&t, &[("path", &"*/events"), ("kind", &"delay"), ("delay_ms", &3_600_000)]).await;
    let poll = t.hold_poll(&queue).await;
    let send: Params<'_> =
        &[("type", &"channel"), ("to", &"Verona"), ("topic", &"late"), ("content", &"hello")];
    hamlet.post("/messages", send).ok().await;
    wait_until("the poll has its events", || !t.is_polled(&queue)).await;
    assert!(!poll.is_finished());
    // A second poll while the answer of the first is on its way.
    let events = queue.poll(true).await.ok();
    assert!(events["events"].as_array().unwrap().iter().any(|event| event["type"] == "message"), "{events}");
    poll.abort();
    // A reset meanwhile ends nothing that was answered, and leaves nothing behind.
    let queue = hamlet.register().await;
    let users = tokio::spawn({
        add(&t, &[("path", &"*/users/me"), ("kind", &"delay"), ("delay_ms", &200)]).await;
        hamlet.call(Method::GET, "/users/me", &[]).request.send()
    });
    poll_for("the call has its fault", || async {
        let list = t.anonymous().get("/dev/faults", &[]).ok().await;
        (list["faults"] == json!([])).then_some(())
    })
    .await;
    t.anonymous().post("/dev/reset", &[]).ok().await;
    assert_eq!(users.await.unwrap().unwrap().status(), 200);
    assert_eq!(queue.poll(true).await.body["code"], "BAD_EVENT_QUEUE_ID");
}

#[tokio::test]
async fn queues_end_on_demand() {
    let t = TestServer::builder().development().start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let (first, second) = (hamlet.register().await, hamlet.register().await);
    let other = iago.register().await;
    let poll = t.hold_poll(&first).await;
    let key = first.key();
    let expired = t.anonymous().post("/dev/queues/expire", &[("queue_id", &key.0)]).ok().await;
    assert_eq!(expired["expired"], 1);
    assert_eq!(poll.await.unwrap().body["code"], "BAD_EVENT_QUEUE_ID");
    assert_eq!(second.poll(true).await.status, 200);
    let expired = t.anonymous().post("/dev/queues/expire", &[]).ok().await;
    assert_eq!(expired["expired"], 2);
    for queue in [&first, &second, &other] {
        assert_eq!(queue.poll(true).await.body["code"], "BAD_EVENT_QUEUE_ID");
    }
}

#[tokio::test]
async fn invalid_faults_are_refused() {
    let t = TestServer::builder().development().start().await;
    let anonymous = t.anonymous();
    let too_long = "Invalid seconds: must be a number of seconds from 0 to 86400, such as 90 or 1.5";
    let cases: [(Params<'_>, &str); 15] = [
        (
            &[("path", &"/"), ("kind", &"error"), ("msg", &"lost")],
            "'msg' needs 'code': without a code, the answer is a page as from a proxy, not JSON",
        ),
        (
            &[("path", &"/"), ("kind", &"explode")],
            "Invalid kind: must be one of error, rate_limit, delay, disconnect, lose_response, truncate",
        ),
        (
            &[("path", &"/"), ("kind", &"error"), ("code", &"NONE")],
            "Invalid code: must be an error code of this server, such as BAD_EVENT_QUEUE_ID",
        ),
        (
            &[("path", &"/"), ("kind", &"error"), ("status", &200)],
            "Invalid status: must be a whole number from 400 to 599",
        ),
        (
            &[("path", &"/"), ("kind", &"delay"), ("delay_ms", &u64::MAX)],
            "Invalid delay_ms: must be a whole number from 0 to 86400000",
        ),
        (&[("path", &"/"), ("kind", &"truncate"), ("seconds", &u64::MAX)], too_long),
        (&[("path", &"/"), ("kind", &"disconnect"), ("seconds", &100_000)], too_long),
        (&[("path", &"/"), ("kind", &"disconnect"), ("seconds", &0)], "Invalid seconds: must be more than 0"),
        (
            &[("path", &"/"), ("kind", &"disconnect"), ("http_method", &"FETCH")],
            "Invalid http_method: must be one of GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS",
        ),
        (
            &[("path", &"/"), ("kind", &"rate_limit"), ("retry_after", &"soon")],
            "Invalid retry_after: must be a number of seconds from 0 to 86400, such as 90 or 1.5",
        ),
        (
            &[("path", &"/dev/requests"), ("kind", &"disconnect")],
            "Invalid path: the calls below /dev/ and of /emails have no faults",
        ),
        (
            &[("path", &"/emails.json"), ("kind", &"disconnect")],
            "Invalid path: the calls below /dev/ and of /emails have no faults",
        ),
        (
            &[("path", &"/dev/*"), ("kind", &"truncate")],
            "Invalid path: the calls below /dev/ and of /emails have no faults",
        ),
        (
            &[("path", &"/"), ("kind", &"disconnect"), ("duration", &5)],
            "There is no parameter 'duration' here",
        ),
        (
            &[("path", &"/"), ("kind", &"disconnect"), ("delay_ms", &5)],
            "A fault of the kind 'disconnect' has no 'delay_ms'",
        ),
    ];
    for (params, msg) in cases {
        anonymous.post("/dev/faults", params).bad(msg).await;
    }
    let list = anonymous.get("/dev/faults", &[]).ok().await;
    assert_eq!(list["faults"], json!([]));
}

#[tokio::test]
async fn misspelt_parameters_are_refused_by_name() {
    let t = TestServer::builder().development().start().await;
    let anonymous = t.anonymous();
    add(&t, &[("path", &"/a"), ("kind", &"disconnect")]).await;
    let unknown = |name: &str| format!("There is no parameter '{name}' here");
    anonymous.delete("/dev/faults", &[("fault_id", &1)]).bad(&unknown("fault_id")).await;
    anonymous.get("/dev/faults", &[("path", &"/a")]).bad(&unknown("path")).await;
    anonymous.get("/dev/requests", &[("since", &1)]).bad(&unknown("since")).await;
    anonymous.post("/dev/queues/expire", &[("queue", &"1")]).bad(&unknown("queue")).await;
    anonymous.post("/dev/realms", &[("name", &"acme")]).bad(&unknown("name")).await;
    anonymous.post("/dev/clock", &[("advance_secs", &1), ("secs", &1)]).bad(&unknown("secs")).await;
    assert_eq!(anonymous.get("/dev/faults", &[]).ok().await["faults"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn stop_ends_a_delay() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    add(&t, &[("path", &"*/users/me"), ("kind", &"delay"), ("delay_ms", &3_600_000)]).await;
    let waiting = tokio::spawn(hamlet.call(reqwest::Method::GET, "/users/me", &[]).request.send());
    poll_for("the call has its fault", || async {
        let list = t.anonymous().get("/dev/faults", &[]).ok().await;
        (list["faults"] == json!([])).then_some(())
    })
    .await;
    t.stop().await;
    let response = waiting.await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn method_of_a_fault_has_one_name() {
    let t = TestServer::builder().development().start().await;
    let anonymous = t.anonymous();
    let posts: Params<'_> = &[("path", &"*/messages"), ("http_method", &"post"), ("kind", &"disconnect")];
    add(&t, posts).await;
    let list = anonymous.get("/dev/faults", &[]).ok().await;
    let fault = list["faults"][0].as_object().unwrap();
    assert_eq!((&fault["http_method"], fault.get("method")), (&json!("POST"), None));
    // Clients send other methods in this way: without a refusal this one would remove all faults.
    for method in ["DELETE", "GET"] {
        let meant: Params<'_> = &[("path", &"*/messages"), ("method", &method), ("kind", &"disconnect")];
        let msg =
            "A POST with 'method' is a call with that method. For which calls a fault is says 'http_method'";
        anonymous.post("/dev/faults", meant).bad(msg).await;
    }
    assert_eq!(anonymous.get("/dev/faults", &[]).ok().await["faults"], list["faults"]);
    anonymous.post("/dev/faults", &[("method", &"DELETE")]).ok().await;
    assert_eq!(anonymous.get("/dev/faults", &[]).ok().await["faults"], json!([]));
}

#[tokio::test]
async fn list_has_the_seconds_that_a_fault_still_has() {
    let t = TestServer::builder().development().start().await;
    let anonymous = t.anonymous();
    let timed: Params<'_> = &[("path", &"/a"), ("kind", &"disconnect"), ("seconds", &30)];
    add(&t, timed).await;
    add(&t, &[("path", &"/b"), ("kind", &"disconnect")]).await;
    anonymous.post("/dev/clock", &[("advance_secs", &10)]).ok().await;
    let list = anonymous.get("/dev/faults", &[]).ok().await;
    let left = list["faults"][0]["seconds"].as_f64().unwrap();
    assert!(left > 0.0 && left <= 20.0, "{list}");
    assert_eq!((&list["faults"][0]["times"], &list["faults"][1]["seconds"]), (&json!(null), &json!(null)));
}

#[tokio::test]
async fn paths_are_compared_as_routes_do() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    for pattern in ["/api/v1/users/iago@zulip.com/presence", "/api/v1/users/iago%40zulip.com/presence"] {
        for path in [
            "/users/iago@zulip.com/presence",
            "/users/iago%40zulip.com/presence",
            "/us%65rs/iago%40zulip.com/presence",
        ] {
            add(&t, &[("path", &pattern), ("kind", &"error"), ("status", &502)]).await;
            let answer = hamlet.get(path, &[]).await;
            assert_eq!(answer.status, 502, "{pattern} {path}");
        }
    }
    let of_tools = "Invalid path: the calls below /dev/ and of /emails have no faults";
    t.anonymous().post("/dev/faults", &[("path", &"/d%65v/clock"), ("kind", &"error")]).bad(of_tools).await;
}

#[tokio::test]
async fn nothing_is_truncated_where_there_is_no_body() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    add(&t, &[("path", &"*/users/me"), ("kind", &"truncate")]).await;
    let head = hamlet.call(Method::HEAD, "/users/me", &[]).request.send().await.unwrap();
    assert_eq!(head.status(), 200);
    let list = t.anonymous().get("/dev/faults", &[]).ok().await;
    assert_eq!(list["faults"][0]["hits"], 0, "it waits for a call with a body");
    assert!(send(&hamlet, "/users/me").await.is_err());
    // A redirect without a body is lost.
    add(&t, &[("path", &"/login"), ("kind", &"truncate")]).await;
    assert!(hamlet.bare(Method::GET, "/login").request.send().await.is_err());
    let of_head: Params<'_> = &[("path", &"*"), ("http_method", &"head"), ("kind", &"truncate")];
    t.anonymous()
        .post("/dev/faults", of_head)
        .bad("Responses to HEAD have no body that could be truncated")
        .await;
}

#[tokio::test]
async fn method_of_a_fault_is_http_method() {
    let t = TestServer::builder().development().start().await;
    let msg =
        "A POST with 'method' is a call with that method. For which calls a fault is says 'http_method'";
    for method in ["GET", "POST", "DELETE"] {
        let fault: Params<'_> = &[("path", &"*/messages"), ("kind", &"error"), ("method", &method)];
        t.anonymous().post("/dev/faults", fault).bad(msg).await;
    }
    assert_eq!(t.anonymous().get("/dev/faults", &[]).ok().await["faults"], json!([]));
}
