//! The outbox: list, retry, drop.

use super::answer::{Answer, Table, time};
use super::find::find_realm;
use crate::cli::error::CliError;
use crate::units::counted;
use actors::outbox::FailedAttempts;
use actors::{RealmHandle, Server, commands};
use model::job::{Job, MailTask, Task};
use model::{JobId, Timestamp};
use serde_json::{Value, json};

/// Pending deliveries, and the newest ones that were dropped: of one organization, or of all.
pub(super) fn list(server: &Server, realm: Option<&str>) -> Result<Answer, CliError> {
    let columns =
        ["subdomain", "job", "kind", "state", "since", "next_attempt", "recipient", "about", "reason"];
    let mut table = Table::new(&columns)
        .with_times("since")
        .with_times("next_attempt")
        .or_sentence("There are no pending deliveries, and none that were given up.");
    let realms = match realm {
        Some(realm) => vec![find_realm(server, realm)?],
        None => server.realms(),
    };
    for realm in realms {
        for job in realm.jobs() {
            let Progress { state, since, next, reason } = Progress::of(&realm, &job);
            table.push(vec![
                json!(realm.subdomain()),
                json!(job.id.0),
                json!(job.task.kind().name()),
                json!(state),
                time(since),
                next.map_or(Value::Null, time),
                json!(recipient(&realm, &job.task)),
                json!(job.task.description()),
                json!(reason),
            ]);
        }
    }
    Ok(Answer::list(table))
}

/// How far a delivery is.
struct Progress {
    state: &'static str,
    since: Timestamp,
    /// None if no attempt is due: it was given up, or nothing runs that could deliver it.
    next: Option<Timestamp>,
    /// Why it is not done yet, as far as that is known.
    reason: Option<String>,
}

impl Progress {
    fn of(realm: &RealmHandle, job: &Job) -> Self {
        if let Some(failure) = &job.failure {
            let reason = Some(failure.why.clone());
            return Self { state: "given up", since: failure.at, next: None, reason };
        }
        let (next, reason) = match realm.failed_attempts(job.id) {
            Some(failed) => (Some(failed.next), Some(tried(&failed))),
            None if realm.supports(job.task.kind()) => (Some(job.due_at(realm.now())), None),
            None => (None, Some("no server runs that is configured to deliver it".to_owned())),
        };
        Self { state: "waiting", since: job.added, next, reason }
    }
}

/// The address that a mail is for; none for other deliveries, and where the account or invitation is gone.
fn recipient(realm: &RealmHandle, task: &Task) -> Option<String> {
    let task = match task {
        Task::Mail(task) => task,
        Task::Webhook(_) | Task::Push(_) => return None,
    };
    let directory = realm.directory();
    match task {
        MailTask::ConfirmAddress { address, .. } | MailTask::SignUp { address, .. } => Some(address.clone()),
        MailTask::AddressChanged { old, .. } => Some(old.clone()),
        MailTask::Invitation(invitation) => directory.invitation(*invitation)?.address.clone(),
        MailTask::NewLogin { user, .. }
        | MailTask::Missed { user, .. }
        | MailTask::Deactivated { user, .. }
        | MailTask::PasswordReset { user, .. }
        | MailTask::FoundAccounts { user, .. }
        | MailTask::SignUpKnown { user } => directory.user(*user).map(|user| user.delivery_email.clone()),
    }
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
