//! Bases: all rows of an organization as of a frame, as a file. A journal whose oldest frames were dropped begins with its base,
//! and everything that is made from the journal can still be made again: the trees, and from them the search index and
//! checkpoints.
//!
//! ```text
//! base/realm-<id, 10 digits>/<sequence, 20 digits>.base
//! base/realm-<id, 10 digits>/making/                     trees from which one is being made
//! ```
//!
//! A base is made of the one before and the frames since then, in trees of its own, never of those that the server uses: they may
//! be damaged without anyone knowing. It is read back before a frame is dropped.

pub(crate) mod file;
mod renew;
mod trim;

#[cfg(test)]
mod tests;

pub(crate) use trim::last_before;
pub use trim::{TrimPolicy, TrimStep, trim_step};

use crate::checkpoint::{Pace, folder_name, frame_checksum};
use crate::disk;
use crate::error::StoreError;
use crate::log::{RealmLog, bounds};
use crate::private_files::{create_private, sync_folder};
use crate::projection::Trees;
use crate::replay::replay_until;
use crate::view::key;
use crate::view::record::Record;
use crate::view::{Row, View, records};
use file::{Header, Kind, RowReader};
use model::RealmId;
use std::fs;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of all bases in a data folder.
pub(crate) const FOLDER: &str = "base";

const SUFFIX: &str = ".base";
pub(crate) const UNFINISHED: &str = ".new";

/// Page cache of the trees from which a base is made, in bytes.
const CACHE_BYTES: u64 = 32 * 1024 * 1024;

/// Rows that are written to trees at a time.
const ROWS_MAX: usize = 1024;

/// The bases of one organization.
#[derive(Clone, Debug)]
pub struct Bases {
    folder: PathBuf,
    realm: RealmId,
}

impl Bases {
    /// Those of an organization in the folder of all bases.
    pub fn of(folder: &Path, realm: RealmId) -> Self {
        Self { folder: folder.join(folder_name(realm)), realm }
    }

    /// Those of the data folder that trees are in.
    pub(crate) fn beside(trees: &Trees, realm: RealmId) -> Self {
        Self::of(&trees.path().with_file_name(FOLDER), realm)
    }

    /// The sequences of the files, newest first.
    pub fn sequences(&self) -> Vec<u64> {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut found: Vec<u64> = names.filter_map(|name| sequence_of(&name)).collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        found
    }

    pub(crate) fn path(&self, sequence: u64) -> PathBuf {
        self.folder.join(file_name(sequence))
    }

    /// How long ago the file of a base was written.
    fn age(&self, sequence: u64) -> Duration {
        let modified = fs::metadata(self.path(sequence)).and_then(|found| found.modified());
        modified.ok().and_then(|time| time.elapsed().ok()).unwrap_or_default()
    }

