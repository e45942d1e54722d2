//! A development server serves requests without credentials only to its own machine: neither to web pages of other
//! origins nor under other host names.

use super::stage;
use crate::support::{ApiResponse, Call, Params, ServerProcess, TestServer};
use millstream::routes::development_table;
use reqwest::Method;
use serde_json::json;

/// All requests that need no credentials on a development server.
fn calls(t: &TestServer) -> Vec<Call> {
    let anonymous = t.anonymous();
    let name = "iago@zulip.com";
    let password: Params<'_> = &[("username", &name), ("password", &name)];
    vec![
        anonymous.post("/dev_fetch_api_key", &[("username", &name)]),
        anonymous.post("/fetch_api_key", password),
        anonymous.get("/dev_list_users", &[]),
        anonymous.get("/emails", &[]),
        anonymous.get("/emails.json", &[]),
    ]
}

fn assert_refused(answer: &ApiResponse) {
    assert_eq!((answer.status, &answer.body["code"]), (403, &json!("BAD_REQUEST")), "{answer:?}");
    assert_eq!(answer.header("Access-Control-Allow-Origin"), "", "{answer:?}");
}

/// Those, and every tool below `/dev/`.
fn calls_and_tools(t: &TestServer) -> Vec<Call> {
    let tools = development_table().into_iter().filter(|route| route.path.starts_with("/dev/"));
    let tools = tools.map(|route| {
        let method = Method::from_bytes(route.method.as_str().as_bytes()).expect("a method");
        t.anonymous().call(method, route.path, &[])
    });
    calls(t).into_iter().chain(tools).collect()
}

#[tokio::test]
async fn dev_server_refuses_cross_origin_requests() {
    let t = stage(&[]).await;
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "http://192.0.2.1:9991"] {
        for call in calls_and_tools(&t) {
            assert_refused(&call.header("Origin", origin).await);
        }
    }
    let asked =
        t.anonymous().bare(Method::OPTIONS, "/dev_fetch_api_key").header("Origin", "https://evil.example");
    assert_refused(&asked.await);
}

#[tokio::test]
async fn dev_server_refuses_unknown_host_names() {
    let t = stage(&[]).await;
    for host in ["evil.example", "evil.example:9991", "localhost.evil.example", "192.0.2.1"] {
        for call in calls_and_tools(&t) {
            assert_refused(&call.header("Host", host).await);
        }
    }
}

/// Method, path and wrong parameters of a tool, and a part of the error.
const WRONG: [(&str, &str, &str, &str); 21] = [
    ("POST", "/dev/clock", "", "advance_secs"),
    ("POST", "/dev/clock", "time=soon", "time"),
    ("POST", "/dev/clock", "time=99999999999999999999", "time"),
    ("POST", "/dev/clock", "advance_secs=-1", "advance_secs"),
    ("POST", "/dev/clock", "advance_secs=1e400", "advance_secs"),
    ("POST", "/dev/clock", "real=7", "real"),
    ("POST", "/dev/faults", "", "path"),
    ("POST", "/dev/faults", "path=*", "kind"),
    ("POST", "/dev/faults", "path=*&kind=flood", "kind"),
    ("POST", "/dev/faults", "path=*&kind=error&status=200", "status"),
    ("POST", "/dev/faults", "path=*&kind=error&code=NO_SUCH", "code"),
    ("POST", "/dev/faults", "path=*&kind=delay&delay_ms=86400001", "delay_ms"),
    ("POST", "/dev/faults", "path=*&kind=delay&delay_ms=1&seconds=86401", "seconds"),
    ("DELETE", "/dev/faults", "id=x", "Invalid id: must be a whole number, the id of a fault"),
    ("POST", "/dev/realms", "subdomain=No Name", "ubdomain"),
    ("POST", "/dev/realms", "seed=users = 7", "Invalid seed: "),
    ("GET", "/dev/requests", "after=-1", "Invalid after: must be a whole number, the id of a call"),
    ("GET", "/dev/clock", "sub_domain=x", "no parameter 'sub_domain'"),
    ("POST", "/dev/reset", "sub_domain=x", "no parameter 'sub_domain'"),
    ("DELETE", "/dev/requests", "after=7", "no parameter 'after'"),
    ("POST", "/dev/queues/expire", "sub_domain=x", "no parameter 'sub_domain'"),
];

