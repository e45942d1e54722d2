//! Secrets reach only those who need them: they are not in the log at its most verbose level, in metrics, in errors, in
//! the events of other users or in the output of commands, and those that need not be stored are in no file.

use crate::support::{Params, ServerProcess, TestUser};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A value that only its owner may know.
pub(super) struct Secret {
    what: &'static str,
    value: String,
    /// Stored because the server needs it, in the data folder that only the operator can read.
    is_kept: bool,
}

/// All output in which no secret may appear.
#[derive(Default)]
pub(super) struct Seen(Vec<(String, String)>);

impl Seen {
    pub(super) fn add(&mut self, place: impl Into<String>, text: impl Into<String>) {
        self.0.push((place.into(), text.into()));
    }

    pub(super) fn check(&self, secrets: &[Secret]) {
        for Secret { what, value, .. } in secrets {
            assert!(value.len() >= 12, "{what} is too short to be looked for: {value}");
            for (place, text) in &self.0 {
                assert!(!text.contains(value.as_str()), "{what} is in {place}: {}", around(text, value));
            }
        }
    }
}

fn around(text: &str, value: &str) -> String {
    let line = text.lines().find(|line| line.contains(value)).unwrap_or_default();
    line.chars().take(400).collect()
}

pub(super) fn secret(what: &'static str, value: impl Into<String>) -> Secret {
    Secret { what, value: value.into(), is_kept: false }
}

fn kept(what: &'static str, value: impl Into<String>) -> Secret {
    Secret { what, value: value.into(), is_kept: true }
}

pub(super) const VERBOSE: [(&str, &str); 4] = [
    ("MILLSTREAM_LOG_FILTER", "trace"),
    ("MILLSTREAM_LIMITS_ENABLED", "false"),
    ("MILLSTREAM_WEBHOOKS_PRIVATE_ADDRESSES", "true"),
    ("RUST_BACKTRACE", "full"),
];

const PUSH_KEY: &str = "key-at-the-push-service-1f2e3d4c";
const BIND_PASSWORD: &str = "password-of-the-directory-5a6b7c";

/// Creates an organization with olga and otto, and returns their generated passwords.
pub(super) fn create(data: &str) -> [String; 2] {
    let run = |args: &[&str]| {
        let (status, text) = ServerProcess::run(&[args, &["--data", data]].concat());
        assert!(status.success(), "{args:?}: {text}");
        let password = text.lines().find_map(|line| line.strip_prefix("Password: "));
        password.expect("a password").to_owned()
    };
    [
        run(&["realm", "create", "Acme", "--owner-email", "olga@acme.example", "--owner-name", "Olga"]),
        run(&["user", "create", "--email", "otto@acme.example", "--name", "Otto"]),
    ]
}

/// Logs in; returns a client with the key.
pub(super) async fn log_in(server: &ServerProcess, email: &str, password: &str) -> TestUser {
    let params: Params<'_> = &[("username", &email), ("password", &password)];
    let body = server.anonymous().post("/fetch_api_key", params).ok().await;
    let text = |name: &str| body[name].as_str().expect("a text").to_owned();
    let id = body["user_id"].as_u64().expect("an id") as u32;
    TestUser { id, email: text("email"), key: text("api_key"), ..server.anonymous() }
}

