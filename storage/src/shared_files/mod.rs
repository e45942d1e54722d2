//! What the nodes of a cluster share beside the log: checkpoints of organizations, from which a node opens one that it never
//! had, and the oldest frames, which the log then does not need to have any more.
//!
//! ```text
//! nodes/<name>-<incarnation>                            a node that uses this place
//! realm-<id, 10 digits>/<sequence, 20 digits>.base      all rows of an organization as of a frame (`base`)
//! realm-<id, 10 digits>/<first, 20 digits>-<last, 20 digits>.frames
//!                                                       frames of the log; files may overlap
//! ```
//!
//! Everything is verified by reading it back before something is removed that it replaces. A file depends only on the log, so
//! a former owner that still writes does no harm.

mod folder;
mod frames;
mod load;
mod make;
mod trim;

#[cfg(test)]
mod tests;

pub use folder::SharedFolder;
pub use load::is_continued;
pub use make::Made;
pub use trim::{Archiving, Trimmed};

use crate::backup::FileStore;
use crate::base::file::{Kind, RowReader};
use crate::base::{Bases, file_name, first_of, sequence_of};
use crate::checkpoint::{folder_name, frame_checksum};
use crate::error::StoreError;
use crate::log::{LogError, RealmLog};
use crate::private_files::create_private;
use model::RealmId;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// How many checkpoints of an organization are kept.
const KEPT: usize = 2;

/// The folder of the marks of nodes.
const NODES: &str = "nodes";

/// A place that all nodes share, as this node uses it.
pub struct SharedStore {
    place: Box<dyn FileStore>,
    /// The folder of bases in this node's data folder.
    bases: PathBuf,
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedStore").field(&self.place.title()).finish()
    }
}

impl SharedStore {
    /// Uses a place; `bases` is the folder of bases in the data folder.
    pub fn new(place: Box<dyn FileStore>, bases: &Path) -> Self {
        Self { place, bases: bases.to_path_buf() }
    }

    fn local(&self, realm: RealmId) -> Bases {
        Bases::of(&self.bases, realm)
    }

    fn failed(&self, what: &'static str, name: &str, source: io::Error) -> StoreError {
        let path = PathBuf::from(format!("{}/{name}", self.place.title()));
        StoreError::Io { what, path, source }
    }

    /// The names of the files of an organization.
    fn names(&self, realm: RealmId) -> Result<Vec<String>, StoreError> {
        let folder = folder_name(realm);
        self.place.list(&folder).map_err(|error| self.failed("cannot list", &folder, error))
    }

    /// The sequences of the checkpoints of an organization that this log has or continues, newest first. After its database was
    /// restored from a backup, there may be others: they are neither used nor removed.
    ///
    /// # Errors
    /// [`StoreError::Io`], and those of the log.
    pub fn own_checkpoints(&self, log: &dyn RealmLog, realm: RealmId) -> Result<Vec<u64>, StoreError> {
        let first = first_of(log, realm)?;
        let mut own = Vec::new();
        for sequence in self.checkpoints(realm)?.into_iter().filter(|sequence| *sequence + 1 >= first) {
            let is_own = sequence < first || self.is_of(log, realm, sequence)?;
            own.extend(is_own.then_some(sequence));
        }
        Ok(own)
    }

    /// Whether a checkpoint stands for the frame that a log has. A damaged one does not.
    fn is_of(&self, log: &dyn RealmLog, realm: RealmId, sequence: u64) -> Result<bool, StoreError> {
        let frame = match log.read(realm.0, sequence) {
            Err(LogError::OutOfRange { .. }) => None,
            frames => frames?.next().transpose()?,
        };
        let reading =
            self.open(&checkpoint_name(realm, sequence)).and_then(|file| RowReader::new(Kind::Base, file));
        Ok(match (frame, reading) {
            (Some(frame), Ok(reading)) => reading.header.frame == frame_checksum(&frame),
            (None, _) | (_, Err(_)) => false,
        })
    }

