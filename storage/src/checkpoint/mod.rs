//! Checkpoints: an organization in memory as a file, so that a start reads one file and the tail of the journal, however
//! long the history is.
//!
//! ```text
//! checkpoints/realm-<id, 10 digits>/<sequence, 20 digits>.ckpt
//! ```
//!
//! A checkpoint is derived, like the trees: where one is missing, damaged or of another version, an older one is used, or
//! the trees. It stands for the frames up to its sequence, and has the checksum of that frame's payload, so that it is never
//! combined with another history. Records of small tables are stored as their rows, and records that grow with the number of
//! messages as sets (`View::save_sets`). A new table takes part as rows without further code, and a new field of the view does
//! not compile until `save_sets` names it.
//!
//! While the server runs, checkpoints are not made from its memory: `advance` loads the newest one, applies the frames since
//! then, and writes the next, beside the server and without any lock. At a clean stop the view is written as it is.

mod advance;
pub(crate) mod codec;
mod file;
mod pace;
mod start;

#[cfg(test)]
mod tests;

pub use advance::{Advanced, advance};
pub use pace::Pace;
pub use start::{Started, complete_trees, start_from};

pub(crate) use file::{FOLDER, list as sequences_in, name_of as file_name, sequence_of};

use crate::codec::{RECORD_BYTES_MAX, encode};
use crate::error::StoreError;
use crate::log::{FrameBytes, RealmLog};
use crate::projection::Trees;
use crate::replay::apply;
use crate::view::{Row, RowChange, Rows, View, records};
use model::{RealmId, UserGroup};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// How many checkpoints of an organization are kept.
const KEPT: usize = 2;

/// Rows of small tables by key.
pub(crate) type SmallRows = BTreeMap<Vec<u8>, Vec<u8>>;

/// The checkpoints of one organization.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    realm: RealmId,
}

/// A checkpoint that was read.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub view: View,
    pub rows: SmallRows,
    /// The checksum of the payload of the frame that it stands for.
    pub frame: u64,
}

impl Checkpoints {
    /// Those of an organization in the folder of all checkpoints.
    pub fn of(folder: &Path, realm: RealmId) -> Self {
        Self { folder: folder.join(folder_name(realm)), realm }
    }

    /// The sequences of the files, newest first.
    pub fn sequences(&self) -> Vec<u64> {
        file::list(&self.folder)
    }

    /// The newest valid checkpoint of this history at or before frame `upto`. Those that are damaged or of another history are
    /// reported in the log and removed.
    pub(crate) fn newest(&self, log: &dyn RealmLog, upto: u64) -> Option<Loaded> {
        for sequence in self.sequences().into_iter().filter(|sequence| *sequence <= upto) {
            match self
                .read(sequence)
                .map_err(|error| error.to_string())
                .and_then(|found| self.check(log, sequence, found))
            {
                Ok(loaded) => return Some(loaded),
                Err(why) => self.remove(sequence, &why),
            }
        }
        None
    }

    /// Removes the checkpoints after frame `last`, where the journal ends.
    pub fn remove_after(&self, last: u64) {
        for sequence in self.sequences().into_iter().filter(|sequence| *sequence > last) {
            self.remove(sequence, "the journal ends before it");
        }
    }

    fn remove(&self, sequence: u64, why: &str) {
        tracing::warn!(realm = self.realm.0, sequence, why, "a checkpoint cannot be used and is removed");
        if let Err(error) = file::remove(&self.folder, sequence) {
            tracing::warn!(%error, "the checkpoint could not be removed");
        }
    }

    /// Whether a checkpoint stands for the frame of this journal.
    fn check(&self, log: &dyn RealmLog, sequence: u64, loaded: Loaded) -> Result<Loaded, String> {
        let frame = log.read(self.realm.0, sequence).map_err(|error| error.to_string())?.next();
        match frame {
            Some(Ok(frame)) if frame_checksum(&frame) == loaded.frame => Ok(loaded),
            Some(Err(error)) => Err(error.to_string()),
            _ => Err("it belongs to another history".to_owned()),
        }
    }

    fn read(&self, sequence: u64) -> Result<Loaded, StoreError> {
        let content = file::read(&self.folder, self.realm, sequence)?;
        let damaged =
            || StoreError::Decode { what: "checkpoint", why: "its content has another form".into() };
        let mut input = codec::Input::new(content.body());
        let rows = load_rows(&mut input).ok_or_else(damaged)?;
        let mut view = View::from_small_rows(self.realm, &rows)?.ok_or_else(damaged)?;
        view.load_sets(&mut input).ok_or_else(damaged)?;
        if !input.is_empty() || view.progress.sequence.0 != sequence {
            return Err(damaged());
        }
        Ok(Loaded { view, rows, frame: content.frame })
    }

