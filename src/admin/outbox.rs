//! The outbox: list, retry, drop.

use super::answer::{Answer, Table, time};
use crate::cli::error::CliError;
use actors::{RealmHandle, Server, commands};
use model::JobId;
use serde_json::{Value, json};

/// Pending deliveries, and the newest ones that were dropped.
pub(super) fn list(server: &Server) -> Answer {
    let mut table =
        Table::new(&["subdomain", "job", "kind", "state", "since", "about", "reason"]).with_times("since");
    for realm in server.realms() {
        for job in realm.jobs() {
            let (state, since, reason) = match &job.failure {
                None => ("waiting", job.added, Value::Null),
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

/// Delivers a job again at once; without one, all that were given up.
pub(super) async fn retry(realm: &RealmHandle, job: Option<u64>) -> Result<Answer, CliError> {
    let jobs: Vec<JobId> = match job {
        Some(job) => vec![find(realm, job)?],
        None => realm.jobs().iter().filter(|job| job.failure.is_some()).map(|job| job.id).collect(),
    };
    for job in &jobs {
        realm.execute(commands::RetryJob { job: *job }).await?;
    }
    let what = if jobs.len() == 1 { "delivery is" } else { "deliveries are" };
    Ok(Answer::of(format!("{} {what} attempted again.", jobs.len()), json!({"jobs": jobs.len()})))
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
