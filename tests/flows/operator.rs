//! Operation: configuration errors, signals, ports and folders.

use crate::support::{ServerProcess, TestUser};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;

/// Runs a command that does not serve, in an empty environment; returns whether it succeeded, and its output.
fn run(args: &[&str], environment: &[(&str, &str)]) -> (bool, String) {
    let (status, text) = ServerProcess::run_in(args, environment);
    (status.success(), text)
}

fn write(folder: &Path, text: &str) -> String {
    let file = folder.join("millstream.toml");
    std::fs::write(&file, text).expect("room");
    file.display().to_string()
}

fn basic_auth(person: &TestUser) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{}:{}", person.email, person.key)))
}

const OWNER: [&str; 4] = ["--owner-email", "olga@acme.example", "--owner-name", "Olga"];

#[test]
fn config_errors_name_file_and_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "[http]\nworkers = 100000\n[storage]\ncache_bytes = 1\n[mail]\nhost = \"mail.acme.example\"\n\
                [blobs]\nkind = \"s3\"\n[push]\nservice_url = \"x\"\n[login]\npassword = false\n\
                [webhooks]\nrequest_secs_max = 60\n";
    let file = write(folder.path(), text);
    let data = folder.path().join("data").display().to_string();
    let misspelled = [("MILLSTREAM_LISTN", "127.0.0.1:0")];
    let (checked, said_by_check) = run(&["config", "--check", &file], &misspelled);
    let (served, said_by_serve) = run(&["serve", "--config", &file, "--data", &data], &misspelled);
    assert!(!checked && !served);
    assert_eq!(said_by_check, said_by_serve);
    for part in [
        "the configuration has 8 problems:",
        "millstream.toml:2: `http.workers` must be a whole number from 0 to 256",
        "millstream.toml:4: `storage.cache_bytes` must be",
        "millstream.toml:6: `mail.from` must be an address",
        "millstream.toml:8: `blobs.bucket` must name a bucket",
        "millstream.toml:10: `push.service_url` must be an address",
        "millstream.toml:12: `login.password` is false",
        "millstream.toml:14: `webhooks.request_secs_max` must be less than outbox.delivery_secs_max",
        "MILLSTREAM_LISTN: is not an option; did you mean MILLSTREAM_LISTEN?",
    ] {
        assert!(said_by_check.contains(part), "{part}: {said_by_check}");
    }
    assert!(!Path::new(&data).exists(), "nothing is made for a configuration that is refused");
    // What only the start would find.
    let catalog = "[incoming_webhooks]\ncatalog_dir = \"/nope\"\n";
    let damaged = folder.path().join("damaged.pem");
    let pem = "-----BEGIN CERTIFICATE-----\ndGVh\n-----END CERTIFICATE-----\n";
    std::fs::write(&damaged, pem).expect("written");
    let mail = "[mail]\nhost = \"mail.acme.example\"\nfrom = \"chat@acme.example\"\nca_file = ";
    let mail = format!("{mail}\"{}\"\n", damaged.display());
    for (text, part) in [(catalog, "/nope: No such file"), (&mail, "damaged.pem) cannot be used")] {
        let file = write(folder.path(), text);
        for arguments in [&["config", "--check", &file][..], &["serve", "--data", &data, "--config", &file]] {
            let (is_accepted, said) = run(arguments, &[]);
            assert!(!is_accepted && said.contains(part), "{arguments:?}: {said}");
        }
    }
    let fine = write(folder.path(), "[http]\nworkers = 1\n");
    let (checked, said) = run(&["config", "--check", &fine], &[]);
    assert!(checked && said.contains("is valid\n"), "{said}");
}

