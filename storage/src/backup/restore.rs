//! Restoring a backup into a new data folder, as of the backup or of an earlier time.

use super::{Backups, Manifest, check, copy, manifest};
use crate::error::StoreError;
use crate::log::{self, LogError};
use crate::open::decode_frame;
use crate::private_files::{create_private, sync_folder};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// In a folder that is being restored.
const RESTORING: &str = "restoring";

/// The result of restoring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The time of the backup, in milliseconds since 1970.
    pub at: u64,
    pub files: usize,
    pub bytes: u64,
    /// Frames after the requested time, which were left out.
    pub frames_removed: u64,
}

/// Restores a backup into `data`, which must be missing, empty, or left by a restore that was interrupted. With `time`, in
/// milliseconds since 1970, the state at the end of that millisecond; otherwise that of the newest backup.
///
/// # Errors
/// [`StoreError::Backup`] when no backup reaches that time, `data` has other files, or something in the backup is
/// damaged; [`StoreError::Io`].
pub fn restore(backups: &Backups, data: &Path, time: Option<u64>) -> Result<Restored, StoreError> {
    let manifest = choose(backups, time)?;
    prepare(data)?;
    let mut restored = Restored { at: manifest.at, ..Restored::default() };
    let is_last = |path: &str| path == "format";
    for (path, entry) in manifest.files.iter().filter(|(path, _)| !is_last(path)) {
        let target = data.join(path);
        if Path::new(path).components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
            return Err(StoreError::Backup(format!("the manifest has the path {path}")));
        }
        if let Some(parent) = target.parent() {
            create_private(parent)?;
        }
        let write = || {
            let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target)?;
            let copied =
                copy(&mut backups.read(entry, path).map_err(std::io::Error::other)?, &mut to, u64::MAX)?;
            to.sync_all().map(|()| copied)
        };
        let copied = write().map_err(|source| StoreError::io("cannot write", &target, source))?;
        check(path, entry, &copied)?;
        if path.starts_with("journal/") && log::is_segment(path) {
            log::extend_segment(&target)?;
        }
        restored.files += 1;
        restored.bytes += entry.bytes;
    }
    if let Some(time) = time {
        restored.frames_removed = cut(data, time)?;
    }
    finish(backups, &manifest, data)?;
    Ok(restored)
}

/// The oldest backup that reaches a time, or the newest.
fn choose(backups: &Backups, time: Option<u64>) -> Result<Manifest, StoreError> {
    let times = backups.times()?;
    let at = match time {
        Some(time) => times.iter().find(|at| **at >= time),
        None => times.last(),
    };
    let Some(at) = at else {
        return Err(StoreError::Backup("there is no backup, or none that reaches this time".to_owned()));
    };
    manifest::read(&backups.manifests(), *at)
}

/// Makes an empty folder, marked as being restored.
fn prepare(data: &Path) -> Result<(), StoreError> {
    if data.join(RESTORING).exists() {
        fs::remove_dir_all(data).map_err(|source| StoreError::io("cannot remove", data, source))?;
    }
    create_private(data)?;
    let mut entries = fs::read_dir(data).map_err(|source| StoreError::io("cannot read", data, source))?;
    if entries.next().is_some() {
        return Err(StoreError::Backup(format!(
            "{} is not empty; restore into a new folder",
            data.display()
        )));
    }
    write_mark(data, b"")?;
    sync_folder(data)
}

/// Removes the frames after a time.
fn cut(data: &Path, time: u64) -> Result<u64, StoreError> {
    let mut removed = 0;
    for shard in super::names(&data.join("journal"))? {
        let mut is_late = |payload: &[u8]| match decode_frame(payload) {
            Ok(frame) => Ok(frame.at.0 > time),
            Err(error) => Err(LogError::Unavailable(error.to_string().into())),
        };
        removed += log::cut_before(&data.join("journal").join(shard), &mut is_late)?;
    }
    Ok(removed)
}

/// Writes `format` last: only now it is a data folder.
fn finish(backups: &Backups, manifest: &Manifest, data: &Path) -> Result<(), StoreError> {
    let Some(entry) = manifest.files.get("format") else {
        return Err(StoreError::Backup("the backup has no file `format`".to_owned()));
    };
    let mut format = Vec::new();
    let copied = copy(&mut backups.read(entry, "format")?, &mut format, u64::MAX)
        .map_err(|source| StoreError::io("cannot read", data, source))?;
    check("format", entry, &copied)?;
    // The mark becomes `format` in one step.
    write_mark(data, &format)?;
    let mark = data.join(RESTORING);
    fs::rename(&mark, data.join("format"))
        .map_err(|source| StoreError::io("cannot rename", &mark, source))?;
    sync_folder(data)
}

/// Writes the file that marks a folder as being restored.
fn write_mark(data: &Path, content: &[u8]) -> Result<(), StoreError> {
    let mark = data.join(RESTORING);
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&mark)?;
        file.write_all(content)?;
        file.sync_all()
    };
    write().map_err(|source| StoreError::io("cannot write", &mark, source))
}