    /// Removes what is left of bases that were being made.
    pub(crate) fn remove_unfinished(&self) -> Result<(), StoreError> {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_unfinished = entry.file_name().to_string_lossy().ends_with(UNFINISHED);
            let removed = match entry.file_name() == "making" {
                true => fs::remove_dir_all(&path),
                false if is_unfinished => fs::remove_file(&path),
                false => Ok(()),
            };
            removed.map_err(|source| StoreError::io("cannot remove", &path, source))?;
        }
        Ok(())
    }

    /// Makes the base of frame `upto`. False: the server stops.
    ///
    /// # Errors
    /// Those of reading and writing; the base before stays as it is.
    pub fn make(&self, log: &dyn RealmLog, upto: u64, pace: &Pace) -> Result<bool, StoreError> {
        self.make_from(log, (upto, pace), |trees| self.load_into(log, trees))
    }

    /// Makes the base of frame `upto` from what `load` writes to empty trees, and the frames after it.
    pub(crate) fn make_from(
        &self,
        log: &dyn RealmLog,
        (upto, pace): (u64, &Pace),
        load: impl FnOnce(&Trees) -> Result<Option<View>, StoreError>,
    ) -> Result<bool, StoreError> {
        create_private(&self.folder)?;
        self.remove_unfinished()?;
        let made = self.make_file(log, (upto, pace), load);
        // Its trees take room, also when making it has failed.
        self.remove_unfinished()?;
        made
    }

    fn make_file(
        &self,
        log: &dyn RealmLog,
        (upto, pace): (u64, &Pace),
        load: impl FnOnce(&Trees) -> Result<Option<View>, StoreError>,
    ) -> Result<bool, StoreError> {
        let Some(Ok(frame)) = log.read(self.realm.0, upto)?.next() else { return Ok(false) };
        let making = self.folder.join("making");
        let trees = Trees::open(&making, CACHE_BYTES)?;
        let view = load(&trees)?;
        let goes_on = |sequence| {
            let has_room = disk::space(&self.folder).is_none_or(|space| space.has_room(ROOM_BYTES));
            if has_room { Ok(pace.applied(sequence)) } else { Err(StoreError::NoRoom) }
        };
        if replay_until(log, &trees, (self.realm, upto), view, &goes_on)?.is_none() {
            return Ok(false);
        }
        let (kind, frame) = (Kind::Base, frame_checksum(&frame));
        let header = Header { kind, realm: self.realm.0, sequence: upto, frame };
        let unfinished = self.folder.join(format!("{}{UNFINISHED}", file_name(upto)));
        let rows = trees.rows(self.realm).map(|row| row.and_then(unpacked));
        let written = match file::write(&unfinished, header, rows, pace) {
            Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::Interrupted => {
                return Ok(false);
            }
            written => written?,
        };
        trees.close();
        verify(&unfinished, written.1)?;
        let path = self.path(upto);
        fs::rename(&unfinished, &path)
            .map_err(|source| StoreError::io("cannot rename", &unfinished, source))?;
        sync_folder(&self.folder)?;
        tracing::info!(
            realm = self.realm.0,
            sequence = upto,
            bytes = written.0,
            rows = written.1,
            "base of the journal written"
        );
        Ok(true)
    }

    /// Writes the newest base that the journal continues to empty trees, if the journal does not have its first frame any more.
    /// Returns the organization as of the base.
    ///
    /// # Errors
    /// [`StoreError::BaseMissing`] when there is no such base that is whole.
    pub(crate) fn load_into(&self, log: &dyn RealmLog, trees: &Trees) -> Result<Option<View>, StoreError> {
        let first = first_of(log, self.realm)?;
        let mut why = "there is none".to_owned();
        for sequence in self.sequences().into_iter().filter(|sequence| first > 1 && *sequence + 1 >= first) {
            match self.load(log, trees, (sequence, first)) {
                Ok(()) => return trees.load(self.realm),
                Err(error) => {
                    tracing::error!(realm = self.realm.0, sequence, %error, "a base cannot be used");
                    trees.clear(self.realm)?;
                    why = error.to_string();
                }
            }
        }
        match first {
            1 => Ok(None),
            _ => Err(StoreError::BaseMissing { realm: self.realm.0, first, why }),
        }
    }

    /// Writes a base to empty trees. `first` is the first frame that the log has.
    pub(crate) fn load(
        &self,
        log: &dyn RealmLog,
        trees: &Trees,
        (sequence, first): (u64, u64),
    ) -> Result<(), StoreError> {
        let mut reading = self.reading(sequence)?;
        if sequence >= first {
            let frame =
                log.read(self.realm.0, sequence).ok().and_then(|mut frames| frames.next()).transpose()?;
            if frame.is_none_or(|frame| frame_checksum(&frame) != reading.header.frame) {
                return Err(Kind::Base.damaged("it belongs to another history"));
            }
        }
        // Without the record of its progress, an organization is not loaded: it comes last.
        let (mut progress, mut rows) = (Vec::new(), Vec::new());
        while let Some(block) = reading.next()? {
            for row in block {
                if is_progress(&row.key) { progress.push(row) } else { rows.push(row) }
            }
            if rows.len() >= ROWS_MAX {
                trees.write_rows(std::mem::take(&mut rows))?;
            }
        }
        trees.write_rows(rows)?;
        trees.write_rows(progress)
    }

    /// The folder of the files.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens a base of this organization.
    fn reading(&self, sequence: u64) -> Result<RowReader<BufReader<File>>, StoreError> {
        let reading = RowReader::open(&self.path(sequence))?;
        if (reading.header.realm, reading.header.sequence) == (self.realm.0, sequence) {
            return Ok(reading);
        }
        Err(Kind::Base.damaged("it stands for another organization or frame"))
    }

    /// Reads a base to its end.
    fn verify(&self, sequence: u64) -> Result<(), StoreError> {
        let mut reading = self.reading(sequence)?;
        while reading.next()?.is_some() {}
        Ok(())
    }

    pub(crate) fn remove(&self, sequence: u64) -> Result<(), StoreError> {
        let path = self.path(sequence);
        fs::remove_file(&path).map_err(|source| StoreError::io("cannot remove", &path, source))
    }
}

/// Free space without which no base is made, in bytes.
const ROOM_BYTES: u64 = 64 * 1024 * 1024;

/// The first frame that the journal has of an organization.
pub(crate) fn first_of(log: &dyn RealmLog, realm: RealmId) -> Result<u64, StoreError> {
    Ok(bounds(log, realm.0)?.0)
}

/// The name of a base.
pub(crate) fn file_name(sequence: u64) -> String {
    format!("{sequence:020}{SUFFIX}")
}

/// The sequence in the name of a base.
pub(crate) fn sequence_of(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}

fn is_progress(key: &[u8]) -> bool {
    key::table_of(key) == Some(records::Progress::ID)
}

/// A row with its chunk as it was before it was compressed: larger blocks compress better.
pub(crate) fn unpacked(row: Row) -> Result<Row, StoreError> {
    match records::is_chunk(&row.key) {
        true => Ok(Row { value: crate::view::packed::plain(&row.value)?.into_owned(), key: row.key }),
        false => Ok(row),
    }
}

/// Reads a file back from the disk.
fn verify(path: &Path, rows: u64) -> Result<(), StoreError> {
    let mut reading = RowReader::open(path)?;
    let mut found = 0;
    while let Some(block) = reading.next()? {
        found += block.len() as u64;
    }
    if found == rows {
        return Ok(());
    }
    Err(Kind::Base.damaged(&format!("it has {found} rows instead of {rows}")))
}
