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
    for realm in wanted(server, realm)? {
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
pub(super) async fn retry(
    server: &Server,
    realm: Option<&str>,
    job: Option<u64>,
) -> Result<Answer, CliError> {
    let jobs = match job {
        Some(job) => vec![find(server, realm, job)?],
        None => given_up(server, realm)?,
    };
    let mut retried = Vec::new();
    let mut lines = Vec::new();
    for (realm, job) in &jobs {
        realm.execute(commands::RetryJob { job: *job }).await?;
        let new = realm.replacement_of_job(*job);
        lines.extend(new.map(|new| format!("Job {job} is now job {new}.")));
        retried.push(json!({"subdomain": realm.subdomain(), "job": job.0, "new_job": new.map(|new| new.0)}));
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
pub(super) async fn drop_job(server: &Server, realm: Option<&str>, job: u64) -> Result<Answer, CliError> {
    let (realm, job) = find(server, realm, job)?;
    realm.execute(commands::DropJob { job }).await?;
    let value = json!({"subdomain": realm.subdomain(), "job": job.0});
    Ok(Answer::of(format!("Job {job} is dropped."), value))
}

/// One organization, or all.
fn wanted(server: &Server, realm: Option<&str>) -> Result<Vec<RealmHandle>, CliError> {
    match realm {
        Some(realm) => Ok(vec![find_realm(server, realm)?]),
        None => Ok(server.realms()),
    }
}

/// The jobs that were given up, with their organizations.
fn given_up(server: &Server, realm: Option<&str>) -> Result<Vec<(RealmHandle, JobId)>, CliError> {
    let mut found = Vec::new();
    for realm in wanted(server, realm)? {
        let jobs = realm.jobs().into_iter().filter(|job| job.failure.is_some());
        found.extend(jobs.map(|job| (realm.clone(), job.id)));
    }
    Ok(found)
}

/// A job and its organization. Organizations number their jobs each for itself, so several may have the number.
fn find(server: &Server, realm: Option<&str>, job: u64) -> Result<(RealmHandle, JobId), CliError> {
    let mut having = wanted(server, realm)?;
    having.retain(|realm| realm.jobs().iter().any(|known| known.id.0 == job));
    match having.as_slice() {
        [] => Err(CliError::Refused(format!("there is no job {job}; see `millstream outbox list`"))),
        [realm] => Ok((realm.clone(), JobId(job))),
        several => {
            let names: Vec<String> = several.iter().map(|realm| named(&realm.subdomain())).collect();
            let which = names.join(" and of ");
            let why = format!("job {job} is one of {which}; choose with --realm");
            Err(CliError::Refused(why))
        }
    }
}

/// An organization as `--realm` names it.
fn named(subdomain: &str) -> String {
    match subdomain {
        "" => "the organization without a subdomain (`--realm -`)".to_owned(),
        subdomain => format!("`{subdomain}`"),
    }
}
