//! What the nodes of a cluster ask each other about addresses: each knows only the accounts of the organizations that it owns.

use super::app::App;
use super::found_accounts::{self, ORGANIZATIONS_MAX, Organizations};
use super::gateway::{Gateway, QUESTION_KEY};
use actix_web::body::{BodyStream, to_bytes_limited};
use actix_web::dev::Payload;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Only for nodes: without the key of their questions, which requests that they pass on do not have, it is a path like any
/// other that does not exist.
const PATH: &str = "/cluster/accounts";
/// How long another node may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Longest question or answer in bytes: organizations with long names.
const BYTES_MAX: usize = 1 << 20;

/// A question, or an order to send the mail with these organizations.
#[derive(Serialize, Deserialize)]
struct Question {
    address: String,
    send: Option<Organizations>,
}

/// Sends the list of the organizations of an address on all nodes.
pub async fn send_list(gateway: &Gateway, app: &App, address: String) {
    let mut organizations = found_accounts::organizations(app, &address);
    let is_here = !organizations.is_empty();
    let question = Question { address, send: None };
    let peers = gateway.cluster.peers();
    let answers = join_all(peers.iter().map(|url| ask(gateway, url, &question))).await;
    let mut sender = None;
    for (url, found) in peers.iter().zip(answers) {
        sender = sender.or((!found.is_empty()).then_some(url));
        organizations.extend(found);
    }
    organizations.sort();
    organizations.dedup();
    organizations.truncate(ORGANIZATIONS_MAX);
    let address = question.address;
    match sender.filter(|_| !is_here) {
        None => found_accounts::send(app, &address, organizations).await,
        Some(url) => drop(ask(gateway, url, &Question { address, send: Some(organizations) }).await),
    }
}

/// The organizations of a node; none if it does not answer.
async fn ask(gateway: &Gateway, url: &str, question: &Question) -> Organizations {
    let url = format!("{}{PATH}", url.trim_end_matches('/'));
    let sent = gateway.client.post(url).timeout(ANSWER_MAX).json(question);
    let sent = sent.header(QUESTION_KEY.as_str(), gateway.question_key.as_str());
    let answered = async { sent.send().await?.error_for_status()?.json().await };
    answered.await.unwrap_or_else(|error: reqwest::Error| {
        tracing::warn!(%error, "a node did not say which organizations an address has");
        Organizations::new()
    })
}

/// Whether a request is a question of another node.
pub fn is_question(gateway: &Gateway, request: &HttpRequest) -> bool {
    request.path() == PATH && gateway.is_question(request.headers())
}

/// Answers a question of another node.
pub async fn answer(app: &App, payload: Payload) -> HttpResponse {
    let body = to_bytes_limited(BodyStream::new(payload), BYTES_MAX).await.ok().and_then(Result::ok);
    let question = body.and_then(|body| serde_json::from_slice::<Question>(&body).ok());
    let Some(Question { address, send }) = question else { return HttpResponse::BadRequest().finish() };
    match send {
        None => HttpResponse::Ok().json(found_accounts::organizations(app, &address)),
        Some(organizations) => {
            found_accounts::send(app, &address, organizations).await;
            HttpResponse::Ok().json(Organizations::new())
        }
    }
}
