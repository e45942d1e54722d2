//! `GET /health`, for operators and load balancers.

use super::app::App;
use super::call::OwnProbe;
use super::error::ApiError;
use super::reply::{HandlerResult, reply};
use crate::probe::ProbeReport;
use actors::{Pause, StorageStatus};
use serde::Serialize;

/// The state of the disk and of the files in `GET /health`.
#[derive(Serialize)]
struct Health {
    storage: Storage,
    files: Files,
    /// Only on a node of a cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<Node>,
    /// Only for `millstream doctor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<ProbeReport>,
}

/// A node of a cluster: that it answers at all shows that it is alive.
#[derive(Serialize)]
struct Node {
    node: String,
    /// Whether it has its lease, and so may answer for what it owns.
    is_ready: bool,
    /// How much longer.
    lease_ms: u64,
    /// How many organizations it owns and has opened.
    owned: usize,
}

impl Node {
    #[cfg(feature = "cluster")]
    fn of(app: &App) -> Option<Self> {
        let status = app.server.cluster()?.status(&app.server);
        let lease_ms = u64::try_from(status.lease.as_millis()).unwrap_or(u64::MAX);
        Some(Self { node: status.node, is_ready: status.is_ready, lease_ms, owned: status.owned })
    }

    #[cfg(not(feature = "cluster"))]
    fn of(_: &App) -> Option<Self> {
        None
    }
}

/// The uploaded files. Everything else is served without them.
#[derive(Serialize)]
struct Files {
    /// `ok`, or `failing` if files could not be stored or read in the last five minutes.
    status: &'static str,
}

impl Files {
    fn of(app: &App) -> Self {
        Self { status: if app.blobs.is_failing() { "failing" } else { "ok" } }
    }
}

#[derive(Serialize)]
struct Storage {
    /// `ok`, `low`, `degraded`, or the reason why changes are refused.
    status: &'static str,
    /// Free bytes on the disk of the data folder.
    free_bytes: Option<u64>,
    /// Sealed segments of the journal that were found damaged.
    damaged_segments: usize,
}

impl Storage {
    fn of(status: StorageStatus) -> Self {
        let usual = match status {
            _ if status.damaged_segments > 0 => "degraded",
            _ if status.is_low => "low",
            _ => "ok",
        };
        Self {
            status: status.paused.map_or(usual, Pause::name),
            free_bytes: status.free_bytes,
            damaged_segments: status.damaged_segments,
        }
    }
}

/// `GET /health`: success while every request is served. 503 during shutdown, so that a load balancer uses other
/// servers, and while changes are refused, with the reason.
pub async fn health(app: App, OwnProbe(probe): OwnProbe) -> HandlerResult {
    if app.stopping().is_stopping() {
        return Err(ApiError::stopping());
    }
    let status = app.server.storage_status();
    let storage = Storage::of(status);
    let cluster = Node::of(&app);
    if let Some(node) = cluster.as_ref().filter(|node| !node.is_ready) {
        let refusal = ApiError::unavailable("This node has lost its connection to the cluster");
        return Err(refusal.with("cluster", serde_json::to_value(node).unwrap_or_default()));
    }
    match status.paused {
        None => reply(&Health { storage, files: Files::of(&app), cluster, probe }),
        Some(pause) => {
            let storage = serde_json::to_value(&storage).unwrap_or_default();
            let refusal = ApiError::paused(pause).with("storage", storage);
            Err(match probe.and_then(|probe| serde_json::to_value(&probe).ok()) {
                Some(probe) => refusal.with("probe", probe),
                None => refusal,
            })
        }
    }
}
