//! Making and resetting organizations is interrupted at random times: what the next start serves is whole.

use super::rounds::{Random, rounds};
use crate::support::server::assert_clean;
use crate::support::{Params, ServerProcess, TestUser, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// People of the seed: several frames, and about a second in a build with debug assertions.
const PEOPLE: usize = 3000;
/// Rounds in each of the tests.
const ROUNDS: usize = 2;

/// A folder with a seed and what an uninterrupted start makes of it.
struct Case {
    folder: tempfile::TempDir,
    expected: Value,
    /// How long the whole start took.
    time: Duration,
    random: Random,
}

impl Case {
    async fn new(number: u64) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("seed.toml"), seed()).expect("room");
        let start = Instant::now();
        let server = launch(&folder.path().join("seed.toml"), &folder.path().join("whole"));
        let time = start.elapsed();
        let expected = picture(&owner(&server).await).await;
        assert_eq!(expected["people"].as_array().expect("people").len(), PEOPLE);
        server.kill();
        Self { folder, expected, time, random: Random::new(number) }
    }

    fn seed(&self) -> PathBuf {
        self.folder.path().join("seed.toml")
    }

    fn data(&self, round: usize) -> PathBuf {
        self.folder.path().join(format!("round{round}"))
    }

    /// A moment of a start.
    fn moment(&mut self) -> Duration {
        self.time.mul_f64(self.random.below(1000) as f64 / 1000.0)
    }

    /// A server on a folder has everything of the seed.
    async fn assert_whole(&self, server: &ServerProcess, round: usize) {
        let found = picture(&owner(server).await).await;
        assert!(found == self.expected, "round {round}: {:?} people", count(&found));
    }
}

/// A seed with people, a channel of all of them and messages.
fn seed() -> String {
    let mut text = String::from(
        "name = \"Acme\"\nemail_domain = \"acme.example\"\ncreator = \"p0@acme.example\"\n\
         [[channels]]\nname = \"plans\"\n",
    );
    for number in 0..PEOPLE {
        let role = if number == 0 { "role = \"owner\"\n" } else { "" };
        text.push_str(&format!(
            "[[users]]\nemail = \"p{number}@acme.example\"\nfull_name = \"Person {number}\"\n{role}"
        ));
    }
    let messages: Vec<String> = (0..200).map(|number| format!("\"message {number}\"")).collect();
    text.push_str(&format!(
        "[[topics]]\nchannel = \"plans\"\nname = \"launch\"\n\
         writers = [\"p0@acme.example\", \"p1@acme.example\"]\nmessages = [{}]\n",
        messages.join(", ")
    ));
    text
}