    /// The sequences of the checkpoints of an organization, newest first.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn checkpoints(&self, realm: RealmId) -> Result<Vec<u64>, StoreError> {
        let names = self.names(realm)?;
        let mut found: Vec<u64> = names.iter().filter_map(|name| sequence_of(name)).collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        Ok(found)
    }

    fn open(&self, name: &str) -> Result<BufReader<Box<dyn Read + '_>>, StoreError> {
        let opened = self.place.open(name);
        opened.map(BufReader::new).map_err(|error| self.failed("cannot read", name, error))
    }

    fn store(&self, name: &str, from: &Path) -> Result<(), StoreError> {
        let mut content = fs::File::open(from).map_err(|error| StoreError::io("cannot read", from, error))?;
        let stored = self.place.store(name, &mut content).and_then(|()| self.place.sync());
        stored.map_err(|error| self.failed("cannot write", name, error))
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        match self.place.remove(name) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(self.failed("cannot remove", name, error))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Reads a checkpoint to its end.
    fn verify(&self, realm: RealmId, sequence: u64) -> Result<(), StoreError> {
        let mut reading = RowReader::new(Kind::Base, self.open(&checkpoint_name(realm, sequence))?)?;
        if (reading.header.realm, reading.header.sequence) != (realm.0, sequence) {
            return Err(Kind::Base.damaged("it stands for another organization or frame"));
        }
        while reading.next()?.is_some() {}
        Ok(())
    }

    /// Copies a checkpoint to this node, unless it is there.
    fn fetch(&self, realm: RealmId, sequence: u64) -> Result<(), StoreError> {
        let bases = self.local(realm);
        let path = bases.path(sequence);
        if path.exists() {
            return Ok(());
        }
        create_private(bases.folder())?;
        let unfinished = path.with_extension("fetched.new");
        let mut content = self.open(&checkpoint_name(realm, sequence))?;
        let copied = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&unfinished)
            .and_then(|mut file| io::copy(&mut content, &mut file))
            .and_then(|_| fs::rename(&unfinished, &path));
        copied.map_err(|error| StoreError::io("cannot write", &path, error))
    }

    /// Leaves the mark of a node, and removes those that it left before.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn mark(&self, node: &str, incarnation: i64) -> Result<(), StoreError> {
        let own = mark_name(node, incarnation);
        let marks = self.marks()?;
        if !marks.contains(&own) {
            let name = format!("{NODES}/{own}");
            let stored = self.place.store(&name, &mut own.as_bytes()).and_then(|()| self.place.sync());
            stored.map_err(|error| self.failed("cannot write", &name, error))?;
        }
        let is_old = |mark: &&String| {
            mark.rsplit_once('-').is_some_and(|(name, number)| {
                name == node && number.parse::<i64>().is_ok_and(|number| number < incarnation)
            })
        };
        marks.iter().filter(is_old).try_for_each(|old| self.remove(&format!("{NODES}/{old}")))
    }

    /// The marks of nodes that use this place.
    fn marks(&self) -> Result<Vec<String>, StoreError> {
        self.place.list(NODES).map_err(|error| self.failed("cannot list", NODES, error))
    }

    /// Which of these nodes have left no mark: they do not share this place.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn nodes_without_marker<'n>(&self, nodes: &[(&'n str, i64)]) -> Result<Vec<&'n str>, StoreError> {
        let marks = self.marks()?;
        let has_no_marker = |node: &&(&str, i64)| !marks.contains(&mark_name(node.0, node.1));
        Ok(nodes.iter().filter(has_no_marker).map(|(name, _)| *name).collect())
    }
}

fn mark_name(node: &str, incarnation: i64) -> String {
    format!("{node}-{incarnation}")
}

fn checkpoint_name(realm: RealmId, sequence: u64) -> String {
    format!("{}/{}", folder_name(realm), file_name(sequence))
}
