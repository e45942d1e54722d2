//! `start`: starts the server repeatedly; measures the time from exec to the first response, and the resident memory
//! then.

use std::path::Path;

use crate::error::LoadError;
use crate::http::Target;
use crate::listening::{self, Listens};
use crate::outcome::{PhaseResult, Start, Unmeasured, median};
use crate::process::resident_bytes;
use crate::scenario::StartStep;
use crate::spawned::{Spawned, check_address_free};
use crate::units::megabytes;

/// The first request of any client.
pub const READY_PATH: &str = "/api/v1/server_settings";

/// Runs a `start` phase with `command`, whose output goes to `log`. If it ends early, the server that is left is in `spawned`.
pub async fn run(
    step: &StartStep,
    name: &str,
    command: &str,
    target: &Target,
    log: &Path,
    spawned: &mut Option<Spawned>,
) -> Result<PhaseResult, LoadError> {
    let mut rounds_ms = Vec::new();
    let mut resident = Vec::new();
    for _ in 0..step.rounds {
        check_address_free(target).await?;
        let server = spawned.insert(Spawned::start(command, log)?);
        let ready = server.wait_ready(target, READY_PATH).await?;
        rounds_ms.push(ready.as_secs_f64() * 1000.0);
        // A wrapper that starts the server and waits does not listen.
        let is_server = listening::anywhere(server.pid()) != Listens::No;
        resident.extend(resident_bytes(server.pid()).filter(|_| is_server).map(megabytes));
        server.stop().await?;
        *spawned = None;
    }
    let is_measured = !resident.is_empty();
    let rss_mb = is_measured.then(|| median(&resident));
    let start = Start { start_ms: median(&rounds_ms), rss_mb, rounds_ms };
    Ok(PhaseResult {
        name: name.to_owned(),
        kind: "start".to_owned(),
        start: Some(start),
        server_unmeasured: (!is_measured).then_some(Unmeasured::OtherProcess),
        ..PhaseResult::default()
    })
}
