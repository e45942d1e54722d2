//! `POST` and `GET /export/realm`, `DELETE /export/realm/{export_id}`, the file, and the events.

use crate::support::{Queue, ServerProcess, TestServer, TestUser};
use serde_json::{Value, json};
use std::io::Read;

/// The text of a file in an archive.
fn file(archive: &[u8], wanted: &str) -> Option<String> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").display().to_string();
        if path.split_once('/').is_some_and(|(_, path)| path == wanted) {
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("text");
            return Some(text);
        }
    }
    None
}

/// The exports of the next event after which none is pending.
async fn finished(queue: &mut Queue) -> Value {
    loop {
        let event = queue.next().await;
        let exports = event["exports"].as_array().expect("exports");
        if exports.iter().all(|export| export["pending"] == false) {
            return event["exports"].clone();
        }
    }
}

/// Waits until no export is pending, and returns all.
async fn all_finished(person: &TestUser) -> Vec<Value> {
    loop {
        let body = person.get("/export/realm", &[]).ok().await;
        let exports = body["exports"].as_array().expect("exports");
        if exports.iter().all(|export| export["pending"] == false) {
            return exports.clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn export_is_made_announced_downloaded_and_deleted() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let types = ["realm_export"];
    let mut admin = iago.register().events(&types).await;
    let mut member = hamlet.register().events(&types).await;
    let secret = hamlet.send_direct(&[&iago], "only between us").await;
    let id = iago.post("/export/realm", &[]).ok().await["id"].clone();
    let event = admin.next().await;
    let export = &event["exports"][0];
    assert_eq!((&export["pending"], &export["export_url"]), (&json!(true), &Value::Null));
    assert_eq!((&export["id"], &export["acting_user_id"]), (&id, &json!(iago.id)));
    assert_eq!((&export["export_type"], &export["deleted_timestamp"]), (&json!(1), &Value::Null));
    assert!(export["export_time"].is_u64() && export["failed_timestamp"].is_null());
    let exports = finished(&mut admin).await;
    let url = exports[0]["export_url"].as_str().expect("a URL").to_owned();
    assert_eq!(iago.get("/export/realm", &[]).ok().await["exports"], exports);
    let notice = iago.messages(json!([["is", "dm"]])).await;
    let notice = notice.last().expect("a message");
    assert_eq!(notice["sender_full_name"], "Notification Bot");
    let link = "<p>Your data export is complete. <a href=\"/#organization/data-exports-admin\">View and download exports</a>.</p>";
    assert_eq!(notice["content"], link);
    let path = url.strip_prefix(&*t.url).expect("below the organization").to_owned();
    let (status, kind, bytes) = t.anonymous().fetch(&path).await;
    assert_eq!((status, kind.as_str()), (200, "application/gzip"));
    let realm = file(&bytes, "realm.json").expect("realm.json");
    assert!(!realm.contains("password") && !realm.contains(&iago.key) && !realm.contains("api_key"));
    let messages = file(&bytes, "messages-000001.json").expect("messages");
    assert!(!messages.contains("only between us") && secret > 0);
    let gate = json!({"msg": "Must be an organization administrator", "code": "UNAUTHORIZED_PRINCIPAL"});
    hamlet.get("/export/realm", &[]).refused(400, gate).await;
    let guessed = path.replace("/zulip-export-", "/zulip-export-0");
    assert_eq!(t.anonymous().fetch(&guessed).await.0, 404);
    let one = format!("/export/realm/{id}");
    iago.delete(&one, &[]).ok().await;
    let exports = finished(&mut admin).await;
    assert!(exports[0]["export_url"].is_null() && exports[0]["deleted_timestamp"].is_u64());
    assert_eq!(t.anonymous().fetch(&path).await.0, 404);
    iago.delete(&one, &[]).bad("Export already deleted").await;
    iago.delete("/export/realm/77", &[]).bad("Invalid data export ID").await;
    assert_eq!(member.now().await, [] as [Value; 0]);
}

#[tokio::test]
async fn consent_decides_about_private_messages() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, othello] = t.users(["desdemona", "iago", "hamlet", "othello"]);
    let consent = [("export_type", &2 as &(dyn std::fmt::Display + Sync))];
    let contact = "Make sure at least one Organization Owner is consenting to the export or contact Desdemona for help.";
    iago.post("/export/realm", &consent).bad(contact).await;
    for person in [&desdemona, &hamlet] {
        person.patch("/settings", &[("allow_private_data_export", &true)]).ok().await;
    }
    othello.send_direct(&[&hamlet], "to one who consents").await;
    othello.send_direct(&[&iago], "to one who does not").await;
    iago.post("/export/realm", &consent).ok().await;
    let exports = all_finished(&iago).await;
    assert_eq!(exports[0]["export_type"], 2);
    let url = exports[0]["export_url"].as_str().expect("a URL");
    let path = url.strip_prefix(&*t.url).expect("below the organization");
    let (_, _, bytes) = t.anonymous().fetch(path).await;
    let messages = file(&bytes, "messages-000001.json").expect("messages");
    assert!(messages.contains("to one who consents") && !messages.contains("to one who does not"));
    let rows: Value = serde_json::from_str(&messages).expect("JSON");
    let rows = rows["zerver_usermessage"].as_array().expect("rows");
    let sharing = [desdemona.id, hamlet.id].map(Value::from);
    assert!(!rows.is_empty() && rows.iter().all(|row| sharing.contains(&row["user_profile"])));
}