    /// Writes the checkpoint of a view whose small rows are `rows`, and removes the oldest ones. `frame` is the checksum of
    /// the view's newest frame.
    pub(crate) fn write<'r>(
        &self,
        view: &View,
        rows: impl Iterator<Item = (&'r [u8], &'r [u8])>,
        (count, frame): (usize, u64),
        pace: &Pace,
    ) -> Result<u64, StoreError> {
        let sequence = view.progress.sequence.0;
        let bytes = file::write(&self.folder, (self.realm, sequence, frame), pace, |out| {
            codec::Saved::save(&(count as u64), out)?;
            for (key, value) in rows {
                out.put_bytes(key)?;
                out.put_bytes(value)?;
            }
            view.save_sets(out)
        })?;
        for old in self.sequences().into_iter().skip(KEPT) {
            file::remove(&self.folder, old)?;
        }
        Ok(bytes)
    }

    /// Writes the checkpoint of a view that nothing changes meanwhile, with its small rows from the trees, which must have
    /// everything that the view reflects.
    ///
    /// # Errors
    /// Those of reading and writing; the checkpoints before stay as they are.
    pub fn save(&self, log: &dyn RealmLog, view: &View, trees: &Trees) -> Result<(), StoreError> {
        let mut rows = SmallRows::new();
        for row in trees.small_rows(self.realm) {
            let Row { key, value } = row?;
            rows.insert(key, value);
        }
        let sequence = view.progress.sequence.0;
        let stored = View::from_small_rows(self.realm, &rows)?.map(|stored| stored.progress.sequence.0);
        let Some(Ok(frame)) = log.read(self.realm.0, sequence)?.next() else { return Ok(()) };
        // Trees that lag behind are no source for a checkpoint.
        if stored == Some(sequence) {
            let count = rows.len();
            let rows = rows.iter().map(|(key, value)| (&**key, &**value));
            self.write(view, rows, (count, frame_checksum(&frame)), &Pace::unlimited())?;
        }
        Ok(())
    }
}

/// The name of the folder of an organization's checkpoints.
pub(crate) fn folder_name(realm: RealmId) -> String {
    format!("realm-{:010}", realm.0)
}

/// The newest of the checkpoints in a folder.
pub(crate) fn newest_in(folder: &Path) -> Option<u64> {
    sequences_in(folder).first().copied()
}

/// The checksum by which a checkpoint names its newest frame.
pub(crate) fn frame_checksum(frame: &FrameBytes) -> u64 {
    frame.original.unwrap_or_else(|| xxh3_64(&frame.payload))
}

fn load_rows(input: &mut codec::Input<'_>) -> Option<SmallRows> {
    let count: u64 = codec::Saved::load(input)?;
    let mut rows = SmallRows::new();
    for _ in 0..count {
        let (key, value) = (input.take_bytes()?, input.take_bytes()?);
        if value.len() as u64 > RECORD_BYTES_MAX {
            return None;
        }
        rows.insert(key.to_vec(), value.to_vec());
    }
    Some(rows)
}

/// Groups whose records are encoded when all frames are applied, by their keys.
type ChangedGroups = BTreeMap<Vec<u8>, Arc<UserGroup>>;

/// Applies the changes of a frame to the rows of small tables.
fn change_rows(rows: &mut SmallRows, groups: &mut ChangedGroups, changes: Rows) {
    let is_small = |key: &[u8]| records::table_with(key).is_some_and(|table| !table.is_in_sets);
    for change in changes.0 {
        match change {
            RowChange::Put(Row { key, value }) if is_small(&key) => {
                groups.remove(&key);
                rows.insert(key, value);
            }
            RowChange::PutGroup { key, group } => _ = groups.insert(key, group),
            RowChange::Remove(key) => {
                groups.remove(&key);
                rows.remove(&key);
            }
            RowChange::RemoveUnder(prefix) => {
                groups.retain(|key, _| !key.starts_with(&prefix));
                let hits = rows.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
                let hits: Vec<Vec<u8>> = hits.map(|(key, _)| key.clone()).collect();
                hits.iter().for_each(|key| _ = rows.remove(key));
            }
            // Of tables that are stored as sets.
            RowChange::Put(_)
            | RowChange::Append { .. }
            | RowChange::Erase { .. }
            | RowChange::EraseVersions { .. } => {}
        }
    }
}

/// An organization while its next checkpoint is made: empty, or what the one before has.
#[derive(Debug, Default)]
pub(crate) struct CheckpointBuilder {
    pub view: Option<View>,
    rows: SmallRows,
    groups: ChangedGroups,
    /// The checksum of the newest frame of the checkpoint before.
    frame: u64,
    /// The newest frame since then. Only its checksum is needed, so none is computed before.
    newest: Option<FrameBytes>,
}

impl CheckpointBuilder {
    fn from(loaded: Option<Loaded>) -> Self {
        match loaded {
            Some(Loaded { view, rows, frame }) => Self { view: Some(view), rows, frame, ..Self::default() },
            None => Self::default(),
        }
    }

    /// The newest frame that it reflects.
    fn sequence(&self) -> u64 {
        self.view.as_ref().map_or(0, |view| view.progress.sequence.0)
    }

    /// Applies the next frame.
    fn apply(&mut self, stored: FrameBytes) -> Result<(), StoreError> {
        let changes = apply(&mut self.view, &stored)?;
        if let Some(view) = &mut self.view {
            // Bodies are not part of a checkpoint.
            view.recent.keep_none();
        }
        change_rows(&mut self.rows, &mut self.groups, changes);
        self.newest = Some(stored);
        Ok(())
    }

    /// The view, the rows and the checksum of the newest frame; none without a frame.
    fn finish(mut self) -> Result<Option<(View, SmallRows, u64)>, StoreError> {
        for (key, group) in self.groups {
            self.rows.insert(key, encode(&group)?);
        }
        let frame = self.newest.as_ref().map_or(self.frame, frame_checksum);
        Ok(self.view.map(|view| (view, self.rows, frame)))
    }
}
