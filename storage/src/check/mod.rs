//! Compares what should agree: the journal with its own checksums, the trees with each other and with the
//! journal. For a data folder that no server uses; `check_folder` has it for itself.

mod compare;
mod report;
mod rows;
mod words;

#[cfg(test)]
mod tests;

pub use compare::{Comparison, compare};
pub use report::{CheckReport, RealmReport, ShardReport};

use crate::error::StoreError;
use crate::folder::DataFolder;
use crate::log::{self, Durable, Journal, JournalOptions, LogError, RealmLog, Ticket};
use crate::open::replay;
use crate::projection::Trees;
use model::RealmId;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Page cache of the trees while they are checked.
const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// What a check is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckProgress {
    /// It reads a journal.
    Journal {
        /// Of which shard.
        shard: usize,
        /// How far it has come.
        progress: log::Progress,
    },
    /// It begins to compare an organization.
    Realm {
        /// Which.
        realm: RealmId,
        /// How many are done.
        done: usize,
        /// How many there are.
        total: usize,
    },
}

/// Nobody waits for reports: a check appends nothing.
struct Unheard;

impl Durable for Unheard {
    fn durable(&mut self, _: Ticket, _: Result<(), LogError>) {}
}

/// Checks a whole data folder, the lag of a killed process made up for first, as every start does.
///
/// With `rebuild`, the trees of organizations that differ from their journal are written anew from it, and
/// trees that cannot be opened at all are moved aside. The journal is never changed beyond what opening it
/// does. What a check finds is in its answer; see [`CheckReport::is_clean`].
///
/// # Errors
/// [`StoreError`] when the disk fails, or a journal was written by a newer server.
pub fn check_folder(
    folder: &DataFolder,
    rebuild: bool,
    mut progress: impl FnMut(CheckProgress),
) -> Result<CheckReport, StoreError> {
    let mut report = CheckReport::default();
    let mut journals = Vec::new();
    for shard in 0..folder.shards() {
        let (shard, journal) = check_journal(folder, shard, &mut progress)?;
        report.shards.push(shard);
        journals.extend(journal);
    }
    let mut checked = check_realms(folder, &journals, &report, rebuild, &mut progress);
    if let Err(error) = &checked
        && error.is_tree_damage()
    {
        report.trees_damage = Some(error.to_string());
        // Without a sound journal, damaged trees are the last that is left.
        if !rebuild || report.has_damaged_journal() {
            return Ok(report);
        }
        report.trees_moved = Some(move_trees_aside(folder)?);
        checked = check_realms(folder, &journals, &report, rebuild, &mut progress);
    }
    report.realms = checked?;
    journals.iter().for_each(|journal| journal.close());
    Ok(report)
}

fn check_realms(
    folder: &DataFolder,
    journals: &[Journal],
    report: &CheckReport,
    rebuild: bool,
    progress: &mut impl FnMut(CheckProgress),
) -> Result<Vec<RealmReport>, StoreError> {
    let trees = Trees::open(&folder.state(), CACHE_BYTES)?;
    let mut realms: BTreeSet<RealmId> = trees.realms()?.into_iter().collect();
    realms.extend(journals.iter().flat_map(|journal| journal.realms()).map(RealmId));
    let mut check = Check { trees: &trees, rebuild, scratch: Scratch::new(folder.path())? };
    let mut found = Vec::new();
    for (done, realm) in realms.iter().enumerate() {
        progress(CheckProgress::Realm { realm: *realm, done, total: realms.len() });
        let mut about = RealmReport::new(*realm);
        match journals.iter().find(|journal| journal.realms().contains(&realm.0)) {
            Some(journal) => check.realm(journal, &mut about)?,
            None => check.without_journal(report, &mut about)?,
        }
        found.push(about);
    }
    trees.flush()?;
    Ok(found)
}

fn check_journal(
    folder: &DataFolder,
    shard: usize,
    progress: &mut impl FnMut(CheckProgress),
) -> Result<(ShardReport, Option<Journal>), StoreError> {
    let path = folder.journal(shard);
    let mut report = ShardReport { shard, ..ShardReport::default() };
    if !path.exists() {
        return Ok((report, None));
    }
    let found = log::verify(&path, &mut |at| progress(CheckProgress::Journal { shard, progress: *at }))?;
    report.progress = found.progress;
    report.torn_tail = found.torn_tail;
    report.damage = found.damage;
    if report.damage.is_some() {
        return Ok((report, None));
    }
    let journal = Journal::open(&path, &JournalOptions::default(), Box::new(Unheard))?;
    Ok((report, Some(journal)))
}

