//! `millstream outbox retry` and `drop`, on a running server and on a stopped folder.

use super::outbox::start;
use crate::support::smtp::{SmtpBehavior, SmtpServer};
use crate::support::{ServerProcess, TestUser, poll_for, wait_until};
use reqwest::Method;
use serde_json::Value;
use std::path::Path;

/// Runs `outbox …`; whether it succeeded, and its output.
fn outbox(data: &Path, args: &[&str]) -> (bool, String) {
    let data = data.display().to_string();
    let (status, text) = ServerProcess::run(&[&["outbox"], args, &["--data", &data]].concat());
    (status.success(), text)
}

/// The rows of `outbox list`.
fn rows(data: &Path) -> Value {
    let (is_done, text) = outbox(data, &["list", "--output", "json"]);
    assert!(is_done, "{text}");
    let line = text.lines().find(|line| line.starts_with('[')).expect("JSON");
    serde_json::from_str(line).expect("JSON")
}

/// The jobs with their state.
fn jobs(data: &Path) -> Vec<(u64, String)> {
    let rows = rows(data);
    let row = |row: &Value| {
        (row["job"].as_u64().expect("an id"), row["state"].as_str().expect("a state").to_owned())
    };
    rows.as_array().expect("a list").iter().map(row).collect()
}

async fn ask_for_mail(hamlet: &TestUser, address: &str) {
    hamlet.call(Method::PATCH, "/settings", &[("email", &address)]).ok().await;
}

