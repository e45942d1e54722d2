//! Importing organizations: what is carried over, what is refused, and going on after an interruption.

use crate::support::export::{UPLOAD, UPLOADED, compressed, pack, write_export};
use crate::support::skip::{leave_out, not_skipped};
use crate::support::{ServerProcess, TestUser, wait_until};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names a folder with exports of Zulip servers.
const EXPORTS: &str = "MILLSTREAM_ZULIP_EXPORTS";

fn import(source: &Path, data: &Path) -> (bool, String) {
    let (source, data) = (source.display().to_string(), data.display().to_string());
    let (status, text) =
        ServerProcess::run(&["import", "zulip", &source, "--data", &data, "--output", "json"]);
    (status.success(), text)
}

/// The report of an import that succeeds; every row is accounted for, and the data folder is whole.
fn imported(source: &Path, data: &Path) -> Value {
    let (done, text) = import(source, data);
    assert!(done, "{text}");
    let report = text.lines().find_map(|line| serde_json::from_str::<Value>(line).ok()).expect("a report");
    assert_eq!(report["unaccounted"], json!([]), "{report}");
    let (status, checked) = ServerProcess::run(&["check", "--data", &data.display().to_string()]);
    assert!(status.success(), "{checked}");
    report
}

fn key(data: &Path, email: &str) -> String {
    let data = data.display().to_string();
    let (status, text) = ServerProcess::run(&["user", "api-key", "--email", email, "--data", &data]);
    assert!(status.success(), "{text}");
    text.split_whitespace().find(|word| word.len() == 32).expect("a key").to_owned()
}

fn serve(data: &Path) -> ServerProcess {
    let data = data.display().to_string();
    ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &[])
}

async fn person(server: &ServerProcess, email: &str, key: &str) -> TestUser {
    let mut person = server.anonymous();
    (person.email, person.key) = (email.to_owned(), key.to_owned());
    let me = person.get("/users/me", &[]).ok().await;
    person.id = me["user_id"].as_u64().expect("an id") as u32;
    person
}

#[tokio::test]
async fn export_is_carried_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let archive = folder.path().join("export.tar.gz");
    std::fs::write(&archive, pack(&write_export(folder.path(), 0), |_| ())).expect("room");
    let report = imported(&archive, &data);
    let counts = |table: &str| report["tables"][table].clone();
    assert_eq!(counts("zerver_message"), json!({"rows": 7, "carried_over": 7, "left_out": 0}));
    assert_eq!(counts("zerver_usermessage"), json!({"rows": 14, "carried_over": 14, "left_out": 0}));
    assert_eq!(counts("zerver_botconfigdata"), json!({"rows": 3, "carried_over": 2, "left_out": 1}));
    assert_eq!(counts("zerver_invention"), json!({"rows": 2, "carried_over": 0, "left_out": 2}));
    let ignored = "zerver_realm.setting_of_the_future is not known here and was ignored";
    assert_eq!(report["changed"][ignored], 1);
    assert_eq!(report["first_owner"], "olga@acme.example");
    assert!(!folder.path().join("data.import").exists(), "the unpacked archive is deleted");
    let (olga, otto) = (key(&data, "olga@acme.example"), key(&data, "otto@acme.example"));
    let server = serve(&data);
    let olga = person(&server, "olga@acme.example", &olga).await;
    let otto = person(&server, "otto@acme.example", &otto).await;
    check_people_and_settings(&olga).await;
    check_messages(&olga, &otto).await;
    check_own_records(&otto).await;
}

