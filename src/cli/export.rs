//! `millstream export`: an organization as an archive in Zulip's format.

use super::data::{DataArgs, subdomain};
use super::error::CliError;
use super::offline::{no_answer, with_folder};
use super::progress::Bar;
use super::signal::Signals;
use crate::admin::{self, Answer, ExportOptions, ExportStream, Part};
use crate::integrations::blobs::Blobs;
use crate::transfer::export::{
    ExportKind, ExportProgress, ExportRequest, Step, UnfinishedFile, check_target, export_to_file, on_thread,
    target_folder, top_name,
};
use crate::transfer::problem::TransferError;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Export an organization; the server may be running
///
/// Writes an archive in the format of Zulip's exports, which Zulip and `millstream import zulip` read. Passwords, API keys and
/// sessions are not in it. The archive appears under its name only when it is complete. A running server sends it to this command,
/// which writes it as the user that runs the command.
#[derive(Debug, clap::Args)]
pub struct ExportArgs {
    /// Subdomain of the organization (default: the organization without a subdomain)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "-", hide_default_value = true, value_parser = subdomain)]
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
    let wanted = ExportOptions { realm: args.realm.clone(), top: top_name(&to), kind: args.kind };
    let received = actix_rt::System::new().block_on(receive(&config.data, wanted, &to))?;
    let answer = match received {
        Some(answer) => answer,
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
    args.data.print(&answer)
}

/// Writes the export that a running server sends; none if no server runs. A signal ends it, and nothing of the file is left.
async fn receive(data: &Path, wanted: ExportOptions, to: &Path) -> Result<Option<Answer>, CliError> {
    let opened = ExportStream::open(data, wanted).await;
    let Some(stream) = opened.map_err(|reason| no_answer(data, reason))? else { return Ok(None) };
    let mut signals = signals()?;
    let mut file = UnfinishedFile::create(to)?;
    let answer = tokio::select! {
        answer = save(stream, &mut file, data, to) => answer?,
        signal = signals.end() => return Err(CliError::Interrupted(signal)),
    };
    file.complete()?;
    Ok(Some(answer))
}

/// Writes the archive until the server says that it is complete.
async fn save(
    mut stream: ExportStream,
    file: &mut UnfinishedFile,
    data: &Path,
    to: &Path,
) -> Result<Answer, CliError> {
    let mut bar = Bar::new("exporting", "messages");
    loop {
        match stream.next().await.map_err(|reason| no_answer(data, reason))? {
            Part::Archive(bytes) => {
                file.write_all(&bytes).map_err(|reason| TransferError::system(to, reason))?;
            }
            Part::Progress(ExportProgress { done, all }) if done < all => bar.set(done, all),
            Part::Progress(_) => bar.finish(),
            Part::End(ended) => {
                bar.finish();
                return ended.map_err(|reason| not_written(to, reason));
            }
        }
    }
}

/// Why there is no archive: the reason may name only a folder for temporary files, such as that of the server.
fn not_written(to: &Path, reason: impl Display) -> CliError {
    CliError::Refused(format!("{} was not written: {reason}", to.display()))
}

fn signals() -> Result<Signals, CliError> {
    Signals::new().map_err(|reason| CliError::System { what: "cannot listen for signals", reason })
}

/// Exports from the opened data folder. A signal ends it, and nothing of the file is left.
async fn export_here(request: ExportRequest, to: &Path) -> Result<Answer, CliError> {
    let stop: Arc<AtomicBool> = request.stop.clone();
    let mut signals = signals()?;
    let (target, to) = (to, to.to_owned());
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
        exported = &mut export => {
            exported.map(|exported| admin::export_done(&exported)).map_err(|reason| not_written(target, reason))
        }
        signal = signals.end() => {
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
    fn failure_names_the_archive_and_what_to_do() {
        let full = TransferError::system(Path::new("/srv/data"), std::io::ErrorKind::StorageFull.into());
        let said = not_written(Path::new("/mnt/acme.tar.gz"), full).to_string();
        assert!(said.starts_with("/mnt/acme.tar.gz was not written: /srv/data: "), "{said}");
        assert!(said.ends_with("; make room there, and repeat the command"), "{said}");
    }

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