/// Olga uses every feature that has secrets; returns these.
async fn use_secrets(
    server: &ServerProcess,
    olga: &mut TestUser,
    password: &str,
    seen: &mut Seen,
) -> Vec<Secret> {
    let mut secrets = Vec::new();
    let mut refused = async |what: &str, call: crate::support::Call| {
        let answer = call.await;
        assert_ne!(answer.status, 200, "{what}: {answer:?}");
        seen.add(format!("the answer to {what}"), format!("{} {:?}", answer.body, answer.headers));
    };
    let anonymous = server.anonymous();
    let guess = "a-guess-that-is-wrong-77";
    secrets.push(secret("a wrong password", guess));
    let wrong: Params<'_> = &[("username", &"olga@acme.example"), ("password", &guess)];
    refused("a wrong password", anonymous.post("/fetch_api_key", wrong)).await;
    refused("a password in the query", anonymous.post("/fetch_api_key", &[]).query(wrong)).await;
    let thief = TestUser { key: "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6".to_owned(), ..olga.clone() };
    secrets.push(secret("a wrong key", thief.key.clone()));
    refused("a wrong key", thief.get("/users/me", &[])).await;
    let malformed = TestUser { key: "not-a-key-of-32-letters".to_owned(), ..olga.clone() };
    secrets.push(secret("a malformed key", malformed.key.clone()));
    refused("a malformed key", malformed.get("/users/me", &[])).await;
    refused("a query with a key in it", olga.get("/nowhere", &[("api_key", &olga.key)])).await;

    let new_password = "a-new-password-for-olga-42";
    secrets.push(secret("a new password", new_password));
    let change: Params<'_> = &[("old_password", &guess), ("new_password", &new_password)];
    refused("a change of the password", olga.patch("/settings", change)).await;
    let change: Params<'_> = &[("old_password", &password), ("new_password", &new_password)];
    olga.patch("/settings", change).ok().await;

    let regenerated = olga.post("/users/me/api_key/regenerate", &[]).ok().await;
    let key = regenerated["api_key"].as_str().expect("a key").to_owned();
    assert_ne!(key, olga.key);
    refused("the key that was", olga.get("/users/me", &[])).await;
    secrets.push(secret("a key that was regenerated", key.clone()));
    olga.key = key;

    let bot: Params<'_> = &[
        ("full_name", &"Relay"),
        ("short_name", &"relay"),
        ("bot_type", &3),
        ("payload_url", &"\"http://127.0.0.1:1/\""),
        ("interface_type", &1),
    ];
    let bot = olga.post("/bots", bot).ok().await;
    secrets.push(secret("the key of a bot", bot["api_key"].as_str().expect("a key")));
    let state = olga.register().await.state;
    let services = state["realm_bots"][0]["services"].as_array().cloned().unwrap_or_default();
    let token =
        services.iter().find_map(|service| service["token"].as_str()).expect("the token of a service");
    secrets.push(kept("the token of a service", token));
    // The push service is unreachable, so requests to it are retried.
    let members = json!([bot["user_id"]]);
    let message: Params<'_> = &[("type", &"direct"), ("to", &members), ("content", &"hello")];
    olga.post("/messages", message).ok().await;

    let link = olga.post("/invites/multiuse", &[]).ok().await["invite_link"].clone();
    let link = link.as_str().expect("a link").trim_end_matches('/');
    secrets.push(secret("the key of an invitation", link.rsplit('/').next().expect("a key")));

    let (apple, google) = ("0123456789abcdef0011223344556677", "google-token-of-a-phone-8899");
    secrets.push(kept("the token of an Apple phone", apple));
    secrets.push(kept("the token of a Google phone", google));
    let phone: Params<'_> = &[("token", &apple), ("appid", &"org.example.app")];
    olga.post("/users/me/apns_device_token", phone).ok().await;
    olga.post("/users/me/android_gcm_reg_id", &[("token", &google)]).ok().await;
    secrets
}

