//! Restoring a backup into a new data folder, as of the backup or of an earlier time.

use super::file_store::names;
use super::identity::Identity;
use super::verify::LISTED_MAX;
use super::{Backups, Damage, Entry, Manifest, manifest};
use crate::checkpoint;
use crate::error::StoreError;
use crate::folder_access::check_owner;
use crate::log::{self, LogError};
use crate::open::decode_frame;
use crate::private_files::{create_private, sync_folder};
use crate::restoring::{Mark, RESTORING, is_restoring};
use model::RealmId;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The file that makes a folder a data folder.
const FORMAT: &str = "format";

/// What can be left out of a restored folder: uploaded files, which are missing then, and checkpoints, which the journal replaces.
const SKIPPED: [&str; 2] = ["blobs/", "checkpoints/"];

/// What to do about files of a backup that are damaged or missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDamage {
    /// Nothing becomes a data folder.
    Refuse,
    /// Leave out uploaded files and checkpoints, without which the journal is as whole as with them. Anything else is refused.
    Skip,
}

/// The result of restoring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The time of the backup, in milliseconds since 1970.
    pub at: u64,
    pub files: usize,
    pub bytes: u64,
    /// Frames after the requested time, which were left out.
    pub frames_removed: u64,
    /// The paths of the first 100 files that were left out because they are damaged.
    pub skipped: Vec<String>,
    /// How many were left out.
    pub skipped_count: usize,
}

/// Restores a backup into `data`, which must be missing, empty, or left by a restore that was interrupted. With `time`, in
/// milliseconds since 1970, the state at the end of that millisecond; otherwise that of the newest backup. A restore that fails
/// removes what it has written; one that is killed leaves a folder that says so.
///
/// # Errors
/// [`StoreError::Backup`] when no backup reaches that time, `data` has other files, or something in the backup is
/// damaged, with the names of the damaged files; [`StoreError::TooEarly`] for a time before the first change; [`StoreError::Io`].
pub fn restore(
    backups: &Backups,
    data: &Path,
    time: Option<u64>,
    on_damage: OnDamage,
) -> Result<Restored, StoreError> {
    let manifest = choose(backups, time)?;
    let is_new = !data.exists();
    let mut mark = prepare(data)?;
    let restored = restore_marked(backups, data, (&manifest, time), on_damage, &mut mark);
    // Without the mark it is a data folder already, and only its last sync failed.
    if let Err(error) = &restored
        && is_restoring(data)
    {
        mark.undo(data)
            .map_err(|left| StoreError::Backup(format!("{error}; and what was written stays: {left}")))?;
        if is_new {
            // An empty folder does no harm.
            let _ = fs::remove_dir(data);
        }
    }
    restored
}

/// Restores into a folder that has the mark and nothing else.
fn restore_marked(
    backups: &Backups,
    data: &Path,
    (manifest, time): (&Manifest, Option<u64>),
    on_damage: OnDamage,
    mark: &mut Mark,
) -> Result<Restored, StoreError> {
    mark.note_origin(&backups.repository.title())?;
    sync_folder(data)?;
    let done = Restored { at: manifest.at, ..Restored::default() };
    let mut restoring = Restoring { backups, data, on_damage, done, damaged: Vec::new(), damaged_count: 0 };
    let is_later = |path: &str| path == FORMAT || time.is_some() && path.starts_with(checkpoint::FOLDER);
    for (path, entry) in manifest.files.iter().filter(|(path, _)| !is_later(path)) {
        restoring.file(path, entry)?;
    }
    restoring.check_damage()?;
    if let Some(time) = time {
        let ends = cut(data, time, &mut restoring.done.frames_removed)?;
        for (path, entry) in checkpoints_until(backups, manifest, &ends)? {
            restoring.file(&path, &entry)?;
        }
    }
    restoring.finish(manifest, mark)?;
    Ok(restoring.done)
}

/// A data folder that is being restored.
struct Restoring<'r> {
    backups: &'r Backups,
    data: &'r Path,
    on_damage: OnDamage,
    done: Restored,
    /// What is wrong with the first damaged files that cannot be left out.
    damaged: Vec<String>,
    damaged_count: usize,
}

