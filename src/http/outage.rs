//! Whether the database of a cluster is unavailable to all nodes.
//!
//! A node that cannot renew its lease stops answering, because another node may own its organizations soon. If no other node
//! can renew its own either, none of them takes over, so reading may go on for a while: what a node owns cannot change
//! on another one. A node that does not answer may have the database, so it counts as having it.

use actors::cluster::Cluster;
use futures_util::future::join_all;
use parking_lot::Mutex;
use reqwest::Client;
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// For how long reads are answered after the lease has ended.
const READING_MAX: Duration = Duration::from_secs(30);
/// How long an answer of the other nodes counts before they are asked again. They take over at the earliest when they have had their leases for longer.
const ANSWER_VALID_FOR: Duration = Duration::from_millis(300);
/// How long another node may take to answer.
const ANSWER_MAX: Duration = Duration::from_millis(500);

/// What is known of an outage.
#[derive(Default)]
pub struct Outage {
    asked: Mutex<Option<(Instant, bool)>>,
}

impl Outage {
    /// Whether reading may go on without a lease.
    pub async fn allows_reading(&self, client: &Client, cluster: &Arc<Cluster>) -> bool {
        if cluster.lapsed_for().is_none_or(|lapsed| lapsed > READING_MAX) {
            return false;
        }
        let known = *self.asked.lock();
        if let Some((_, is_outage)) = known.filter(|(asked, _)| asked.elapsed() < ANSWER_VALID_FOR) {
            return is_outage;
        }
        let asked = Instant::now();
        let peers = cluster.peers();
        let answers = join_all(peers.iter().map(|url| lacks_lease(client, url))).await;
        let is_outage = answers.into_iter().all(|lacks| lacks);
        *self.asked.lock() = Some((asked, is_outage));
        is_outage
    }
}

/// Whether a node says that it has no lease.
async fn lacks_lease(client: &Client, url: &str) -> bool {
    let url = format!("{}/health", url.trim_end_matches('/'));
    let Ok(response) = client.get(url).timeout(ANSWER_MAX).send().await else { return false };
    let Ok(body) = response.bytes().await else { return false };
    says_not_ready(&body)
}

fn says_not_ready(body: &[u8]) -> bool {
    let answer: Value = serde_json::from_slice(body).unwrap_or_default();
    answer["cluster"]["is_ready"] == Value::Bool(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_node_that_says_so_has_no_lease() {
        assert!(says_not_ready(br#"{"result":"error","cluster":{"node":"b","is_ready":false}}"#));
        for other in [r#"{"cluster":{"is_ready":true}}"#, r#"{"result":"error"}"#, "", "<html>"] {
            assert!(!says_not_ready(other.as_bytes()), "{other}");
        }
    }
}
