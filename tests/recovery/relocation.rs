//! Moving an organization from a data folder to a cluster and back: nothing of it changes, and two copies are never served,
//! whenever the command is killed.

use crate::support::skip::{not_skipped, skip};
use crate::support::{Queue, ServerProcess, TestServer, TestUser, wait_until};
use postgres::testing::TestDatabase;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const USERS: [&str; 3] = ["iago", "hamlet", "cordelia"];

fn database() -> Option<TestDatabase> {
    let database = TestDatabase::create();
    match &database {
        Some(_) => not_skipped("moves to a cluster"),
        None => skip("moves to a cluster", "there is no PostgreSQL 15"),
    }
    database
}

/// The arguments of a command for the organization of a folder.
struct Mover {
    database: TestDatabase,
    data: PathBuf,
    config: PathBuf,
}

impl Mover {
    /// A node has files in `node`.
    fn new(database: TestDatabase, data: PathBuf, node: &Path) -> Self {
        let config = data.with_file_name("node.toml");
        let url = database.url(database.port);
        let text = format!(
            "data = \"{}\"\n[cluster]\ndatabase = \"{url}?sslmode=disable\"\nnode = \"n9\"\n\
             advertise = \"http://127.0.0.1:1\"\nallow_single_copy = true\n",
            node.display()
        );
        std::fs::create_dir_all(node.join("blobs")).unwrap();
        std::fs::write(&config, text).unwrap();
        Self { database, data, config }
    }

    fn args(&self, command: &str, more: &[&str]) -> Vec<String> {
        let (data, config) = (self.data.display().to_string(), self.config.display().to_string());
        let args = ["realm", command, "-", "--data", &data, "--cluster-config", &config, "--output", "json"];
        args.iter().chain(more).map(|arg| (*arg).to_owned()).collect()
    }

    /// Runs a command; returns whether it succeeded, and what it printed.
    async fn run(&self, command: &str, more: &[&str]) -> (bool, String) {
        let args = self.args(command, more);
        let ran = tokio::task::spawn_blocking(move || {
            ServerProcess::run(&args.iter().map(String::as_str).collect::<Vec<_>>())
        });
        let (status, text) = ran.await.unwrap();
        (status.success(), text)
    }

    async fn succeed(&self, command: &str) -> Value {
        let (is_ok, text) = self.run(command, &[]).await;
        assert!(is_ok, "{command}: {text}");
        serde_json::from_str(text.lines().find(|line| line.starts_with('{')).unwrap()).unwrap()
    }

    async fn refuse(&self, command: &str, more: &[&str], why: &str) {
        let before = self.served();
        let (is_ok, text) = self.run(command, more).await;
        assert!(!is_ok && text.contains(why), "{command}: {text}");
        assert_eq!(self.served(), before, "{command} has changed something");
    }

