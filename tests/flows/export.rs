//! Exporting organizations: an export of an import has the same rows, and an import of an export is the same organization.

use crate::support::export::write_export;
use crate::support::skip::{leave_out, not_skipped};
use crate::support::{Params, ServerProcess, TestUser, wait_until};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names a folder with exports of Zulip servers.
const EXPORTS: &str = "MILLSTREAM_ZULIP_EXPORTS";

type Tables = BTreeMap<String, Vec<Value>>;

fn run(args: &[&str]) -> String {
    let (status, text) = ServerProcess::run(args);
    assert!(status.success(), "{args:?}: {text}");
    text
}

fn import(source: &Path, data: &Path) {
    let text = run(&["import", "zulip", &shown(source), "--data", &shown(data), "--output", "json"]);
    let report = text.lines().find_map(|line| serde_json::from_str::<Value>(line).ok()).expect("a report");
    assert_eq!(report["unaccounted"], json!([]), "{report}");
}

fn export(data: &Path, to: &Path, kind: &str) -> Value {
    let text =
        run(&["export", "--to", &shown(to), "--data", &shown(data), "--kind", kind, "--output", "json"]);
    text.lines().find_map(|line| serde_json::from_str(line).ok()).expect("JSON")
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Unpacks an archive into a folder; returns its top folder.
fn unpack(archive: &Path, to: &Path) -> PathBuf {
    let file = std::fs::File::open(archive).expect("the archive");
    tar::Archive::new(flate2::read::GzDecoder::new(file)).unpack(to).expect("it is whole");
    let top = std::fs::read_dir(to).expect("a folder").flatten().next().expect("a top folder");
    top.path()
}

/// All tables of an unpacked export.
fn tables(folder: &Path) -> Tables {
    let mut all = Tables::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().into_string().expect("a name");
        let is_tables = name.starts_with("messages-") || ["realm.json", "attachment.json"].contains(&&*name);
        if is_tables {
            let text = std::fs::read_to_string(entry.path()).expect("text");
            let tables: Map<String, Value> = serde_json::from_str(&text).expect("JSON");
            for (table, rows) in tables {
                if let Value::Array(rows) = rows {
                    all.entry(table).or_default().extend(rows);
                }
            }
        }
    }
    all
}

/// Tables with the columns that identify a row, and those that are compared (docs/import-export.md#differences).
const COMPARED: &[(&str, &[&str], &[&str])] = &[
    (
        "zerver_realm",
        &[],
        &[
            "id",
            "name",
            "description",
            "date_created",
            "deactivated",
            "invite_required",
            "org_type",
            "message_content_edit_limit_seconds",
            "message_retention_days",
            "icon_source",
            "icon_version",
            "new_stream_announcements_stream",
            "signup_announcements_stream",
            "video_chat_provider",
        ],
    ),
    (
        "zerver_userprofile",
        &["id"],
        &[
            "delivery_email",
            "email",
            "full_name",
            "role",
            "is_active",
            "is_bot",
            "bot_type",
            "bot_owner",
            "date_joined",
            "timezone",
            "avatar_source",
            "avatar_version",
            "email_address_visibility",
            "enter_sends",
            "twenty_four_hour_time",
            "color_scheme",
            "allow_private_data_export",
            "default_language",
        ],
    ),
    (
        "zerver_stream",
        &["id"],
        &[
            "name",
            "description",
            "recipient",
            "invite_only",
            "is_web_public",
            "deactivated",
            "creator",
            "date_created",
            "history_public_to_subscribers",
            "message_retention_days",
            "folder",
        ],
    ),
    ("zerver_channelfolder", &["id"], &["name", "description", "date_created", "creator", "is_archived"]),
    ("zerver_defaultstream", &["stream"], &[]),
    ("zerver_message", &["id"], &["sender", "subject", "content", "date_sent"]),
    ("zerver_reaction", &["message", "user_profile", "emoji_code", "reaction_type"], &["emoji_name"]),
    ("zerver_realmemoji", &["id"], &["name", "author", "deactivated", "is_animated"]),
    ("zerver_realmfilter", &["id"], &["pattern", "url_template"]),
    ("zerver_realmdomain", &["id"], &["domain", "allow_subdomains"]),
    ("zerver_realmplayground", &["id"], &["name", "pygments_language", "url_template"]),
    ("zerver_customprofilefield", &["id"], &["name", "hint", "field_type", "field_data", "order"]),
    ("zerver_customprofilefieldvalue", &["user_profile", "field"], &["value"]),
    ("zerver_alertword", &["user_profile", "word"], &[]),
    ("zerver_muteduser", &["user_profile", "muted_user"], &["date_muted"]),
    ("zerver_userstatus", &["user_profile"], &["status_text", "emoji_name", "emoji_code", "reaction_type"]),
    (
        "zerver_usertopic",
        &["user_profile", "stream", "topic_name"],
        &["visibility_policy", "last_updated", "recipient"],
    ),
    ("zerver_savedsnippet", &["id"], &["user_profile", "title", "content", "date_created"]),
    ("zerver_namedusergroup", &["id"], &["name", "is_system_group", "deactivated", "creator"]),
    ("zerver_botstoragedata", &["bot_profile", "key"], &["value"]),
    ("zerver_service", &["user_profile"], &["name", "base_url", "interface"]),
    (
        "zerver_attachment",
        &["id"],
        &["file_name", "owner", "path_id", "size", "create_time", "content_type", "messages"],
    ),
    ("zerver_onboardingstep", &["user", "onboarding_step"], &[]),
];

fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        // Times have milliseconds here.
        (Some(one), Some(other)) => (one - other).abs() < 0.0015,
        _ => one == other,
    }
}

fn key(row: &Value, columns: &[&str]) -> Vec<String> {
    columns.iter().map(|column| row[*column].to_string()).collect()
}

/// Every row of the first has one in the second, with the same values.
fn assert_same_rows(before: &Tables, after: &Tables) {
    for (table, columns, compared) in COMPARED {
        let rows = |tables: &Tables| tables.get(*table).cloned().unwrap_or_default();
        let found: BTreeMap<Vec<String>, Value> =
            rows(after).into_iter().map(|row| (key(&row, columns), row)).collect();
        for row in rows(before) {
            let other = found.get(&key(&row, columns)).unwrap_or_else(|| panic!("{table} lacks {row}"));
            for column in *compared {
                if let Some(value) = row.get(*column) {
                    assert!(is_same(value, &other[*column]), "{table}.{column}: {row} and {other}");
                }
            }
        }
    }
    assert_same_flags(before, after);
    assert_same_subscriptions(before, after);
}

fn assert_same_flags(before: &Tables, after: &Tables) {
    let masks = |tables: &Tables| -> BTreeMap<(u64, u64), u64> {
        let rows = tables["zerver_usermessage"].iter();
        let number = |row: &Value, column: &str| row[column].as_u64().expect("a number");
        let row =
            |row: &Value| ((number(row, "user_profile"), number(row, "message")), number(row, "flags_mask"));
        rows.map(row).collect()
    };
    let (before, after) = (masks(before), masks(after));
    for (row, mask) in before {
        let known = mask & (1 | 2 | 4 | 8 | 16 | 32 | 512 | 1024 | 2048) | (mask >> 6 & 1) << 3;
        let found = *after.get(&row).unwrap_or_else(|| panic!("no row {row:?}"));
        // Unread messages that were not received are read here.
        assert!(known == found || known | 1 == found && mask & 1024 != 0, "{row:?}: {mask} and {found}");
    }
}

/// Subscriptions to channels; the recipients of single people have other ids.
fn assert_same_subscriptions(before: &Tables, after: &Tables) {
    let all = |tables: &Tables| -> BTreeMap<(String, String), Value> {
        let channels: Vec<&Value> = tables["zerver_stream"].iter().map(|row| &row["recipient"]).collect();
        let rows = tables["zerver_subscription"].iter().filter(|row| channels.contains(&&row["recipient"]));
        rows.map(|row| ((row["user_profile"].to_string(), row["recipient"].to_string()), row.clone()))
            .collect()
    };
    let (before, after) = (all(before), all(after));
    assert_eq!(before.len(), after.len());
    for (place, row) in before {
        for column in ["active", "is_muted", "pin_to_top", "desktop_notifications", "email_notifications"] {
            assert_eq!(row[column], after[&place][column], "{column} of {row}");
        }
    }
}

