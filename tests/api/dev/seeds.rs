//! `dev --seed`, `--print-seed`, `--empty`, seeds of `POST /dev/realms`, and `POST /dev/reset`.

use crate::support::{ApiResponse, Params, ServerProcess, TestServer, TestUser, wait_until};
use futures_util::FutureExt;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::future::IntoFuture;

/// What a user sees of an organization, without what differs between two of them.
async fn picture(user: &TestUser) -> Value {
    let mut picture = json!({});
    let window: Params<'_> =
        &[("anchor", &"oldest"), ("num_before", &0), ("num_after", &1000), ("apply_markdown", &"true")];
    let messages = user.get("/messages", window).ok().await;
    let fields = ["id", "sender_email", "subject", "content", "reactions", "flags", "display_recipient"];
    let plain = |message: &Value| fields.iter().map(|field| message[field].clone()).collect::<Vec<_>>();
    picture["messages"] = messages["messages"].as_array().unwrap().iter().map(plain).collect();
    for (path, field) in [
        ("/users", "members"),
        ("/users/me/subscriptions", "subscriptions"),
        ("/user_groups", "user_groups"),
        ("/realm/linkifiers", "linkifiers"),
        ("/realm/emoji", "emoji"),
        ("/realm/profile_fields", "custom_fields"),
    ] {
        // Guests may not see groups: the same refusal then.
        let answer = user.get(path, &[]).await;
        picture[field] = json!([answer.status, answer.body[field]]);
    }
    without_dates(&mut picture);
    picture
}

fn without_dates(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.contains("date") && !name.contains("timestamp"));
            fields.values_mut().for_each(without_dates);
        }
        Value::Array(items) => items.iter_mut().for_each(without_dates),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[tokio::test]
async fn printed_seed_makes_the_same_organization() {
    let (status, printed) = ServerProcess::run(&["dev", "--print-seed"]);
    assert!(status.success(), "{printed}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seed.toml");
    std::fs::write(&file, &printed).unwrap();
    let file = file.display().to_string();
    let sample = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &[]);
    let seeded = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--seed", &file], &[]);
    for name in ["hamlet", "polonius", "desdemona"] {
        let (expected, found) =
            (picture(&sample.user(name).await).await, picture(&seeded.user(name).await).await);
        assert_eq!(expected, found);
    }
}

#[test]
fn seed_is_printed_in_the_form_that_was_asked_for() {
    let (status, printed) = ServerProcess::run(&["dev", "--print-seed", "--empty", "--output", "json"]);
    let seed: Value = serde_json::from_str(&printed).unwrap();
    assert!(status.success());
    assert_eq!((&seed["name"], &seed["users"][0]["role"]), (&json!("Empty"), &json!("owner")));
}

#[tokio::test]
async fn empty_organization_has_an_owner_and_no_channels() {
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--empty"], &[]);
    let owner = server.user("desdemona").await;
    assert_eq!(owner.get("/streams", &[]).ok().await["streams"], json!([]));
    assert_eq!(owner.get("/users/me", &[]).ok().await["role"], 100);
}

#[test]
fn mistake_in_a_seed_stops_the_server_with_its_position() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("seed.toml");
    std::fs::write(&file, "name = \"A\"\nemail_domain = 5\n").unwrap();
    let (status, output) = ServerProcess::run(&["dev", "--seed", &file.display().to_string()]);
    assert!(
        !status.success() && output.contains("seed.toml: line 2, column 16: expected a text"),
        "{output}"
    );
}

const SEED: &str = r#"{"name": "Acme", "email_domain": "acme.example", "creator": "olga@acme.example",
    "users": [{"email": "olga@acme.example", "full_name": "Olga", "role": "owner"},
              {"email": "pia@acme.example", "full_name": "Pia", "password": "correct horse"}],
    "channels": [{"name": "plans", "subscribers": "everyone"}],
    "topics": [{"channel": "plans", "name": "launch", "messages":
        [{"from": "pia@acme.example", "text": "When?"}, {"from": "olga@acme.example", "text": "*Soon*"}]}],
    "conversations": [{"people": ["olga@acme.example", "pia@acme.example"], "messages": ["Hi", "Hello"]}],
    "settings": {"invite_required": false}}"#;