#[tokio::test]
async fn secrets_do_not_leak() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let [password, others] = create(&data);
    let mut seen = Seen::default();
    let push = [
        ("MILLSTREAM_PUSH_SERVICE_URL", "http://127.0.0.1:1"),
        ("MILLSTREAM_PUSH_ORG_ID", "acme"),
        ("MILLSTREAM_PUSH_ORG_KEY", PUSH_KEY),
    ];
    let environment = [&VERBOSE as &[(&str, &str)], &push].concat();
    let serve = ["serve", "--data", &data, "--listen", "127.0.0.1:0"];
    let server = ServerProcess::start(&serve, &environment);
    let otto = log_in(&server, "otto@acme.example", &others).await;
    let mut queue = otto.register().modern().await;
    let mut olga = log_in(&server, "olga@acme.example", &password).await;
    let mut secrets = vec![
        secret("a password", password.clone()),
        secret("a password", others),
        secret("a key", olga.key.clone()),
        secret("a key", otto.key.clone()),
        secret("the key of the push service", PUSH_KEY),
    ];
    secrets.extend(use_secrets(&server, &mut olga, &password, &mut seen).await);
    olga.post("/users/me/status", &[("status_text", &"done")]).ok().await;
    let events = queue.now().await;
    assert!(events.iter().any(|event| event["type"] == "user_status"), "{events:?}");
    seen.add("events of another user", Value::from(events).to_string());
    seen.add("a registration of another user", without_own(&otto.register().modern().await.state, &otto));
    seen.add("the metrics", server.anonymous().get("/metrics", &[]).await.body.to_string());
    seen.add("what it greets with", server.output_so_far());
    let log = server.log.clone();
    server.terminate();
    assert!(server.wait().success());
    let log = log.lock().expect("the lock").clone();
    assert!(log.contains("TRACE") && log.contains("fetch_api_key"), "the log is not verbose: {log}");
    seen.add("the log", log);
    for command in [vec!["check"], vec!["realm", "list"], vec!["outbox"]] {
        let (_, text) = ServerProcess::run(&[&command as &[&str], &["--data", &data]].concat());
        seen.add(format!("millstream {}", command.join(" ")), text);
    }
    let files = files(Path::new(&data));
    seen.add(
        "the names of files",
        files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("\n"),
    );
    seen.check(&secrets);
    // A search for a value that is stored proves that stored secrets would be found.
    let stores = |value: &str| {
        let has = |bytes: &[u8]| bytes.windows(value.len()).any(|window| window == value.as_bytes());
        files.iter().find(|(_, bytes)| has(bytes)).map(|(name, _)| name)
    };
    assert!(stores("olga@acme.example").is_some(), "the files are not searchable");
    for Secret { what, value, .. } in secrets.iter().filter(|secret| !secret.is_kept) {
        assert_eq!(stores(value), None, "{what} is in a file");
    }
}

#[tokio::test]
async fn ldap_bind_password_does_not_leak() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let [password, _] = create(&data);
    let directory = |url: &'static str| {
        [
            ("MILLSTREAM_LDAP_URL", url),
            ("MILLSTREAM_LDAP_BIND_DN", "cn=reader,dc=example"),
            ("MILLSTREAM_LDAP_BIND_PASSWORD", BIND_PASSWORD),
            ("MILLSTREAM_LDAP_SEARCH_BASE", "dc=example"),
        ]
    };
    let mut seen = Seen::default();
    let environment = [&VERBOSE as &[(&str, &str)], &directory("ldap://127.0.0.1:1")].concat();
    let server = ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &environment);
    let params: Params<'_> = &[("username", &"olga@acme.example"), ("password", &password)];
    let answer = server.anonymous().post("/fetch_api_key", params).await;
    assert_eq!(answer.status, 503);
    seen.add("the answer", answer.body.to_string());
    let log = server.log.clone();
    server.terminate();
    assert!(server.wait().success());
    let log = log.lock().expect("the lock").clone();
    assert!(log.contains("LDAP directory does not answer"), "{log}");
    seen.add("the log", log);
    // Configuration errors do not quote the value.
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_millstream"))
        .args(["serve", "--data", &data])
        .envs(directory("nonsense"))
        .envs(VERBOSE)
        .output()
        .expect("it runs");
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(text.contains("ldap.url"), "{text}");
    seen.add("the refusal", text);
    seen.check(&[secret("the password of the directory", BIND_PASSWORD), secret("a password", password)]);
}

/// The state of a registration without the user's own values.
fn without_own(state: &Value, own: &TestUser) -> String {
    state.to_string().replace(&own.key, "")
}

/// Every file below a folder, with its content.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.display().to_string(), fs::read(&path).expect("a file")));
        }
    }
    found
}