#[test]
fn export_of_an_import_has_the_same_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, data) = (write_export(folder.path(), 1_500), folder.path().join("data"));
    import(&source, &data);
    let archive = folder.path().join("acme.tar.gz");
    let done = export(&data, &archive, "full");
    assert_eq!((&done["messages"], &done["missing_files"]), (&json!(1_507), &json!(0)));
    let top = unpack(&archive, &folder.path().join("unpacked"));
    assert_eq!(top.file_name().expect("a name"), "acme");
    let (before, after) = (tables(&source), tables(&top));
    assert_same_rows(&before, &after);
    let history = |tables: &Tables| -> Value {
        let row = tables["zerver_message"].iter().find(|row| row["id"] == 1001).expect("the message");
        serde_json::from_str(row["edit_history"].as_str().expect("a history")).expect("JSON")
    };
    let (before, after) = (history(&before), history(&after));
    for step in 0..2 {
        for (column, value) in before[step].as_object().expect("a step") {
            assert_eq!(after[step][column], *value, "{column}");
        }
    }
    for name in ["migration_status.json", "stats.json", "uploads/records.json", "messages-000002.json"] {
        assert!(top.join(name).is_file(), "{name}");
    }
    let stats: Value = serde_json::from_slice(&std::fs::read(top.join("stats.json")).unwrap()).unwrap();
    assert_eq!(stats["messages-000002"]["zerver_message"], 507);
    let (refused, text) = ServerProcess::run(&["export", "--to", &shown(&archive), "--data", &shown(&data)]);
    assert!(!refused.success() && text.contains("it exists already"), "{text}");
    assert!(!folder.path().join("acme.tar.gz.new").exists());
}

#[test]
fn real_exports_keep_their_rows() {
    let Some(folder) = std::env::var_os(EXPORTS) else {
        return leave_out(
            "exports of real exports",
            &format!("{EXPORTS} is not set to a folder with archives"),
        );
    };
    not_skipped("exports of real exports");
    for name in ["full.tar.gz", "consent.tar.gz", "public.tar.gz"] {
        let archive = Path::new(&folder).join(name);
        if archive.is_file() {
            let work = tempfile::tempdir().expect("a folder");
            let (data, exported) = (work.path().join("data"), work.path().join("x.tar.gz"));
            import(&archive, &data);
            export(&data, &exported, "full");
            let before = tables(&unpack(&archive, &work.path().join("before")));
            assert_same_rows(&before, &tables(&unpack(&exported, &work.path().join("after"))));
        }
    }
}

/// What a person sees: the registration, and all messages with their flags; without what is new in every organization.
async fn seen(server: &ServerProcess, data: &Path, email: &str) -> (Value, Vec<Value>) {
    let text = run(&["user", "api-key", "--email", email, "--data", &shown(data)]);
    let key = text.split_whitespace().find(|word| word.len() == 32).expect("a key").to_owned();
    let person = TestUser { email: email.to_owned(), key, ..server.anonymous() };
    let mut state = person.post("/register", &[]).ok().await;
    let new = [
        "queue_id",
        "last_event_id",
        "server_timestamp",
        "server_generation",
        "presence_last_update_id",
        "realm_url",
        "realm_uri",
        "server_emoji_data_url",
        "presences",
        "avatar_url",
        "avatar_url_medium",
        "realm_emoji",
    ];
    let fields = state.as_object_mut().expect("an object");
    new.iter().for_each(|field| _ = fields.remove(*field));
    for list in ["realm_users", "realm_non_active_users", "cross_realm_bots", "realm_bots"] {
        for user in fields[list].as_array_mut().expect("users") {
            let user = user.as_object_mut().expect("a user");
            ["avatar_url", "api_key", "services"].iter().for_each(|field| _ = user.remove(*field));
        }
    }
    let mut messages = person.messages(json!([])).await;
    for message in &mut messages {
        let message = message.as_object_mut().expect("a message");
        if message["type"] == "private" {
            message.remove("recipient_id");
        }
        for part in message["submessages"].as_array_mut().expect("parts") {
            part.as_object_mut().expect("a part").remove("id");
        }
        message.remove("avatar_url");
        message.remove("content");
    }
    (state, messages)
}

async fn fill(server: &ServerProcess) {
    let [iago, hamlet, cordelia] =
        [server.user("iago").await, server.user("hamlet").await, server.user("cordelia").await];
    let pair = hamlet.send_direct(&[&iago], "just us").await;
    let group = iago.send_direct(&[&hamlet, &cordelia], "three of us").await;
    let poll = hamlet.send_direct(&[&cordelia], "/poll Lunch?\nSoup\nSalad").await;
    let vote = json!({"type": "vote", "key": "canned,0", "vote": 1}).to_string();
    let part: Params<'_> = &[("message_id", &poll), ("msg_type", &"widget"), ("content", &vote)];
    cordelia.post("/submessage", part).ok().await;
    iago.patch(&format!("/messages/{group}"), &[("content", &"all three")]).ok().await;
    hamlet.post(&format!("/messages/{group}/reactions"), &[("emoji_name", &"octopus")]).ok().await;
    let ids = json!([pair, group]);
    hamlet.post("/messages/flags", &[("messages", &ids), ("op", &"add"), ("flag", &"starred")]).ok().await;
    iago.post("/messages/flags", &[("messages", &ids), ("op", &"add"), ("flag", &"read")]).ok().await;
    hamlet.post("/users/me/alert_words", &[("alert_words", &json!(["tea"]))]).ok().await;
    let draft =
        json!([{"type": "private", "to": [iago.id], "topic": "", "content": "not yet", "timestamp": 1}]);
    hamlet.post("/drafts", &[("drafts", &draft)]).ok().await;
    hamlet.post("/saved_snippets", &[("title", &"Hi"), ("content", &"Hello")]).ok().await;
    hamlet.post("/users/me/status", &[("status_text", &"away for lunch")]).ok().await;
    hamlet.patch("/settings", &[("enter_sends", &true)]).ok().await;
    let to = json!([iago.id, cordelia.id]);
    let later: Params<'_> = &[
        ("type", &"direct"),
        ("to", &to),
        ("content", &"later"),
        ("scheduled_delivery_timestamp", &9_000_000_000_u64),
    ];
    hamlet.post("/scheduled_messages", later).ok().await;
}

