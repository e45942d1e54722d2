//! Importing the export of a Slack workspace.

use crate::support::{ServerProcess, TestUser};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use zip::write::SimpleFileOptions;

fn pack(path: &Path, files: &[(&str, Value)]) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).expect("room"));
    for (name, value) in files {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a file");
        zip.write_all(value.to_string().as_bytes()).expect("room");
    }
    zip.finish().expect("room");
}

fn user(id: &str, name: &str, more: Value) -> Value {
    let mut user =
        json!({"id": id, "name": name.to_lowercase(), "profile": {"real_name": name}, "tz": "Europe/Berlin"});
    for (key, value) in more.as_object().into_iter().flatten() {
        if key == "email" { user["profile"]["email"] = value.clone() } else { user[key] = value.clone() }
    }
    user
}

fn message(ts: &str, user: &str, text: &str, more: Value) -> Value {
    let mut message = json!({"type": "message", "ts": ts, "user": user, "text": text});
    more.as_object().into_iter().flatten().for_each(|(key, value)| message[key] = value.clone());
    message
}

/// Two channels, one of them private, a conversation of two and one of three, on two days.
#[expect(clippy::too_many_lines, reason = "a table has an entry for each file, and nothing else")]
fn workspace() -> Vec<(&'static str, Value)> {
    let none = || json!({});
    let file = json!({"files": [{"id": "F1", "name": "plan.txt", "title": "The plan",
        "url_private_download": "https://files.example/plan.txt", "permalink": "https://acme.slack.com/files/F1"}]});
    let thread = |ts: &str| json!({"thread_ts": ts});
    vec![
        (
            "users.json",
            json!([
                user("U2", "Otto", none()),
                user(
                    "U1",
                    "Olga",
                    json!({"email": "Olga@acme.example", "is_owner": true, "is_primary_owner": true})
                ),
                user("U3", "Gwen", json!({"is_restricted": true})),
                user("U4", "Gone", json!({"deleted": true, "is_admin": true})),
            ]),
        ),
        (
            "channels.json",
            json!([
                {"id": "C1", "name": "general", "created": 1_700_000_000, "creator": "U1", "members": ["U1", "U2", "U3"],
                    "purpose": {"value": "All of us"}},
                {"id": "C2", "name": "old", "created": 1_700_000_100, "creator": "U1", "members": [], "is_archived": true},
            ]),
        ),
        (
            "groups.json",
            json!([
                {"id": "G1", "name": "board", "created": 1_700_000_200, "creator": "U1", "members": ["U1", "U2"]},
            ]),
        ),
        ("dms.json", json!([{"id": "D1", "created": 1_700_000_300, "members": ["U1", "U2"]}])),
        (
            "mpims.json",
            json!([{"id": "M1", "name": "mpdm-three", "created": 1_700_000_400, "members": ["U1", "U2", "U3"]}]),
        ),
        ("integration_logs.json", json!([])),
        (
            "general/2023-11-15.json",
            json!([
                message(
                    "1700010300.000200",
                    "U2",
                    "*soup* <@U1> &amp; <https://x.example|menu>",
                    json!({
                "reactions": [{"name": "+1::skin-tone-2", "users": ["U1", "U3"]}, {"name": "acme_logo", "users": ["U1"]}]})
                ),
                message("1700010100.000100", "U1", "who cooks?", thread("1700010100.000100")),
                message("1700010200.000100", "U2", "I do", thread("1700010100.000100")),
                message(
                    "1700010000.000100",
                    "U3",
                    "<@U3> has joined the channel",
                    json!({"subtype": "channel_join"})
                ),
            ]),
        ),
        (
            "general/2023-11-16.json",
            json!([
                {"type": "message", "subtype": "bot_message", "ts": "1700100000.000100", "bot_id": "B1", "username": "CI",
                    "text": "", "attachments": [{"title": "Build 7", "title_link": "https://ci.example/7", "text": "*failed*"}]},
                message("1700100100.000100", "U2", "see", file),
                message("1700100200.000100", "U9", "from elsewhere", json!({"user_profile": {"real_name": "Stranger"}})),
                message("1700100300.000100", "U1", "", none()),
            ]),
        ),
        ("board/2023-11-15.json", json!([message("1700010050.000100", "U1", "secret", none())])),
        ("D1/2023-11-15.json", json!([message("1700010060.000100", "U2", "just us", none())])),
        ("mpdm-three/2023-11-15.json", json!([message("1700010070.000100", "U3", "three of us", none())])),
        ("nowhere/2023-11-15.json", json!([message("1700010080.000100", "U1", "lost", none())])),
    ]
}

fn run(args: &[&str]) -> String {
    let (status, text) = ServerProcess::run(args);
    assert!(status.success(), "{args:?}: {text}");
    text
}

async fn person(server: &ServerProcess, data: &str, email: &str) -> TestUser {
    let text = run(&["user", "api-key", "--email", email, "--data", data]);
    let key = text.split_whitespace().find(|word| word.len() == 32).expect("a key").to_owned();
    TestUser { email: email.to_owned(), key, ..server.anonymous() }
}

