//! `millstream export`: an organization as an archive in Zulip's format.

use super::data::DataArgs;
use super::error::CliError;
use super::offline::{ask, with_folder};
use super::progress::Bar;
use super::signal::Signals;
use crate::admin::{self, AdminRequest, Answer};
use crate::config::Config;
use crate::integrations::blobs::Blobs;
use crate::transfer::export::{
    ExportKind, ExportRequest, Step, check_target, export_to_file, on_thread, target_folder, top_name,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a running server is asked how far it is.
const ASK_EVERY: Duration = Duration::from_millis(300);

/// Export an organization; the server may be running
///
/// Writes an archive in the format of Zulip's exports, which Zulip and `millstream import zulip` read. Passwords, API keys and
/// sessions are not in it. The archive appears under its name only when it is complete.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Subdomain of the organization (default: none)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "", hide_default_value = true)]
    realm: String,
    /// The archive to write, such as acme.tar.gz; it must not exist
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// What to export
    #[arg(long, value_enum, default_value_t)]
    kind: ExportKind,
    #[command(flatten)]
    data: DataArgs,
}

/// Runs the command.
pub fn run(args: &ExportArgs) -> Result<(), CliError> {
    let config = args.data.load()?;
    let to = std::path::absolute(&args.to)
        .map_err(|reason| CliError::System { what: "cannot find the folder of --to", reason })?;
    check_target(&to)?;
    let start = AdminRequest::ExportStart { realm: args.realm.clone(), to: to.clone(), kind: args.kind };
    let answer = match ask(&config, &start)? {
        Some(_) => wait(&config)?,
        None => with_folder(&config, false, async |server| {
            let realm = admin::find_realm(&server, &args.realm)?;
            let blobs = Blobs::open(&config.blobs, config.files(), true)
                .map_err(|error| CliError::Refused(error.to_string()))?;
            let request = ExportRequest {
                top: top_name(&to),
                folder: target_folder(&to),
                stop: Arc::default(),
                kind: args.kind,
                realm,
                blobs,
            };
            export_here(request, &to).await
        })?,
    };
    args.data.print(&answer);
    Ok(())
}

/// Waits for the export of a running server.
fn wait(config: &Config) -> Result<Answer, CliError> {
    let mut bar = Bar::new("exporting", "messages");
    loop {
        std::thread::sleep(ASK_EVERY);
        let answer = ask(config, &AdminRequest::ExportStatus)?;
        let answer = answer
            .ok_or_else(|| CliError::Refused("the server stopped before the export was complete".into()))?;
        if answer.value["state"] != "running" {
            bar.finish();
            return Ok(answer);
        }
        let number = |name: &str| answer.value[name].as_u64().unwrap_or_default();
        bar.set(number("done"), number("all"));
    }
}

/// Exports from the opened data folder. A signal ends it, and nothing of the file is left.
async fn export_here(request: ExportRequest, to: &Path) -> Result<Answer, CliError> {
    let stop: Arc<AtomicBool> = request.stop.clone();
    let mut signals =
        Signals::new().map_err(|reason| CliError::System { what: "cannot listen for signals", reason })?;
    let to = to.to_owned();
    let export = on_thread(move || {
        let bar = std::cell::RefCell::new(Bar::new("exporting", "messages"));
        let exported = export_to_file(&request, &to, &|step| match step {
            Step::Messages(done, all) => bar.borrow_mut().set(done, all),
            Step::Rest => bar.borrow_mut().finish(),
        });
        bar.borrow_mut().finish();
        exported
    });
    tokio::pin!(export);
    tokio::select! {
        exported = &mut export => Ok(admin::export_done(&exported?)),
        signal = signals.stop() => {
            stop.store(true, Ordering::Relaxed);
            // It removes what it has written.
            let _ = export.await;
            Err(CliError::Interrupted(signal))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn kind_is_full_unless_given() {
        let args: ExportArgs = parse(&["--to", "x.tar.gz"]).unwrap();
        assert_eq!((args.kind, args.realm.as_str()), (ExportKind::Full, ""));
        let args: ExportArgs = parse(&["--to", "x.tar.gz", "--kind", "public", "--realm", "acme"]).unwrap();
        assert_eq!((args.kind, args.realm.as_str()), (ExportKind::Public, "acme"));
        assert!(parse::<ExportArgs>(&["--kind", "public"]).is_err());
        assert!(parse::<ExportArgs>(&["--to", "x", "--kind", "some"]).is_err());
    }
}