/// Waits until a number of jobs was given up.
async fn wait_for_failures(data: &Path, count: usize) -> Vec<u64> {
    poll_for("the deliveries are given up", || async {
        let failed: Vec<u64> =
            jobs(data).into_iter().filter(|(_, state)| state == "given up").map(|(job, _)| job).collect();
        (failed.len() == count).then_some(failed)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn given_up_mail_is_delivered_by_retry() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, SmtpBehavior::Reject).await;
    let server = start(&data, smtp.port());
    wait_until("the socket is there", || data.join("control").exists()).await;
    let hamlet = server.user("hamlet").await;
    for address in ["one@elsinore.example", "two@elsinore.example", "three@elsinore.example"] {
        ask_for_mail(&hamlet, address).await;
    }
    let failed = wait_for_failures(&data, 3).await;
    smtp.set(SmtpBehavior::Accept);
    let (is_done, text) = outbox(&data, &["retry", &failed[0].to_string()]);
    assert!(is_done && text.contains("1 delivery is attempted again"), "{text}");
    let new = text.split(&format!("Job {} is now job ", failed[0])).nth(1).expect("the new id");
    let new: u64 = new.split('.').next().and_then(|id| id.parse().ok()).expect("a number");
    assert!(new > failed[0], "{text}");
    assert_eq!(smtp.wait_for(1).await.len(), 1);
    // All others.
    let (is_done, text) = outbox(&data, &["retry", "--output", "json"]);
    let said: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert!(is_done && said["jobs"] == 2, "{text}");
    assert!(said["retried"].as_array().is_some_and(|jobs| jobs.iter().all(|job| job["new_job"].is_u64())));
    let (is_done, text) = outbox(&data, &["retry", "all"]);
    assert!(!is_done && text.contains("it is not the number of a job"), "{text}");
    let mails = smtp.wait_for(3).await;
    let mut to: Vec<&str> = mails.iter().map(|mail| mail.to.as_str()).collect();
    to.sort_unstable();
    assert_eq!(to, ["one@elsinore.example", "three@elsinore.example", "two@elsinore.example"]);
    let (is_done, text) = outbox(&data, &["retry", "999999999"]);
    assert!(!is_done && text.contains("there is no job 999999999; see `millstream outbox list`"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_mail_is_never_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, SmtpBehavior::TryLater).await;
    let server = start(&data, smtp.port());
    wait_until("the socket is there", || data.join("control").exists()).await;
    let hamlet = server.user("hamlet").await;
    ask_for_mail(&hamlet, "one@elsinore.example").await;
    ask_for_mail(&hamlet, "two@elsinore.example").await;
    smtp.wait_for_connections(2).await;
    poll_for("the last error is listed", || async {
        let (_, text) = outbox(&data, &["list"]);
        text.contains("failed, it is attempted again: ").then_some(())
    })
    .await;
    let listed = rows(&data);
    assert_eq!(listed[0]["recipient"], "one@elsinore.example", "{listed}");
    let is_tried = |row: &Value| row["reason"].is_string() && row["next_attempt"].is_string();
    assert!(listed.as_array().is_some_and(|rows| rows.iter().any(is_tried)), "{listed}");
    let waiting = jobs(&data);
    assert!(waiting.len() == 2 && waiting.iter().all(|(_, state)| state == "waiting"), "{waiting:?}");
    let (is_done, text) = outbox(&data, &["drop", &waiting[0].0.to_string()]);
    assert!(is_done && text.contains("is dropped"), "{text}");
    server.terminate();
    assert!(server.wait().success());
    // On the stopped folder, too.
    let (is_done, text) = outbox(&data, &["drop", &waiting[1].0.to_string()]);
    assert!(is_done, "{text}");
    assert!(jobs(&data).iter().all(|(_, state)| state != "waiting"), "{:?}", jobs(&data));
    let (is_done, text) = outbox(&data, &["drop", "999999999"]);
    assert!(!is_done && text.contains("there is no job"), "{text}");

    smtp.set(SmtpBehavior::Accept);
    let server = start(&data, smtp.port());
    let hamlet = server.reconnect(&hamlet);
    ask_for_mail(&hamlet, "three@elsinore.example").await;
    let mails = smtp.wait_for(1).await;
    assert_eq!(mails.iter().map(|mail| mail.to.as_str()).collect::<Vec<_>>(), ["three@elsinore.example"]);
}

/// The account of an organization that `POST /dev/realms` makes, and the organization's host.
async fn member_of(server: &ServerProcess, subdomain: &str, email: &str) -> (Value, String) {
    let made = server.anonymous().post("/dev/realms", &[("subdomain", &subdomain)]).ok().await;
    let url = made["url"].as_str().expect("a URL").to_owned();
    let users = made["users"].as_array().expect("a list").clone();
    let found = users.into_iter().find(|user| user["email"] == email).expect("the account");
    (found, url.trim_start_matches("http://").to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_all_organizations_are_retried_and_dropped() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let smtp = SmtpServer::on(0, SmtpBehavior::Reject).await;
    let server = start(&data, smtp.port());
    wait_until("the socket is there", || data.join("control").exists()).await;
    ask_for_mail(&server.user("hamlet").await, "one@elsinore.example").await;
    let (hamlet, host) = member_of(&server, "beta", "hamlet@zulip.com").await;
    let ask = async |address: &str| {
        let key = hamlet["api_key"].as_str().expect("a key");
        let call = reqwest::Client::new().patch(format!("{}/api/v1/settings", server.url));
        let call = call.basic_auth("hamlet@zulip.com", Some(key)).header("Host", &host);
        assert!(call.form(&[("email", address)]).send().await.expect("an answer").status().is_success());
    };
    ask("two@elsinore.example").await;
    ask("three@elsinore.example").await;
    wait_for_failures(&data, 3).await;
    let rows = rows(&data);
    let of_beta: Vec<u64> = rows
        .as_array()
        .expect("a list")
        .iter()
        .filter(|row| row["subdomain"] == "beta")
        .map(|row| row["job"].as_u64().expect("an id"))
        .collect();
    let own = rows.as_array().expect("a list").iter().find(|row| row["subdomain"] == "").expect("its job");
    let own = own["job"].as_u64().expect("an id");
    // Only beta has it, as organizations number their jobs from their own beginning.
    let alone = *of_beta.iter().find(|job| **job != own).expect("a job of beta alone");
    let other = *of_beta.iter().find(|job| **job != alone).expect("another job");
    let (is_done, text) = outbox(&data, &["drop", &alone.to_string(), "--realm", "-"]);
    assert!(!is_done && text.contains("there is no job"), "{text}");
    let (is_done, text) = outbox(&data, &["drop", &alone.to_string()]);
    assert!(is_done && text.contains("is dropped"), "{text}");
    let (is_done, text) = outbox(&data, &["retry", &other.to_string()]);
    match other == own {
        true => assert!(!is_done && text.contains("choose with --realm"), "{text}"),
        false => assert!(is_done && text.contains("1 delivery is attempted again"), "{text}"),
    }
    smtp.set(SmtpBehavior::Accept);
    let (is_done, text) = outbox(&data, &["retry", "--output", "json"]);
    let said: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert!(is_done && said["retried"].to_string().contains("\"subdomain\":\"\""), "{text}");
    let mails = smtp.wait_for(2).await;
    let mut to: Vec<&str> = mails.iter().map(|mail| mail.to.as_str()).collect();
    to.sort_unstable();
    assert_eq!(to, ["one@elsinore.example", "two@elsinore.example"]);
}