/// All messages of the workspace, for one who is in all conversations.
fn expect_messages(all: &[Value]) {
    let texts: Vec<(&str, &str)> = all
        .iter()
        .map(|message| {
            (message["subject"].as_str().expect("a topic"), message["content"].as_str().expect("HTML"))
        })
        .collect();
    let thread = "2023-11-15 Slack thread 1";
    let main = "imported from Slack";
    let bold = "<p><strong>soup</strong> <span class=\"user-mention\" data-user-id=\"1\">@Olga</span> &amp; \
                <a href=\"https://x.example\">menu</a></p>";
    let expected = [
        (main, "<p>secret</p>"),
        ("", "<p>just us</p>"),
        ("", "<p>three of us</p>"),
        (thread, "<p>who cooks?</p>"),
        (thread, "<p>I do</p>"),
        (main, bold),
        (main, "<p><a href=\"https://ci.example/7\">Build 7</a><br>\n<strong>failed</strong></p>"),
        (main, "<p>see<br>\n<a href=\"https://acme.slack.com/files/F1\">The plan</a></p>"),
        (main, "<p>from elsewhere</p>"),
    ];
    assert_eq!(texts, expected);
    assert_eq!(all[5]["flags"], json!(["read", "mentioned"]));
    let reactions = all[5]["reactions"].as_array().expect("reactions");
    assert!(reactions.len() == 2 && reactions.iter().all(|reaction| reaction["emoji_code"] == "1f44d"));
    assert_eq!(
        (&all[6]["sender_full_name"], &all[8]["sender_full_name"]),
        (&json!("CI"), &json!("Stranger"))
    );
    assert_eq!(all[4]["timestamp"], 1_700_010_200);
}

#[tokio::test]
async fn workspace_is_carried_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let (zip, data) = (folder.path().join("slack.zip"), folder.path().join("data").display().to_string());
    pack(&zip, &workspace());
    let file = zip.display().to_string();
    let options = ["--name", "Acme", "--email-domain", "acme.example", "--output", "json"];
    let text = run(&[&["import", "slack", &file, "--data", &data][..], &options].concat());
    let report = text.lines().find_map(|line| serde_json::from_str::<Value>(line).ok()).expect("a report");
    assert_eq!(report["unaccounted"], json!([]), "{report}");
    let counts = |table: &str| {
        let counts = &report["tables"][table];
        [&counts["rows"], &counts["carried_over"], &counts["left_out"]]
            .map(|count| count.as_u64().expect("a count"))
    };
    assert_eq!(counts("slack messages"), [12, 9, 3]);
    assert_eq!(counts("zerver_message"), [9, 9, 0]);
    assert_eq!(counts("slack users"), [4, 4, 0]);
    assert_eq!(counts("slack channels and conversations"), [5, 5, 0]);
    assert_eq!(counts("slack reactions"), [3, 2, 1]);
    assert_eq!(counts("slack files"), [1, 0, 1]);
    assert_eq!(report["left_out"]["slack messages: joining and leaving"], 1);
    assert!(!folder.path().join("data.import").exists());
    let (status, checked) = ServerProcess::run(&["check", "--data", &data]);
    assert!(status.success(), "{checked}");
    let server = ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &[]);
    let olga = person(&server, &data, "olga@acme.example").await;
    let gwen = person(&server, &data, "u3@acme.example").await;
    let all = olga.messages(json!([])).await;
    expect_messages(&all);
    assert_eq!(
        gwen.messages(json!([])).await.len(),
        7,
        "neither the private channel nor the conversation of two"
    );
    let state = olga.post("/register", &[]).ok().await;
    assert_eq!((&state["realm_name"], &state["is_owner"]), (&json!("Acme"), &json!(true)));
    let private =
        state["subscriptions"].as_array().expect("channels").iter().find(|one| one["name"] == "board");
    assert_eq!(private.expect("the channel")["invite_only"], true);
    assert_eq!(gwen.post("/register", &[]).ok().await["is_guest"], true);
    expect_joined(&olga).await;
}

/// People joined with their first message, those without one when they were imported.
async fn expect_joined(olga: &TestUser) {
    let answer = olga.get("/users", &[]).ok().await;
    let all = answer["members"].as_array().expect("people");
    let joined = |id: u64| {
        let person = all.iter().find(|one| one["user_id"] == id).expect("the person");
        person["date_joined"].as_str().expect("a time").to_owned()
    };
    assert!(joined(1).starts_with("2023-11-15T01:00:50"), "{}", joined(1));
    let gone = all.iter().find(|one| one["full_name"] == "Gone").expect("the person");
    let gone = gone["date_joined"].as_str().expect("a time");
    assert!(gone > "2024", "{gone}");
    assert!(all.iter().all(|one| one["date_joined"].as_str().is_some_and(|at| at > "2023-11")), "{all:?}");
}

#[test]
fn broken_workspaces_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (zip, data) = (folder.path().join("slack.zip"), folder.path().join("data").display().to_string());
    let file = zip.display().to_string();
    let refused = |reason: &str| {
        let (status, text) = ServerProcess::run(&["import", "slack", &file, "--data", &data]);
        assert!(!status.success() && text.contains(reason), "{reason}: {text}");
        assert!(!folder.path().join("data.import").exists(), "{reason}: files are left");
    };
    std::fs::write(&zip, "no zip").expect("room");
    refused(
        "cannot be read as an archive (it is not a zip archive, or its end is missing; give the .zip file as Slack sent it)",
    );
    pack(&zip, &workspace()[1..]);
    refused("has no users.json");
    let mut broken = workspace();
    broken[6].1 = json!({"no": "list"});
    pack(&zip, &broken);
    refused("general/2023-11-15.json is not valid");
    let mut crowded = workspace();
    let channels =
        (0..20_000).map(|number| json!({"id": format!("C{number}"), "name": format!("c{number}")}));
    crowded[1].1 = channels.collect();
    pack(&zip, &crowded);
    // The one of groups.json is too much.
    refused("the export has more than 20000 channels");
}
