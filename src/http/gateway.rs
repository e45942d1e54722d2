//! Requests on a node of a cluster: any node takes any request, and passes it on to the one that owns the organization.
//!
//! The path of a request has at most two hops: from the node that the client reached to the owner, and, while the
//! organization is being moved, from there to the new owner. Headers say how many there were, with a key that only nodes
//! have. A request that waits for a move or a takeover is not sent yet, so nothing is done twice; one whose connection broke
//! after it was sent is only repeated if it reads.

use super::address::client_address;
use super::app::App;
use super::error::ApiError;
use super::outage::Outage;
use super::pass_on::{Passed, body_of, pass_on};
use actix_web::http::Method;
use actix_web::http::StatusCode;
use actix_web::http::header::{HOST, HeaderMap, HeaderName};
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use actors::cluster::{Address, Cluster, Located, Visit};
use bytes::Bytes;
use reqwest::Client;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// How long a request waits for an owner of its organization.
const WAIT_MAX: Duration = Duration::from_secs(12);
/// The same for a request that another node has passed on: that node waits, too.
const WAIT_PASSED_MAX: Duration = Duration::from_secs(3);
/// How often it is tried again without a change of the tables.
const TICK: Duration = Duration::from_millis(20);
/// How long a connection to another node is kept without requests.
const IDLE_MAX: Duration = Duration::from_secs(5);
/// How often a request that reads is answered anew, because its organization was moved meanwhile.
const AGAIN_MAX: usize = 3;
/// How many nodes may pass on a request.
const HOPS_MAX: u32 = 2;

/// How many nodes have passed on a request.
pub(super) const HOPS: HeaderName = HeaderName::from_static("x-millstream-hops");
/// Shows that a node has done so.
pub(super) const KEY: HeaderName = HeaderName::from_static("x-millstream-key");
/// The address of the client.
pub(super) const CLIENT: HeaderName = HeaderName::from_static("x-millstream-client");
/// The epoch under which the sender knows the owner.
pub(super) const EPOCH: HeaderName = HeaderName::from_static("x-millstream-epoch");

/// Paths that are about this node and not about an organization.
const OWN_PATHS: [&str; 2] = ["/health", "/metrics"];
/// The same of development servers.
const OWN_DEVELOPMENT_PATHS: [&str; 2] = ["/dev/", "/emails"];

/// Passes on requests.
pub struct Gateway {
    pub(super) cluster: Arc<Cluster>,
    pub(super) client: Client,
    pub(super) key: String,
    outage: Outage,
}

/// What becomes of a request.
pub enum Entered {
    /// It is for this node. The organization stays until the visit ends.
    Here(Payload, Option<Visit>),
    /// It was passed on, or refused.
    Answered(HttpResponse),
}

impl Gateway {
    /// A gateway of a node.
    pub fn new(cluster: Arc<Cluster>) -> Result<Self, reqwest::Error> {
        crate::integrations::http_client::use_ring();
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(Duration::from_secs(2))
            // Less than nodes wait for a request on a new connection (`http.head_secs_max`).
            .pool_idle_timeout(IDLE_MAX)
            .tcp_nodelay(true)
            .http1_only()
            .build()?;
        let key = cluster.hop_key();
        Ok(Self { cluster, client, key, outage: Outage::default() })
    }

    /// The client's address, if another node has passed on the request.
    pub fn client(&self, headers: &HeaderMap) -> Option<IpAddr> {
        client_of(&self.key, headers)
    }

    /// Finds the node that answers a request, waits for one if there is none, and passes the request on to it.
    pub async fn enter(&self, app: &App, request: &HttpRequest, mut payload: Payload) -> Entered {
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        let Some(subdomain) = app.hosts.subdomain_of(host).filter(|_| !is_own(app, request.path())) else {
            return Entered::Here(payload, None);
        };
        let hops = hops_of(&self.key, request.headers());
        let deadline = Instant::now() + if hops == 0 { WAIT_MAX } else { WAIT_PASSED_MAX };
        loop {
            match self.cluster.locate(&app.server, &subdomain) {
                Located::Nowhere => return Entered::Here(payload, None),
                Located::Here(visit) => return Entered::Here(payload, Some(visit)),
                Located::Lapsed if is_reading(request.method()) && self.may_read().await => {
                    return Entered::Here(payload, None);
                }
                Located::Lapsed => return Entered::Answered(lapsed()),
                Located::Moving => {}
                Located::There(_) if hops >= HOPS_MAX => {}
                Located::There(address) => {
                    match self.send(app, request, payload, (&address, hops + 1)).await {
                        Passed::Answered(response) => return Entered::Answered(response),
                        Passed::Unsent(back) => payload = back,
                    }
                }
            }
            if Instant::now() > deadline {
                return Entered::Answered(misdirected(hops));
            }
            self.cluster.changed(TICK).await;
        }
    }