    /// Runs a command and kills it when its standard error has a text; false if it ended before.
    async fn kill_at(&self, command: &str, text: &'static str) -> bool {
        let args = self.args(command, &[]);
        let killed = tokio::task::spawn_blocking(move || {
            let mut program = Command::new(env!("CARGO_BIN_EXE_millstream"));
            let child = program.args(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            let lines = BufReader::new(child.stderr.take().unwrap()).lines();
            let was_seen = lines.map_while(Result::ok).any(|line| line.contains(text));
            let _ = child.kill();
            child.wait().unwrap();
            was_seen
        });
        killed.await.unwrap()
    }

    /// Whether the folder and whether the cluster serve the organization, or do so by themselves after a kill.
    fn served(&self) -> (bool, bool) {
        let relocated = std::fs::read_to_string(self.data.join("relocated")).unwrap_or_default();
        let has_frames = self.data.join("format").exists();
        let is_away = relocated.contains(" away ") || relocated.contains(" arriving ");
        let rows = "SELECT count(*) FROM millstream.realm WHERE place IN ('here', 'leaving')";
        let has_tables = self.database.query("SELECT to_regclass('millstream.realm') IS NOT NULL") == "t";
        (has_frames && !is_away, has_tables && self.database.query(rows) == "1")
    }
}

/// What users see of an organization.
async fn answers(users: &[TestUser], file: &str) -> Value {
    let mut all = Vec::new();
    for user in users {
        let state = user.register().modern().await.state;
        let (status, _, content) = user.fetch(file).await;
        let of_state = |name: &str| state[name].clone();
        all.push(json!({
            "messages": user.messages(json!([])).await,
            "users": user.get("/users", &[]).ok().await["members"],
            "drafts": user.get("/drafts", &[]).ok().await["drafts"],
            "subscriptions": of_state("subscriptions"), "unread": of_state("unread_msgs"),
            "settings": of_state("user_settings"), "max_message_id": of_state("max_message_id"),
            "file": [json!(status), json!(String::from_utf8_lossy(&content))],
        }));
    }
    Value::Array(all)
}

/// An organization with messages, edits, reactions, flags, drafts and files. Returns its users, a file and a queue.
async fn organization(server: &TestServer) -> (Vec<TestUser>, String, Queue) {
    let [iago, hamlet, cordelia] = server.users(USERS);
    let channel = iago.create_channel("moving").with(&hamlet).with(&cordelia).await;
    let queue = cordelia.register().events(&["message"]).await;
    let mut ids = Vec::new();
    for number in 0..40 {
        let sender = if number % 2 == 0 { &hamlet } else { &cordelia };
        ids.push(sender.send(&channel, "plans", &format!("message {number} with **bold** text")).await);
    }
    hamlet.send_direct(&[&cordelia], "in private").await;
    hamlet.edit(ids[0], &[("content", &"it was edited")]).ok().await;
    cordelia.post(&format!("/messages/{}/reactions", ids[2]), &[("emoji_name", &"tada")]).ok().await;
    cordelia.flag("add", "starred", &ids[3..5]).await;
    iago.delete(&format!("/messages/{}", ids[20]), &[]).ok().await;
    cordelia.flag("add", "read", &ids[..10]).await;
    let draft =
        json!([{"type": "private", "to": [iago.id], "topic": "", "content": "unsent", "timestamp": 1}]);
    hamlet.post("/drafts", &[("drafts", &draft)]).ok().await;
    let uploaded =
        hamlet.upload("/user_uploads", &[], &[("notes.txt", b"what we decided".to_vec())]).ok().await;
    let file = uploaded["url"].as_str().unwrap().to_owned();
    hamlet.send(&channel, "plans", &format!("[notes]({file})")).await;
    (vec![iago, hamlet, cordelia], file, queue)
}

fn reconnected(server: &TestServer, users: &[TestUser]) -> Vec<TestUser> {
    users.iter().map(|user| server.reconnect(user)).collect()
}

#[tokio::test]
async fn organization_moves_to_a_cluster_and_back_unchanged() {
    let Some(database) = database() else { return };
    let server = TestServer::start().await;
    let (users, file, mut queue) = organization(&server).await;
    let before = answers(&users, &file).await;
    let folder = server.stop().await;
    let node = TestServer::builder().node(&database, "n1").start().await;
    let mover = Mover::new(database, folder.path().join("data"), &node.data());
    assert_eq!(mover.served(), (true, false));
    // Frames of which contents were erased, and archives, move like others.
    let (erased, text) = ServerProcess::run(&["erase", "--now", "--data", &mover.data.display().to_string()]);
    assert!(erased.success() && text.contains("contents of 1 deleted message,"), "{text}");

    let moved = mover.succeed("move-to-cluster").await;
    assert_eq!((mover.served(), &moved["files"]), ((false, true), &json!(1)));
    wait_until("the node serves it", || node.server().only_realm().is_some()).await;
    let there = reconnected(&node, &users);
    assert_eq!(answers(&there, &file).await, before);
    queue.person = there[2].clone();
    let kept = queue.now().await;
    let contents: Vec<&str> = kept.iter().filter_map(|event| event["message"]["content"].as_str()).collect();
    assert!(
        contents.iter().any(|content| content.contains("message 39")),
        "the queue of before: {contents:?}"
    );
    let direct = there[1].send_direct(&[&there[2]], "from the cluster").await;
    assert_eq!(queue.next().await["message"]["id"], json!(direct));
    // The folder does not serve it, and a repeated command changes nothing.
    let alone = ["serve", "--listen", "127.0.0.1:0", "--data", &mover.data.display().to_string()];
    let alone = ServerProcess::start(&alone, &[]);
    assert!(alone.reconnect(&users[1]).fetch("/users/me").await.0 >= 400);
    alone.terminate();
    assert!(alone.wait().success());
    assert_eq!(mover.succeed("move-to-cluster").await["new_files"], json!(0));

    let during = answers(&there, &file).await;
    let back = mover.succeed("move-from-cluster").await;
    assert!(back["frames"].as_u64() > moved["frames"].as_u64());
    assert_eq!(mover.served(), (true, false));
    assert!(node.server().only_realm().is_none(), "the node has not closed it");
    assert!(there[1].fetch("/users/me").await.0 >= 400);
    let server = TestServer::builder().on(folder).start().await;
    let here = reconnected(&server, &users);
    assert_eq!(answers(&here, &file).await, during);
    queue.person = here[2].clone();
    here[1].send_direct(&[&here[2]], "home again").await;
    assert_eq!(queue.next().await["message"]["content"], json!("home again"));
    // The folder is checked: the trees have what the journal has.
    drop(server.stop().await);
}

#[tokio::test]
async fn killed_moves_leave_at_most_one_copy_and_go_on() {
    let Some(database) = database() else { return };
    let server = TestServer::start().await;
    let (users, file, _) = organization(&server).await;
    let before = answers(&users, &file).await;
    let folder = server.stop().await;
    let node = TestServer::builder().node(&database, "n1").start().await;
    let mover = Mover::new(database, folder.path().join("data"), &node.data());
    for round in 0..2 {
        // Killed at once after the folder has recorded that it does not serve it: the cluster may do so already.
        if mover.kill_at("move-to-cluster", "Everything is copied").await {
            assert!(!mover.served().0, "the folder serves what the cluster may serve");
        }
        mover.succeed("move-to-cluster").await;
        assert_eq!(mover.served(), (false, true), "round {round}");
        if mover.kill_at("move-from-cluster", "for the time being").await && mover.served() == (false, true) {
            // Half a minute after the kill, the cluster goes on.
            mover.database.sql("UPDATE millstream.realm SET leaving_until = clock_timestamp()");
            wait_until("the node serves it again", || node.server().only_realm().is_some()).await;
            reconnected(&node, &users)[0].get("/users/me", &[]).ok().await;
        }
        if mover.kill_at("move-from-cluster", "Everything is copied").await {
            assert!(!mover.served().1, "the cluster serves what the folder may serve");
        }
        mover.run("move-from-cluster", &[]).await;
        assert_eq!(mover.served(), (true, false), "round {round}");
    }
    let server = TestServer::builder().on(folder).start().await;
    assert_eq!(answers(&reconnected(&server, &users), &file).await, before);
}

#[tokio::test]
async fn moves_that_cannot_be_are_refused() {
    let Some(database) = database() else { return };
    let node = TestServer::builder().node(&database, "n1").start().await;
    let first = TestServer::start().await.stop().await;
    let second = TestServer::start().await.stop().await;
    let mover = Mover::new(database, first.path().join("data"), &node.data());
    mover.refuse("move-from-cluster", &[], "the cluster has no organization").await;
    // Interrupted before it was handed over, and cancelled.
    mover
        .database
        .sql("CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE check_violation; END'");
    mover.database.sql(
        "CREATE TRIGGER wait BEFORE UPDATE ON millstream.realm FOR EACH ROW WHEN (NEW.place = 'here') EXECUTE FUNCTION wait()",
    );
    let (is_ok, text) = mover.run("move-to-cluster", &[]).await;
    assert!(!is_ok && mover.served() == (false, false), "{text}");
    mover.database.sql("DROP TRIGGER wait ON millstream.realm");
    assert!(mover.run("move-to-cluster", &["--cancel"]).await.0);
    assert_eq!(mover.served(), (true, false));
    assert_eq!(mover.database.query("SELECT count(*) FROM millstream.realm_log"), "0");

    mover.succeed("move-to-cluster").await;
    mover.refuse("move-to-cluster", &["--cancel"], "the cluster serves organization").await;
    // A folder with an organization of the same name and number.
    let other = Mover { data: second.path().join("data"), ..mover };
    other.refuse("move-to-cluster", &[], "another organization with the number").await;
    other.refuse("move-from-cluster", &[], "has organization number").await;
    // One of the same name only.
    other.database.sql("UPDATE millstream.realm SET realm = 77");
    other.refuse("move-to-cluster", &[], "another organization with the subdomain").await;
    other.refuse("move-from-cluster", &[], "another organization with the subdomain").await;
}