async fn check_people_and_settings(olga: &TestUser) {
    let state = olga.post("/register", &[]).ok().await;
    assert_eq!((&state["realm_name"], &state["user_id"]), (&json!("Acme"), &json!(11)));
    assert_eq!(state["realm_message_content_edit_limit_seconds"], Value::Null);
    assert_eq!(state["realm_mandatory_topics"], true);
    assert_eq!(state["realm_can_invite_users_group"], 23);
    let only_otto = json!({"direct_members": [12], "direct_subgroups": []});
    assert_eq!(state["realm_can_create_groups"], only_otto);
    let users = state["realm_users"].as_array().expect("users");
    let otto = users.iter().find(|user| user["user_id"] == 12).expect("Otto");
    assert_eq!(otto["email"], "user12@chat.acme.example");
    assert_eq!((&otto["role"], &otto["timezone"]), (&json!(400), &json!("Europe/Berlin")));
    assert_eq!(otto["profile_data"]["3"]["value"], "12");
    let services = json!([{"service_name": "github", "config_data": {"unit": "m"}}]);
    assert_eq!(state["realm_bots"][0]["services"], services);
    let groups = state["realm_user_groups"].as_array().expect("groups");
    let kitchen = groups.iter().find(|group| group["name"] == "kitchen").expect("the group");
    assert_eq!((&kitchen["id"], &kitchen["members"]), (&json!(30), &json!([11])));
    assert_eq!(kitchen["direct_subgroup_ids"], json!([23]));
    let channels = state["subscriptions"].as_array().expect("subscriptions");
    let channel = channels.iter().find(|channel| channel["name"] == "kitchen").expect("the channel");
    assert_eq!((&channel["stream_id"], &channel["folder_id"]), (&json!(41), &json!(2)));
    assert_eq!(channel["can_send_message_group"], 23);
    assert_eq!(channel["rendered_description"], "<p>All of <em>us</em></p>");
    let linkifiers = olga.get("/realm/linkifiers", &[]).ok().await;
    assert_eq!(linkifiers["linkifiers"][0]["pattern"], "#(?P<id>[0-9]+)");
    assert_eq!(state["realm_emoji"]["6"]["name"], "bucket");
}

async fn check_messages(olga: &TestUser, otto: &TestUser) {
    let ids = olga.message_ids(json!([])).await;
    assert_eq!(ids, [1001, 1002, 1003, 1004, 1005, 1006, 1007]);
    // Otto joined the private channel with protected history after message 1003.
    assert_eq!(otto.message_ids(json!([])).await, [1001, 1002, 1004, 1005, 1006, 1007]);
    let all = otto.messages(json!([])).await;
    let flags = |id: u64| {
        let found = all.iter().find(|message| message["id"] == id).expect("the message");
        found["flags"].clone()
    };
    assert_eq!(flags(1001), json!(["starred", "mentioned"]));
    assert_eq!(flags(1002), json!(["read"]));
    assert_eq!((flags(1004), flags(1006), flags(1007)), (json!([]), json!([]), json!([])));
    let first = &all[0];
    assert_eq!((&first["subject"], &first["timestamp"]), (&json!("Menu"), &json!(1_700_002_001)));
    let html = first["content"].as_str().expect("HTML");
    assert!(html.contains("data-user-id=\"12\">@Otto Old</span>"), "{html}");
    assert!(html.contains("href=\"https://bugs.example/12\""), "{html}");
    assert_eq!(first["reactions"][0]["user_id"], 12);
    assert_eq!(first["edit_history"].as_array().map(Vec::len), Some(2));
    let history = olga.get("/messages/1001/history", &[]).ok().await;
    let texts: Vec<&Value> =
        history["message_history"].as_array().expect("steps").iter().map(|step| &step["content"]).collect();
    assert_eq!((texts[0], texts[1]), (&json!("stew"), &json!("@**Otto Old** soup, see #12")));
    assert_eq!(history["message_history"][0]["topic"], "Food");
    let (status, _, bytes) = otto.fetch(&format!("/user_uploads/{UPLOAD}")).await;
    assert_eq!((status, &bytes[..]), (200, UPLOADED));
    // New ids come after the imported ones.
    let sent = otto.send_direct(&[olga], "hello").await;
    assert_eq!(sent, 1008);
}

async fn check_own_records(otto: &TestUser) {
    let state = otto.post("/register", &[]).ok().await;
    assert_eq!(state["alert_words"], json!(["lunch"]));
    assert_eq!(state["muted_users"], json!([{"id": 13, "timestamp": 1_700_000_500}]));
    assert_eq!(state["user_status"]["12"]["status_text"], "away");
    let topic =
        json!({"stream_id": 41, "topic_name": "Menu", "visibility_policy": 3, "last_updated": 1_700_000_600});
    assert_eq!(state["user_topics"], json!([topic]));
    assert_eq!(state["saved_snippets"][0]["title"], "Hi");
    assert_eq!(state["scheduled_messages"][0]["content"], "later");
    assert_eq!(state["user_settings"]["enter_sends"], true);
}

