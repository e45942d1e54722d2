//! Metrics, the dashboard and the alerts, the log of a start.

use crate::api::pictures::png;
use crate::support::{Params, ServerProcess, poll_for};
use millstream::http::metric_names::METRICS;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

async fn metrics(t: &ServerProcess) -> String {
    t.anonymous().get("/metrics", &[]).await.body.as_str().expect("text").to_owned()
}

#[tokio::test]
async fn metrics_are_sorted_explained_and_few() {
    // The metrics are those of a process.
    let t = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &[]);
    let text = metrics(&t).await;
    assert!(text.lines().count() <= 300, "{} lines", text.lines().count());
    let hamlet = t.user("hamlet").await;
    let _queue = hamlet.register().await;
    let message: Params<'_> = &[("type", &"channel"), ("to", &"Verona"), ("topic", &"t"), ("content", &"hi")];
    hamlet.post("/messages", message).ok().await;
    let text = metrics(&t).await;
    let families: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(families.is_sorted(), "{families:?}");
    for family in &families {
        assert!(METRICS.iter().any(|(name, _)| name == family), "{family} has no explanation");
        assert!(text.contains(&format!("# HELP {family} ")), "{family}");
    }
    for name in
        ["millstream_http_connections ", "millstream_uptime_seconds ", "millstream_resident_memory_bytes "]
    {
        let line = text.lines().find(|line| line.starts_with(name)).expect(name);
        let value: f64 = line.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number");
        assert!(value > 0.0, "{line}");
    }
    assert!(
        text.contains("route=\"/api/v1/messages\"") && !text.contains("route=\"/api/v1/drafts\""),
        "{text}"
    );
}

#[tokio::test]
async fn metrics_have_their_own_listener_or_token() {
    let token = "abcdefghijklmnopqrstuvwxyz";
    for command in ["serve", "dev"] {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data").display().to_string();
        let arguments = [command, "--listen", "127.0.0.1:0", "--data", &data];
        let settings = [("MILLSTREAM_METRICS_TOKEN", token), ("MILLSTREAM_LOG_FILTER", "info")];
        let server = ServerProcess::start(&arguments, &settings);
        let get = async |header: &str| {
            server.anonymous().get("/metrics", &[]).header("Authorization", header).await
        };
        for wrong in ["Bearer abcdefghijklmnopqrstuvwxy", "Basic abc", ""] {
            let answer = get(wrong).await;
            assert_eq!(answer.status, 401, "{command}: {wrong}");
            assert_eq!(answer.body["code"], "AUTHENTICATION_FAILED");
        }
        let page = server.anonymous().get("/metrics", &[]).header("Accept", "text/html").await;
        let text = page.body.as_str().expect("a page");
        assert!(page.status == 401 && text.contains("This needs a token"), "{text}");
        assert!(text.contains("Authorization: Bearer TOKEN") && !text.contains("Log in"), "{text}");
        let text = get(&format!("Bearer {token}")).await.body.as_str().expect("text").to_owned();
        assert!(text.contains("millstream_uptime_seconds") && text.lines().count() <= 300);
        // What alerts count must be there before it happens for the first time.
        for counter in [
            "millstream_storage_failures_total{reason=\"disk_full\"} 0",
            "millstream_outbox_total{kind=\"mail\",outcome=\"given_up\"} 0",
            "millstream_erase_failures_total 0",
            "millstream_file_failures_total 0",
            "millstream_ldap_failures_total 0",
            "millstream_queues_overflowed_total 0",
        ] {
            assert!(text.contains(counter), "{command}: {counter} is missing in {text}");
        }
        // The organizations that a new development server has.
        let has_queues = text.contains("\nmillstream_queues{realm=\"1\"} 0\n");
        assert_eq!(has_queues, command == "dev", "{text}");
        assert!(!server.log.lock().expect("the lock").contains(token));
        drop(server);

        let settings = [
            ("MILLSTREAM_METRICS_TOKEN", token),
            ("MILLSTREAM_METRICS_LISTEN", "127.0.0.1:0"),
            ("MILLSTREAM_LOG_FILTER", "info"),
            ("MILLSTREAM_LOG_FORMAT", "json"),
        ];
        let server = ServerProcess::start(&arguments, &settings);
        server.wait_for_log("listening for metrics");
        let log = server.log.lock().expect("the lock").clone();
        let line = log.lines().find(|line| line.contains("listening for metrics")).expect("the line");
        let line: Value = serde_json::from_str(line).expect("JSON");
        let own = format!("http://{}", line["address"].as_str().expect("an address"));
        let answer = get_from(&own, "/metrics", token).await;
        assert!(answer.0 == 200 && answer.1.contains("# HELP millstream_uptime_seconds"), "{answer:?}");
        assert_eq!(get_from(&own, "/metrics", "wrong").await.0, 401);
        assert_eq!(get_from(&own, "/api/v1/server_settings", token).await.0, 404);
        assert_eq!(get_from(&server.url, "/metrics", token).await.0, 404, "{command}");
        // The log of `serve` is all that it prints.
        assert_eq!(server.output_so_far().is_empty(), command == "serve", "{}", server.output_so_far());
        server.terminate();
    }
}

