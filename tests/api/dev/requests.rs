//! `GET /dev/requests` and `DELETE /dev/requests`.

use crate::support::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn calls_are_recorded_with_what_was_ignored() {
    let t = TestServer::builder().development().start().await;
    let (hamlet, anonymous) = (t.user("hamlet"), t.anonymous());
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
