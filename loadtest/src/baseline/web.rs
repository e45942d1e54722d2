//! Rates of the bare server, with the clients and the request code of the real phases.

use std::sync::Arc;
use std::time::Instant;

use super::bare::{BareServer, dummy_account};
use crate::driver::budget::Budget;
use crate::driver::get;
use crate::driver::send::{Sent, open_unchecked};
use crate::driver::tasks::ClientTasks;
use crate::error::LoadError;
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::text::Writer;

/// The warm-up of a round, as a part of its measured time.
const WARMUP_PART: f64 = 0.2;
/// Content that makes the whole form about 300 bytes.
const CONTENT_CHARS: [u32; 2] = [240, 240];

/// The result of one round.
#[derive(Debug, Clone, Copy)]
pub struct WebRound {
    pub requests_per_sec: f64,
    pub p50_ms: f64,
    /// CPU of the bare server per request, in µs.
    pub server_cpu_us: f64,
    /// CPU of this program per request, in µs.
    pub client_cpu_us: f64,
}

/// GET of about 200 bytes of JSON.
pub async fn measure_get(clients: u32, secs: f64) -> Result<WebRound, LoadError> {
    let server = BareServer::start().await?;
    let accounts = vec![dummy_account(); clients as usize];
    let label = "bare actix-web GET";
    let timing = (secs * WARMUP_PART, secs);
    let result =
        get::drive(&server.target, &accounts, "/api/v1/users/me", label, timing.into(), Some(server.pid()))
            .await?;
    summarize(&result)
}

/// POST of a form of about 300 bytes.
pub async fn measure_post(clients: u32, secs: f64) -> Result<WebRound, LoadError> {
    let server = BareServer::start().await?;
    let accounts = vec![dummy_account(); clients as usize];
    let writer = Arc::new(Writer::new(Instant::now(), CONTENT_CHARS));
    let senders = open_unchecked(&server.target, &accounts, &[1], 20, &writer).await?;
    let window = Window::starting_now(secs * WARMUP_PART, secs);
    let recorder = Arc::new(Recorder::new("send", window));
    let mut tasks =
        ClientTasks::new("bare actix-web POST", window, vec![recorder.clone()], Some(server.pid()));
    let (budget, sent) = (Arc::new(Budget::new(u64::MAX)), Arc::new(Sent::default()));
    for sender in senders {
        let pace = Pace::new(&window, &Load::Unpaced, 0, 1);
        tasks.add(sender.run(pace, recorder.clone(), budget.clone(), sent.clone()));
    }
    tasks.wait().await;
    summarize(&tasks.into_result(Instant::now()))
}

fn summarize(result: &PhaseResult) -> Result<WebRound, LoadError> {
    let Some(operation) = result.operations.first().filter(|operation| operation.failed == 0) else {
        let failures = result.operations.first().map(|operation| operation.failures.clone());
        return Err(LoadError::Server(format!("the bare server failed requests: {failures:?}")));
    };
    let Some(latency) = operation.latency else {
        return Err(LoadError::Server("the bare server answered no request".to_owned()));
    };
    Ok(WebRound {
        requests_per_sec: operation.requests_per_sec,
        p50_ms: latency.p50_ms,
        server_cpu_us: result.server.and_then(|server| server.cpu_us_per_request).unwrap_or(0.0),
        client_cpu_us: result.client_cpu_us_per_request.unwrap_or(0.0),
    })
}