#[test]
fn busy_port_fails_before_data_folder_is_created() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let data = folder.path().join("data").display().to_string();
    let (done, said) = run(&["serve", "--data", &data, "--listen", &address], &[]);
    assert!(!done && said.contains("cannot listen on"), "{said}");
    assert!(!Path::new(&data).exists());
    let temporary = folder.path().display().to_string();
    let (done, said) = run(&["dev", "--listen", &address], &[("TMPDIR", &temporary)]);
    assert!(!done && said.contains("cannot listen on"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn commands_read_config_and_validate_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("chat");
    let file = write(folder.path(), &format!("data = \"{}\"\n", data.display()));
    let create = [&["realm", "create", "Acme", "--config", &file], &OWNER[..]].concat();
    let (done, said) = run(&[&create[..], &["--email-domain", "no domain"]].concat(), &[]);
    assert!(!done && said.contains("--email-domain: Invalid domain"), "{said}");
    assert!(!data.exists());
    let mut weak = std::process::Command::new(env!("CARGO_BIN_EXE_millstream"));
    weak.args([&create[..], &["--password-stdin"]].concat()).stdin(std::process::Stdio::piped());
    let mut child = weak.stderr(std::process::Stdio::piped()).spawn().expect("it runs");
    child.stdin.take().expect("a pipe").write_all(b"password\n").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("too easy to guess"), "{said}");
    let (done, said) = run(&create, &[]);
    assert!(done && data.join("format").exists(), "{said}");
    for command in
        [&["realm", "list"][..], &["outbox"], &["check"], &["user", "api-key", "--email", OWNER[1]]]
    {
        let (done, said) = run(&[command, &["--config", &file]].concat(), &[]);
        assert!(done, "{command:?}: {said}");
    }
}

#[tokio::test]
async fn dev_server_reads_environment_and_host_names() {
    let server = ServerProcess::start(
        &["dev", "--listen", "localhost:0"],
        &[("MILLSTREAM_LIMITS_ENABLED", "true"), ("MILLSTREAM_LIMITS_API_BY_USER", "[[60, 17]]")],
    );
    assert!(server.startup_output().contains("writes are not synced"), "{}", server.startup_output());
    let hamlet = server.user("hamlet").await;
    let answer = hamlet.get("/users/me", &[]).await;
    assert_eq!(answer.header("X-RateLimit-Limit"), "17");
}

#[tokio::test]
async fn sighup_reloads_config_and_other_signals_are_ignored() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let limited = |calls: u32| format!("data = \"{data}\"\n[limits]\napi_by_user = [[60, {calls}]]\n");
    let file = write(folder.path(), &limited(100));
    let (done, said) = run(&[&["realm", "create", "Acme", "--config", &file], &OWNER[..]].concat(), &[]);
    assert!(done, "{said}");
    let (_, key) = run(&["user", "api-key", "--config", &file, "--email", OWNER[1]], &[]);
    let server = ServerProcess::start(&["serve", "--config", &file, "--listen", "127.0.0.1:0"], &[]);
    let mut olga = server.anonymous();
    (olga.email, olga.key) = (OWNER[1].to_owned(), key.trim().to_owned());
    let limit = async || olga.get("/users/me", &[]).await.header("X-RateLimit-Limit").to_owned();
    assert_eq!(limit().await, "100");
    for signal in ["QUIT", "USR1", "USR2"] {
        server.signal(signal);
        server.wait_for_log(&format!("SIG{signal}"));
    }
    write(folder.path(), &limited(50));
    server.signal("HUP");
    server.wait_for_log("configuration reloaded");
    assert_eq!(limit().await, "50");
    write(folder.path(), "[http]\nworkers = 100000\n");
    server.signal("HUP");
    server.wait_for_log("the configuration was not reloaded");
    assert_eq!(limit().await, "50");
    write(
        folder.path(),
        &format!("{}[log]\nfilter = \"info,access=off\"\n[queues]\nidle_secs = 5\n", limited(40)),
    );
    server.signal("HUP");
    server.wait_for_log("queues.idle_secs");
    assert_eq!(limit().await, "40");
    server.terminate();
    assert!(server.wait().success());
}

#[tokio::test]
async fn second_interrupt_removes_temporary_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let temporary = folder.path().display().to_string();
    let environment = [("TMPDIR", temporary.as_str()), ("MILLSTREAM_LOG_FILTER", "info")];
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &environment);
    let hamlet = server.user("hamlet").await;
    // An unfinished request delays the shutdown.
    let mut slow = TcpStream::connect(server.url.trim_start_matches("http://")).expect("it listens");
    let head = format!(
        "POST /api/v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ntype=",
        basic_auth(&hamlet)
    );
    slow.write_all(head.as_bytes()).expect("it reads");
    // Once a later request was answered on each connection worker, the head of this one has been read.
    hamlet.get("/users/me", &[]).ok().await;
    server.signal("INT");
    server.wait_for_log("stopping");
    server.signal("INT");
    assert_eq!(server.wait().code(), Some(130));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}
