//! What was deleted is gone from the data folder: by itself while the server runs, at once by the command, and after `kill -9`.

use crate::api::uploads::{status, upload};
use crate::support::server::assert_clean;
use crate::support::{ServerProcess, TestServer, TestUser, poll_for};
use actors::ManualClock;
use millstream::admin::{AdminRequest, UserName, execute};
use millstream::integrations::blobs::sweep::sweep;
use model::Timestamp;
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zstd::stream::read::Decoder;

/// Words that are in nothing but what is deleted.
const SECRET: &str = "qxzvqxzv";
/// A word of what stays.
const KEPT: &str = "wumpwump";

/// The magic number of zstd frames.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// The dictionary of the frames that hold messages in the trees.
const BLOCKS: &[u8] = include_bytes!("../../storage/src/view/blocks.dictionary");
/// Most bytes of one frame that are unpacked.
const UNPACKED_MAX: u64 = 16 << 20;

fn occurrences(bytes: &[u8], word: &str) -> usize {
    let word = word.as_bytes();
    bytes.windows(word.len()).filter(|window| window[0] == word[0] && *window == word).count()
}

/// How often a word is in a file, with compressed blocks unpacked.
fn count_in(bytes: &[u8], word: &str) -> usize {
    let mut found = occurrences(bytes, word);
    let begins = |window: &[u8]| window[0] == ZSTD[0] && window == ZSTD;
    for at in bytes.windows(4).enumerate().filter(|(_, window)| begins(window)).map(|(at, _)| at) {
        for dictionary in [&[][..], BLOCKS] {
            found += occurrences(&unpacked(&bytes[at..], dictionary), word);
        }
    }
    found
}

/// What the first zstd frame of some bytes has.
fn unpacked(bytes: &[u8], dictionary: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    if let Ok(decoder) = Decoder::with_dictionary(bytes, dictionary) {
        // What follows the frame is none: the bytes before the error count.
        let _ = decoder.single_frame().take(UNPACKED_MAX).read_to_end(&mut unpacked);
    }
    unpacked
}

/// The files of a folder that have a word, with how often.
fn files_with(folder: &Path, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, word));
        } else {
            let count = count_in(&fs::read(&path).unwrap_or_default(), word);
            found.extend((count > 0).then(|| format!("{}: {count}", path.display())));
        }
    }
    found
}

/// A clock that begins now, because the store of files has a clock of its own.
fn clock() -> ManualClock {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_millis();
    ManualClock::new(Timestamp(now as u64))
}

async fn content(user: &TestUser, id: u64) -> Value {
    user.get(&format!("/messages/{id}"), &[("apply_markdown", &false)]).ok().await["message"]["content"]
        .clone()
}