async fn get_from(url: &str, path: &str, token: &str) -> (u16, String) {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let answer = client.get(format!("{url}{path}")).bearer_auth(token).send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.expect("text"))
}

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let ours = words.filter(|word| word.starts_with("millstream_"));
    let plain = |word: &str| {
        let ends = ["_bucket", "_sum", "_count"];
        ends.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word).to_owned()
    };
    ours.map(plain).collect()
}

#[test]
fn dashboard_and_alerts_use_metrics_that_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/monitoring");
    for (file, least) in [("dashboard.json", 10), ("alerts.yaml", 8)] {
        let text = std::fs::read_to_string(folder.join(file)).expect("the file");
        let used = names(&text);
        assert!(used.len() >= least, "{file}: {used:?}");
        let unknown: Vec<_> =
            used.iter().filter(|name| !METRICS.iter().any(|(known, _)| known == *name)).collect();
        assert!(unknown.is_empty(), "{file}: {unknown:?}");
    }
    let dashboard = std::fs::read_to_string(folder.join("dashboard.json")).expect("the file");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("JSON");
    assert!(dashboard["panels"].as_array().is_some_and(|panels| panels.len() >= 10));
}

/// For an alert a counter that appears with its first failure has not increased.
#[tokio::test]
async fn what_alerts_compare_with_before_is_there_from_the_start() {
    let data = tempfile::tempdir().expect("a folder");
    let t = ServerProcess::dev(&data.path().join("data"));
    // The first call, for the counters of calls.
    t.anonymous().get("/health", &[]).await;
    let text = metrics(&t).await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/monitoring");
    let alerts = std::fs::read_to_string(folder.join("alerts.yaml")).expect("the file");
    let compared = ["increase(", "rate("].iter().flat_map(|function| {
        alerts.split(*function).skip(1).map(|rest| names(rest.split('[').next().unwrap_or_default()))
    });
    let compared: BTreeSet<String> = compared.flatten().collect();
    assert!(compared.len() >= 8, "{compared:?}");
    for name in compared {
        assert!(text.lines().any(|line| line.starts_with(&name)), "{name} is missing in {text}");
    }
    for name in ["millstream_journal_damaged_segments 0", "millstream_checkpoint_failures_total 0"] {
        assert!(text.lines().any(|line| line == name), "{name} is missing in {text}");
    }
}

/// Messages are served without them, so the server stays healthy.
#[tokio::test]
async fn outage_of_the_files_is_in_the_metrics_and_in_health() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let t = ServerProcess::dev(&data);
    let hamlet = t.user("hamlet").await;
    let store = async || hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).await.status;
    let health = async || {
        let answer = t.anonymous().get("/health", &[]).await;
        (answer.status, answer.body["files"]["status"].as_str().expect("a status").to_owned())
    };
    assert_eq!(store().await, 200);
    assert_eq!(health().await, (200, "ok".to_owned()));
    // Where the folder of the files is, there is a file now.
    let (blobs, aside) = (data.join("blobs"), data.join("aside"));
    std::fs::rename(&blobs, &aside).expect("moved");
    std::fs::write(&blobs, "").expect("written");
    assert_eq!(store().await, 503);
    assert_eq!(health().await, (200, "failing".to_owned()));
    let text = metrics(&t).await;
    let line = text.lines().find(|line| line.starts_with("millstream_file_failures_total ")).expect("a line");
    assert_ne!(line, "millstream_file_failures_total 0");
    std::fs::remove_file(&blobs).expect("removed");
    std::fs::rename(&aside, &blobs).expect("moved");
    assert_eq!(store().await, 200);
    assert_eq!(health().await.1, "ok");
}

#[tokio::test]
async fn outage_of_the_directory_is_in_the_metrics() {
    let settings = [
        ("MILLSTREAM_LDAP_URL", "ldap://127.0.0.1:1"),
        ("MILLSTREAM_LDAP_SEARCH_BASE", "dc=acme,dc=example"),
    ];
    let t = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &settings);
    let login: Params<'_> = &[("username", &"hamlet@zulip.com"), ("password", &"x")];
    assert_eq!(t.anonymous().post("/fetch_api_key", login).await.status, 503);
    let text = metrics(&t).await;
    assert!(text.lines().any(|line| line == "millstream_ldap_failures_total 1"), "{text}");
}