impl Restoring<'_> {
    /// Restores a file, or notes that it is damaged.
    fn file(&mut self, path: &str, entry: &Entry) -> Result<(), StoreError> {
        let target = self.data.join(path);
        if Path::new(path).components().any(|part| !matches!(part, std::path::Component::Normal(_))) {
            return Err(StoreError::Backup(format!("the manifest has the path {path}")));
        }
        if let Some(parent) = target.parent() {
            create_private(parent)?;
        }
        let failed = |source| StoreError::io("cannot write", &target, source);
        let mut options = OpenOptions::new();
        let mut to = options.write(true).create_new(true).mode(0o600).open(&target).map_err(failed)?;
        if let Some(damage) = self.backups.copy_content((&entry.hash, entry.bytes), path, &mut to)? {
            fs::remove_file(&target).map_err(|source| StoreError::io("cannot remove", &target, source))?;
            return self.note_damage(path, entry, &damage);
        }
        to.sync_all().map_err(failed)?;
        if path.starts_with("journal/") && log::is_segment(path) {
            log::extend_segment(&target)?;
        }
        self.done.files += 1;
        self.done.bytes += entry.bytes;
        Ok(())
    }

    /// Notes a damaged file, so that all of them can be named at once. A disk or a service that cannot read ends the restore.
    fn note_damage(&mut self, path: &str, entry: &Entry, damage: &Damage) -> Result<(), StoreError> {
        let text = format!("{path}: {} {damage}", manifest::file(&entry.hash));
        if matches!(damage, Damage::Unreadable(_)) {
            return Err(StoreError::Backup(text));
        }
        let is_optional = SKIPPED.iter().any(|folder| path.starts_with(folder));
        let (list, count, text) = match self.on_damage {
            OnDamage::Skip if is_optional => {
                (&mut self.done.skipped, &mut self.done.skipped_count, path.to_owned())
            }
            OnDamage::Skip | OnDamage::Refuse => (&mut self.damaged, &mut self.damaged_count, text),
        };
        if list.len() < LISTED_MAX {
            list.push(text);
        }
        *count += 1;
        Ok(())
    }

    /// Fails if something is damaged that cannot be left out.
    fn check_damage(&self) -> Result<(), StoreError> {
        if self.damaged_count == 0 {
            return Ok(());
        }
        let mut text =
            format!("nothing was restored, because the backup lacks {} of its files", self.damaged_count);
        for line in &self.damaged {
            text.push_str("\n  ");
            text.push_str(line);
        }
        if self.damaged_count > self.damaged.len() {
            text.push_str(&format!("\n  and {} more", self.damaged_count - self.damaged.len()));
        }
        let title = self.backups.repository.title();
        text.push_str(&format!(
            "\n`millstream backup verify --from {title}` names what other backups lack; `--at` restores an older one, and \
             `--skip-damaged` restores without uploaded files that are damaged"
        ));
        Err(StoreError::Backup(text))
    }

    /// Writes `format` last: only now it is a data folder.
    fn finish(&mut self, manifest: &Manifest, mark: &mut Mark) -> Result<(), StoreError> {
        let Some(entry) = manifest.files.get(FORMAT) else {
            return Err(StoreError::Backup(format!("the backup has no file `{FORMAT}`")));
        };
        let mut format = Vec::new();
        if let Some(damage) = self.backups.copy_content((&entry.hash, entry.bytes), FORMAT, &mut format)? {
            self.note_damage(FORMAT, entry, &damage)?;
        }
        self.check_damage()?;
        // The mark becomes `format` in one step.
        mark.write(&format)?;
        let path = self.data.join(RESTORING);
        fs::rename(&path, self.data.join(FORMAT))
            .map_err(|source| StoreError::io("cannot rename", &path, source))?;
        sync_folder(self.data)
    }
}

/// The newest checkpoint of each organization at or before its last frame, in any backup up to the one that is restored.
fn checkpoints_until(
    backups: &Backups,
    newest: &Manifest,
    ends: &BTreeMap<u32, u64>,
) -> Result<Vec<(String, Entry)>, StoreError> {
    let mut found: BTreeMap<u32, (u64, String, Entry)> = BTreeMap::new();
    let own = Identity::of_backup(newest);
    for at in backups.times()?.into_iter().filter(|at| *at <= newest.at) {
        let older = manifest::find(&*backups.repository, at)?;
        let Some(older) = older.filter(|older| !own.is_other(&Identity::of_backup(older))) else { continue };
        for (path, entry) in older.files {
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

/// The newest backup, or the oldest one of the same data folder that reaches a time.
pub(super) fn choose(backups: &Backups, time: Option<u64>) -> Result<Manifest, StoreError> {
    let times = backups.times()?;
    let none = || StoreError::Backup("there is no backup, or none that reaches this time".to_owned());
    let newest = *times.last().ok_or_else(none)?;
    let Some(time) = time else { return manifest::read(&*backups.repository, newest) };
    let own = manifest::find(&*backups.repository, newest)?.map(|newest| Identity::of_backup(&newest));
    for at in times.into_iter().filter(|at| *at >= time) {
        let found = manifest::read(&*backups.repository, at)?;
        if own.as_ref().is_none_or(|own| !own.is_other(&Identity::of_backup(&found))) {
            return Ok(found);
        }
    }
    Err(none())
}

/// Makes an empty folder, marked as being restored.
fn prepare(data: &Path) -> Result<Mark, StoreError> {
    check_owner(data)?;
    create_private(data)?;
    if !is_restoring(data) {
        let mut entries = fs::read_dir(data).map_err(|source| StoreError::io("cannot read", data, source))?;
        if entries.next().is_some() {
            return Err(StoreError::Backup(format!(
                "{} is not empty; restore into a new folder",
                data.display()
            )));
        }
    }
    let mark = Mark::make(data)?;
    mark.clear(data)?;
    Ok(mark)
}

/// Removes the frames after a time, and counts them. Returns the last frame of each organization that is left. Fails if the time
/// is before all of them.
fn cut(data: &Path, time: u64, removed: &mut u64) -> Result<BTreeMap<u32, u64>, StoreError> {
    let mut ends = BTreeMap::new();
    let mut oldest: Option<u64> = None;
    for shard in names(&data.join("journal"))? {
        let mut is_late = |payload: &[u8]| match decode_frame(payload) {
            Ok(frame) => {
                oldest = Some(oldest.map_or(frame.at.0, |known| known.min(frame.at.0)));
                Ok(frame.at.0 > time)
            }
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
    match oldest.filter(|oldest| *oldest > time) {
        Some(oldest) => Err(StoreError::TooEarly { oldest }),
        None => Ok(ends),
    }
}
