//! Rules for all endpoints: methods, paths, headers, and sources of parameters.

use crate::support::{TestServer, keys};
use millstream::http::origins::Origins;
use millstream::routes::table;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A path of the route table with each placeholder filled in.
pub fn example(path: &str) -> String {
    let fill = |piece: &str| match piece {
        piece if piece.ends_with(":int}") => "1".to_owned(),
        "{integration:text}" => "json".to_owned(),
        piece if piece.starts_with('{') => "x".to_owned(),
        piece => piece.to_owned(),
    };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn method_not_allowed_lists_allowed_methods() {
    let t = TestServer::start().await;
    let anonymous = t.anonymous();
    let mut paths: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut pages = Vec::new();
    for route in table() {
        if route.origins == Origins::Own {
            pages.push(route.path);
        }
        paths.entry(route.path).or_default().push(route.method.to_string());
    }
    for (path, mut methods) in paths {
        let readers = if pages.contains(&path) { "" } else { "*" };
        if methods.contains(&"GET".to_owned()) {
            methods.push("HEAD".to_owned());
        }
        let path = example(path);
        let mut request = anonymous.bare(Method::TRACE, "/users/me");
        for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::GET, Method::POST] {
            // `/users/{id}` also matches `/users/{email}`; the first route that matches is used.
            if methods.contains(&method.to_string()) {
                continue;
            }
            request.request = anonymous.http.request(method, format!("{}{path}", t.url));
            break;
        }
        let answer = request.await;
        let allow: Vec<String> = answer.header("Allow").split(", ").map(str::to_owned).collect();
        let sorted = |mut list: Vec<String>| {
            list.sort();
            list
        };
        assert_eq!(sorted(allow.clone()), sorted(methods), "{path}");
        assert_eq!(answer.header("Access-Control-Allow-Origin"), readers, "{path}");
        answer.refused(405, json!({"msg": "Method Not Allowed", "allowed_methods": allow}));
        let mut options = anonymous.bare(Method::OPTIONS, "/users/me");
        options.request = anonymous.http.request(Method::OPTIONS, format!("{}{path}", t.url));
        let answer = options.await;
        assert_eq!((answer.status, answer.body.clone()), (204, json!("")), "{path}");
        assert_eq!(answer.header("Allow"), allow.join(", "));
    }
}

#[tokio::test]
async fn unknown_path_is_404() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    for path in ["/nowhere", "/messages/", "/messages/abc", "/streams/1/nowhere", "/users/me/1"] {
        iago.get(path, &[]).refused(404, json!({"msg": "Not Found", "code": "NOT_FOUND"})).await;
    }
    let unknown = t.anonymous().http.get(format!("{}/nowhere", t.url)).send().await.unwrap();
    assert_eq!(unknown.status(), 404);
}

#[tokio::test]
async fn head_is_get_without_body() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let get = iago.get("/users/me/subscriptions", &[]).await;
    let head = iago.call(Method::HEAD, "/users/me/subscriptions", &[]).await;
    assert_eq!((head.status, head.body.clone()), (200, json!("")));
    assert_eq!(head.header("Content-Length"), get.header("Content-Length"));
}

#[tokio::test]
async fn responses_are_json_and_uncacheable() {
    let t = TestServer::start().await;
    let (iago, anonymous) = (t.user("iago"), t.anonymous());
    let (good, bad) = (iago.get("/users/me", &[]).await, anonymous.get("/users/me", &[]).await);
    for answer in [&good, &bad] {
        assert_eq!(answer.header("Content-Type"), "application/json");
        assert_eq!(answer.header("Access-Control-Allow-Origin"), "*");
        assert_eq!(answer.header("X-Content-Type-Options"), "nosniff");
    }
    let cache = "max-age=0, no-cache, no-store, must-revalidate, private";
    assert_eq!(good.header("Cache-Control"), cache);
}

#[tokio::test]
async fn parameters_from_body_and_query() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    // A POST with all parameters in the query string.
    let sent = iago.bare(Method::POST, "/messages").query(&[
        ("type", &"stream"),
        ("to", &"Verona"),
        ("topic", &"a"),
        ("content", &"from the query"),
    ]);
    sent.ok().await;
    // The body takes precedence over the query string, and the last value of a name over earlier ones.
    let twice = iago.post(
        "/messages",
        &[
            ("type", &"stream"),
            ("to", &"Verona"),
            ("topic", &"a"),
            ("content", &"first"),
            ("content", &"second"),
        ],
    );
    twice.query(&[("content", &"third")]).ok().await;
    let messages = iago.messages(json!([["stream", "Verona"], ["topic", "a"]])).await;
    let texts: Vec<&Value> = messages.iter().map(|message| &message["content"]).collect();
    assert_eq!(texts, ["<p>from the query</p>", "<p>second</p>"]);
    // A DELETE with parameters in the query string and no body, as zulip-js sends it.
    let names = json!([channel.name]);
    let left = iago.bare(Method::DELETE, "/users/me/subscriptions").query(&[("subscriptions", &names)]);
    assert_eq!(left.ok().await["removed"], json!(["Verona"]));
    // A GET with a body.
    let body = b"stream=Verona".to_vec();
    let found = iago.send_body(Method::GET, "/get_stream_id", "application/x-www-form-urlencoded", body);
    assert_eq!(found.ok().await["stream_id"], channel.id);
}

