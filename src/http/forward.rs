//! Requests on a node of a cluster: any node takes any request, and passes it on to the one that owns the organization.
//!
//! The path of a request has at most two hops: from the node that the client reached to the owner, and, while the
//! organization is being moved, from there to the new owner. Headers say how many there were, with a key that only nodes
//! have. A request that waits for a move or a takeover is not sent yet, so nothing is done twice; one whose connection broke
//! after it was sent is only repeated if it reads.

use super::account_queries;
use super::address::client_address;
use super::app::App;
use super::connection_slots;
use super::error::ApiError;
use super::gateway::{Gateway, HOPS_MAX, is_reading};
use super::proxy::{ProxyOutcome, proxy};
use actix_web::dev::{Payload, ServiceRequest};
use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, COOKIE, HOST};
use actix_web::{HttpRequest, HttpResponse};
use actors::cluster::{Address, Located, RequestGuard};
use std::time::{Duration, Instant};

/// How long a request waits for an owner of its organization.
const WAIT_MAX: Duration = Duration::from_secs(12);
/// How long a request that another node has passed on waits for an owner of its organization: that node waits, too.
const WAIT_FORWARDED_MAX: Duration = Duration::from_secs(3);
/// How often it is tried again without a change of the tables.
const TICK: Duration = Duration::from_millis(20);
/// How often a request that reads is answered anew, because its organization was moved meanwhile.
const RETRIES_MAX: usize = 3;

/// Paths that are about this node and not about an organization.
const OWN_PATHS: [&str; 2] = ["/health", "/metrics"];
/// Paths of development servers that are about this node and not about an organization begin with this.
const OWN_DEVELOPMENT_PATHS: &str = "/dev/";

/// Where a request is answered.
enum Forwarded {
    /// It is for this node. The organization stays until the request ends.
    Here(Payload, Option<RequestGuard>),
    /// It was forwarded to another node, or refused.
    Answered(HttpResponse),
}

/// Responds to one request with `here`, or passes it on to the node of its organization.
pub async fn respond(
    (gateway, app): (&Gateway, &App),
    request: &mut ServiceRequest,
    mut payload: Payload,
    here: impl AsyncFn(&mut ServiceRequest, Payload) -> HttpResponse,
) -> HttpResponse {
    if account_queries::is_query(gateway, request.request()) {
        return account_queries::answer(app, payload).await;
    }
    if gateway.hops(request.headers()) > 0 {
        // Of a node, which is like an account.
        connection_slots::has_valid_credentials();
    }
    let method = request.method().clone();
    for retries in 0.. {
        let guard = match forward((gateway, app), request.request(), payload).await {
            Forwarded::Answered(response) => return response,
            Forwarded::Here(own, guard) => {
                payload = own;
                guard
            }
        };
        let response = here(request, payload).await;
        let was_moved =
            guard.as_ref().is_some_and(|guard| !guard.is_of(app.server.realm(guard.realm()).as_ref()));
        let is_refused = response.status().is_client_error() || response.status().is_server_error();
        if !(was_moved && is_refused && is_reading(&method) && retries < RETRIES_MAX) {
            return if gateway.may_answer(&method, guard.as_ref()).await { response } else { lapsed() };
        }
        payload = Payload::None;
    }
    lapsed()
}

fn is_own(app: &App, path: &str) -> bool {
    OWN_PATHS.contains(&path) || (app.is_development && path.starts_with(OWN_DEVELOPMENT_PATHS))
}

/// This node could not renew its lease.
fn lapsed() -> HttpResponse {
    ApiError::unavailable("This node has lost its connection to the cluster; try again in a moment")
        .into_response()
}

/// The organization has no owner now; for another node: this node does not own it.
fn misdirected(hops: u32) -> HttpResponse {
    let error = ApiError::unavailable("The organization is being moved; try again in a moment");
    match hops {
        0 => error.into_response(),
        _ => error.status(StatusCode::MISDIRECTED_REQUEST).into_response(),
    }
}

/// Finds the node that owns the organization of a request, waits for one if there is none, and forwards the request to it.
async fn forward((gateway, app): (&Gateway, &App), request: &HttpRequest, mut payload: Payload) -> Forwarded {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let named = app.hosts.subdomain_of(host, |subdomain| gateway.cluster.knows(subdomain));
    let Some(subdomain) = named.filter(|_| !is_own(app, request.path())) else {
        return Forwarded::Here(payload, None);
    };
    let hops = gateway.hops(request.headers());
    let known_epoch = gateway.epoch(request.headers());
    let deadline = Instant::now() + if hops == 0 { WAIT_MAX } else { WAIT_FORWARDED_MAX };
    loop {
        match gateway.cluster.locate(&app.server, &subdomain) {
            Located::Nowhere => return Forwarded::Here(payload, None),
            Located::Here(guard) => return Forwarded::Here(payload, Some(guard)),
            Located::Lapsed if is_reading(request.method()) && gateway.may_read().await => {
                return Forwarded::Here(payload, None);
            }
            Located::Lapsed => return Forwarded::Answered(lapsed()),
            Located::Moving => {}
            // The node that has passed it on knows a newer owner, probably this one.
            Located::There(address) if address.epoch < known_epoch => gateway.cluster.refresh(),
            // That node waits, and asks again. If this one waited, none of them would learn of a newer owner.
            Located::There(_) if hops >= HOPS_MAX => return Forwarded::Answered(misdirected(hops)),
            Located::There(address) => {
                match send((gateway, app), request, payload, (&address, hops + 1)).await {
                    ProxyOutcome::Answered(response) => return Forwarded::Answered(response),
                    ProxyOutcome::Unsent(back) => payload = back,
                }
            }
        }
        if Instant::now() > deadline {
            return Forwarded::Answered(misdirected(hops));
        }
        gateway.cluster.changed(TICK).await;
    }
}

async fn send(
    (gateway, app): (&Gateway, &App),
    request: &HttpRequest,
    payload: Payload,
    (address, hops): (&Address, u32),
) -> ProxyOutcome {
    metrics::counter!("millstream_cluster_forwarded_total").increment(1);
    if [AUTHORIZATION, COOKIE].iter().any(|name| request.headers().contains_key(name)) {
        // The other node checks them, and the request may wait for events there.
        connection_slots::has_valid_credentials();
    }
    let peer = request.peer_addr().map(|peer| peer.ip());
    let trusted = &app.config.http.trusted_proxies;
    let seen = peer.map(|peer| client_address(trusted, peer, request.headers()));
    let client = gateway.client(request.headers()).or(seen);
    proxy(gateway, request, payload, (address, hops, client)).await
}