#[tokio::test]
async fn everything_deleted_is_gone_within_a_day() {
    let clock = clock();
    let builder = TestServer::builder().clock(&clock).set("actors.sweep_secs", 1).set("search.write_secs", 0);
    let t = builder.set("storage.segment_kept_secs", 0).start().await;
    let [owner, hamlet, cordelia] = t.users(["desdemona", "hamlet", "cordelia"]);
    let channel = hamlet.create_channel("Verona").await;
    cordelia.subscribe(&channel).await;
    let queue = cordelia.register().await;

    let stays = hamlet.send(&channel, "tea", KEPT).await;
    let deleted = hamlet.send(&channel, "tea", &format!("{SECRET} deleted")).await;
    let edited = hamlet.send(&channel, "tea", &format!("{SECRET} as sent")).await;
    hamlet.edit(edited, &[("content", &format!("{SECRET} edited"))]).ok().await;
    hamlet.edit(edited, &[("content", &format!("{KEPT} now"))]).ok().await;
    let file = upload(&hamlet, "a.txt", SECRET.as_bytes()).await;
    let with_file = hamlet.send(&channel, "tea", &format!("[{SECRET}]({file})")).await;
    let short = hamlet.create_channel("Short").await;
    hamlet.send(&short, "tea", &format!("{SECRET} expires")).await;
    cordelia.patch("/settings", &[("full_name", &format!("Cor {SECRET}"))]).ok().await;
    cordelia.send(&channel, "tea", "by a deleted account").await;
    assert!(!files_with(&t.data(), SECRET).is_empty());

    // What was named at some time and is not any more goes sooner than what never was.
    clock.advance_secs(60);
    for id in [deleted, with_file] {
        owner.delete(&format!("/messages/{id}"), &[]).ok().await;
    }
    owner.patch("/realm", &[("message_edit_history_visibility_policy", &"none")]).ok().await;
    owner.patch(&format!("/streams/{}", short.id), &[("message_retention_days", &1)]).ok().await;
    let delete = AdminRequest::UserDelete {
        realm: String::new(),
        user: UserName::Id(cordelia.id),
        keeps_messages: false,
    };
    let address = cordelia.email.clone();
    execute(t.server(), delete).await.expect("the account is deleted");

    // A day until the message expires, and a day until everything is gone.
    let steps = std::sync::atomic::AtomicU32::new(0);
    poll_for("nothing of it is left", || async {
        if steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 12 {
            clock.advance_secs(4 * 3600);
        }
        let _ = sweep(&t.app().blobs, t.server()).await;
        (files_with(&t.data(), SECRET).is_empty() && files_with(&t.data(), &address).is_empty()).then_some(())
    })
    .await;
    assert!(!files_with(&t.data(), KEPT).is_empty());
    assert_eq!(content(&hamlet, stays).await, KEPT);
    assert_eq!(content(&hamlet, edited).await, format!("{KEPT} now"));
    assert_eq!(status(&hamlet, &file).await, 404);
    drop(queue);
    // The check after the stop compares journal and trees.
    let folder = t.stop().await;
    let t = TestServer::builder().clock(&clock).on(folder).start().await;
    let hamlet = t.user("hamlet");
    assert_eq!(content(&hamlet, edited).await, format!("{KEPT} now"));
    let cordelia = hamlet.get(&format!("/users/{}", cordelia.id), &[]).ok().await;
    assert_eq!(cordelia["user"]["full_name"], format!("Deleted user {}", cordelia["user"]["user_id"]));
}

