//! The operator's commands on a running server, over the socket in its data folder.

use crate::support::{Params, ServerProcess};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

const OWNER: [&str; 4] = ["--owner-email", "olga@acme.example", "--owner-name", "Olga"];

struct Case {
    _folder: tempfile::TempDir,
    data: String,
}

impl Case {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data").display().to_string();
        Self { _folder: folder, data }
    }

    fn serve(&self) -> ServerProcess {
        ServerProcess::start(&["serve", "--data", &self.data, "--listen", "127.0.0.1:0"], &[])
    }

    fn run(&self, args: &[&str]) -> (bool, String) {
        let (status, text) = ServerProcess::run(&[args, &["--data", &self.data]].concat());
        (status.success(), text)
    }

    fn done(&self, args: &[&str]) -> String {
        let (is_done, text) = self.run(args);
        assert!(is_done, "{args:?}: {text}");
        text
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.done(&[args, &["--output", "json"]].concat())).expect("JSON")
    }
}

/// The audit names what the operator has done to the organization.
fn expect_audited(case: &Case) {
    let acts = case.done(&["audit", "--since", "1h"]);
    for expected in [
        "created the account Pat Lee (pat@acme.example): name Pat Lee; role moderator",
        "changed the account Pat Lee (pat@acme.example): role from “moderator” to “administrator”",
        "created the channel #plans",
        "set a new password of the account Olga (olga@acme.example)",
        "replaced the API key of the account Olga (olga@acme.example)",
        "deactivated the account Pat Lee (pat@acme.example)",
    ] {
        assert!(acts.contains(expected), "{expected} is missing in\n{acts}");
    }
    // What was done is the last column, and all begin at the same place.
    let mut lines = acts.lines();
    let start = lines.next().and_then(|head| head.find("WHAT")).expect("the head");
    assert!(
        lines.all(|line| line.is_char_boundary(start)
            && line[..start].ends_with("  ")
            && !line[start..].starts_with(' ')),
        "{acts}"
    );
    let of_pat = case.json(&["audit", "--user", "pat@acme.example"]);
    let of_pat = of_pat.as_array().expect("a list");
    assert!(of_pat.len() >= 3, "{of_pat:?}");
    assert!(of_pat.iter().all(|act| act["client"] == "command line" && act["address"].is_null()));
    // With the members of `GET /realm/audit`.
    for act in of_pat {
        assert!(act["origin"] == "command_line" && act["user_id"].is_null() && act["id"].is_u64(), "{act}");
        assert!(act["timestamp"].is_u64() && act["what"].is_string(), "{act}");
    }
    assert_eq!(case.json(&["audit", "--limit", "1"]).as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn organization_is_made_and_run_on_a_running_server() {
    let case = Case::new();
    let server = case.serve();
    crate::support::wait_until("the socket is there", || {
        std::path::Path::new(&case.data).join("control").exists()
    })
    .await;
    let mode = std::fs::metadata(format!("{}/control", case.data)).expect("the socket").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let made = case.json(&[&["realm", "create", "Acme"], &OWNER[..]].concat());
    let password = made["password"].as_str().expect("a password").to_owned();
    case.done(&["user", "create", "--email", "pat@acme.example", "--name", "Pat Lee", "--role", "moderator"]);
    let (is_done, words) = case.run(&["user", "create", "--email", "x@acme.example", "--name", "X"]);
    assert!(!is_done && words.contains("--name: the name of a person has 2 to 100 characters"), "{words}");
    case.done(&["user", "role", "--email", "pat@acme.example", "administrator"]);
    let users = case.json(&["user", "list"]);
    let roles: Vec<_> =
        users.as_array().unwrap().iter().map(|user| (&user["email"], &user["role"])).collect();
    let expected =
        [(json!("olga@acme.example"), json!("owner")), (json!("pat@acme.example"), json!("administrator"))];
    assert_eq!(roles, expected.iter().map(|(email, role)| (email, role)).collect::<Vec<_>>());
    let channel = case.json(&["channel", "create", "plans", "--description", "What is *next*"]);
    assert_eq!(channel["creator"], "olga@acme.example");
    assert!(case.done(&["channel", "list"]).contains("plans  public  1            open   What is *next*"));

    let login = async |password: &str| {
        let login: Params<'_> = &[("username", &"olga@acme.example"), ("password", &password)];
        server.anonymous().post("/fetch_api_key", login).await
    };
    let mut olga = server.anonymous();
    olga.email = "olga@acme.example".to_owned();
    olga.key = login(&password).await.ok()["api_key"].as_str().expect("a key").to_owned();
    let key = case.done(&["user", "api-key", "--email", "olga@acme.example"]);
    assert_eq!(key.trim(), olga.key);
    let new = case.json(&["user", "set-password", "--email", "olga@acme.example"]);
    assert_eq!(login(&password).await.status, 401);
    login(new["password"].as_str().expect("a password")).await.ok();
    olga.get("/users/me", &[]).ok().await;
    // Bots of the server and deleted accounts have no keys to replace.
    case.done(&["user", "create", "--email", "gone@acme.example", "--name", "Gone"]);
    case.done(&["user", "delete", "--email", "gone@acme.example", "--yes"]);
    assert_eq!(case.json(&["user", "end-sessions", "--all"])["accounts"], 2);
    let acts = case.done(&["audit", "--since", "1h"]);
    assert!(!acts.contains("replaced the API key of the account Deleted user"), "{acts}");
    assert_eq!(olga.get("/users/me", &[]).await.status, 401);

    case.done(&["user", "deactivate", "--email", "pat@acme.example"]);
    assert!(case.done(&["user", "deactivate", "--email", "pat@acme.example"]).contains("already"));
    let (is_done, words) = case.run(&["user", "role", "--email", "olga@acme.example", "member"]);
    assert!(!is_done && words.contains("only organization owner"), "{words}");
    let (is_done, words) = case.run(&["user", "deactivate", "--email", "olga@acme.example"]);
    assert!(!is_done && words.contains("only organization owner"), "{words}");
    let (is_done, words) = case.run(&["user", "role", "--email", "none@acme.example", "member"]);
    assert!(!is_done && words.contains("there is no account none@acme.example"), "{words}");
    expect_audited(&case);
    case.done(&["realm", "deactivate", "-"]);
    server.terminate();
    assert!(server.wait().success());
    assert!(!std::path::Path::new(&case.data).join("control").exists());
    // The same commands on the stopped folder.
    assert!(case.done(&["realm", "list"]).contains("Acme  1       deactivated"));
    assert_eq!(case.json(&["user", "list"]).as_array().unwrap().len(), 3);
    case.done(&["check"]);
}

#[test]
fn completions_man_page_and_routes_are_printed() {
    let print = |args: &[&str]| {
        let (status, text) = ServerProcess::run(args);
        assert!(status.success(), "{args:?}: {text}");
        text
    };
    assert!(print(&["completions", "bash"]).contains("complete -F _millstream"));
    assert!(print(&["completions", "zsh"]).starts_with("#compdef millstream"));
    assert!(print(&["man"]).contains(".TH millstream 1"));
    let folder = tempfile::tempdir().expect("a folder");
    print(&["man", "--dir", &folder.path().display().to_string()]);
    assert!(folder.path().join("millstream-user-create.1").exists());
    let page = std::fs::read_to_string(folder.path().join("millstream-realm-create.1")).expect("a page");
    assert!(page.contains(".SH EXAMPLES") && !page.contains(".SH EXTRA"), "{page}");
    let routes = print(&["routes"]);
    let line = routes
        .lines()
        .find(|line| line.contains("/api/v1/users/me/subscriptions") && line.starts_with("POST"));
    assert!(line.expect("the route").contains("  For accounts that are not guests "), "{routes}");
    let tool = routes.lines().find(|line| line.contains("/dev/reset")).expect("the tool");
    assert!(tool.ends_with("Development only. Needs no account."), "{tool}");
    let routes: Value = serde_json::from_str(&print(&["routes", "--output", "json"])).expect("JSON");
    assert!(routes.as_array().is_some_and(|routes| routes.len() > 200));
}

#[test]
fn systemd_is_notified_of_start_and_stop() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notify");
    let socket = std::os::unix::net::UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(crate::support::TIMEOUT)).expect("a timeout");
    let path = path.display().to_string();
    let settings = [("NOTIFY_SOCKET", path.as_str()), ("WATCHDOG_USEC", "200000")];
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--empty"], &settings);
    let next = || {
        let mut message = [0; 64];
        let bytes = socket.recv(&mut message).expect("a message");
        String::from_utf8_lossy(&message[..bytes]).into_owned()
    };
    let said = [next(), next(), next()];
    assert_eq!(said, ["READY=1", "WATCHDOG=1", "WATCHDOG=1"]);
    server.terminate();
    while next() != "STOPPING=1" {}
    assert!(server.wait().success());
}

