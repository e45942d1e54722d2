//! `millstream doctor`.

use crate::support::http_stub::{HttpStub, StubReply};
use crate::support::phone::service_url;
use crate::support::smtp::{SmtpBehavior, SmtpServer};
use crate::support::{ServerProcess, wait_until};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// The findings: whether all is well, and each state and text by name.
fn examine(data: &str, more: &[&str], settings: &[(&str, &str)]) -> (bool, Value) {
    let arguments = [&["doctor", "--output", "json", "--data", data], more].concat();
    let (status, text) = ServerProcess::run_in(&arguments, settings);
    let line = text.lines().find(|line| line.starts_with('[')).unwrap_or_else(|| panic!("no JSON: {text}"));
    (status.success(), serde_json::from_str(line).expect("JSON"))
}

fn find<'f>(findings: &'f Value, what: &str) -> (&'f str, &'f str) {
    let found = findings.as_array().expect("a list").iter().find(|finding| finding["what"] == what);
    let found = found.unwrap_or_else(|| panic!("{what} is missing: {findings}"));
    (found["state"].as_str().expect("a state"), found["finding"].as_str().expect("a text"))
}

struct Folder {
    _folder: tempfile::TempDir,
    data: String,
}

fn folder() -> Folder {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let create = ["realm", "create", "Acme", "--owner-email", "o@acme.example", "--owner-name", "Olga"];
    assert!(ServerProcess::run(&[&create[..], &["--data", &data]].concat()).0.success());
    Folder { _folder: folder, data }
}

#[test]
fn stopped_folder_is_examined() {
    let folder = folder();
    let (_, findings) = examine(&folder.data, &[], &[("MILLSTREAM_LISTEN", "127.0.0.1:0")]);
    for what in ["data folder", "format", "secret", "memory", "clock", "port", "files"] {
        assert_eq!(find(&findings, what).0, "ok", "{what}: {findings}");
    }
    for what in ["server", "mail", "push", "LDAP", "TLS", "public URL"] {
        assert_eq!(find(&findings, what).0, "not used", "{what}: {findings}");
    }
    assert!(find(&findings, "sync").1.contains("a sync takes"));
    assert!(find(&findings, "disk space").1.contains("iB are free"));
    let left: Vec<_> = std::fs::read_dir(&folder.data).expect("the folder").flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().contains("doctor")), "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_that_the_configuration_names_are_examined() {
    let folder = folder();
    let settings = [("MILLSTREAM_LISTEN", "127.0.0.1:0")];
    let (_, findings) = examine(&folder.data, &[], &settings);
    for what in ["integrations", "web app"] {
        assert_eq!(find(&findings, what).0, "not used", "{what}: {findings}");
    }
    let named = [
        settings[0],
        ("MILLSTREAM_INCOMING_WEBHOOKS_CATALOG_DIR", "/nope"),
        ("MILLSTREAM_WEB_APP_DIR", "/nope"),
    ];
    let (is_well, findings) = examine(&folder.data, &[], &named);
    let (state, text) = find(&findings, "integrations");
    assert!(!is_well && state == "problem" && text.contains("/nope: No such file"), "{findings}");
    let (state, text) = find(&findings, "web app");
    assert!(state == "warning" && text.contains("/nope, which web_app.dir names"), "{findings}");
    let server = ServerProcess::start(&["serve", "--data", &folder.data], &[settings[0], named[2]]);
    let warned = "no web app is installed in the folder that web_app.dir names";
    wait_until("it warns", || server.log_so_far().contains(warned)).await;
}

#[test]
fn test_mail_that_cannot_be_sent_is_a_problem() {
    let folder = folder();
    let (is_well, findings) = examine(&folder.data, &["--send-test-to", "olga@acme.example"], &[]);
    let (state, text) = find(&findings, "mail");
    assert!(!is_well && state == "problem", "{findings}");
    assert!(
        text.contains("no test e-mail was sent to olga@acme.example") && text.contains("set [mail]"),
        "{text}"
    );
    let arguments = ["doctor", "--send-test-to", "nonsense", "--data", &folder.data];
    let (status, text) = ServerProcess::run(&arguments);
    assert!(!status.success() && text.contains("`nonsense` is not an e-mail address"), "{text}");
    assert!(!text.contains("WHAT"), "{text}");
}

