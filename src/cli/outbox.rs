//! `millstream outbox`: what is owed to the world outside.

use super::error::CliError;
use super::offline::with_data;
use model::JobId;
use model::job::Job;
use std::path::PathBuf;

/// List what waits to be delivered (mails, webhooks, notifications), and the newest of what was given up
///
/// One a line: organization (- for the one without a subdomain), job, kind, `waiting` or `given up`, when it was added or
/// given up in seconds since 1970, what it is about, and why it was given up.
#[derive(Debug, clap::Args)]
pub struct OutboxArgs {
    /// Data folder; the server must not be running on it
    #[arg(long, value_name = "DIR", env = "MILLSTREAM_DATA", default_value = "millstream-data")]
    data: PathBuf,
}

/// Does it.
pub fn run(args: &OutboxArgs) -> Result<(), CliError> {
    with_data(&args.data, false, async |server| {
        for realm in server.realms() {
            realm.read(|view| {
                let subdomain = &view.directory.realm().subdomain;
                let name = if subdomain.is_empty() { "-" } else { subdomain };
                let jobs = view.jobs.after(JobId(0)).chain(view.jobs.failed());
                jobs.for_each(|job| println!("{name}\t{}", line(job)));
            });
        }
        Ok(())
    })
}

fn line(job: &Job) -> String {
    let Job { id, added, task, failure, .. } = job;
    let (kind, about) = (task.kind().name(), task.words());
    match failure {
        None => format!("{id}\t{kind}\twaiting\t{}\t{about}", added.secs()),
        Some(failure) => format!("{id}\t{kind}\tgiven up\t{}\t{about}\t{}", failure.at.secs(), failure.why),
    }
}
