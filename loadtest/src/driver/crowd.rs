//! `crowd`: many concurrent requests for large responses, read or left unread, while another client makes small
//! requests: the server's memory, and the other client's latency.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::get::{call, repeat};
use super::tasks::ClientTasks;
use crate::client::Account;
use crate::error::LoadError;
use crate::http::{Connection, HttpError, Target, Template, bodiless_request, encode_form};
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::process::resident_bytes;
use crate::recorder::{Recorder, Window};
use crate::scenario::{Asked, CrowdStep, Phase};
use crate::setup::Stage;
use crate::units::megabytes;

/// Requests of the other client per second.
const OTHER_RATE: f64 = 50.0;
/// Interval at which the server's memory is read.
const SAMPLE_EVERY: Duration = Duration::from_millis(20);

/// Runs a `crowd` phase.
pub async fn run(
    stage: &mut Stage,
    phase: &Phase,
    step: &CrowdStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let everyone = stage.everyone();
    let (other, crowd) = everyone.split_at(1.min(everyone.len()));
    let other = stage.accounts(other, 1).await?;
    let members: Vec<usize> = crowd.iter().copied().take(step.accounts as usize).collect();
    let crowd = stage.accounts(&members, step.connections as usize).await?;
    let target = stage.target.clone();
    let connection = open(&target).await?;

    let window = Window::of(phase);
    let (get, asked) = (Arc::new(Recorder::new("get", window)), Arc::new(Recorder::new("crowd", window)));
    let mut tasks = ClientTasks::new(&phase.name, window, vec![get.clone(), asked.clone()], server_pid);
    let request = bodiless_request("GET", &target.host, "/api/v1/users/me", Some(&other[0].authorization));
    let pace = Pace::new(&window, &Load::PerSec(OTHER_RATE), 0, 1);
    tasks.add(repeat(connection, request, pace, get));
    for account in crowd {
        let request = request_for(step.ask, &target, &account);
        let (target, asked) = (target.clone(), asked.clone());
        match step.reads {
            true => tasks.add(ask_and_read(target, request, asked)),
            false => tasks.add(ask_only(target, request, asked, window)),
        }
    }
    let peak = Arc::new(AtomicU64::new(0));
    let watch = tokio::spawn(watch_memory(server_pid, peak.clone()));
    tasks.wait().await;
    watch.abort();
    let mut result = tasks.into_result(Instant::now());
    if let Some(server) = &mut result.server {
        let seen = megabytes(peak.load(Ordering::Relaxed));
        server.set_memory(server.rss_mb_before, server.rss_mb_after, seen);
    }
    Ok(result)
}

async fn open(target: &Target) -> Result<Connection, LoadError> {
    let opened = Connection::open(target).await;
    opened.map_err(|source| LoadError::Http { call: format!("connect to {}", target.host), source })
}

fn request_for(asked: Asked, target: &Target, account: &Account) -> Vec<u8> {
    match asked {
        Asked::Messages => {
            let path = "/api/v1/messages?anchor=newest&num_before=5000&num_after=0";
            bodiless_request("GET", &target.host, path, Some(&account.authorization))
        }
        Asked::Register => {
            let template =
                Template::new("POST", &target.host, "/api/v1/register", Some(&account.authorization));
            let mut request = Vec::new();
            template.fill(&mut request, encode_form(&[("client_gravatar", "true")]).as_bytes());
            request
        }
    }
}

async fn ask_and_read(target: Arc<Target>, request: Vec<u8>, asked: Arc<Recorder>) {
    let started = Instant::now();
    let outcome = match Connection::open(&target).await {
        Ok(mut connection) => call(&mut connection, &request, false).await,
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(bytes) => asked.record_success(started, bytes),
        Err(failure) => asked.record_failure(&failure.name),
    }
}

/// A connection that sends its request and reads nothing until the phase ends.
async fn ask_only(target: Arc<Target>, request: Vec<u8>, asked: Arc<Recorder>, window: Window) {
    let sent = async {
        let mut connection = Connection::open(&target).await?;
        connection.send_only(&request).await?;
        Ok::<_, HttpError>(connection)
    };
    match sent.await {
        Ok(connection) => {
            tokio::time::sleep_until(window.stop_at.into()).await;
            drop(connection);
        }
        Err(error) => asked.record_failure(&error.code()),
    }
}

async fn watch_memory(server_pid: Option<u32>, peak: Arc<AtomicU64>) {
    let Some(pid) = server_pid else { return };
    loop {
        peak.fetch_max(resident_bytes(pid).unwrap_or_default(), Ordering::Relaxed);
        tokio::time::sleep(SAMPLE_EVERY).await;
    }
}