/// It would override `data` of the configuration file, which the operator's commands read.
#[test]
fn systemd_unit_sets_no_option() {
    let unit = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/millstream.service");
    assert!(!std::fs::read_to_string(unit).expect("the unit").contains("MILLSTREAM_"));
}

#[test]
fn systemd_unit_is_hardened() {
    use crate::support::skip::{leave_out, not_skipped};
    const WHAT: &str = "systemd-analyze";
    let unit = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/millstream.service");
    let analyze = std::process::Command::new(WHAT).args(["security", "--offline=true"]).arg(&unit).output();
    let Ok(output) = analyze else { return leave_out(WHAT, "it is not installed") };
    not_skipped(WHAT);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let level = text.lines().find_map(|line| line.split_once("millstream.service: ")).expect("a level").1;
    let level: f64 = level.split(' ').next().and_then(|level| level.parse().ok()).expect("a number");
    assert!(level <= 2.0, "{level}");
}

#[tokio::test]
async fn log_filter_and_configuration_change_while_it_runs() {
    let case = Case::new();
    let server = case.serve();
    case.done(&["log-level", "debug"]);
    let (is_done, words) = case.run(&["log-level", "a=b=c"]);
    let expected =
        "this is not a log filter: `a=b=c` is neither a level (off, error, warn, info, debug or trace)";
    assert!(!is_done && words.contains(expected), "{words}");
    for filter in ["inof", "nonsense,foo", "info,access"] {
        let (is_done, words) = case.run(&["log-level", filter]);
        assert!(!is_done && words.contains("nor `target=level`, such as `access=off`"), "{words}");
    }
    assert_eq!(case.done(&["reload"]), "The configuration is reloaded.\n");
    server.wait_for_log("configuration reloaded");
    server.kill();
    // The socket of a killed server is no server.
    let (is_done, words) = case.run(&["reload"]);
    assert!(!is_done && words.contains("no server is running on"), "{words}");
    assert!(words.contains("start one with `millstream serve`, or name the data folder"), "{words}");
    case.done(&["realm", "list"]);
    let _again = case.serve();
    case.done(&["reload"]);
}

