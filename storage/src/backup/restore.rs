//! Restoring a backup into a new data folder, as of the backup or of an earlier time.

use super::file_store::names;
use super::{Backups, Entry, Manifest, manifest};
use crate::checkpoint;
use crate::error::StoreError;
use crate::folder_access::check_owner;
use crate::log::{self, LogError};
use crate::open::decode_frame;
use crate::private_files::{create_private, sync_folder};
use model::RealmId;
use std::collections::BTreeMap;
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
    let is_later = |path: &str| path == "format" || time.is_some() && path.starts_with(checkpoint::FOLDER);
    for (path, entry) in manifest.files.iter().filter(|(path, _)| !is_later(path)) {
        restored.file(backups, data, (path, entry))?;
    }
    if let Some(time) = time {
        let ends = cut(data, time, &mut restored.frames_removed)?;
        for (path, entry) in checkpoints_until(backups, &manifest, &ends)? {
            restored.file(backups, data, (&path, &entry))?;
        }
    }
    finish(backups, &manifest, data)?;
    Ok(restored)
}

impl Restored {
    /// Restores a file.
    fn file(
        &mut self,
        backups: &Backups,
        data: &Path,
        (path, entry): (&str, &Entry),
    ) -> Result<(), StoreError> {
        let target = data.join(path);
        if Path::new(path).components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
            return Err(StoreError::Backup(format!("the manifest has the path {path}")));
        }
        if let Some(parent) = target.parent() {
            create_private(parent)?;
        }
        let failed = |source| StoreError::io("cannot write", &target, source);
        let mut options = OpenOptions::new();
        let mut to = options.write(true).create_new(true).mode(0o600).open(&target).map_err(failed)?;
        backups.copy_file(entry, path, &mut to)?;
        to.sync_all().map_err(failed)?;
        if path.starts_with("journal/") && log::is_segment(path) {
            log::extend_segment(&target)?;
        }
        self.files += 1;
        self.bytes += entry.bytes;
        Ok(())
    }
}

/// The newest checkpoint of each organization at or before its last frame, in any backup up to the one that is restored.
fn checkpoints_until(
    backups: &Backups,
    newest: &Manifest,
    ends: &BTreeMap<u32, u64>,
) -> Result<Vec<(String, Entry)>, StoreError> {
    let mut found: BTreeMap<u32, (u64, String, Entry)> = BTreeMap::new();
    for at in backups.times()?.into_iter().filter(|at| *at <= newest.at) {
        for (path, entry) in manifest::read(&*backups.place, at)?.files {
            let inside = path.strip_prefix(checkpoint::FOLDER).and_then(|path| path.strip_prefix('/'));
            let Some((folder, name)) = inside.and_then(|path| path.split_once('/')) else { continue };
            let is_of = |realm: &&u32| checkpoint::folder_name(RealmId(**realm)) == folder;
            let (Some(realm), Some(sequence)) = (ends.keys().find(is_of), checkpoint::sequence_of(name))
            else {
                continue;
            };
            let is_newer = found.get(realm).is_none_or(|(known, ..)| *known < sequence);
            if sequence <= ends[realm] && is_newer {
                found.insert(*realm, (sequence, path, entry));
            }
        }
    }
    Ok(found.into_values().map(|(_, path, entry)| (path, entry)).collect())
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
    manifest::read(&*backups.place, *at)
}

/// Makes an empty folder, marked as being restored.
fn prepare(data: &Path) -> Result<(), StoreError> {
    check_owner(data)?;
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

/// Removes the frames after a time, and counts them. Returns the last frame of each organization that is left.
fn cut(data: &Path, time: u64, removed: &mut u64) -> Result<BTreeMap<u32, u64>, StoreError> {
    let mut ends = BTreeMap::new();
    for shard in names(&data.join("journal"))? {
        let mut is_late = |payload: &[u8]| match decode_frame(payload) {
            Ok(frame) => Ok(frame.at.0 > time),
            Err(error) => Err(LogError::Unavailable(error.to_string().into())),
        };
        let cut = log::cut_before(&data.join("journal").join(shard), &mut is_late)?;
        if cut.has_trims {
            let why = "between that time and the backup, `journal.keep` dropped older history, without which that state cannot be \
                       made; restore without --at, or at a time up to an earlier backup";
            return Err(StoreError::Backup(why.to_owned()));
        }
        *removed += cut.removed;
        ends.extend(cut.ends);
    }
    Ok(ends)
}

/// Writes `format` last: only now it is a data folder.
fn finish(backups: &Backups, manifest: &Manifest, data: &Path) -> Result<(), StoreError> {
    let Some(entry) = manifest.files.get("format") else {
        return Err(StoreError::Backup("the backup has no file `format`".to_owned()));
    };
    let mut format = Vec::new();
    backups.copy_file(entry, "format", &mut format)?;
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