/// Refused with a reason, and no organization is there afterwards.
fn assert_refused(archive: &[u8], reason: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, data) = (folder.path().join("export.tar.gz"), folder.path().join("data"));
    std::fs::write(&file, archive).expect("room");
    let (done, text) = import(&file, &data);
    assert!(!done && text.contains(reason), "{reason}: {text}");
    assert!(!data.join("import").exists(), "{reason}: an import has begun");
    assert!(!folder.path().join("data.import").exists(), "{reason}: unpacked files are left");
    assert!(!folder.path().join("escaped").exists());
}

fn entry(archive: &mut tar::Builder<impl std::io::Write>, name: &str, kind: tar::EntryType) {
    let mut header = tar::Header::new_ustar();
    header.set_entry_type(kind);
    header.set_size(0);
    header.set_mode(0o644);
    // Written as it is: the library refuses such names.
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_cksum();
    archive.append(&header, std::io::empty()).expect("it is packed");
}

#[test]
fn broken_archives_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let export = write_export(folder.path(), 0);
    let whole = pack(&export, |_| ());
    assert_refused(&whole[..whole.len() / 2], "cannot be read as an archive");
    assert_refused(&whole[..whole.len() - 6], "cannot be read as an archive");
    assert_refused(&whole[..whole.len() / 2], "(it ends too early)");
    for other in [b"no archive".to_vec(), compressed(&b"text\n".repeat(1000))] {
        assert_refused(
            &other,
            "cannot be read as an archive (it is not a .tar.gz archive); nothing was imported",
        );
    }
    let outside = pack(&export, |archive| entry(archive, "../escaped", tar::EntryType::Regular));
    assert_refused(&outside, "leads out of it");
    let absolute = pack(&export, |archive| entry(archive, "/tmp/escaped", tar::EntryType::Regular));
    assert_refused(&absolute, "leads out of it");
    let link = pack(&export, |archive| entry(archive, "zulip-export/link", tar::EntryType::Symlink));
    assert_refused(&link, "a link or device");
    let twice = pack(&export, |archive| entry(archive, "zulip-export/realm.json", tar::EntryType::Regular));
    assert_refused(&twice, "the archive has zulip-export/realm.json twice");
    let text = std::fs::read(export.join("messages-000001.json")).expect("the file");
    std::fs::write(export.join("messages-000001.json"), &text[..text.len() / 2]).expect("room");
    assert_refused(&pack(&export, |_| ()), "messages-000001.json is not valid");
    std::fs::write(export.join("messages-000001.json"), &text).expect("room");
    std::fs::rename(export.join("messages-000001.json"), export.join("messages-000002.json")).expect("moved");
    assert_refused(&pack(&export, |_| ()), "messages-000001.json is missing");
    std::fs::remove_file(export.join("realm.json")).expect("removed");
    assert_refused(&pack(&export, |_| ()), "has no realm.json");
}

/// Changes a file of an export.
fn change(export: &Path, name: &str, change: impl FnOnce(&mut Value)) {
    let path = export.join(name);
    let mut value = serde_json::from_slice(&std::fs::read(&path).expect("the file")).expect("JSON");
    change(&mut value);
    std::fs::write(path, value.to_string()).expect("room");
}

#[test]
fn ids_that_leave_none_for_new_records_are_refused() {
    for table in ["zerver_userprofile", "zerver_stream", "zerver_recipient", "zerver_namedusergroup"] {
        for id in [json!(u32::MAX), json!(i32::MAX)] {
            let folder = tempfile::tempdir().expect("a folder");
            let export = write_export(folder.path(), 0);
            let key = if table == "zerver_namedusergroup" { "usergroup_ptr" } else { "id" };
            change(&export, "realm.json", |realm| {
                realm[table][0][key] = id.clone();
                realm[table][0]["id"] = id.clone();
            });
            assert_refused(&pack(&export, |_| ()), &format!("has the id {id} in {table}"));
        }
    }
}