#[tokio::test]
async fn commands_for_a_server_without_a_socket_do_not_say_that_none_runs() {
    let mut case = Case::new();
    case.data = format!("{}{}", case.data, "x".repeat(120));
    let server = case.serve();
    for args in [&["reload"][..], &["log-level", "debug"], &["health"]] {
        let (is_done, words) = case.run(args);
        assert!(!is_done && words.contains("is too long for the socket of a server"), "{args:?}: {words}");
        assert!(!words.contains("no server is running"), "{args:?}: {words}");
    }
    let (_, words) = case.run(&["reload"]);
    assert!(words.contains("change its configuration and send it SIGHUP"), "{words}");
    server.signal("HUP");
    server.wait_for_log("configuration reloaded");
}

#[tokio::test]
async fn times_are_for_people_or_for_programs() {
    let case = Case::new();
    case.done(&[&["realm", "create", "Acme"], &OWNER[..]].concat());
    let joined = case.json(&["user", "list"])[0]["joined"].as_str().expect("a time").to_owned();
    let time: jiff::Timestamp = joined.parse().expect("RFC 3339");
    let written = time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    assert!(case.done(&["user", "list"]).contains(&written), "{joined}");
    case.json(&["audit"])[0]["time"].as_str().expect("a time").parse::<jiff::Timestamp>().expect("RFC 3339");
    let checked = case.json(&["check"]);
    assert_eq!((&checked["is_clean"], &checked["organizations"][0]["id"]), (&json!(true), &json!(1)));
    // Nothing was broken.
    assert_eq!(checked["is_repaired"], false);
    let checked = case.done(&["check"]);
    assert!(checked.ends_with("No damage was found.\n") && checked.contains(" in 1 segment\n"), "{checked}");
}

/// The configured address is another one, with nothing or another server behind it.
#[tokio::test]
async fn health_asks_the_server_of_the_data_folder() {
    let (case, other) = (Case::new(), Case::new());
    let refused = case.run(&["health"]);
    assert!(!refused.0 && refused.1.contains("no server runs on the data folder"), "{}", refused.1);
    let (server, _another) = (case.serve(), other.serve());
    let address = server.url.trim_start_matches("http://").to_owned();
    // The socket is there soon after the address was printed.
    crate::support::wait_until("the server answers", || {
        let (is_healthy, text) = case.run(&["health"]);
        is_healthy && text.contains(&format!("The server on {address} is healthy"))
    })
    .await;
    assert_eq!(case.json(&["health"])["storage"]["status"], "ok");
    server.terminate();
    server.wait();
    assert!(case.run(&["health"]).1.contains("no server runs on the data folder"));
}

#[tokio::test]
async fn server_without_an_organization_says_how_to_create_one() {
    let case = Case::new();
    let server = case.serve();
    crate::support::wait_until("the greeting is complete", || {
        server.output_so_far().contains("while the server runs:\n\n  millstream realm create NAME")
    })
    .await;
    let page = async || {
        let call = server.anonymous().bare(reqwest::Method::GET, "/").header("Accept", "text/html");
        let answer = call.await;
        (answer.status, answer.body.as_str().expect("a page").to_owned())
    };
    let (status, text) = page().await;
    assert!(status == 404 && text.contains("millstream realm create NAME"), "{text}");
    assert!(!text.contains("href=\"/\""), "a link to the page itself: {text}");
    case.done(&[&["realm", "create", "Acme"], &OWNER[..]].concat());
    let (status, text) = page().await;
    assert!(status == 200 && text.contains("Acme"), "{text}");
}

