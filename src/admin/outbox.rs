//! The outbox: list, retry, drop.

use super::answer::{Answer, Table, time};
use crate::cli::error::CliError;
use crate::units::counted;
use actors::outbox::FailedAttempts;
use actors::{RealmHandle, Server, commands};
use model::JobId;
use serde_json::json;

/// Pending deliveries, and the newest ones that were dropped.
pub(super) fn list(server: &Server) -> Answer {
    let mut table = Table::new(&["subdomain", "job", "kind", "state", "since", "about", "reason"])
        .with_times("since")
        .or_sentence("There are no pending deliveries, and none that were given up.");
    for realm in server.realms() {
        for job in realm.jobs() {
            let (state, since, reason) = match &job.failure {
                None => {
                    ("waiting", job.added, json!(realm.failed_attempts(job.id).map(|failed| tried(&failed))))
                }
                Some(failure) => ("given up", failure.at, json!(failure.why)),
            };
            table.push(vec![
                json!(realm.subdomain()),
                json!(job.id.0),
                json!(job.task.kind().name()),
                json!(state),
                time(since),
                json!(job.task.description()),
                reason,
            ]);
        }
    }
    Answer::list(table)
}

/// Why a delivery is not done yet.
fn tried(failed: &FailedAttempts) -> String {
    format!("{} failed, it is attempted again: {}", counted(u64::from(failed.count), "attempt"), failed.why)
}

/// Delivers a job again at once, as a new job; without one, all that were given up.
pub(super) async fn retry(realm: &RealmHandle, job: Option<u64>) -> Result<Answer, CliError> {
    let jobs: Vec<JobId> = match job {
        Some(job) => vec![find(realm, job)?],
        None => realm.jobs().iter().filter(|job| job.failure.is_some()).map(|job| job.id).collect(),
    };
    let mut retried = Vec::new();
    let mut lines = Vec::new();
    for job in &jobs {
        realm.execute(commands::RetryJob { job: *job }).await?;
        let new = realm.replacement_of_job(*job);
        lines.extend(new.map(|new| format!("Job {job} is now job {new}.")));
        retried.push(json!({"job": job.0, "new_job": new.map(|new| new.0)}));
    }
    let line = match jobs.len() {
        0 => "No delivery was given up, so nothing is attempted again.".to_owned(),
        1 => "1 delivery is attempted again.".to_owned(),
        many => format!("{many} deliveries are attempted again."),
    };
    lines.insert(0, line);
    let value = json!({"jobs": jobs.len(), "retried": retried});
    Ok(Answer { lines, value, ..Answer::default() })
}

/// Removes a job.
pub(super) async fn drop_job(realm: &RealmHandle, job: u64) -> Result<Answer, CliError> {
    let job = find(realm, job)?;
    realm.execute(commands::DropJob { job }).await?;
    Ok(Answer::of(format!("Job {job} is dropped."), json!({"job": job.0})))
}

fn find(realm: &RealmHandle, job: u64) -> Result<JobId, CliError> {
    let found = realm.jobs().iter().map(|known| known.id).find(|known| known.0 == job);
    found.ok_or_else(|| CliError::Refused(format!("there is no job {job}; see `millstream outbox list`")))
}