#[test]
fn long_texts_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let export = write_export(folder.path(), 0);
    let text = |bytes: usize| json!("word ".repeat(bytes / 5));
    let set = |text: Value| {
        change(&export, "messages-000001.json", |file| file["zerver_message"][0]["content"] = text);
    };
    set(text(300_000));
    assert_refused(&pack(&export, |_| ()), "has a text of more than 262144 bytes");
    set(text(250_000));
    let archive = folder.path().join("export.tar.gz");
    std::fs::write(&archive, pack(&export, |_| ())).expect("room");
    imported(&archive, &folder.path().join("data"));
}

#[test]
fn long_records_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (export, data) = (write_export(folder.path(), 0), folder.path().join("data"));
    let set = |bytes: usize| {
        change(&export, "realm.json", |realm| {
            realm["zerver_savedsnippet"][0]["content"] = json!("x".repeat(bytes))
        });
    };
    set(5_000_000);
    let (done, text) = import(&export, &data);
    let expected =
        "it has a text or a list that takes more than 4 MB, or 512 KiB compressed; nothing was imported";
    assert!(!done && text.contains(expected), "{text}");
    // No import is unfinished.
    set(100);
    imported(&export, &data);
}

/// Each of its texts is permitted, but with its HTML the history takes more than a frame of the journal.
#[tokio::test]
async fn history_that_is_too_large_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let (export, data) = (write_export(folder.path(), 0), folder.path().join("data"));
    let entry =
        |at: u32| json!({"user_id": 11, "timestamp": 1_700_002_000 + at, "prev_content": "😀".repeat(250)});
    let entries: Vec<Value> = (0..200).rev().map(entry).collect();
    change(&export, "messages-000001.json", |file| {
        file["zerver_message"][1]["edit_history"] = json!(Value::from(entries).to_string());
    });
    let report = imported(&export, &data);
    let left_out = "histories of messages that are too large for a frame were left out";
    assert_eq!(report["changed"][left_out], 1, "{report}");
    let olga = key(&data, "olga@acme.example");
    let server = serve(&data);
    let olga = person(&server, "olga@acme.example", &olga).await;
    let history = olga.get("/messages/1002/history", &[]).ok().await;
    assert_eq!(history["message_history"].as_array().map(Vec::len), Some(1), "{history}");
    let shorter = olga.get("/messages/1001/history", &[]).ok().await;
    assert_eq!(shorter["message_history"].as_array().map(Vec::len), Some(3), "{shorter}");
}

#[tokio::test]
async fn groups_that_contain_each_other_are_cut() {
    let folder = tempfile::tempdir().expect("a folder");
    let (export, data) = (write_export(folder.path(), 0), folder.path().join("data"));
    change(&export, "realm.json", |realm| {
        for (id, name) in [(31, "pans"), (32, "pots")] {
            let named = json!({"id": id, "usergroup_ptr": id, "name": name, "is_system_group": false});
            realm["zerver_namedusergroup"].as_array_mut().expect("a table").push(named);
            realm["zerver_usergroup"].as_array_mut().expect("a table").push(json!({"id": id, "realm": 7}));
        }
        for (id, (group, subgroup)) in (2..).zip([(31, 32), (32, 31), (31, 31), (32, 30)]) {
            let row = json!({"id": id, "supergroup": group, "subgroup": subgroup});
            realm["zerver_groupgroupmembership"].as_array_mut().expect("a table").push(row);
        }
    });
    let report = imported(&export, &data);
    let circular = "zerver_groupgroupmembership: by which a group would contain itself";
    assert_eq!(report["left_out"][circular], 2, "{report}");
    let olga = key(&data, "olga@acme.example");
    let server = serve(&data);
    let olga = person(&server, "olga@acme.example", &olga).await;
    let groups = olga.get("/user_groups", &[]).ok().await;
    let subgroups = |id: u32| {
        let groups = groups["user_groups"].as_array().expect("groups");
        groups.iter().find(|group| group["id"] == id).expect("the group")["direct_subgroup_ids"].clone()
    };
    assert_eq!((subgroups(31), subgroups(32)), (json!([32]), json!([30])));
}

