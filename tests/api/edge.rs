//! What holds for every endpoint: methods, paths, headers, and where parameters come from.

use crate::support::{TestServer, keys};
use millstream::http::routes::table;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A path of the table with something in each placeholder.
pub fn example(path: &str) -> String {
    let fill = |piece: &str| match piece {
        piece if piece.ends_with(":int}") => "1".to_owned(),
        piece if piece.starts_with('{') => "x".to_owned(),
        piece => piece.to_owned(),
    };
    path.split('/').map(fill).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_path_says_which_methods_it_offers() {
    let t = TestServer::start().await;
    let stranger = t.stranger();
    let mut paths: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for route in table() {
        paths.entry(route.path).or_default().push(route.method.to_string());
    }
    for (path, mut methods) in paths {
        if methods.contains(&"GET".to_owned()) {
            methods.push("HEAD".to_owned());
        }
        let path = example(path);
        let mut request = stranger.bare(Method::TRACE, "/users/me");
        for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::GET, Method::POST] {
            // A path such as /users/{id} may also be read as /users/{email}; the first that fits answers.
            if methods.contains(&method.to_string()) {
                continue;
            }
            request.request = stranger.http.request(method, format!("{}{path}", t.url));
            break;
        }
        let answer = request.await;
        let allow: Vec<String> = answer.header("Allow").split(", ").map(str::to_owned).collect();
        let sorted = |mut list: Vec<String>| {
            list.sort();
            list
        };
        assert_eq!(sorted(allow.clone()), sorted(methods), "{path}");
        assert_eq!(answer.header("Access-Control-Allow-Origin"), "*");
        answer.refused(405, json!({"msg": "Method Not Allowed", "allowed_methods": allow}));
        let mut options = stranger.bare(Method::OPTIONS, "/users/me");
        options.request = stranger.http.request(Method::OPTIONS, format!("{}{path}", t.url));
        let answer = options.await;
        assert_eq!((answer.status, answer.body.clone()), (204, json!("")), "{path}");
        assert_eq!(answer.header("Allow"), allow.join(", "));
    }
}

#[tokio::test]
async fn paths_that_are_none() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    for path in ["/nowhere", "/messages/", "/messages/abc", "/streams/1/nowhere", "/users/me/1"] {
        iago.get(path, &[]).refused(404, json!({"msg": "Not Found", "code": "NOT_FOUND"})).await;
    }
    let root = t.stranger().http.get(format!("{}/", t.url)).send().await.unwrap();
    assert_eq!(root.status(), 404);
}

#[tokio::test]
async fn head_is_get_without_its_body() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let get = iago.get("/users/me/subscriptions", &[]).await;
    let head = iago.call(Method::HEAD, "/users/me/subscriptions", &[]).await;
    assert_eq!((head.status, head.body.clone()), (200, json!("")));
    assert_eq!(head.header("Content-Length"), get.header("Content-Length"));
}

#[tokio::test]
async fn answers_are_json_for_everybody_and_never_cached() {
    let t = TestServer::start().await;
    let (iago, stranger) = (t.user("iago"), t.stranger());
    let (good, bad) = (iago.get("/users/me", &[]).await, stranger.get("/users/me", &[]).await);
    for answer in [&good, &bad] {
        assert_eq!(answer.header("Content-Type"), "application/json");
        assert_eq!(answer.header("Access-Control-Allow-Origin"), "*");
    }
    let cache = "max-age=0, no-cache, no-store, must-revalidate, private";
    assert_eq!(good.header("Cache-Control"), cache);
}

#[tokio::test]
async fn parameters_come_from_body_and_query_of_every_method() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let channel = iago.create_channel("Verona").await;
    // A POST with everything in its query.
    let sent = iago.bare(Method::POST, "/messages").query(&[
        ("type", &"stream"),
        ("to", &"Verona"),
        ("topic", &"a"),
        ("content", &"from the query"),
    ]);
    sent.ok().await;
    // The body wins over the query, and the last of a name over the others.
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
    // A DELETE with its parameters in the query and no body, as zulip-js sends it.
    let names = json!([channel.name]);
    let left = iago.bare(Method::DELETE, "/users/me/subscriptions").query(&[("subscriptions", &names)]);
    assert_eq!(left.ok().await["removed"], json!(["Verona"]));
    // A GET with a body.
    let body = b"stream=Verona".to_vec();
    let found = iago.send_body(Method::GET, "/get_stream_id", "application/x-www-form-urlencoded", body);
    assert_eq!(found.ok().await["stream_id"], channel.id);
}

#[tokio::test]
async fn multipart_bodies_hold_parameters_too() {
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
async fn a_json_body_counts_as_none() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let registered = iago.send_body(Method::POST, "/register", "application/json", b"{}".to_vec()).ok().await;
    assert!(registered["queue_id"].is_string());
    let body = br#"{"type": "stream", "to": "Verona", "content": "x"}"#.to_vec();
    let missing = json!({
        "msg": "Missing 'type' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "type"
    });
    iago.send_body(Method::POST, "/messages", "application/json", body).refused(400, missing).await;
}

#[tokio::test]
async fn what_nobody_read_is_reported_on_success_only() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let body = iago.get("/streams", &[("zzz", &1), ("aaa", &2), ("client", &"me")]).ok().await;
    assert_eq!(body["ignored_parameters_unsupported"], json!(["aaa", "zzz"]));
    let body = iago.get("/streams", &[]).ok().await;
    assert_eq!(keys(&body), ["msg", "result", "streams"]);
    let refused = iago.get("/streams/999", &[("zzz", &1)]).await;
    refused.refused(400, json!({"msg": "Invalid channel ID", "code": "BAD_REQUEST"}));
    // Path parameters repeated in the query are nobody's.
    let channel = iago.create_channel("Verona").await;
    let path = format!("/streams/{}", channel.id);
    let body = iago.get(&path, &[("stream_id", &channel.id)]).ok().await;
    assert_eq!(body["ignored_parameters_unsupported"], json!(["stream_id"]));
    // An endpoint that reads nothing, asked nothing.
    assert!(iago.get("/users/me", &[]).ok().await.get("ignored_parameters_unsupported").is_none());
}

#[tokio::test]
async fn the_method_field_overrides_the_method() {
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
async fn encoded_slashes_are_plain_ones() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let body = iago.get("/users%2Fme", &[]).ok().await;
    assert_eq!(body["user_id"], iago.id);
}

#[tokio::test]
async fn health_and_metrics_answer_anybody() {
    let t = TestServer::start().await;
    let stranger = t.stranger();
    assert_eq!(stranger.get("/health", &[]).await.status, 200);
    t.user("iago").get("/users/me", &[]).ok().await;
    let metrics = stranger.get("/metrics", &[]).await;
    assert_eq!(metrics.status, 200);
    assert!(metrics.header("Content-Type").starts_with("text/plain"), "{metrics:?}");
    let text = metrics.body.as_str().unwrap();
    // Counted by the storage's own threads, which start before the edge: load tests look at these.
    for name in
        ["millstream_journal_frames_total", "millstream_journal_bytes_total", "millstream_rows_written_total"]
    {
        assert!(text.contains(&format!("# TYPE {name} counter")), "{name} is missing in {text}");
    }
}
