//! `millstream erase`: erases what was deleted from a data folder.

use super::data::DataArgs;
use super::error::CliError;
use super::offline::{ask, with_folder};
use super::progress::Bar;
use crate::admin::{self, AdminRequest, Answer};
use std::time::Duration;

/// How often the server is asked how far it is.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// Erase what was deleted; the server may be running
///
/// Deleting a message removes it from what people can read, but the journal keeps its text until it is erased, which the server
/// does by itself (`storage.erase_interval_secs`). This command does it at once: it replaces the texts of deleted messages, and of
/// old versions where the organization hides the edit history, in the journal, and rebuilds everything that is derived
/// from the journal. It cannot be undone. Backups that were made before keep the texts until they are removed.
#[derive(Debug, clap::Args)]
pub struct EraseArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Erase everything that was deleted up to now; required, because it cannot be undone
    #[arg(long)]
    now: bool,
}

/// Erases, and prints how much.
pub fn run(args: &EraseArgs) -> Result<(), CliError> {
    let config = args.data.load_single("contents of deleted messages stay in the logs in the database")?;
    if !args.now {
        return Err(CliError::Refused("erasing cannot be undone; add --now to do it".to_owned()));
    }
    let mut bar = Bar::new("erasing", "files");
    let answer = match ask(&config, &AdminRequest::EraseStart)? {
        Some(_) => loop {
            std::thread::sleep(ASK_EVERY);
            let answer = ask(&config, &AdminRequest::EraseStatus)?;
            let answer = answer
                .ok_or_else(|| CliError::Refused("the server stopped before everything was erased".into()))?;
            if show(&answer, &mut bar) {
                break answer;
            }
        },
        None => with_folder(&config, false, async |server| {
            admin::execute(&server, AdminRequest::EraseStart).await?;
            loop {
                tokio::time::sleep(ASK_EVERY).await;
                let answer = admin::execute(&server, AdminRequest::EraseStatus).await?;
                if show(&answer, &mut bar) {
                    return Ok(answer);
                }
            }
        })?,
    };
    bar.finish();
    args.data.print(&answer)
}

/// Shows how far it is. Returns whether it is done.
fn show(answer: &Answer, bar: &mut Bar) -> bool {
    let number = |name: &str| answer.value[name].as_u64().unwrap_or_default();
    if answer.value["step"] == "journal" {
        bar.set(number("done"), number("all"));
    }
    answer.value["state"] != "running"
}