#[tokio::test]
async fn organization_with_a_seed_of_its_own() {
    let t = TestServer::builder().development().start().await;
    let made = t.anonymous().post("/dev/realms", &[("seed", &SEED)]).ok().await;
    let (host, users) = (made["host"].as_str().unwrap(), made["users"].as_array().unwrap());
    assert_eq!(users.len(), 2, "{made}");
    let mut pia = t.user("hamlet");
    (pia.email, pia.api_email) = ("pia@acme.example".into(), "pia@acme.example".into());
    pia.key = users[1]["api_key"].as_str().unwrap().to_owned();
    let window: Params<'_> = &[("anchor", &"oldest"), ("num_before", &0), ("num_after", &10)];
    let messages = pia.get("/messages", window).header("Host", host).ok().await;
    let texts: Vec<&str> =
        messages["messages"].as_array().unwrap().iter().map(|it| it["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["<p>When?</p>", "<p>Hi</p>", "<p><em>Soon</em></p>", "<p>Hello</p>"]);
    let login: Params<'_> = &[("username", &"pia@acme.example"), ("password", &"correct horse")];
    let key = t.anonymous().post("/fetch_api_key", login).header("Host", host).ok().await;
    assert_eq!(key["api_key"], pia.key);
    let page = async || {
        let asked = t.anonymous().bare(reqwest::Method::GET, "/about").header("Host", host);
        asked.header("Accept", "text/html").await.body.as_str().expect("a page").to_owned()
    };
    assert!(page().await.contains("<code>pia@acme.example</code></td><td><code>correct horse</code></td>"));
    let change: Params<'_> =
        &[("old_password", &"correct horse"), ("new_password", &"purple elephant staircase")];
    pia.patch("/settings", change).header("Host", host).ok().await;
    let changed = page().await;
    assert!(changed.contains("<code>pia@acme.example</code></td><td>set by the person</td>"), "{changed}");
    let wrong = t.anonymous().post("/dev/realms", &[("seed", &"{\"name\": 5}")]).await;
    let expected = "Invalid seed: line 1, column 10: expected a text, not the number 5";
    assert_eq!((wrong.status, wrong.body["msg"].as_str()), (400, Some(expected)));
}

#[tokio::test]
async fn reset_brings_the_seed_back() {
    let t = TestServer::builder().development().start().await;
    let (hamlet, iago) = (t.user("hamlet"), t.user("iago"));
    let before = picture(&hamlet).await;
    for round in 0..3 {
        let queue = hamlet.register().await;
        let made = iago.post("/users/me/subscriptions", &[("subscriptions", &json!([{"name": "new"}]))]);
        made.ok().await;
        for text in ["one", "two", "three"] {
            for channel in ["new", "Verona"] {
                let message: Params<'_> =
                    &[("type", &"channel"), ("to", &channel), ("topic", &"t"), ("content", &text)];
                iago.post("/messages", message).ok().await;
            }
        }
        hamlet.patch("/settings", &[("full_name", &"Prince")]).ok().await;
        iago.delete("/messages/1", &[]).ok().await;
        assert_ne!(picture(&hamlet).await, before);
        let fault: Params<'_> = &[("path", &"*/messages"), ("kind", &"disconnect")];
        t.anonymous().post("/dev/faults", fault).ok().await;
        t.anonymous().post("/dev/reset", &[]).ok().await;
        assert_eq!(queue.poll(true).await.body["code"], "BAD_EVENT_QUEUE_ID", "{round}");
        assert_eq!(picture(&hamlet).await, before);
        let message: Params<'_> =
            &[("type", &"channel"), ("to", &"Verona"), ("topic", &"t"), ("content", &"after the reset")];
        let sent = iago.post("/messages", message).ok().await;
        let last = before["messages"].as_array().unwrap().last().unwrap()[0].as_u64().unwrap();
        assert!(sent["id"].as_u64().unwrap() > last);
        let found = hamlet.message_ids(json!([["search", "after the reset"]])).await;
        assert_eq!(found.len(), 1);
        t.anonymous().post("/dev/reset", &[]).ok().await;
    }
}

#[tokio::test]
async fn reset_of_one_organization_leaves_the_others() {
    let t = TestServer::builder().development().start().await;
    let made = t.anonymous().post("/dev/realms", &[("seed", &SEED)]).ok().await;
    let host = made["host"].as_str().unwrap();
    let message: Params<'_> =
        &[("type", &"channel"), ("to", &"Verona"), ("topic", &"t"), ("content", &"stays")];
    let sent = t.user("hamlet").post("/messages", message).ok().await;
    t.anonymous().post("/dev/reset", &[]).header("Host", host).ok().await;
    t.user("hamlet").get(&format!("/messages/{}", sent["id"]), &[]).ok().await;
}

#[tokio::test]
async fn reset_survives_a_restart() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let before = picture(&hamlet).await;
    let message: Params<'_> =
        &[("type", &"channel"), ("to", &"Verona"), ("topic", &"t"), ("content", &"gone")];
    hamlet.post("/messages", message).ok().await;
    t.anonymous().post("/dev/reset", &[]).ok().await;
    let t = TestServer::builder().development().on(t.stop().await).start().await;
    assert_eq!(picture(&t.user("hamlet")).await, before);
}

fn stop(server: ServerProcess) {
    server.terminate();
    assert!(server.wait().success());
}

/// An organization with a person who was seen a minute ago.
fn seed_file(folder: &std::path::Path, name: &str) -> String {
    let file = folder.join(format!("{name}.toml"));
    let text = format!(
        "name = \"{name}\"\nemail_domain = \"acme.example\"\ncreator = \"olga@acme.example\"\n\
         [[users]]\nemail = \"olga@acme.example\"\nfull_name = \"Olga\"\nrole = \"owner\"\n\
         [[seen]]\nemail = \"olga@acme.example\"\nsecs_ago = 60\n"
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

#[tokio::test]
async fn kept_data_accepts_only_the_seed_that_it_was_made_from() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let (acme, other) = (seed_file(folder.path(), "Acme"), seed_file(folder.path(), "Other"));
    let start = ["dev", "--listen", "127.0.0.1:0", "--data", &data];
    let with_seed = [&start[..], &["--seed", &acme]].concat();
    stop(ServerProcess::start(&with_seed, &[]));
    for more in [&["--seed", &*other][..], &["--empty"]] {
        let (status, output) = ServerProcess::run(&[&start[..], more].concat());
        assert!(!status.success() && output.contains("made from another seed"), "{output}");
        assert!(output.contains("omit --seed and --empty"), "{output}");
    }
    // The same seed in other words.
    let text = std::fs::read_to_string(&acme).unwrap();
    std::fs::write(&acme, format!("# a comment\n{text}")).unwrap();
    stop(ServerProcess::start(&with_seed, &[]));
    std::fs::remove_dir_all(folder.path().join("data/seeds")).unwrap();
    let (status, output) = ServerProcess::run(&with_seed);
    assert!(!status.success() && output.contains("it is not known from which seed"), "{output}");
}

/// On a server whose clock is moved, what was erased later than now is no reason for a warning.
#[tokio::test]
async fn restart_after_the_clock_was_moved_does_not_warn() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = ServerProcess::dev(&data);
    let erased = || std::fs::read(data.join("erased")).ok();
    wait_until("there is a record of erasing", || erased().is_some()).await;
    let before = erased();
    server.anonymous().post("/dev/clock", &[("advance_secs", &864_000)]).ok().await;
    wait_until("it has erased", || erased() != before).await;
    stop(server);
    let server = ServerProcess::dev(&data);
    let log = || server.log.lock().unwrap().clone();
    wait_until("the erasing is compared", || log().contains("was erased while the clock was moved ahead"))
        .await;
    assert!(!log().contains("later than now"), "{}", log());
    stop(server);
}

#[tokio::test]
async fn reset_goes_back_to_the_seeds_of_kept_data() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let acme = seed_file(folder.path(), "Acme");
    let start = ["dev", "--listen", "127.0.0.1:0", "--data", &data];
    let server = ServerProcess::start(&[&start[..], &["--seed", &acme]].concat(), &[]);
    let own = std::fs::read_to_string(seed_file(folder.path(), "Own")).unwrap();
    let own = own.replace("secs_ago = 60", "secs_ago = 5000");
    let made = server.anonymous().post("/dev/realms", &[("subdomain", &"own"), ("seed", &own)]).ok().await;
    let key = made["users"][0]["api_key"].as_str().unwrap().to_owned();
    stop(server);
    // Without the option: the seeds are those of the folder, not the sample.
    let server = ServerProcess::start(&start, &[]);
    let mut olga = server.anonymous();
    (olga.email, olga.api_email) = ("olga@acme.example".into(), "olga@acme.example".into());
    let login =
        server.anonymous().post("/dev_fetch_api_key", &[("username", &"olga@acme.example")]).ok().await;
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    let hosts = [(format!("127.0.0.1:{port}"), login["api_key"].as_str().unwrap().to_owned(), 60)];
    let hosts = hosts.into_iter().chain([(format!("own.localhost:{port}"), key, 5000)]);
    for (host, key, secs_ago) in hosts {
        olga.key = key;
        server.anonymous().post("/dev/reset", &[]).header("Host", &host).ok().await;
        let presence = olga.get("/users/olga@acme.example/presence", &[]).header("Host", &host).ok().await;
        let seen = presence["presence"]["aggregated"]["timestamp"].as_f64().unwrap();
        let now = server.anonymous().get("/dev/clock", &[]).ok().await["time"].as_f64().unwrap();
        assert!((secs_ago..secs_ago + 60).contains(&((now - seen) as u64)), "{presence}");
    }
    let create = ["realm", "create", "Plain", "--subdomain", "plain", "--data", &data];
    let owner = ["--owner-email", "o@plain.example", "--owner-name", "Odo"];
    let (status, output) = ServerProcess::run(&[&create[..], &owner].concat());
    assert!(status.success(), "{output}");
    let reset = server.anonymous().post("/dev/reset", &[]).header("Host", &format!("plain.localhost:{port}"));
    reset.bad("This organization was not made from a seed, so there is nothing to reset it to").await;
}