/// Deletes a message, lets two days pass, and waits until its text is gone.
async fn erased_within_two_days(t: &TestServer, clock: &ManualClock) {
    let [owner, hamlet] = t.users(["desdemona", "hamlet"]);
    let id = owner.send_direct(&[&hamlet], &format!("{SECRET} deleted")).await;
    owner.delete(&format!("/messages/{id}"), &[]).ok().await;
    let steps = std::sync::atomic::AtomicU32::new(0);
    poll_for("the text is gone", || async {
        if steps.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < 12 {
            clock.advance_secs(4 * 3600);
        }
        files_with(&t.data(), SECRET).is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn clock_that_was_ahead_does_not_delay_erasing() {
    const AHEAD_SECS: i64 = 3000 * 24 * 3600;
    let clock = clock();
    clock.shift_wall_secs(AHEAD_SECS);
    let builder = || {
        let builder = TestServer::builder().clock(&clock).set("search.write_secs", 0);
        builder.set("storage.segment_kept_secs", 0)
    };
    // The first start records the time.
    let folder = builder().start().await.stop().await;
    clock.shift_wall_secs(-AHEAD_SECS);
    let t = builder().on(folder).start().await;
    erased_within_two_days(&t, &clock).await;
    // The clock can also be set back while the server runs.
    clock.shift_wall_secs(-AHEAD_SECS);
    erased_within_two_days(&t, &clock).await;
}

fn launch(data: &Path) -> ServerProcess {
    ServerProcess::start(
        &["dev", "--listen", "127.0.0.1:0", "--data", &data.display().to_string()],
        &[("MILLSTREAM_STORAGE_SEGMENT_BYTES", "1048576"), ("MILLSTREAM_STORAGE_ERASE_INTERVAL_SECS", "0")],
    )
}

fn stop(server: ServerProcess) {
    server.terminate();
    assert!(server.wait().success());
}

/// Sends messages, of which each second one has the secret. Returns the ids of these, and of the others.
async fn send(iago: &TestUser, count: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut secret, mut kept) = (Vec::new(), Vec::new());
    for number in 0..count {
        let is_secret = number % 2 == 0;
        let word = if is_secret { SECRET } else { KEPT };
        let id = iago.send_direct(&[iago], &format!("{word} {number}")).await;
        if is_secret { secret.push(id) } else { kept.push(id) }
    }
    (secret, kept)
}

async fn own_messages(iago: &TestUser) -> Vec<u64> {
    iago.message_ids(json!([{"operator": "dm", "operand": [iago.id]}])).await
}

#[tokio::test]
async fn command_erases_at_once_on_a_running_server_and_on_a_stopped_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let shown = data.display().to_string();
    let (status, text) = ServerProcess::run(&["erase", "--data", &shown]);
    assert!(!status.success() && text.contains("--now"), "{text}");
    let server = launch(&data);
    let iago = server.user("iago").await;
    // A queue that is not polled meanwhile.
    let mut queue = iago.register().events(&["message", "delete_message"]).await;
    let (secret, kept) = send(&iago, 20).await;
    for id in &secret {
        iago.delete(&format!("/messages/{id}"), &[]).ok().await;
    }
    let (status, text) = ServerProcess::run(&["erase", "--now", "--data", &shown]);
    assert!(status.success() && text.contains("10 deleted messages"), "{text}");
    assert_eq!(files_with(&data, SECRET), [""; 0]);
    assert_eq!(own_messages(&iago).await, kept);

    let (secret, more) = send(&iago, 20).await;
    for id in &secret {
        iago.delete(&format!("/messages/{id}"), &[]).ok().await;
    }
    stop(server);
    let (status, text) = ServerProcess::run(&["erase", "--now", "--data", &shown, "--output", "json"]);
    assert!(status.success() && text.contains("\"messages\":10"), "{text}");
    assert_eq!(files_with(&data, SECRET), [""; 0]);
    assert_clean(&data);
    let server = launch(&data);
    queue.person = server.reconnect(&iago);
    let kept = [kept, more].concat();
    assert_eq!(own_messages(&queue.person).await, kept);
    // The queue is rebuilt from the journal: messages that are deleted by now may be left out, the others may not.
    let (mut shown, mut deletions) = (Vec::new(), 0);
    while deletions < 20 {
        let event = queue.next().await;
        match event["type"].as_str() {
            Some("delete_message") => deletions += 1,
            _ => shown.extend(event["message"]["id"].as_u64()),
        }
    }
    shown.retain(|id| kept.contains(id));
    assert_eq!(shown, kept);
    stop(server);
}

#[tokio::test]
async fn kill_while_erasing_loses_nothing_and_the_next_run_completes_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let shown = data.display().to_string();
    let mut expected = Vec::new();
    let mut person = None;
    // From before the trees have the deletions to after everything is done, in steps.
    for round in 0..8_u64 {
        let server = launch(&data);
        let iago = match &person {
            Some(person) => server.reconnect(person),
            None => server.user("iago").await,
        };
        assert_eq!(own_messages(&iago).await, expected, "round {round}");
        let (secret, kept) = send(&iago, 30).await;
        for id in &secret {
            iago.delete(&format!("/messages/{id}"), &[]).ok().await;
        }
        expected.extend(kept);
        let erasing = shown.clone();
        let erase = std::thread::spawn(move || ServerProcess::run(&["erase", "--now", "--data", &erasing]));
        // The trees get the deletions after some seconds; then each step takes some milliseconds.
        tokio::time::sleep(Duration::from_millis(4_600 + round * 120)).await;
        server.kill();
        let _ = erase.join();
        person = Some(iago);
    }
    assert_clean(&data);
    let (status, text) = ServerProcess::run(&["erase", "--now", "--data", &shown]);
    assert!(status.success(), "{text}");
    assert_eq!(files_with(&data, SECRET), [""; 0]);
    assert!(!files_with(&data, KEPT).is_empty());
    assert_clean(&data);
    let server = launch(&data);
    let iago = server.reconnect(&person.expect("a person"));
    assert_eq!(own_messages(&iago).await, expected);
    stop(server);
}