#[test]
fn refused_names_and_addresses_are_explained() {
    let case = Case::new();
    assert!(case.run(&["realm", "list"]).1.contains("is not a data folder"));
    let create = |subdomain: &str, email: &str| {
        let words = ["realm", "create", "Acme", "--owner-name", "Olga", "--subdomain", subdomain];
        case.run(&[&words[..], &["--owner-email", email]].concat())
    };
    let (is_done, words) = create("-", "bad");
    assert!(!is_done && words.contains("`bad` is not an e-mail address"), "{words}");
    let (is_done, words) = create("A_b", "olga@acme.example");
    assert!(!is_done && words.contains("lower-case letters (a to z), digits and hyphens"), "{words}");
    assert!(create("-", "olga@acme.example").0);
    for (email, expected) in [
        ("bad", "`bad` is not an e-mail address"),
        ("x y@z", "`x y@z` is not an e-mail address"),
        ("", "the e-mail address must not be empty"),
    ] {
        let (is_done, words) = case.run(&["user", "create", "--name", "Pat Lee", "--email", email]);
        assert!(!is_done && words.contains(expected), "{words}");
    }
    assert_eq!(case.done(&["outbox"]), "There are no pending deliveries, and none that were given up.\n");
    assert_eq!(case.json(&["outbox"]), json!([]));
    assert_eq!(case.json(&["outbox", "list", "--realm", "-"]), json!([]));
    let (is_done, words) = case.run(&["outbox", "--realm", "beta"]);
    assert!(!is_done && words.contains("there is no organization `beta`"), "{words}");
    let of_future = ["audit", "--since", "2999-01-01"];
    let expected = "The audit log has no entries since 2999-01-01 00:00:00 UTC.\n";
    assert_eq!((case.done(&of_future).as_str(), case.json(&of_future)), (expected, json!([])));
    let (is_done, words) = case.run(&["audit", "--since", "soon"]);
    assert!(!is_done && words.contains("30 days, 2w), today, yesterday, a date (2026-11-01)"), "{words}");
    for since in ["30 days", "2w", "1.5h", "yesterday", "2026-11-01T08:30:00Z"] {
        case.done(&["audit", "--since", since]);
    }
}

#[tokio::test]
async fn commands_of_a_development_server_know_its_clock_and_bots() {
    let case = Case::new();
    let server = ServerProcess::dev(std::path::Path::new(&case.data));
    crate::support::wait_until("the socket is there", || {
        std::path::Path::new(&case.data).join("control").exists()
    })
    .await;
    let bot = ["--email", "webhook-bot@zulip.com"];
    for (words, expected) in [
        (&["user", "role", "member"][..], "webhook-bot@zulip.com is a bot: its owner or an administrator"),
        (
            &["user", "set-password"][..],
            "webhook-bot@zulip.com is a bot: it has an API key instead of a password",
        ),
    ] {
        let (is_done, said) = case.run(&[words, &bot[..]].concat());
        assert!(!is_done && said.contains(expected), "{said}");
    }
    case.done(&["user", "role", "--email", "othello@zulip.com", "moderator"]);
    assert!(case.done(&["audit", "--since", "1h"]).contains("othello@zulip.com"));
    server.anonymous().post("/dev/clock", &[("advance_secs", &7200)]).ok().await;
    let said = case.done(&["audit", "--since", "1h"]);
    assert!(said.starts_with("The audit log has no entries since "), "{said}");
    assert!(case.done(&["audit", "--since", "3h"]).contains("othello@zulip.com"));
}

#[tokio::test]
async fn ready_file_is_there_only_while_the_server_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("ready.json");
    std::fs::write(&file, "{\"port\":1}").expect("room");
    let name = file.display().to_string();
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--ready-file", &name], &[]);
    let is_own = || std::fs::read_to_string(&file).is_ok_and(|text| text.contains(&server.url));
    crate::support::wait_until("the file is there", is_own).await;
    server.terminate();
    assert!(server.wait().success());
    assert!(!file.exists());
    let missing = folder.path().join("none/ready.json").display().to_string();
    let (status, said) =
        ServerProcess::run(&["dev", "--listen", "127.0.0.1:0", "--output", "json", "--ready-file", &missing]);
    assert!(!status.success() && said.starts_with("millstream: cannot write the file"), "{said}");
}