#[tokio::test]
async fn rate_limits_can_be_switched_on() {
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--rate-limits"], &[]);
    let hamlet = server.user("hamlet").await;
    let answer = hamlet.get("/users/me", &[]).await;
    assert!(!answer.header("X-RateLimit-Limit").is_empty(), "{answer:?}");
}

#[tokio::test]
async fn reset_gives_accounts_their_rate_limits_back() {
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0", "--rate-limits"], &[]);
    let hamlet = server.user("hamlet").await;
    let header = |answer: &ApiResponse, name: &str| answer.header(name).parse::<u32>().unwrap();
    for _ in 0..50 {
        hamlet.get("/users/me", &[]).ok().await;
    }
    server.anonymous().post("/dev/reset", &[]).ok().await;
    let answer = hamlet.get("/users/me", &[]).await;
    let (limit, remaining) = (header(&answer, "X-RateLimit-Limit"), header(&answer, "X-RateLimit-Remaining"));
    assert_eq!(remaining, limit - 1, "{answer:?}");
}

#[tokio::test]
async fn accounts_exist_at_every_moment_of_a_reset() {
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &[]);
    let (hamlet, anonymous) = (server.user("hamlet").await, server.anonymous());
    let resets = async {
        for _ in 0..20 {
            anonymous.post("/dev/reset", &[]).ok().await;
        }
    };
    tokio::pin!(resets);
    let mut calls = 0;
    loop {
        tokio::select! {
            () = &mut resets => break,
            answer = hamlet.get("/users/me", &[]) => {
                assert_eq!(answer.status, 200, "{answer:?}");
                calls += 1;
            }
        }
    }
    assert!(calls > 20, "only {calls} calls while resetting");
}