fn command(seed: &Path, data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    command.args(["dev", "--listen", "127.0.0.1:0", "--seed"]).arg(seed).arg("--data").arg(data);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn launch(seed: &Path, data: &Path) -> ServerProcess {
    let (seed, data) = (seed.display().to_string(), data.display().to_string());
    ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--seed", &seed, "--data", &data], &[])
}

/// The owner of the seed.
async fn owner(server: &ServerProcess) -> TestUser {
    let email = "p0@acme.example";
    let mut person = TestUser { email: email.to_owned(), ..server.anonymous() };
    let key = person.post("/dev_fetch_api_key", &[("username", &email)]).ok().await;
    person.key = key["api_key"].as_str().expect("a key").to_owned();
    person
}

/// What a user sees, without dates.
async fn picture(user: &TestUser) -> Value {
    let window: Params<'_> = &[("anchor", &"oldest"), ("num_before", &0), ("num_after", &1000)];
    let messages = user.get("/messages", window).ok().await;
    let field = |value: &Value, name: &str| value[name].clone();
    let people = user.get("/users", &[]).ok().await;
    let channels = user.get("/streams", &[]).ok().await;
    let list = |value: &Value, names: &[&str]| -> Value {
        let rows = value.as_array().expect("a list").iter();
        rows.map(|row| names.iter().map(|name| field(row, name)).collect::<Value>()).collect()
    };
    json!({
        "people": list(&people["members"], &["user_id", "email", "full_name", "role"]),
        "channels": list(&channels["streams"], &["stream_id", "name", "subscriber_count"]),
        "messages": list(&messages["messages"], &["id", "content"]),
    })
}

/// Ends a process after a time, with SIGKILL or SIGTERM. True if it had not ended by then.
fn interrupt(mut child: Child, time: Duration, is_killed: bool) -> bool {
    std::thread::sleep(time);
    let is_running = child.try_wait().expect("it is a child").is_none();
    let signal = if is_killed { "-KILL" } else { "-TERM" };
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
    sent.expect("kill runs");
    child.wait().expect("it ends");
    is_running
}

/// How many people a picture has, which is shorter than the picture.
fn count(picture: &Value) -> Option<usize> {
    picture["people"].as_array().map(Vec::len)
}

#[tokio::test]
async fn interrupted_first_start_is_made_again() {
    let mut case = Case::new(31).await;
    let mut parts = 0;
    for round in 0..rounds(ROUNDS) {
        let data = case.data(round);
        // The part of one start is interrupted again.
        for attempt in 0..2 {
            let child = command(&case.seed(), &data).spawn().expect("it starts");
            interrupt(child, case.moment(), (round + attempt) % 2 == 0);
            parts += usize::from(is_unfinished(&data));
        }
        let server = launch(&case.seed(), &data);
        case.assert_whole(&server, round).await;
        server.anonymous().post("/dev/reset", &[]).ok().await;
        case.assert_whole(&server, round).await;
        server.kill();
        let server = launch(&case.seed(), &data);
        case.assert_whole(&server, round).await;
        server.terminate();
        assert!(server.wait().success());
        assert!(!is_unfinished(&data));
        assert_clean(&data);
        fs::remove_dir_all(data).expect("removed");
    }
    println!("{parts} starts left a part");
}

/// Whether a folder has the mark of an organization that may be only a part.
fn is_unfinished(data: &Path) -> bool {
    fs::read_dir(data.join("unfinished")).is_ok_and(|entries| entries.count() > 0)
}

/// Calls a server, interrupts it after the effect of the call has begun, and starts another one on the folder.
async fn interrupt_call(
    case: &mut Case,
    data: &Path,
    round: usize,
    (path, params): (&str, Params<'_>),
) -> ServerProcess {
    let server = launch(&case.seed(), data);
    let request = server.anonymous().post(path, params).request;
    // Its answer may be lost.
    let call = tokio::spawn(async move { request.send().await.is_ok() });
    wait_until("the call has begun", || is_unfinished(data) || call.is_finished()).await;
    std::thread::sleep(case.moment().mul_f64(0.5));
    let signal = if round.is_multiple_of(2) { "KILL" } else { "TERM" };
    // The second one ends it without waiting for the call.
    server.signal(signal);
    server.signal(signal);
    server.wait();
    call.await.expect("a call");
    launch(&case.seed(), data)
}

/// The organizations of a folder: subdomain, state and number of people.
fn listed(data: &Path) -> Vec<(String, String, u64)> {
    let data = data.display().to_string();
    let (status, text) = ServerProcess::run(&["realm", "list", "--output", "json", "--data", &data]);
    assert!(status.success(), "{text}");
    let rows: Value =
        serde_json::from_str(text.lines().find(|line| line.starts_with('[')).expect("a list")).expect("JSON");
    let text = |row: &Value, name: &str| row[name].as_str().expect("a text").to_owned();
    let row =
        |row: &Value| (text(row, "subdomain"), text(row, "state"), row["people"].as_u64().expect("a number"));
    rows.as_array().expect("a list").iter().map(row).collect()
}

#[tokio::test]
async fn interrupted_new_organization_is_whole_or_gone() {
    let mut case = Case::new(32).await;
    for round in 0..rounds(ROUNDS) {
        let data = case.data(round);
        let server =
            interrupt_call(&mut case, &data, round, ("/dev/realms", &[("subdomain", &"acme")])).await;
        case.assert_whole(&server, round).await;
        let root = (String::new(), "open".to_owned(), PEOPLE as u64);
        let acme = ("acme".to_owned(), "open".to_owned(), PEOPLE as u64);
        let found = listed(&data);
        if found.len() == 1 {
            assert_eq!(found, std::slice::from_ref(&root), "round {round}");
            server.anonymous().post("/dev/realms", &[("subdomain", &"acme")]).ok().await;
        }
        let mut found = listed(&data);
        found.sort();
        assert_eq!(found, [root, acme], "round {round}");
        server.terminate();
        assert!(server.wait().success());
        assert_clean(&data);
        fs::remove_dir_all(data).expect("removed");
    }
}

/// The call for the first one ended without an answer, and the client made another one.
#[tokio::test]
async fn whole_organization_that_another_one_replaced_is_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let shown = data.display().to_string();
    let start = || ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--data", &shown], &[]);
    let make = async |server: &ServerProcess| {
        let made = server.anonymous().post("/dev/realms", &[("subdomain", &"acme")]).ok().await;
        let users = made["users"].as_array().expect("users").iter();
        let owner = users.into_iter().find(|user| user["email"] == "desdemona@zulip.com");
        owner.expect("the owner")["api_key"].as_str().expect("a key").to_owned()
    };
    let mark = |line: &str| {
        fs::create_dir_all(data.join("unfinished")).expect("a folder");
        fs::write(data.join("unfinished/2"), line).expect("room");
    };
    let server = start();
    let first = make(&server).await;
    server.kill();
    // As if the first start had not found it whole.
    mark("removed 1 acme\n");
    let server = start();
    let second = make(&server).await;
    assert!(first != second);
    server.kill();
    mark("making 1 acme\n");
    let server = start();
    assert_eq!(fs::read_to_string(data.join("unfinished/2")).expect("a mark"), "removed 1 acme\n");
    let url = server.url.replace("127.0.0.1", "acme.localhost");
    let host = url.split_once("://").expect("a URL").1.to_owned();
    for (key, status) in [(first, 401), (second, 200)] {
        let user = TestUser { email: "desdemona@zulip.com".into(), key, ..server.anonymous() };
        assert_eq!(
            user.call(reqwest::Method::GET, "/users/me", &[]).header("Host", &host).await.status,
            status
        );
    }
    server.kill();
}

#[tokio::test]
async fn interrupted_reset_is_whole_or_did_not_happen() {
    let mut case = Case::new(33).await;
    for round in 0..rounds(ROUNDS) {
        let data = case.data(round);
        let server = launch(&case.seed(), &data);
        let params: Params<'_> = &[("type", &"direct"), ("to", &"[6]"), ("content", &"later")];
        owner(&server).await.post("/messages", params).ok().await;
        let before = picture(&owner(&server).await).await;
        assert!(before != case.expected);
        server.kill();
        let server = interrupt_call(&mut case, &data, round, ("/dev/reset", &[])).await;
        let found = picture(&owner(&server).await).await;
        assert!(found == before || found == case.expected, "round {round}: {:?} people", count(&found));
        server.anonymous().post("/dev/reset", &[]).ok().await;
        case.assert_whole(&server, round).await;
        server.terminate();
        assert!(server.wait().success());
        assert!(!is_unfinished(&data));
        assert_clean(&data);
        fs::remove_dir_all(data).expect("removed");
    }
}

/// Starts a server with the seed and kills it as soon as the organization is begun, until a part of it is left.
async fn leave_part(case: &Case, data: &Path) {
    loop {
        let mut child = command(&case.seed(), data).spawn().expect("it starts");
        wait_until("it is begun or whole", || {
            is_unfinished(data) || child.try_wait().expect("it is a child").is_some()
        })
        .await;
        std::thread::sleep(case.time / 4);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        if is_unfinished(data) && listed(data).iter().any(|(_, state, _)| state == "unfinished") {
            return;
        }
        fs::remove_dir_all(data).expect("removed");
    }
}

#[tokio::test]
async fn commands_name_the_part_and_do_not_serve_it() {
    let case = Case::new(34).await;
    let data = case.data(0);
    leave_part(&case, &data).await;
    let shown = data.display().to_string();
    let run = |args: &[&str]| ServerProcess::run(&[args, &["--data", &shown]].concat());
    let (status, text) = run(&["check"]);
    assert!(status.success() && text.contains("`millstream dev` makes it again from its seed"), "{text}");
    let (_, text) = run(&["doctor"]);
    assert!(text.contains("the organization without a subdomain may not be complete"), "{text}");
    assert_eq!(listed(&data), [(String::new(), "unfinished".to_owned(), 0)]);
    let (_, text) = run(&["realm", "list"]);
    assert!(text.contains("may not be complete, because making it was interrupted"), "{text}");
    let server = ServerProcess::start(&["serve", "--listen", "127.0.0.1:0", "--data", &shown], &[]);
    wait_until("it says so", || server.output_so_far().contains("may not be complete")).await;
    server.kill();

    // A backup has the mark, too.
    let (backups, restored) = (case.folder.path().join("backups"), case.data(1));
    let (status, text) = run(&["backup", "--to", &backups.display().to_string()]);
    assert!(status.success(), "{text}");
    let (from, to) = (backups.display().to_string(), restored.display().to_string());
    let (status, text) = ServerProcess::run(&["restore", "--from", &from, "--data", &to]);
    assert!(status.success(), "{text}");
    for data in [data, restored] {
        let server = launch(&case.seed(), &data);
        server.wait_for_log("`millstream dev` makes it again from its seed");
        case.assert_whole(&server, 0).await;
        server.kill();
    }
}
