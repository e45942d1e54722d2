//! Secrets of integrations: passwords of mail server, directory and file store, and links in emails. They are not in
//! the log at its most verbose level, in a response, a metric, another user's event, the output of commands, or the
//! debug output of values.

use super::secrets::{Secret, Seen, VERBOSE, create, log_in, secret};
use crate::support::server::TestServerBuilder;
use crate::support::slapd::{BASE, Entry, READER, Slapd};
use crate::support::smtp::{Received, SmtpServer};
use crate::support::{Params, ServerProcess, TestServer, TestUser};
use millstream::config::{Config, Overrides};
use serde_json::{Value, json};
use std::fs;

const MAIL_PASSWORD: &str = "password-of-the-mail-server-9d8c";
const FILES_KEY: &str = "key-of-the-files-elsewhere-7e6f5d";
const PUSH_KEY: &str = "key-at-the-push-service-2b3c4d5e";
const WRONG: &str = "ada has not this 987";
const CHOSEN: &str = "correct horse battery staple 31";

/// The first email to an address with a link to this page, and the path of the link.
async fn link_to(smtp: &SmtpServer, url: &str, to: &str, page: &str) -> String {
    let is_it = |mail: &&Received| mail.to == to && mail.text().contains(page);
    for count in 1.. {
        if let Some(mail) = smtp.wait_for(count).await.iter().find(is_it) {
            return mail.link(url);
        }
    }
    unreachable!("waiting ends with a failure")
}

fn key_in(path: &str) -> String {
    path.trim_end_matches('/').rsplit('/').next().expect("a key").to_owned()
}

/// The environment of a server with a mail server, a directory and a file store that is unreachable.
fn environment<'a>(smtp_port: &'a str, directory: Option<&'a Slapd>) -> Vec<(&'a str, &'a str)> {
    let mut environment = VERBOSE.to_vec();
    environment.extend([
        ("MILLSTREAM_MAIL_HOST", "127.0.0.1"),
        ("MILLSTREAM_MAIL_PORT", smtp_port),
        ("MILLSTREAM_MAIL_SECURITY", "none"),
        ("MILLSTREAM_MAIL_USER", "acme"),
        ("MILLSTREAM_MAIL_PASSWORD", MAIL_PASSWORD),
        ("MILLSTREAM_MAIL_FROM", "chat@acme.example"),
        ("MILLSTREAM_BLOBS_KIND", "s3"),
        ("MILLSTREAM_BLOBS_BUCKET", "files"),
        ("MILLSTREAM_BLOBS_ENDPOINT", "http://127.0.0.1:1"),
        ("MILLSTREAM_BLOBS_ACCESS_KEY_ID", "millstream"),
        ("MILLSTREAM_BLOBS_SECRET_ACCESS_KEY", FILES_KEY),
        ("MILLSTREAM_BLOBS_REQUEST_SECS_MAX", "1"),
    ]);
    if let Some(directory) = directory {
        environment.extend([
            ("MILLSTREAM_LDAP_URL", directory.url.as_str()),
            ("MILLSTREAM_LDAP_BIND_DN", READER.0),
            ("MILLSTREAM_LDAP_BIND_PASSWORD", READER.1),
            ("MILLSTREAM_LDAP_SEARCH_BASE", BASE),
        ]);
    }
    environment
}

/// Opens a page, or submits its form; records the output for an anonymous client.
async fn open(server: &ServerProcess, path: &str, form: Option<&[(&str, &str)]>, seen: &mut Seen) -> u16 {
    let (http, url) = (&server.anonymous().http, format!("{}{path}", server.url));
    let request = form.map_or_else(|| http.get(&url), |form| http.post(&url).form(form));
    let answer = request.send().await.expect("an answer");
    let status = answer.status().as_u16();
    seen.add(format!("a page with status {status}"), answer.text().await.expect("a page"));
    status
}

/// Ada of the directory logs in, after one wrong password.
async fn log_in_with_directory(server: &ServerProcess, password: &str, seen: &mut Seen) -> [Secret; 2] {
    for (password, status) in [(WRONG, 401), (password, 200)] {
        let params: Params<'_> = &[("username", &"ada"), ("password", &password)];
        let answer = server.anonymous().post("/fetch_api_key", params).await;
        assert_eq!(answer.status, status, "{answer:?}");
        seen.add("a login", answer.body["msg"].to_string());
    }
    [secret("the password of the directory", READER.1), secret("a password in the directory", password)]
}

const ADA: Entry =
    Entry { uid: "ada", full_name: "Ada", mail: Some("ada@acme.example"), password: "ada (secret) * 123" };

