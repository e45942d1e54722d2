//! `millstream doctor`.

use crate::support::ServerProcess;
use crate::support::smtp::{SmtpBehavior, SmtpServer};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

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
    for what in ["data folder", "format", "memory", "clock", "port", "files"] {
        assert_eq!(find(&findings, what).0, "ok", "{what}: {findings}");
    }
    for what in ["mail", "push", "LDAP", "TLS", "public URL"] {
        assert_eq!(find(&findings, what).0, "not used", "{what}: {findings}");
    }
    assert!(find(&findings, "sync").1.contains("a sync takes"));
    assert!(find(&findings, "disk space").1.contains("iB are free"));
    let left: Vec<_> = std::fs::read_dir(&folder.data).expect("the folder").flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().contains("doctor")), "{left:?}");
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
    assert!(find(&findings, "public URL").1.contains("leads to this server, without a proxy"), "{findings}");
    assert_eq!(smtp.received().len(), 0);
    let (_, findings) = examine(&["--send-test-to", "olga@acme.example"], &settings);
    assert!(find(&findings, "mail").1.contains("accepted a test e-mail"), "{findings}");
    assert_eq!(smtp.received().len(), 1);
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
