//! `GET /health`, for operators and load balancers.

use super::app::App;
use super::call::OwnProbe;
use super::error::ApiError;
use super::reply::{HandlerResult, reply};
use crate::probe::Probed;
use actors::{Pause, StorageStatus};
use serde::Serialize;

/// The state of the disk in `GET /health`.
#[derive(Serialize)]
struct Health {
    storage: Storage,
    /// Only for `millstream doctor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    probe: Option<Probed>,
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
    match status.paused {
        None => reply(&Health { storage, probe }),
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
