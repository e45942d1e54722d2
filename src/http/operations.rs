//! What those who run the server ask it: `GET /health` and `GET /metrics`.

use super::app::App;
use super::observe;
use super::reply::{Answer, Reply, reply_ok};

/// `GET /health`: answers success as long as the process serves requests; 503 once it is stopping, so that
/// a balancer sends new ones elsewhere.
pub async fn health(app: App) -> Answer {
    if app.stopping().is_stopping() {
        return Err(super::error::ApiError::unavailable("Stopping"));
    }
    reply_ok()
}

/// `GET /metrics`: every counter and histogram of the process, as Prometheus text.
pub async fn metrics() -> Answer {
    Ok(Reply::plain("text/plain; version=0.0.4; charset=utf-8", "no-store", observe::render_metrics()))
}