#[test]
fn second_import_of_a_subdomain_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (export, data) = (write_export(folder.path(), 0), folder.path().join("data"));
    imported(&export, &data);
    let (done, text) = import(&export, &data);
    assert!(!done && text.contains("an organization with this subdomain exists already"), "{text}");
    let (source, folder) = (export.display().to_string(), data.display().to_string());
    let wrong = ["import", "zulip", &source, "--data", &folder, "--subdomain", "Bad_Sub"];
    let (status, text) = ServerProcess::run(&wrong);
    let expected = "`Bad_Sub` cannot be a subdomain: it has at most 40 characters";
    assert!(!status.success() && text.contains(expected), "{text}");
    let second = ["import", "zulip", &source, "--data", &folder, "--subdomain", "second"];
    let (status, text) = ServerProcess::run(&second);
    assert!(status.success() && text.contains("Imported Acme with 7 messages"), "{text}");
    let (_, listed) = ServerProcess::run(&["realm", "list", "--data", &folder]);
    let rows: Vec<Vec<&str>> = listed.lines().skip(1).map(|row| row.split_whitespace().collect()).collect();
    assert_eq!(rows, [["-", "Acme", "2", "open"], ["second", "Acme", "2", "open"]]);
}

#[tokio::test]
async fn killed_import_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let export = write_export(folder.path(), 6000);
    let data = folder.path().join("data");
    let arguments = [Path::new("import"), Path::new("zulip"), &export, Path::new("--data"), &data];
    for millis in [150, 400, 700, 1000] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
        let command = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        tokio::time::sleep(Duration::from_millis(millis)).await;
        child.kill().expect("it is killed");
        child.wait().expect("it ends");
        if data.join("import").exists() {
            // What is there is whole, and is not served.
            let (status, checked) = ServerProcess::run(&["check", "--data", &data.display().to_string()]);
            assert!(status.success(), "{checked}");
            let (_, listed) = ServerProcess::run(&["realm", "list", "--data", &data.display().to_string()]);
            assert!(!listed.contains("Acme"), "{listed}");
        }
    }
    let is_done = data.join("format").exists() && !data.join("import").exists();
    let (_, listed) = ServerProcess::run(&["realm", "list", "--data", &data.display().to_string()]);
    if !(is_done && listed.contains("Acme")) {
        let report = imported(&export, &data);
        let messages = &report["tables"]["zerver_message"];
        assert_eq!(*messages, json!({"rows": 6007, "carried_over": 6007, "left_out": 0}));
    }
    let key = key(&data, "otto@acme.example");
    let server = serve(&data);
    let otto = person(&server, "otto@acme.example", &key).await;
    let narrow = json!([{"operator": "channel", "operand": 41}]);
    let narrow = narrow.to_string();
    let found = otto
        .get(
            "/messages",
            &[("anchor", &"newest"), ("num_before", &5000), ("num_after", &0), ("narrow", &narrow)],
        )
        .ok()
        .await;
    let found = found["messages"].as_array().expect("messages");
    assert_eq!((found.len(), &found[4999]["id"]), (5000, &json!(8000)));
    for message in found {
        let id = message["id"].as_u64().expect("an id");
        let flags = if id.is_multiple_of(2) { json!(["read"]) } else { json!([]) };
        assert_eq!(message["flags"], flags, "{id}");
    }
}

/// Runs a command on a data folder.
fn run(data: &Path, args: &[&str]) -> (bool, String) {
    let (status, text) = ServerProcess::run(&[args, &["--data", &data.display().to_string()]].concat());
    (status.success(), text)
}

fn create(data: &Path, subdomain: &str) -> (bool, String) {
    let owner = ["--owner-email", "olga@acme.example", "--owner-name", "Olga"];
    run(data, &[&["realm", "create", "Other", "--subdomain", subdomain], &owner[..]].concat())
}

