//! `/invites`, and the page that a link opens.

mod join;
mod list;
mod multiuse;
mod revoke;
mod send;

use crate::support::{PATIENCE, Params, Person, TestServer};
use serde_json::{Value, json};

/// A server whose mail can be read.
async fn start() -> TestServer {
    TestServer::plan().development().start().await
}

/// Invites somebody, to be a member of nothing in particular, and what else the test says.
fn invite(who: &Person, addresses: &str, more: Params<'_>) -> crate::support::Call {
    let channels = json!([]);
    let mut params: Vec<(&str, &(dyn std::fmt::Display + Sync))> = vec![("invitee_emails", &addresses)];
    if !more.iter().any(|(name, _)| *name == "stream_ids") {
        params.push(("stream_ids", &channels));
    }
    params.extend(more);
    who.post("/invites", &params)
}

/// What somebody sees in the list.
async fn listed(who: &Person) -> Vec<Value> {
    who.get("/invites", &[]).ok().await["invites"].as_array().expect("a list").clone()
}

/// Makes a reusable link; gives the link.
pub async fn create_link(who: &Person, params: Params<'_>) -> String {
    let made = who.post("/invites/multiuse", params).ok().await;
    made["invite_link"].as_str().expect("a link").to_owned()
}

/// The newest mail to an address, once so many were sent to it.
async fn mail_to(t: &TestServer, address: &str, count: usize) -> Value {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let url = format!("{}/emails.json", t.url);
    loop {
        let all = t.stranger().http.get(&url).send().await.expect("an answer");
        let all: Value = all.json().await.expect("a list of mails");
        let mails = all["emails"].as_array().or(all.as_array()).expect("a list").clone();
        let mut mine: Vec<Value> = mails.into_iter().filter(|mail| mail["to"] == address).collect();
        if mine.len() >= count {
            return mine.swap_remove(0);
        }
        assert!(tokio::time::Instant::now() < deadline, "no mail to {address}");
        tokio::task::yield_now().await;
    }
}

/// The link in a mail.
fn link_in(mail: &Value) -> String {
    let text = mail["text"].as_str().expect("a text");
    let line = text.lines().find(|line| line.contains("/join/")).expect("a link");
    line.trim().to_owned()
}

/// What a browser is shown: status, page.
async fn open(t: &TestServer, link: &str) -> (u16, String) {
    let answer = t.stranger().http.get(link).send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.expect("a page"))
}

/// The same after a form was filled in and sent.
async fn fill_in(t: &TestServer, link: &str, form: &[(&str, &str)]) -> (u16, String) {
    let answer = t.stranger().http.post(link).form(form).send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.expect("a page"))
}

/// The types of the events that a queue has by now.
async fn kinds(queue: &mut crate::support::Queue) -> Vec<String> {
    let events = queue.now().await.into_iter();
    events.map(|event| event["type"].as_str().expect("a type").to_owned()).collect()
}

/// A password that is hard to guess.
const PASSWORD: &str = "correct horse battery staple";
