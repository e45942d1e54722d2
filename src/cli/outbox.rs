//! `millstream outbox`: the pending and failed deliveries.

use super::data::DataArgs;
use super::error::CliError;
use super::offline::with_data;
use model::job::Job;

/// List pending deliveries (e-mails, webhook calls, push notifications), and the newest ones that were dropped
///
/// One per line: organization (- for the one without a subdomain), job, kind, `waiting` or `given up`, when it was
/// added or dropped in seconds since 1970, its subject, and why it was dropped.
#[derive(Debug, clap::Args)]
pub struct OutboxArgs {
    #[command(flatten)]
    data: DataArgs,
}

/// Prints the list.
pub fn run(args: &OutboxArgs) -> Result<(), CliError> {
    with_data(&args.data, false, async |server| {
        for realm in server.realms() {
            let subdomain = realm.subdomain();
            let name = if subdomain.is_empty() { "-" } else { &subdomain };
            realm.jobs().iter().for_each(|job| println!("{name}\t{}", line(job)));
        }
        Ok(())
    })
}

fn line(job: &Job) -> String {
    let Job { id, added, task, failure, .. } = job;
    let (kind, about) = (task.kind().name(), task.description());
    match failure {
        None => format!("{id}\t{kind}\twaiting\t{}\t{about}", added.secs()),
        Some(failure) => format!("{id}\t{kind}\tgiven up\t{}\t{about}\t{}", failure.at.secs(), failure.why),
    }
}