#[test]
fn unfinished_import_is_named_and_keeps_its_subdomain() {
    let folder = tempfile::tempdir().expect("a folder");
    let (export, data) = (write_export(folder.path(), 0), folder.path().join("data"));
    assert!(create(&data, "other").0);
    // As an import leaves it that is killed before its first frame.
    std::fs::write(data.join("import"), "7 8f3a\nsubdomain acme\narchive /srv/full.tar.gz\n").expect("room");
    let named = "the import of /srv/full.tar.gz for the subdomain acme";
    let remedy = "`millstream import abandon --yes`";
    let (is_done, text) = run(&data, &["realm", "list"]);
    assert!(is_done && text.contains("Other") && text.contains(named) && text.contains(remedy), "{text}");
    let (_, text) = run(&data, &["realm", "list", "--output", "json"]);
    let listed: Value = serde_json::from_str(text.trim()).expect("JSON");
    let importing = json!({"subdomain": "acme", "name": "", "people": 0, "state": "importing",
        "archive": "/srv/full.tar.gz"});
    assert_eq!((listed[0]["state"].clone(), listed[1].clone()), (json!("open"), importing), "{listed}");
    // An earlier version noted neither.
    std::fs::write(data.join("import"), "7 8f3a").expect("room");
    let (_, text) = run(&data, &["realm", "list"]);
    assert!(text.lines().any(|line| line.starts_with("? ") && line.contains("importing")), "{text}");
    std::fs::write(data.join("import"), "7 8f3a\nsubdomain acme\narchive /srv/full.tar.gz\n").expect("room");
    let (is_done, text) = create(&data, "acme");
    assert!(!is_done && text.contains(named) && text.contains(remedy), "{text}");
    let (is_done, text) = import(&export, &data);
    assert!(!is_done && text.contains(named) && text.contains(remedy), "{text}");
    let (is_done, text) = run(&data, &["import", "abandon"]);
    assert!(!is_done && text.contains("add --yes"), "{text}");
    let (is_done, text) = run(&data, &["import", "abandon", "--yes"]);
    assert!(is_done && text.contains(named), "{text}");
    let (is_done, text) = run(&data, &["import", "abandon", "--yes"]);
    assert!(!is_done && text.contains("no import into this data folder is unfinished"), "{text}");
    assert!(create(&data, "acme").0);
    imported(&export, &data);
}

#[tokio::test]
async fn server_names_the_unfinished_import() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    assert!(create(&data, "other").0);
    // As an earlier version has noted it.
    std::fs::write(data.join("import"), "7 8f3a\n").expect("room");
    let server = serve(&data);
    let named = "the import of an archive as organization number 7 is not finished";
    wait_until("the import is named", || server.output_so_far().contains(named)).await;
}

#[tokio::test]
async fn abandoned_import_leaves_no_half_organization() {
    let folder = tempfile::tempdir().expect("a folder");
    let (export, data) = (write_export(folder.path(), 6000), folder.path().join("data"));
    let arguments = [Path::new("import"), Path::new("zulip"), &export, Path::new("--data"), &data];
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    let command = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    wait_until("the import writes", || data.join("import").exists() || data.join("format").exists()).await;
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    let (is_done, text) = run(&data, &["import", "abandon", "--yes"]);
    assert_eq!(is_done, text.contains("Gave up the import of"), "{text}");
    assert!(!data.join("import").exists());
    let (is_done, text) = run(&data, &["realm", "list"]);
    assert!(is_done && text.contains("There is no organization yet; `millstream realm create`"), "{text}");
    assert!(run(&data, &["check"]).0);
    let report = imported(&export, &data);
    let messages = &report["tables"]["zerver_message"];
    assert_eq!(*messages, json!({"rows": 6007, "carried_over": 6007, "left_out": 0}));
    let (_, listed) = run(&data, &["realm", "list"]);
    assert_eq!(listed.lines().filter(|line| line.contains("Acme")).count(), 1, "{listed}");
}

#[test]
fn real_exports_are_imported() {
    let Some(folder) = std::env::var_os(EXPORTS) else {
        return leave_out("real exports", &format!("{EXPORTS} is not set to a folder with archives"));
    };
    not_skipped("real exports");
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let data = tempfile::tempdir().expect("a folder");
            let report = imported(&path, &data.path().join("data"));
            let messages = &report["tables"]["zerver_message"];
            assert_eq!(messages["rows"], messages["carried_over"], "{}: {report}", path.display());
        }
    }
}