#[tokio::test]
async fn consent_covers_only_what_those_who_give_it_can_read() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    for person in [&desdemona, &hamlet] {
        person.patch("/settings", &[("allow_private_data_export", &true)]).ok().await;
    }
    let (bot, _) = crate::api::bots::make(&hamlet, "rec", &[]).await;
    let current = iago.create_channel("current").shared_history().await;
    let former = iago.create_channel("former").shared_history().await;
    let of_bot = iago.create_channel("of the bot").shared_history().with(&bot).await;
    for channel in [&current, &former] {
        iago.send(channel, "plans", &format!("before, in {}", channel.name)).await;
        iago.subscribe_others(channel, &[&hamlet]).await;
        iago.send(channel, "plans", &format!("meanwhile, in {}", channel.name)).await;
    }
    hamlet.unsubscribe(&former).await;
    for channel in [&current, &former, &of_bot] {
        iago.send(channel, "plans", &format!("after, in {}", channel.name)).await;
    }
    iago.post("/export/realm", &[("export_type", &2)]).ok().await;
    let exports = all_finished(&iago).await;
    let url = exports[0]["export_url"].as_str().expect("a URL");
    let (_, _, bytes) = t.anonymous().fetch(url.strip_prefix(&*t.url).expect("below the organization")).await;
    let messages: Value =
        serde_json::from_str(&file(&bytes, "messages-000001.json").expect("messages")).expect("JSON");
    let messages = messages["zerver_message"].as_array().expect("messages").iter();
    let contents = messages.filter_map(|message| message["content"].as_str());
    let contents: Vec<&str> = contents.filter(|content| content.contains(", in ")).collect();
    let expected =
        ["before, in current", "meanwhile, in current", "meanwhile, in former", "after, in current"];
    assert_eq!(contents, expected);
}

#[tokio::test]
async fn exports_are_limited() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    iago.post("/export/realm", &[("export_type", &3)]).bad("Invalid export_type").await;
    for _ in 0..5 {
        iago.post("/export/realm", &[]).ok().await;
    }
    iago.post("/export/realm", &[]).bad("Exceeded rate limit.").await;
    let exports = all_finished(&iago).await;
    assert!(exports.len() == 5 && exports.iter().all(|export| export["export_url"].is_string()));
}

#[tokio::test]
async fn pending_export_fails_when_the_server_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = ServerProcess::dev(folder.path());
    let iago = server.user("iago").await;
    for _ in 0..3 {
        iago.post("/export/realm", &[]).ok().await;
    }
    server.kill();
    let server = ServerProcess::dev(folder.path());
    let exports = server.user("iago").await.get("/export/realm", &[]).ok().await;
    let exports = exports["exports"].as_array().expect("exports");
    assert_eq!(exports.len(), 3);
    for export in exports {
        assert_eq!(export["pending"], false, "{export}");
        assert_ne!(export["failed_timestamp"].is_u64(), export["export_url"].is_string(), "{export}");
    }
}