#[tokio::test]
async fn queues_registered_while_an_organization_is_reset_end_with_it_or_with_the_next_reset() {
    let server = ServerProcess::start(&["dev", "--listen", "127.0.0.1:0"], &[]);
    let (hamlet, anonymous) = (server.user("hamlet").await, server.anonymous());
    let mut queues = Vec::new();
    for _ in 0..30 {
        let reset = anonymous.post("/dev/reset", &[]).into_future();
        tokio::pin!(reset);
        // Several at a time, so that some registrations are pending when the queues end.
        let answered = loop {
            if let Some(answered) = (&mut reset).now_or_never() {
                break answered;
            }
            let register =
                |_| hamlet.post("/register", &[("event_types", &json!(["message"]))]).into_future();
            queues.extend(join_all((0..8).map(register)).await);
        };
        answered.ok();
    }
    anonymous.post("/dev/reset", &[]).ok().await;
    let mut registered = 0;
    for answer in queues.into_iter().filter(|answer| answer.status == 200) {
        let queue = answer.body["queue_id"].as_str().expect("a queue").to_owned();
        let params: Params<'_> = &[("queue_id", &queue), ("last_event_id", &-1), ("dont_block", &true)];
        let polled = hamlet.get("/events", params).await;
        assert_eq!(polled.body["code"], "BAD_EVENT_QUEUE_ID", "{polled:?}");
        registered += 1;
    }
    assert!(registered > 50, "only {registered} registrations");
}