#[tokio::test]
async fn tools_refuse_bad_input() {
    let t = stage(&[]).await;
    for (method, path, params, expected) in WRONG {
        let pairs: Vec<(&str, &str)> = params.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| (*name, value as _)).collect();
        let answer = t.anonymous().call(method.parse().expect("a method"), path, &pairs).await;
        let msg = answer.body["msg"].as_str().unwrap_or_default();
        assert!(answer.status == 400 && msg.contains(expected), "{method} {path} {params}: {answer:?}");
    }
    assert_eq!(t.anonymous().get("/dev/faults", &[]).ok().await["faults"], json!([]));
    t.user("hamlet").get("/users/me", &[]).ok().await;
}

#[tokio::test]
async fn dev_server_accepts_local_requests() {
    let t = stage(&[("external_url", "http://chat.example.com:9991")]).await;
    for call in calls(&t) {
        let answer = call.await;
        assert_eq!((answer.status, answer.header("Access-Control-Allow-Origin")), (200, ""), "{answer:?}");
    }
    for host in ["localhost:9991", "[::1]:9991", "10.0.2.2:9991", "192.168.1.20", "chat.example.com:9991"] {
        for call in calls(&t) {
            let answer = call.header("Host", host).await;
            assert_eq!(answer.status, 200, "{host}: {answer:?}");
        }
    }
    // A web client under development on the same machine.
    for origin in ["http://localhost:3000", "http://127.0.0.1:5173", "http://chat.example.com:9991"] {
        for call in calls(&t) {
            let answer = call.header("Origin", origin).await;
            let allowed = answer.header("Access-Control-Allow-Origin");
            assert_eq!((answer.status, allowed), (200, origin), "{answer:?}");
            assert_eq!(answer.header("Vary"), "Origin");
        }
    }
}

#[tokio::test]
async fn production_server_accepts_any_origin() {
    let t = TestServer::start().await;
    let params: Params<'_> = &[("username", &"a@b.example"), ("password", &"x")];
    let call = t.anonymous().post("/fetch_api_key", params).header("Origin", "https://app.example");
    let answer = call.await;
    assert_eq!((answer.status, answer.header("Access-Control-Allow-Origin")), (401, "*"));
}

#[tokio::test]
async fn dev_server_refuses_production_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let path = data.display().to_string();
    let create = ["realm", "create", "Acme", "--owner-email", "olga@acme.example", "--owner-name", "Olga"];
    let (status, words) = ServerProcess::run(&[&create as &[&str], &["--data", &path]].concat());
    assert!(status.success(), "{words}");
    let (status, words) = ServerProcess::run(&["dev", "--listen", "127.0.0.1:0", "--data", &path]);
    assert!(!status.success() && words.contains("was not made by `millstream dev`"), "{words}");
    let serve = ["serve", "--listen", "127.0.0.1:0", "--data", &path];
    let server = ServerProcess::start(&serve, &[]);
    let params: Params<'_> = &[("username", &"olga@acme.example")];
    assert_eq!(server.anonymous().post("/dev_fetch_api_key", params).await.status, 400);
    server.terminate();
    assert!(server.wait().success());
}

#[tokio::test]
async fn dev_server_reuses_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    for _ in 0..2 {
        let server = ServerProcess::dev(&data);
        server.user("hamlet").await;
        server.terminate();
        assert!(server.wait().success());
    }
    // A production server works on it, too, and logs a warning.
    let path = data.display().to_string();
    let server = ServerProcess::start(&["serve", "--listen", "127.0.0.1:0", "--data", &path], &[]);
    let log = server.log.clone();
    server.terminate();
    assert!(server.wait().success());
    assert!(log.lock().expect("the lock").contains("made by `millstream dev`"));
}