#[tokio::test]
async fn integration_secrets_do_not_leak() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let [password, others] = create(&data);
    let directory = Slapd::start(&[ADA]);
    let smtp = SmtpServer::start().await;
    let mut seen = Seen::default();
    let port = smtp.port().to_string();
    let environment = environment(&port, directory.as_ref());
    let server = ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &environment);
    let olga = log_in(&server, "olga@acme.example", &password).await;
    let otto = log_in(&server, "otto@acme.example", &others).await;
    let mut queue = otto.register().modern().await;
    let mut secrets: Vec<Secret> = vec![
        secret("the password of the mail server", MAIL_PASSWORD),
        secret("the key of the files", FILES_KEY),
        secret("the chosen password", CHOSEN),
        secret("a wrong password", WRONG),
    ];

    olga.patch("/settings", &[("email", &"olga@new.example")]).ok().await;
    let confirm = link_to(&smtp, &server.url, "olga@new.example", "/confirm_email/").await;
    secrets.push(secret("the key that confirms an address", key_in(&confirm)));
    let none = json!([]);
    let invite: Params<'_> = &[("invitee_emails", &"eve@x.example"), ("stream_ids", &none)];
    olga.post("/invites", invite).ok().await;
    let join = link_to(&smtp, &server.url, "eve@x.example", "/join/").await;
    secrets.push(secret("the key of an invitation", key_in(&join)));
    let wrong = join.replace("/join/1-", "/join/2-");
    assert_eq!(open(&server, &wrong, None, &mut seen).await, 404);
    assert_eq!(open(&server, &confirm, None, &mut seen).await, 200);
    assert_eq!(open(&server, &confirm, None, &mut seen).await, 404);
    assert_eq!(open(&server, &join, None, &mut seen).await, 200);
    let form = [("full_name", "Eve"), ("password", CHOSEN)];
    assert_eq!(open(&server, &join, Some(&form), &mut seen).await, 200);
    assert_eq!(open(&server, &join, Some(&form), &mut seen).await, 410);

    if directory.is_some() {
        secrets.extend(log_in_with_directory(&server, ADA.password, &mut seen).await);
    }
    let picture = vec![("file", crate::api::pictures::png())];
    let olga = TestUser { email: "olga@new.example".to_owned(), ..olga };
    let answer = olga.upload("/users/me/avatar", &[], &picture).await;
    assert!(answer.status >= 500, "{answer:?}");
    seen.add("an upload that goes nowhere", format!("{} {:?}", answer.body, answer.headers));

    seen.add("events of another user", Value::from(queue.now().await).to_string());
    seen.add("a registration of another user", otto.register().modern().await.state.to_string());
    seen.add("the metrics", server.anonymous().get("/metrics", &[]).await.body.to_string());
    let log = server.log.clone();
    server.terminate();
    assert!(server.wait().success());
    let log = log.lock().expect("the lock").clone();
    assert!(log.contains("TRACE") && log.contains("/join/"), "the log is not verbose: {log}");
    seen.add("the log", log);
    for command in [vec!["outbox", "--data", &data], vec!["check", "--data", &data], vec!["config"]] {
        seen.add(format!("millstream {}", command[0]), ServerProcess::run_in(&command, &environment).1);
    }
    seen.check(&secrets);
}

#[test]
fn config_errors_do_not_quote_secrets() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("millstream.toml");
    for (text, place) in [
        (format!("[mail]\npassword = \"{MAIL_PASSWORD}\n"), ":2: is not valid TOML"),
        (format!("[mail]\npassword = {MAIL_PASSWORD}"), ":2: is not valid TOML"),
        (format!("[mail]\npassword = [\"{MAIL_PASSWORD}\"]"), "`mail.password` must be text"),
        (format!("[mail]\npasword = \"{MAIL_PASSWORD}\""), "`mail.pasword` is not an option"),
        (format!("[mail]\npassword = \"x\"\npassword = \"{MAIL_PASSWORD}\""), ":3: is not valid TOML"),
    ] {
        fs::write(&file, &text).expect("a file");
        let (status, said) = ServerProcess::run(&["config", "--check", &file.display().to_string()]);
        assert!(!status.success() && said.contains(place), "{text}: {said}");
        assert!(!said.contains(MAIL_PASSWORD), "{said}");
    }
}

#[tokio::test]
async fn debug_output_hides_secrets() {
    let options = [
        ("mail.password", MAIL_PASSWORD),
        ("blobs.secret_access_key", FILES_KEY),
        ("push.org_key", PUSH_KEY),
        ("ldap.bind_password", READER.1),
    ];
    let flags = options
        .iter()
        .fold(Overrides::default(), |flags, (option, value)| flags.set(option, "test", Some(value)));
    let printed = format!("{:?}", Config::load(None, [], flags).expect("a configuration"));
    for (option, value) in options {
        assert!(!printed.contains(value), "{option} is in {printed}");
    }
    let t = TestServerBuilder::default().development().start().await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let new: Params<'_> = &[("email", &"rosa@zulip.com"), ("password", &CHOSEN), ("full_name", &"Rosa")];
    desdemona.post("/users", new).ok().await;
    assert_printed_without_secrets(&t, &[&t.user("rosa").key, &hamlet.key, CHOSEN, "$argon2"]);
}

/// The debug output of users, invitations and jobs, as a panic message would have it.
fn assert_printed_without_secrets(t: &TestServer, secrets: &[&str]) {
    let directory = t.realm().directory();
    let rosa = directory.user_by_email("rosa@zulip.com").expect("a user");
    assert!(rosa.password_hash.is_some());
    let people: Vec<_> = directory.users().collect();
    let printed = format!("{people:?} {:?}", t.failed_jobs());
    assert!(printed.contains("rosa@zulip.com"), "{printed}");
    for secret in secrets {
        assert!(!printed.contains(secret), "{secret} is in {printed}");
    }
}
