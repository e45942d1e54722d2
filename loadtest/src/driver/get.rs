//! `get`: clients that request one path repeatedly. Also drives the bare server's GET.

use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;

use super::tasks::{ClientTasks, FailureLimit};
use crate::client::{Account, Failure};
use crate::error::LoadError;
use crate::http::{Connection, Target, bodiless_request};
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::scenario::stages::Ramp;
use crate::scenario::{GetStep, Phase};
use crate::setup::Stage;

/// Number of bytes searched for the field at the start and at the end of the body: fields have no fixed order.
const ENVELOPE_BYTES: usize = 256;
const RESULT: &[u8] = br#""result""#;

/// Runs a `get` phase.
pub async fn run(
    stage: &mut Stage,
    phase: &Phase,
    step: &GetStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let everyone = stage.everyone();
    let accounts = stage.accounts(&everyone, step.clients as usize).await?;
    let path = format!("/api/v1{}", step.path);
    let ramp = phase.ramp();
    let load = Load::of(ramp.as_ref(), step.rate_per_sec);
    let timing = Timing { warmup_secs: phase.warmup_secs, secs: phase.measured_secs(), load, ramp };
    drive(&stage.target, &accounts, &path, &phase.name, timing, server_pid).await
}

/// When clients request.
#[derive(Debug)]
pub struct Timing {
    warmup_secs: f64,
    secs: f64,
    load: Load,
    ramp: Option<Arc<Ramp>>,
}

impl From<(f64, f64)> for Timing {
    /// Warm-up and measured seconds, as fast as they can.
    fn from((warmup_secs, secs): (f64, f64)) -> Self {
        Self { warmup_secs, secs, load: Load::Unpaced, ramp: None }
    }
}

/// One client per account, all requesting `path`.
pub async fn drive(
    target: &Arc<Target>,
    accounts: &[Arc<Account>],
    path: &str,
    label: &str,
    timing: Timing,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let mut connections = Vec::with_capacity(accounts.len());
    for _ in accounts {
        let opened = Connection::open(target).await;
        connections.push(
            opened
                .map_err(|source| LoadError::Http { call: format!("connect to {}", target.host), source })?,
        );
    }
    let window = Window::starting_now(timing.warmup_secs, timing.secs);
    let recorder = Arc::new(Recorder::staged("get", window, timing.ramp));
    let mut tasks = ClientTasks::new(label, window, vec![recorder.clone()], server_pid);
    let clients = u32::try_from(accounts.len()).unwrap_or(u32::MAX);
    for (index, (account, connection)) in (0..).zip(accounts.iter().zip(connections)) {
        let request = bodiless_request("GET", &target.host, path, Some(&account.authorization));
        let pace = Pace::new(&window, &timing.load, index, clients);
        tasks.add(repeat(connection, request, pace, recorder.clone()));
    }
    tasks.wait().await;
    Ok(tasks.into_result(Instant::now()))
}

/// A client that makes the same request at the given pace.
pub(super) async fn repeat(
    mut connection: Connection,
    request: Vec<u8>,
    mut pace: Pace,
    recorder: Arc<Recorder>,
) {
    let mut failures_in_a_row = FailureLimit::of(&pace);
    while let Some(started) = pace.wait().await {
        let outcome = pace.within(call(&mut connection, &request, pace.rests())).await;
        if !failures_in_a_row.record(&recorder, started, outcome).await {
            break;
        }
    }
    pace.finish(&recorder);
}

/// One request of any method; returns the bytes of its reply. `rested`: the connection may have been idle for long.
pub(super) async fn call(
    connection: &mut Connection,
    request: &[u8],
    rested: bool,
) -> Result<usize, Failure> {
    // The check whether a rested connection is still open would be a tenth of the client's CPU time.
    let exchanged = match rested {
        true => connection.exchange_rested(request).await,
        false => connection.exchange(request).await,
    };
    match exchanged {
        Ok(reply) if reply.status == 200 && is_success(reply.body) => Ok(reply.body.len()),
        Ok(reply) => Err(Failure::of(&reply)),
        Err(error) => Err(error.into()),
    }
}

/// Whether a body reports success. Almost always without parsing all of it.
pub fn is_success(body: &[u8]) -> bool {
    let first = &body[..body.len().min(ENVELOPE_BYTES)];
    let last = &body[body.len().saturating_sub(ENVELOPE_BYTES)..];
    let is_outside = || {
        #[derive(Deserialize)]
        struct Envelope {
            result: String,
        }
        serde_json::from_slice::<Envelope>(body).is_ok_and(|envelope| envelope.result == "success")
    };
    contains(first) || contains(last) || is_outside()
}

/// Whether some bytes of a JSON text have the field of a success.
fn contains(bytes: &[u8]) -> bool {
    values_of(bytes, RESULT).any(|value| value.starts_with(br#""success""#))
}

/// What follows each occurrence of a field, its name given with quotes, in a JSON text with or without white space around colons.
pub(super) fn values_of<'a>(bytes: &'a [u8], field: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let found = bytes.windows(field.len()).enumerate().filter(move |(_, window)| *window == field);
    found.filter_map(move |(start, _)| {
        let value = bytes[start + field.len()..].trim_ascii_start().strip_prefix(b":")?;
        Some(value.trim_ascii_start())
    })
}

#[cfg(test)]
mod tests {
    use super::is_success;

    #[test]
    fn the_envelope_is_found_at_either_end() {
        let long = "x".repeat(1000);
        assert!(is_success(br#"{"result":"success","msg":""}"#));
        assert!(is_success(format!(r#"{{"a":"{long}","msg":"","result":"success"}}"#).as_bytes()));
        assert!(is_success(br#"{"msg": "", "result" : "success"}"#));
        assert!(is_success(format!(r#"{{"a":"{long}","result": "success","b":"{long}"}}"#).as_bytes()));
        assert!(!is_success(format!(r#"{{"a":"{long}","result":"error","b":"{long}"}}"#).as_bytes()));
        assert!(!is_success(br#"{"result":"error","msg":"no"}"#));
        assert!(!is_success(b""));
    }
}