#[test]
fn problems_are_found_with_their_remedy() {
    let folder = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let listen = taken.local_addr().expect("an address").to_string();
    std::fs::set_permissions(&folder.data, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    std::fs::write(format!("{}/format", folder.data), "{\"millstream_format\": 99, \"shards\": 1}")
        .expect("written");
    let settings = [
        ("MILLSTREAM_LISTEN", listen.as_str()),
        ("MILLSTREAM_PUSH_SERVICE_URL", "http://127.0.0.1:9"),
        ("MILLSTREAM_PUSH_ORG_ID", "acme"),
        ("MILLSTREAM_PUSH_ORG_KEY", "secret-of-acme"),
        ("MILLSTREAM_LDAP_URL", "ldap://127.0.0.1:9"),
        ("MILLSTREAM_LDAP_SEARCH_BASE", "dc=acme,dc=example"),
        ("MILLSTREAM_MAIL_HOST", "127.0.0.1"),
        ("MILLSTREAM_MAIL_PORT", "9"),
        ("MILLSTREAM_MAIL_SECURITY", "none"),
        ("MILLSTREAM_MAIL_FROM", "chat@acme.example"),
    ];
    let (is_well, findings) = examine(&folder.data, &["--time-server", "127.0.0.1:9"], &settings);
    assert!(!is_well);
    for (what, remedy) in [
        ("data folder", "chmod 700"),
        ("format", "99"),
        ("port", "change `listen`"),
        ("mail", "check [mail]"),
        ("push", "check push.service_url"),
        ("LDAP", "check [ldap]"),
        ("time server", "does not answer"),
    ] {
        let (state, text) = find(&findings, what);
        assert!(state == "problem" && text.contains(remedy), "{what}: {state}: {text}");
    }
    assert!(find(&findings, "port").1.contains("(process "), "{findings}");
    assert!(!findings.to_string().contains("secret-of-acme"));
    let (status, text) = ServerProcess::run_in(&["doctor", "--data", &folder.data], &settings);
    assert!(!status.success() && text.contains("WHAT") && text.contains("problems"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn running_server_and_its_mail_server_are_examined() {
    let folder = folder();
    let smtp = SmtpServer::on(0, SmtpBehavior::Accept).await;
    let port = smtp.port().to_string();
    let listen = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        free.local_addr().expect("an address").to_string()
    };
    let url = format!("http://{listen}");
    let settings = [
        ("MILLSTREAM_LISTEN", listen.as_str()),
        ("MILLSTREAM_EXTERNAL_URL", url.as_str()),
        ("MILLSTREAM_MAIL_HOST", "127.0.0.1"),
        ("MILLSTREAM_MAIL_PORT", port.as_str()),
        ("MILLSTREAM_MAIL_SECURITY", "none"),
        ("MILLSTREAM_MAIL_FROM", "chat@acme.example"),
    ];
    let server = ServerProcess::start(&["serve", "--data", &folder.data], &settings);
    crate::support::wait_until("the socket is there", || {
        std::path::Path::new(&folder.data).join("control").exists()
    })
    .await;
    let examine = |more: &[&str], settings: &[(&str, &str)]| {
        tokio::task::block_in_place(|| examine(&folder.data, more, settings))
    };
    let (_, findings) = examine(&[], &settings);
    assert_eq!(find(&findings, "mail").0, "ok", "{findings}");
    assert!(find(&findings, "port").1.contains("the server is running on"), "{findings}");
    assert!(find(&findings, "server").1.contains("answers 200, storage: "), "{findings}");
    assert!(find(&findings, "public URL").1.contains("leads to this server, without a proxy"), "{findings}");
    assert_eq!(smtp.received().len(), 0);
    let (_, findings) = examine(&["--send-test-to", "olga@acme.example"], &settings);
    assert!(find(&findings, "mail").1.contains("accepted a test e-mail"), "{findings}");
    let mails = smtp.received();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].header("message-id").starts_with("<doctor-"), "{}", mails[0].data);
    // A proxy that does TLS and passes nothing on.
    let mut settings = settings;
    settings[1].1 = "https://chat.acme.example";
    let (is_well, findings) = examine(&[], &settings);
    assert!(!is_well && find(&findings, "public URL").1.contains("does not answer"), "{findings}");
    // The word of the probe is only given out over the socket.
    let health = server.anonymous().get("/health", &[]).header("X-Millstream-Probe", "x").await;
    assert!(health.body.get("probe").is_none(), "{:?}", health.body);
    server.terminate();
}

#[tokio::test(flavor = "multi_thread")]
async fn push_service_must_accept_the_key() {
    let (folder, mut service) = (folder(), HttpStub::start().await);
    let url = service_url(&service);
    let settings = [
        ("MILLSTREAM_PUSH_SERVICE_URL", url.as_str()),
        ("MILLSTREAM_PUSH_ORG_ID", "acme"),
        ("MILLSTREAM_PUSH_ORG_KEY", "secret-of-acme"),
    ];
    let refused = r#"{"result":"error","code":"INVALID_ZULIP_SERVER"}"#;
    for (reply, state, text) in [
        (StubReply::json(&json!({ "result": "success" })), "ok", "accepts push.org_id"),
        (StubReply::Status(400, r#"{"result":"error","code":"BAD_REQUEST"}"#), "ok", "accepts push.org_id"),
        (StubReply::Status(401, refused), "problem", "check push.org_id and push.org_key"),
        (StubReply::Status(429, "{}"), "warning", "try again later"),
        (StubReply::Status(501, ""), "problem", "does not answer as a push service"),
        (StubReply::Status(404, "<p>a page</p>"), "problem", "does not answer as a push service"),
        (StubReply::Ok("<p>a page</p>".to_owned()), "problem", "does not answer as a push service"),
    ] {
        service.reply_next(reply);
        let (_, findings) = tokio::task::block_in_place(|| examine(&folder.data, &[], &settings));
        let found = find(&findings, "push");
        assert!(found.0 == state && found.1.contains(text), "{state}: {found:?}");
        let request = service.next_request().await;
        assert_eq!(request.path, "/api/v1/remotes/push/e2ee/notify");
        assert_eq!(request.json()["push_requests"], json!([]), "nothing is sent to phones");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn push_service_may_need_no_key() {
    let (folder, mut service) = (folder(), HttpStub::start().await);
    let url = service_url(&service);
    let settings = [("MILLSTREAM_PUSH_SERVICE_URL", url.as_str())];
    for (reply, state, text) in [
        (StubReply::json(&json!({ "result": "success" })), "ok", "without push.org_id"),
        (StubReply::Status(401, "{}"), "problem", "set push.org_id and push.org_key"),
    ] {
        service.reply_next(reply);
        let (_, findings) = tokio::task::block_in_place(|| examine(&folder.data, &[], &settings));
        let found = find(&findings, "push");
        assert!(found.0 == state && found.1.contains(text), "{state}: {found:?}");
        service.next_request().await;
    }
}

/// Before anything is asked with the name alone.
#[test]
fn passwords_that_are_missing_are_named() {
    let folder = folder();
    let settings = [
        ("MILLSTREAM_LDAP_URL", "ldap://127.0.0.1:9"),
        ("MILLSTREAM_LDAP_SEARCH_BASE", "dc=acme,dc=example"),
        ("MILLSTREAM_LDAP_BIND_DN", "cn=reader,dc=acme,dc=example"),
        ("MILLSTREAM_MAIL_HOST", "127.0.0.1"),
        ("MILLSTREAM_MAIL_PORT", "9"),
        ("MILLSTREAM_MAIL_FROM", "chat@acme.example"),
        ("MILLSTREAM_MAIL_USER", "chat"),
    ];
    let (is_well, findings) = examine(&folder.data, &[], &settings);
    assert!(!is_well);
    for (what, missing) in [("LDAP", "ldap.bind_password is empty"), ("mail", "mail.password is empty")] {
        let (state, text) = find(&findings, what);
        assert!(state == "problem" && text.contains(missing), "{what}: {state}: {text}");
    }
}

#[test]
fn folders_of_something_else_stay_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let file = folder.path().join("passwd");
    std::fs::write(&file, "root").expect("written");
    for path in [folder.path(), &file] {
        let (is_well, findings) = examine(&path.display().to_string(), &[], &[]);
        assert!(!is_well && !findings.to_string().contains("chmod"), "{findings}");
        assert_eq!(find(&findings, "data folder").0, "problem", "{findings}");
        assert!(!find(&findings, "format").1.contains("realm create"), "{findings}");
    }
}

#[test]
fn unfinished_restore_is_named_by_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().display().to_string();
    std::fs::create_dir(folder.path().join("journal")).expect("room");
    std::fs::write(folder.path().join("restoring"), "from /srv/backups\n").expect("room");
    let command = format!("`millstream restore --from /srv/backups --data {data}`");
    let (is_well, findings) = examine(&data, &[], &[]);
    for what in ["data folder", "format"] {
        let (state, text) = find(&findings, what);
        assert!(!is_well && state == "problem" && text.contains(&command), "{findings}");
    }
    let other = tempfile::tempdir().expect("a folder");
    let to = other.path().join("x").display().to_string();
    let owner = ["--owner-email", "olga@acme.example", "--owner-name", "Olga"];
    for words in [
        &["realm", "list"][..],
        &[&["realm", "create", "Acme"], &owner[..]].concat(),
        &["serve", "--listen", "127.0.0.1:0"],
        &["dev", "--listen", "127.0.0.1:0"],
        &["check"],
        &["import", "abandon", "--yes"],
        &["web-app", "status"],
        &["export", "--to", &to],
        &["erase", "--now"],
        &["backup", "--to", &to],
        &["health"],
        &["reload"],
    ] {
        let (status, text) = ServerProcess::run(&[words, &["--data", &data]].concat());
        assert!(!status.success() && text.contains(&command), "{words:?}: {text}");
    }
    assert!(folder.path().join("restoring").exists() && !folder.path().join("development").exists());
}

#[test]
fn missing_secret_and_unfinished_import_are_found() {
    let folder = folder();
    let import = "2 8f3a\nsubdomain beta\narchive /srv/full.tar.gz\n";
    std::fs::write(format!("{}/import", folder.data), import).expect("written");
    let (_, findings) = examine(&folder.data, &[], &[]);
    let (state, text) = find(&findings, "import");
    assert!(state == "warning" && text.contains("/srv/full.tar.gz for the subdomain beta"), "{findings}");
    assert!(text.contains("`millstream import abandon --yes`"), "{findings}");
    std::fs::remove_file(format!("{}/secret", folder.data)).expect("it is there");
    let (is_well, findings) = examine(&folder.data, &[], &[]);
    assert!(!is_well, "{findings}");
    let (state, text) = find(&findings, "secret");
    assert!(state == "problem" && text.contains("put the old file back from a backup"), "{findings}");
}

#[test]
fn rows_are_printed_while_a_silent_mail_server_is_waited_for() {
    let folder = folder();
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port().to_string();
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_millstream"))
        .args(["doctor", "--data", &folder.data])
        .envs([("MILLSTREAM_MAIL_HOST", "127.0.0.1"), ("MILLSTREAM_MAIL_PORT", &port)])
        .envs([("MILLSTREAM_MAIL_SECURITY", "none"), ("MILLSTREAM_MAIL_FROM", "chat@acme.example")])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut lines =
        BufReader::new(doctor.stdout.take().expect("standard output")).lines().map_while(Result::ok);
    let head = lines.next().expect("the head");
    assert_eq!(head, "WHAT              STATE     FINDING");
    let before: Vec<String> = lines.by_ref().take_while(|line| !line.starts_with("TLS ")).collect();
    for line in &before {
        let state = line.get(18..26).expect("a state").trim_end();
        assert!(["ok", "not used", "warning", "problem"].contains(&state), "{line}");
    }
    // Only now is the connection closed that it waits for.
    drop(silent.accept().expect("a connection"));
    drop(silent);
    let mail = lines.next().expect("the row of mail");
    assert!(mail.starts_with("mail              problem   127.0.0.1:"), "{mail}");
    assert!(lines.any(|line| line.starts_with("public URL ")));
    assert!(!doctor.wait().expect("a status").success());
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_hangs_is_found() {
    let folder = folder();
    let server = ServerProcess::start(&["serve", "--data", &folder.data, "--listen", "127.0.0.1:0"], &[]);
    let socket = std::path::Path::new(&folder.data).join("control");
    crate::support::wait_until("the socket is there", || socket.exists()).await;
    server.signal("STOP");
    let (is_well, findings) = tokio::task::block_in_place(|| examine(&folder.data, &[], &[]));
    let (state, text) = find(&findings, "server");
    assert!(!is_well && state == "problem" && text.contains("does not answer"), "{findings}");
    assert!(!findings.to_string().contains("the server is running"), "{findings}");
    server.signal("CONT");
}
