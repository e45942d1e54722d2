//! `register`: clients that register event queues again and again, as after a restart of a server that lost them, and
//! delete each at once, so that the number of queues stays that of the clients.

use std::sync::Arc;
use std::time::Instant;

use super::get::{call, is_success, values_of};
use super::tasks::{ClientTasks, FailureLimit};
use crate::client::{Account, Failure};
use crate::error::LoadError;
use crate::http::{Connection, Target, Template, bodiless_request, encode_form};
use crate::outcome::PhaseResult;
use crate::pace::{Load, Pace};
use crate::recorder::{Recorder, Window};
use crate::scenario::{Phase, RegisterStep};
use crate::setup::Stage;

const QUEUE_FIELD: &[u8] = br#""queue_id""#;

/// Runs a `register` phase.
pub async fn run(
    stage: &mut Stage,
    phase: &Phase,
    step: &RegisterStep,
    server_pid: Option<u32>,
) -> Result<PhaseResult, LoadError> {
    let everyone = stage.everyone();
    let accounts = stage.accounts(&everyone, step.clients as usize).await?;
    let mut clients = Vec::with_capacity(accounts.len());
    for account in &accounts {
        clients.push(Registrar::open(&stage.target, account, step.whole_state).await?);
    }
    let (window, ramp) = (Window::of(phase), phase.ramp());
    let load = Load::of(ramp.as_ref(), step.rate_per_sec);
    let registers = Arc::new(Recorder::staged("register", window, ramp));
    let ends = Arc::new(Recorder::new("end_queue", window));
    let mut tasks = ClientTasks::new(&phase.name, window, vec![registers.clone(), ends.clone()], server_pid);
    for (index, client) in (0..).zip(clients) {
        let pace = Pace::new(&window, &load, index, step.clients);
        tasks.add(client.run(pace, registers.clone(), ends.clone()));
    }
    tasks.wait().await;
    Ok(tasks.into_result(Instant::now()))
}

/// A client that registers.
#[derive(Debug)]
struct Registrar {
    target: Arc<Target>,
    authorization: String,
    connection: Connection,
    request: Vec<u8>,
}

impl Registrar {
    async fn open(target: &Arc<Target>, account: &Account, whole_state: bool) -> Result<Self, LoadError> {
        let failed = |source| LoadError::Http { call: format!("connect to {}", target.host), source };
        let connection = Connection::open(target).await.map_err(failed)?;
        let authorization = account.authorization.clone();
        let template = Template::new("POST", &target.host, "/api/v1/register", Some(&authorization));
        let only_messages =
            [("event_types", r#"["message"]"#), ("fetch_event_types", r#"["message"]"#)].as_slice();
        let fields = if whole_state { &[("client_gravatar", "true")] } else { only_messages };
        let mut request = Vec::new();
        template.fill(&mut request, encode_form(fields).as_bytes());
        Ok(Self { target: target.clone(), authorization, connection, request })
    }

    async fn run(mut self, mut pace: Pace, registers: Arc<Recorder>, ends: Arc<Recorder>) {
        let mut failures_in_a_row = FailureLimit::of(&pace);
        while let Some(started) = pace.wait().await {
            let queue = match pace.within(self.register()).await {
                Ok((queue, bytes)) => {
                    registers.record_success(started, bytes);
                    queue
                }
                Err(failure) => {
                    if failures_in_a_row.record_failure(&registers, &failure).await {
                        continue;
                    }
                    break;
                }
            };
            let began = Instant::now();
            let ended = pace.within(self.end(&queue)).await;
            if !failures_in_a_row.record(&ends, began, ended).await {
                break;
            }
        }
        pace.finish(&registers);
    }

    async fn register(&mut self) -> Result<(String, usize), Failure> {
        let reply = self.connection.exchange_rested(&self.request).await?;
        if reply.status != 200 || !is_success(reply.body) {
            return Err(Failure::of(&reply));
        }
        let queue = find_queue(reply.body).ok_or("200 without queue_id")?;
        Ok((queue, reply.body.len()))
    }

    async fn end(&mut self, queue: &str) -> Result<usize, Failure> {
        let path = format!("/api/v1/events?{}", encode_form(&[("queue_id", queue)]));
        let request = bodiless_request("DELETE", &self.target.host, &path, Some(&self.authorization));
        call(&mut self.connection, &request, false).await
    }
}

/// The id of the queue, without parsing a reply of up to some megabytes.
fn find_queue(body: &[u8]) -> Option<String> {
    values_of(body, QUEUE_FIELD).find_map(|value| {
        let rest = value.strip_prefix(b"\"")?;
        let end = rest.iter().position(|byte| *byte == b'"')?;
        String::from_utf8(rest[..end].to_vec()).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::find_queue;

    #[test]
    fn queue_is_found_in_a_reply() {
        let body =
            br#"{"result":"success","msg":"","max_message_id":7,"queue_id":"1:2/x","last_event_id":-1}"#;
        assert_eq!(find_queue(body).as_deref(), Some("1:2/x"));
        assert_eq!(find_queue(b"{\"queue_id\" : \"1:2/x\"}").as_deref(), Some("1:2/x"));
        assert_eq!(find_queue(br#"{"about": "queue_id", "queue_id": "q"}"#).as_deref(), Some("q"));
        assert_eq!(find_queue(b"{}"), None);
    }
}