fn move_trees_aside(folder: &DataFolder) -> Result<PathBuf, StoreError> {
    let path = folder.state();
    let aside = free_name(&path.with_file_name("state-damaged"));
    std::fs::rename(&path, &aside).map_err(|source| io("cannot move aside", &path, source))?;
    Ok(aside)
}

/// The path, or the path with the first number that nothing has yet.
fn free_name(path: &Path) -> PathBuf {
    let mut name = path.to_path_buf();
    let mut number = 1;
    while name.exists() {
        number += 1;
        name = PathBuf::from(format!("{}-{number}", path.display()));
    }
    name
}

/// What checking one organization needs.
struct Check<'t> {
    trees: &'t Trees,
    rebuild: bool,
    scratch: Scratch,
}

impl Check<'_> {
    fn realm(&mut self, journal: &Journal, found: &mut RealmReport) -> Result<(), StoreError> {
        found.frames = journal.open(found.realm.0, 0)?.last_sequence;
        if !self.bring_up(journal, found)? {
            return Ok(());
        }
        self.find(journal, found)?;
        if found.problem.is_some() || found.is_clean() || !self.rebuild {
            return Ok(());
        }
        self.trees.clear(found.realm)?;
        replay(journal, self.trees, found.realm, None)?;
        found.rebuilt = true;
        let mut again = RealmReport::new(found.realm);
        self.find(journal, &mut again)?;
        if !again.is_clean() {
            found.problem =
                Some(format!("the trees still differ after the rebuild: {}", again.listed.join("; ")));
        }
        Ok(())
    }

    /// Replays what the trees lack. False when they cannot be compared with the journal at all.
    fn bring_up(&self, journal: &Journal, found: &mut RealmReport) -> Result<bool, StoreError> {
        let realm = found.realm;
        let view = match self.trees.load(realm) {
            Ok(view) => view,
            // A row that cannot be read: the comparison says which.
            Err(StoreError::Decode { .. }) => return Ok(true),
            Err(error) => return Err(error),
        };
        if view.is_none() && self.trees.rows(realm).next().is_some() {
            return Ok(true);
        }
        let applied = view.as_ref().map_or(0, |view| view.progress.sequence.0);
        if applied > found.frames {
            let error = StoreError::JournalBehind { realm: realm.0, trees: applied, journal: found.frames };
            found.problem = Some(error.to_string());
            return Ok(false);
        }
        match replay(journal, self.trees, realm, view) {
            Ok(_) => found.replayed = found.frames - applied,
            Err(error @ StoreError::Decode { .. }) => {
                found.problem = Some(error.to_string());
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// Compares the rows with each other and with the journal.
    fn find(&mut self, journal: &Journal, found: &mut RealmReport) -> Result<(), StoreError> {
        let among_rows = rows::check_rows(self.trees, found.realm)?;
        let scratch = self.scratch.next();
        let compared = compare(journal, self.trees, found.realm, &scratch);
        remove(&scratch)?;
        let compared = match compared {
            Ok(compared) => compared,
            Err(error @ StoreError::Decode { .. }) => {
                found.problem = Some(error.to_string());
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        found.rows = compared.rows;
        found.differing = compared.differing;
        found.inconsistent = among_rows.differing;
        found.listed = compared.listed;
        found.listed.extend(among_rows.listed);
        Ok(())
    }

    fn without_journal(&self, report: &CheckReport, found: &mut RealmReport) -> Result<(), StoreError> {
        let among_rows = rows::check_rows(self.trees, found.realm)?;
        found.rows = among_rows.rows;
        found.inconsistent = among_rows.differing;
        found.listed = among_rows.listed;
        let why = if report.has_damaged_journal() {
            "it could not be compared, because its journal is damaged; the way back is a copy of the data folder made before"
        } else {
            "the trees have it, but no journal does: the journal was lost or replaced; \
             the way back is a copy of the data folder made before"
        };
        found.problem = Some(why.into());
        Ok(())
    }
}

/// A folder for rebuilt trees, gone when the check is over, however it ends.
struct Scratch {
    path: PathBuf,
    used: usize,
}

impl Scratch {
    fn new(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join("check-scratch");
        // What a check that was killed left.
        remove(&path)?;
        Ok(Self { path, used: 0 })
    }

    /// A path that was not used yet.
    fn next(&mut self) -> PathBuf {
        self.used += 1;
        self.path.join(self.used.to_string())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::warn!(%error, "a folder of the check is left");
        }
    }
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("cannot remove", path, error)),
        _ => Ok(()),
    }
}

fn io(what: &'static str, path: &Path, source: std::io::Error) -> StoreError {
    StoreError::Io { what, path: path.to_path_buf(), source }
}