    async fn send(
        &self,
        app: &App,
        request: &HttpRequest,
        payload: Payload,
        (address, hops): (&Address, u32),
    ) -> Passed {
        metrics::counter!("millstream_cluster_forwarded_total").increment(1);
        let peer = request.peer_addr().map(|peer| peer.ip());
        let trusted = &app.config.http.trusted_proxies;
        let seen = peer.map(|peer| client_address(trusted, peer, request.headers()));
        let client = self.client(request.headers()).or(seen);
        pass_on(self, request, payload, (address, hops, client)).await
    }

    /// Whether the answer to a request that reads may be given: the lease may have ended meanwhile, and another node may have
    /// newer data.
    async fn may_answer(&self, method: &Method, visit: Option<&Visit>) -> bool {
        visit.is_none() || !is_reading(method) || self.cluster.is_ready() || self.may_read().await
    }

    /// Whether reading may go on without a lease.
    async fn may_read(&self) -> bool {
        self.outage.allows_reading(&self.client, &self.cluster).await
    }
}

/// How many nodes have passed on a request; 0 for one of a client, whatever it says.
fn hops_of(key: &str, headers: &HeaderMap) -> u32 {
    let given = headers.get(&KEY).map(|given| given.as_bytes()).unwrap_or_default();
    if !bool::from(given.ct_eq(key.as_bytes())) {
        return 0;
    }
    let hops = headers.get(&HOPS).and_then(|hops| hops.to_str().ok()?.parse().ok());
    hops.unwrap_or(HOPS_MAX)
}

fn client_of(key: &str, headers: &HeaderMap) -> Option<IpAddr> {
    if hops_of(key, headers) == 0 {
        return None;
    }
    headers.get(&CLIENT)?.to_str().ok()?.parse().ok()
}

fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Responds to one request with `here`, or passes it on to the node of its organization.
pub async fn respond<F: Future<Output = HttpResponse>>(
    (gateway, app): (&Gateway, &App),
    request: HttpRequest,
    mut payload: Payload,
    here: impl Fn(HttpRequest, Payload) -> F,
) -> HttpResponse {
    let method = request.method().clone();
    for again in 0.. {
        let visit = match gateway.enter(app, &request, payload).await {
            Entered::Answered(response) => return response,
            Entered::Here(own, visit) => {
                payload = own;
                visit
            }
        };
        let response = here(request.clone(), payload).await;
        let was_moved = visit.as_ref().is_some_and(|visit| !visit.is_current(&app.server));
        let is_refused = response.status().is_client_error() || response.status().is_server_error();
        if !(was_moved && is_refused && is_reading(&method) && again < AGAIN_MAX) {
            return if gateway.may_answer(&method, visit.as_ref()).await { response } else { lapsed() };
        }
        payload = match body_of(&request, Bytes::new()).await {
            Ok(empty) => empty,
            Err(_) => return response,
        };
    }
    lapsed()
}

fn is_own(app: &App, path: &str) -> bool {
    OWN_PATHS.contains(&path)
        || (app.is_development && OWN_DEVELOPMENT_PATHS.iter().any(|start| path.starts_with(start)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    #[test]
    fn only_nodes_are_believed() {
        let headers = |key: &'static str, hops: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(KEY, HeaderValue::from_static(key));
            headers.insert(HOPS, HeaderValue::from_static(hops));
            headers.insert(CLIENT, HeaderValue::from_static("10.0.0.9"));
            headers
        };
        let client: Option<IpAddr> = "10.0.0.9".parse().ok();
        for (key, hops, expected) in [
            ("secret", "1", (1, client)),
            ("secret", "2", (2, client)),
            ("secret", "many", (HOPS_MAX, client)),
            ("other", "1", (0, None)),
            ("", "1", (0, None)),
        ] {
            let headers = headers(key, hops);
            assert_eq!(
                (hops_of("secret", &headers), client_of("secret", &headers)),
                expected,
                "{key} {hops}"
            );
        }
        assert_eq!(hops_of("secret", &HeaderMap::new()), 0);
    }
}