#[tokio::test]
async fn parameters_from_multipart_body() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.create_channel("Verona").await;
    let form = reqwest::multipart::Form::new()
        .text("type", "stream")
        .text("to", "Verona")
        .text("topic", "boxes & crates")
        .text("content", "ünïcode & = % +");
    let mut call = iago.bare(Method::POST, "/messages");
    call.request = call.request.multipart(form);
    call.ok().await;
    let messages = iago.messages(json!([["stream", "Verona"], ["topic", "boxes & crates"]])).await;
    assert_eq!(messages[0]["content"], "<p>ünïcode &amp; = % +</p>");
}

#[tokio::test]
async fn empty_multipart_body_has_no_parameters() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    // As zulip-js sends `register({})`.
    let form = "multipart/form-data; boundary=--------------------------105890110571472652312211";
    let registered = iago.send_body(Method::POST, "/register", form, Vec::new()).ok().await;
    assert!(registered["queue_id"].is_string() && registered["ignored_parameters_unsupported"].is_null());
    // Where a file is read, too.
    let upload = iago.send_body(Method::POST, "/realm/icon", form, Vec::new());
    upload.bad("You must upload exactly one icon.").await;
}

#[tokio::test]
async fn json_body_is_ignored() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let registered = iago.send_body(Method::POST, "/register", "application/json", b"{}".to_vec()).ok().await;
    assert!(registered["queue_id"].is_string());
    let body = br#"{"type": "stream", "to": "Verona", "content": "x"}"#.to_vec();
    let missing = json!({
        "msg": "Missing 'type' argument (the request's body was not read: parameters are sent form-encoded, as \
                application/x-www-form-urlencoded or multipart/form-data, and not as JSON)",
        "code": "REQUEST_VARIABLE_MISSING", "var_name": "type",
    });
    iago.send_body(Method::POST, "/messages", "application/json", body).refused(400, missing).await;
}

#[tokio::test]
async fn ignored_parameters_unsupported_only_on_success() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let body = iago.get("/streams", &[("zzz", &1), ("aaa", &2), ("client", &"me")]).ok().await;
    assert_eq!(body["ignored_parameters_unsupported"], json!(["aaa", "zzz"]));
    let body = iago.get("/streams", &[]).ok().await;
    assert_eq!(keys(&body), ["msg", "result", "streams"]);
    let refused = iago.get("/streams/999", &[("zzz", &1)]).await;
    refused.refused(400, json!({"msg": "Invalid channel ID", "code": "BAD_REQUEST"}));
    // Query parameters with the names of path parameters are ignored.
    let channel = iago.create_channel("Verona").await;
    let path = format!("/streams/{}", channel.id);
    let body = iago.get(&path, &[("stream_id", &channel.id)]).ok().await;
    assert_eq!(body["ignored_parameters_unsupported"], json!(["stream_id"]));
    // An endpoint without parameters, called without parameters.
    assert!(iago.get("/users/me", &[]).ok().await.get("ignored_parameters_unsupported").is_none());
}

#[tokio::test]
async fn method_override_parameter() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    let names = json!([channel.name]);
    let params: crate::support::Params<'_> = &[("method", &"DELETE"), ("subscriptions", &names)];
    let body = iago.post("/users/me/subscriptions", params).ok().await;
    assert_eq!(body["removed"], json!(["Verona"]));
    let refused = iago.post("/users/me/subscriptions", &[("method", &"PUT")]).await;
    assert_eq!(refused.status, 405);
}

#[tokio::test]
async fn percent_encoded_slashes_in_paths() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let body = iago.get("/users%2Fme", &[]).ok().await;
    assert_eq!(body["user_id"], iago.id);
}

/// A client whose server is `http://host/` asks for `//api/v1/…`.
#[tokio::test]
async fn repeated_slashes_in_paths_are_one() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let get = |path: &str| {
        let mut call = hamlet.bare(Method::GET, "/users/me");
        let request = hamlet.http.get(format!("{}{path}", t.url));
        call.request = request.basic_auth(&hamlet.email, Some(&hamlet.key));
        call
    };
    for path in ["//api/v1/users/me", "/api/v1//users///me"] {
        assert_eq!(get(path).ok().await["user_id"], hamlet.id, "{path}");
    }
    // Faults and the record of calls have the path that the handler has.
    let fault: crate::support::Params<'_> =
        &[("path", &"/api/v1/users/me"), ("kind", &"error"), ("status", &502)];
    t.anonymous().post("/dev/faults", fault).ok().await;
    assert_eq!(get("//api//v1/users/me").await.status, 502);
    let calls = t.anonymous().get("/dev/requests", &[]).ok().await;
    let calls = calls["requests"].as_array().unwrap();
    assert!(calls.iter().all(|call| call["path"] == "/api/v1/users/me"), "{calls:?}");
    // Nothing leads to another host.
    let other = get("//evil.example").await;
    assert_eq!((other.status, other.headers.get("Location")), (404, None));
}

#[tokio::test]
async fn health_and_metrics_need_no_credentials() {
    let t = TestServer::start().await;
    let anonymous = t.anonymous();
    assert_eq!(anonymous.get("/health", &[]).await.status, 200);
    t.user("iago").get("/users/me", &[]).ok().await;
    let metrics = anonymous.get("/metrics", &[]).await;
    assert_eq!(metrics.status, 200);
    assert!(metrics.header("Content-Type").starts_with("text/plain"), "{metrics:?}");
    let text = metrics.body.as_str().unwrap();
    // Metrics of the storage threads, which start before the HTTP server; load tests read these.
    for name in
        ["millstream_journal_frames_total", "millstream_journal_bytes_total", "millstream_rows_written_total"]
    {
        assert!(text.contains(&format!("# TYPE {name} counter")), "{name} is missing in {text}");
    }
}
