//! What a node of a cluster needs to pass on requests (`forward`): who the others are, and what proves that a request
//! comes from one of them.

use super::outage::Outage;
use actix_web::http::Method;
use actix_web::http::header::{HeaderMap, HeaderName};
use actors::cluster::{Cluster, RequestGuard};
use reqwest::Client;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use subtle::ConstantTimeEq;

/// How long a connection to another node is kept without requests.
const IDLE_MAX: Duration = Duration::from_secs(5);
/// How many nodes may pass on a request.
pub const HOPS_MAX: u32 = 2;

/// How many nodes have passed on a request.
pub const HOPS: HeaderName = HeaderName::from_static("x-millstream-hops");
/// Shows that a node has done so.
pub const KEY: HeaderName = HeaderName::from_static("x-millstream-key");
/// The address of the client.
pub const CLIENT: HeaderName = HeaderName::from_static("x-millstream-client");
/// Shows that a request is a query of a node itself. Never passed on.
pub const QUERY_KEY: HeaderName = HeaderName::from_static("x-millstream-question-key");
/// The epoch under which the sender knows the owner.
pub const EPOCH: HeaderName = HeaderName::from_static("x-millstream-epoch");

/// What a node needs to pass on requests.
pub struct Gateway {
    pub(super) cluster: Arc<Cluster>,
    pub(super) client: Client,
    pub(super) key: String,
    pub(super) query_key: String,
    outage: Outage,
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
        let (key, query_key) = (cluster.hop_key(), cluster.query_key());
        Ok(Self { cluster, client, key, query_key, outage: Outage::default() })
    }

    /// How many nodes have passed on a request; 0 for one of a client, whatever it says.
    pub fn hops(&self, headers: &HeaderMap) -> u32 {
        hops_of(&self.key, headers)
    }

    /// Whether a request is a query of another node, and not a forwarded request of a client.
    pub fn is_query(&self, headers: &HeaderMap) -> bool {
        has_key(headers, &QUERY_KEY, &self.query_key)
    }

    /// The epoch under which the node that has passed on a request knows the owner; 0 for a request of a client.
    pub fn epoch(&self, headers: &HeaderMap) -> i64 {
        epoch_of(&self.key, headers)
    }

    /// The client's address, if another node has passed on the request.
    pub fn client(&self, headers: &HeaderMap) -> Option<IpAddr> {
        client_of(&self.key, headers)
    }

    /// Whether the answer to a request that reads may be given: the lease may have ended meanwhile, and another node may have
    /// newer data.
    pub async fn may_answer(&self, method: &Method, guard: Option<&RequestGuard>) -> bool {
        guard.is_none() || !is_reading(method) || self.cluster.is_ready() || self.may_read().await
    }

    /// Whether reading may go on without a lease.
    pub async fn may_read(&self) -> bool {
        self.outage.allows_reading(&self.client, &self.cluster).await
    }
}

fn has_key(headers: &HeaderMap, name: &HeaderName, key: &str) -> bool {
    let given = headers.get(name).map(|given| given.as_bytes()).unwrap_or_default();
    given.ct_eq(key.as_bytes()).into()
}

fn hops_of(key: &str, headers: &HeaderMap) -> u32 {
    if !has_key(headers, &KEY, key) {
        return 0;
    }
    let hops = headers.get(&HOPS).and_then(|hops| hops.to_str().ok()?.parse().ok());
    hops.unwrap_or(HOPS_MAX)
}

fn epoch_of(key: &str, headers: &HeaderMap) -> i64 {
    let given = headers.get(&EPOCH).filter(|_| hops_of(key, headers) > 0);
    given.and_then(|epoch| epoch.to_str().ok()?.parse().ok()).unwrap_or_default()
}

fn client_of(key: &str, headers: &HeaderMap) -> Option<IpAddr> {
    if hops_of(key, headers) == 0 {
        return None;
    }
    headers.get(&CLIENT)?.to_str().ok()?.parse().ok()
}

/// Whether a method changes nothing.
pub fn is_reading(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
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
            headers.insert(EPOCH, HeaderValue::from_static("7"));
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
            assert_eq!(epoch_of("secret", &headers), if expected.0 > 0 { 7 } else { 0 }, "{key} {hops}");
            assert_eq!(
                (hops_of("secret", &headers), client_of("secret", &headers)),
                expected,
                "{key} {hops}"
            );
        }
        assert_eq!(hops_of("secret", &HeaderMap::new()), 0);
    }
}
