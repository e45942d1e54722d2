//! `/invites`, and the page that an invitation link opens.

mod expiry;
mod join;
mod list;
mod multiuse;
mod revoke;
mod send;

use crate::support::{Param, Params, TestServer, TestUser, poll_for};
use serde_json::{Value, json};

/// Starts a development server, which lists the emails that it sends.
async fn start() -> TestServer {
    TestServer::builder().development().start().await
}

/// Sends invitations without channels, with additional parameters.
fn invite(who: &TestUser, addresses: &str, more: Params<'_>) -> crate::support::Call {
    let channels = json!([]);
    let mut params: Vec<Param<'_>> = vec![("invitee_emails", &addresses)];
    if !more.iter().any(|(name, _)| *name == "stream_ids") {
        params.push(("stream_ids", &channels));
    }
    params.extend(more);
    who.post("/invites", &params)
}

/// The error INVITATION_FAILED.
fn failed(msg: &str, errors: Value, sent: bool, daily: bool) -> Value {
    json!({
        "msg": msg, "code": "INVITATION_FAILED", "errors": errors, "sent_invitations": sent,
        "license_limit_reached": false, "daily_limit_reached": daily,
    })
}

/// The text of INVITATION_FAILED beyond the number of e-mails of a day.
const DAILY_LIMIT: &str = "To protect users, Zulip limits the number of invitations you can send in one day. Because \
                           you have reached the limit, no invitations were sent.";

/// The invitations that a user sees.
async fn listed(who: &TestUser) -> Vec<Value> {
    who.get("/invites", &[]).ok().await["invites"].as_array().expect("a list").clone()
}

/// Creates a reusable invitation; returns its link.
pub async fn create_link(who: &TestUser, params: Params<'_>) -> String {
    let made = who.post("/invites/multiuse", params).ok().await;
    made["invite_link"].as_str().expect("a link").to_owned()
}

/// Waits until `count` emails were sent to an address; returns the newest.
async fn mail_to(t: &TestServer, address: &str, count: usize) -> Value {
    poll_for(&format!("{count} mails to {address} were sent"), || async {
        let all = t.anonymous().get("/emails.json", &[]).ok().await;
        let mails = all["emails"].as_array().expect("a list").clone();
        let mut mine: Vec<Value> = mails.into_iter().filter(|mail| mail["to"] == address).collect();
        (mine.len() >= count).then(|| mine.swap_remove(0))
    })
    .await
}

/// The link in an email.
fn link_in(mail: &Value) -> String {
    let text = mail["text"].as_str().expect("a text");
    let line = text.lines().find(|line| line.contains("/join/")).expect("a link");
    line.trim().to_owned()
}

/// Opens a page; returns status and HTML.
async fn open(t: &TestServer, link: &str) -> (u16, String) {
    let answer = t.anonymous().http.get(link).send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.expect("a page"))
}

/// Submits the form of a page; returns status and HTML.
async fn fill_in(t: &TestServer, link: &str, form: &[(&str, &str)]) -> (u16, String) {
    let answer = t.anonymous().http.post(link).form(form).send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.expect("a page"))
}

/// The types of all available events of a queue.
async fn kinds(queue: &mut crate::support::Queue) -> Vec<String> {
    let events = queue.now().await.into_iter();
    events.map(|event| event["type"].as_str().expect("a type").to_owned()).collect()
}

/// A password that passes the strength check.
const PASSWORD: &str = "correct horse battery staple";