#[tokio::test]
async fn log_has_the_start_and_the_organization_of_calls() {
    let settings = [("MILLSTREAM_LOG_FILTER", "info"), ("MILLSTREAM_LOG_FORMAT", "json")];
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &settings);
    server.wait_for_log("\"message\":\"ready\"");
    let made = server.anonymous().post("/dev/realms", &[("subdomain", &"acme")]).ok().await;
    let host = made["host"].as_str().expect("a host");
    server.anonymous().get("/server_settings", &[]).header("Host", host).ok().await;
    server.wait_for_log("\"organization\":\"acme\"");
    let log = server.log.lock().expect("the lock").clone();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let listening = lines.iter().find(|line| line["message"] == "listening").expect("the line");
    assert!(server.url.ends_with(listening["address"].as_str().expect("an address")), "{listening}");
    let opened = lines.iter().find(|line| line["message"] == "organization opened");
    assert!(opened.is_none_or(|line| line["realm"].is_u64()), "{opened:?}");
    let call = lines.iter().find(|line| line["organization"] == "acme").expect("the line");
    assert_eq!((&call["route"], &call["status"]), (&"GET /api/v1/server_settings".into(), &200.into()));
    assert!(call["micros"].is_u64() && call["address"] == "127.0.0.1", "{call}");
}

#[tokio::test]
async fn log_of_a_call_without_an_answer_has_its_route_and_no_status() {
    let settings = [("MILLSTREAM_LOG_FILTER", "info"), ("MILLSTREAM_LOG_FORMAT", "json")];
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &settings);
    let (hamlet, anonymous) = (server.user("hamlet").await, server.anonymous());
    let faults = [("disconnect", "/users"), ("lose_response", "/user_groups"), ("error", "/streams")];
    for (kind, path) in faults {
        anonymous.post("/dev/faults", &[("path", &format!("*{path}")), ("kind", &kind)]).ok().await;
        let _ = hamlet.call(reqwest::Method::GET, path, &[]).request.send().await;
        server.wait_for_log(&format!("\"route\":\"GET /api/v1{path}\""));
    }
    let log = server.log.lock().expect("the lock").clone();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let line_of = |path: &str| {
        let route = format!("GET /api/v1{path}");
        lines.iter().find(|line| line["route"] == route.as_str()).expect("the line")
    };
    for path in ["/users", "/user_groups"] {
        let line = line_of(path);
        assert_eq!(line["message"], "not answered, because of a fault", "{line}");
        assert!(line.get("status").is_none() && line["micros"].is_u64(), "{line}");
    }
    let refused = line_of("/streams");
    assert_eq!((&refused["message"], &refused["status"]), (&"answered".into(), &500.into()), "{refused}");
}

#[tokio::test]
async fn log_has_delays_in_the_duration_and_no_call_that_was_given_up() {
    let settings = [("MILLSTREAM_LOG_FILTER", "info"), ("MILLSTREAM_LOG_FORMAT", "json")];
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &settings);
    let (hamlet, anonymous) = (server.user("hamlet").await, server.anonymous());
    for (path, delay_ms) in [("/users", 3_600_000), ("/streams", 200)] {
        let fault: Params<'_> = &[("path", &format!("*{path}")), ("kind", &"delay"), ("delay_ms", &delay_ms)];
        anonymous.post("/dev/faults", fault).ok().await;
    }
    let impatient = hamlet.call(reqwest::Method::GET, "/users", &[]).request;
    assert!(impatient.timeout(std::time::Duration::from_millis(500)).send().await.is_err());
    poll_for("the call is recorded as given up", || async {
        let recorded = anonymous.get("/dev/requests", &[]).ok().await;
        let calls = recorded["requests"].as_array().expect("a list").clone();
        calls.iter().any(|call| call["path"] == "/api/v1/users" && call["status"].is_null()).then_some(())
    })
    .await;
    hamlet.get("/streams", &[]).ok().await;
    server.wait_for_log("\"route\":\"GET /api/v1/streams\"");
    let log = server.log.lock().expect("the lock").clone();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let line_of = |route: &str| lines.iter().find(|line| line["route"] == route);
    assert_eq!(line_of("GET /api/v1/users"), None);
    let delayed = line_of("GET /api/v1/streams").expect("the line");
    assert!(delayed["micros"].as_u64().is_some_and(|micros| micros >= 200_000), "{delayed}");
}
