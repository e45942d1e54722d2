//! An export as a file: it has its name once it is complete and durable, and nothing is left of one that failed.

use super::run::{ExportRequest, Exported, export};
use super::snapshot::Step;
use crate::transfer::problem::TransferError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes that are written at a time.
const BUFFER_BYTES: usize = 1 << 18;

/// Writes an export to a new file. Blocks, as [`export`] does.
///
/// # Errors
/// `System` when the file exists or cannot be written; those of [`export`].
pub fn export_to_file(
    request: &ExportRequest,
    to: &Path,
    progress: &dyn Fn(Step),
) -> Result<Exported, TransferError> {
    check_target(to)?;
    let new = unfinished(to);
    let written = write(request, to, &new, progress);
    if written.is_err() {
        // It may not have been created.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Refuses a file that exists, and a folder that does not.
///
/// # Errors
/// `System`, with the reason.
pub fn check_target(to: &Path) -> Result<(), TransferError> {
    let refused = |kind, why: &str| Err(TransferError::system(to, io::Error::new(kind, why)));
    if to.symlink_metadata().is_ok() {
        return refused(io::ErrorKind::AlreadyExists, "it exists already");
    }
    match to.parent() {
        Some(folder) if folder.is_dir() => Ok(()),
        _ => refused(io::ErrorKind::NotFound, "there is no such folder"),
    }
}

/// The folder of a file.
pub fn target_folder(to: &Path) -> PathBuf {
    to.parent().unwrap_or(to).to_owned()
}

/// The name of the top folder in an archive: that of the file without its ending.
pub fn top_name(to: &Path) -> String {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let name = [".tar.gz", ".tgz"].into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    if name.is_empty() || name == "." || name == ".." { "export".to_owned() } else { name.to_owned() }
}

/// The name of a file until it is complete.
fn unfinished(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    to.with_file_name(name)
}

fn write(
    request: &ExportRequest,
    to: &Path,
    new: &Path,
    progress: &dyn Fn(Step),
) -> Result<Exported, TransferError> {
    let failed = |reason| TransferError::system(new, reason);
    // What is left of an export that was killed.
    match fs::remove_file(new) {
        Err(reason) if reason.kind() != io::ErrorKind::NotFound => return Err(failed(reason)),
        Ok(()) | Err(_) => {}
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(new).map_err(failed)?;
    let (out, exported) = export(request, BufWriter::with_capacity(BUFFER_BYTES, file), progress)?;
    let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    // A hard link fails if the name was taken meanwhile; renaming would replace the other file.
    fs::hard_link(new, to).map_err(|reason| TransferError::system(to, reason))?;
    fs::remove_file(new).map_err(failed)?;
    let folder = to.parent().unwrap_or(to);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    Ok(exported)
}