#[tokio::test]
async fn import_of_an_export_is_the_same_organization() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    let archive = folder.path().join("sample.tar.gz");
    let server = ServerProcess::dev(&data);
    fill(&server).await;
    // Through the control socket of the running server.
    let done = export(&data, &archive, "full");
    assert_eq!(done["state"], "done");
    server.terminate();
    assert!(server.wait().success());
    import(&archive, &copy);
    let serve = |data: &Path| {
        ServerProcess::start(&["serve", "--data", &shown(data), "--listen", "127.0.0.1:0"], &[])
    };
    let (before, after) = (serve(&data), serve(&copy));
    for name in ["desdemona", "iago", "hamlet", "cordelia", "polonius", "zoe"] {
        let email = format!("{name}@zulip.com");
        let (one, other) = (seen(&before, &data, &email).await, seen(&after, &copy, &email).await);
        let (one_state, other_state) = (one.0.as_object().unwrap(), other.0.as_object().unwrap());
        for (field, value) in one_state {
            assert_eq!(other_state[field], *value, "{field} of {name}");
        }
        assert_eq!(one.1, other.1, "messages of {name}");
    }
}

/// The command writes the file, and not the server, which may see other folders: here it is suspended meanwhile.
#[tokio::test]
async fn interrupted_export_of_a_running_server_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, to) = (folder.path().join("data"), folder.path().join("exports"));
    std::fs::create_dir(&to).expect("room");
    let archive = to.join("acme.tar.gz");
    let server = ServerProcess::dev(&data);
    wait_until("the socket is there", || data.join("control").exists()).await;
    let args = ["export", "--to", &shown(&archive), "--data", &shown(&data)];
    server.signal("STOP");
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    let command = command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
    let mut export = command.spawn().expect("it starts");
    wait_until("the file is begun", || to.join("acme.tar.gz.new").exists()).await;
    let interrupted = Command::new("kill").args(["-INT", &export.id().to_string()]).status();
    assert!(interrupted.expect("kill runs").success());
    assert_eq!(export.wait().expect("it ends").code(), Some(130));
    assert_eq!(std::fs::read_dir(&to).expect("a folder").count(), 0);
    server.signal("CONT");
    // The server finds out that nothing receives the first export.
    wait_until("the server exports again", || ServerProcess::run(&args).0.success()).await;
    let names: Vec<_> =
        std::fs::read_dir(&to).expect("a folder").flatten().map(|entry| entry.path()).collect();
    assert_eq!(names, [archive]);
}

#[tokio::test]
async fn public_export_has_nothing_private() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    fill(&server).await;
    let iago = server.user("iago").await;
    let channel = iago.create_channel("board room").private().await;
    iago.send(&channel, "secret topic", "secret text").await;
    let archive = folder.path().join("public.tar.gz");
    export(&data, &archive, "public");
    let top = unpack(&archive, &folder.path().join("public"));
    let all = tables(&top);
    let text = serde_json::to_string(&all).expect("JSON");
    for hidden in ["just us", "three of us", "board room", "secret t", "not yet", "away for lunch", "Lunch?"]
    {
        assert!(!text.contains(hidden), "{hidden}");
    }
    for table in [
        "zerver_alertword",
        "zerver_draft",
        "zerver_savedsnippet",
        "zerver_scheduledmessage",
        "zerver_huddle",
    ] {
        assert!(all.get(table).is_none_or(Vec::is_empty), "{table}");
    }
    let hamlet = all["zerver_userprofile"].iter().find(|user| user["full_name"] == "King Hamlet");
    assert_eq!(hamlet.expect("Hamlet")["enter_sends"], false);
}
