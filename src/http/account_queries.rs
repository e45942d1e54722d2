//! Queries between the nodes of a cluster about the accounts of an e-mail address: each node knows only the accounts of the
//! organizations that it owns.

use super::app::App;
use super::found_accounts::{self, ORGANIZATIONS_MAX, Organizations};
use super::gateway::{Gateway, QUERY_KEY};
use actix_web::body::{BodyStream, to_bytes_limited};
use actix_web::dev::Payload;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Only for nodes: without the key of their queries, which requests that they pass on do not have, it is a path like any
/// other that does not exist.
const PATH: &str = "/cluster/accounts";
/// How long another node may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Longest query or response in bytes: organizations with long names.
const BYTES_MAX: usize = 1 << 20;

/// Asks in which organizations of a node an address has accounts; with `send`, orders it to send the mail that lists these.
#[derive(Serialize, Deserialize)]
struct AccountQuery {
    address: String,
    send: Option<Organizations>,
}

/// Sends the list of the organizations of an address on all nodes.
pub async fn send_list(gateway: &Gateway, app: &App, address: String) {
    let mut organizations = found_accounts::organizations(app, &address);
    let is_here = !organizations.is_empty();
    let query = AccountQuery { address, send: None };
    let peers = gateway.cluster.peers();
    let answers = join_all(peers.iter().map(|url| send_query(gateway, url, &query))).await;
    let mut sender = None;
    for (url, found) in peers.iter().zip(answers) {
        sender = sender.or((!found.is_empty()).then_some(url));
        organizations.extend(found);
    }
    organizations.sort();
    organizations.dedup();
    organizations.truncate(ORGANIZATIONS_MAX);
    let address = query.address;
    match sender.filter(|_| !is_here) {
        None => found_accounts::send(app, &address, organizations).await,
        Some(url) => {
            drop(send_query(gateway, url, &AccountQuery { address, send: Some(organizations) }).await)
        }
    }
}

/// The organizations in which a node knows accounts of the address; none if it does not answer.
async fn send_query(gateway: &Gateway, url: &str, query: &AccountQuery) -> Organizations {
    let url = format!("{}{PATH}", url.trim_end_matches('/'));
    let sent = gateway.client.post(url).timeout(ANSWER_MAX).json(query);
    let sent = sent.header(QUERY_KEY.as_str(), gateway.query_key.as_str());
    let answered = async { sent.send().await?.error_for_status()?.json().await };
    answered.await.unwrap_or_else(|error: reqwest::Error| {
        tracing::warn!(%error, "a node did not say which organizations an address has");
        Organizations::new()
    })
}

/// Whether a request is a query of another node.
pub fn is_query(gateway: &Gateway, request: &HttpRequest) -> bool {
    request.path() == PATH && gateway.is_query(request.headers())
}

/// Answers a query of another node.
pub async fn answer(app: &App, payload: Payload) -> HttpResponse {
    let body = to_bytes_limited(BodyStream::new(payload), BYTES_MAX).await.ok().and_then(Result::ok);
    let query = body.and_then(|body| serde_json::from_slice::<AccountQuery>(&body).ok());
    let Some(AccountQuery { address, send }) = query else { return HttpResponse::BadRequest().finish() };
    match send {
        None => HttpResponse::Ok().json(found_accounts::organizations(app, &address)),
        Some(organizations) => {
            found_accounts::send(app, &address, organizations).await;
            HttpResponse::Ok().json(Organizations::new())
        }
    }
}
