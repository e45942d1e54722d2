//! Checks the consistency of a data folder: the journal against its checksums, the rows of the trees against each other
//! and against the journal. Only while the server is stopped: [`check_folder`] takes the lock of the folder.

mod compare;
mod report;
mod rows;

#[cfg(test)]
mod tests;

pub use compare::{Comparison, compare};
pub use report::{CheckReport, RealmReport, ShardReport};

use crate::checkpoint::Checkpoints;
use crate::error::StoreError;
use crate::folder::DataFolder;
use crate::log::{self, Durable, Journal, JournalOptions, LogError, RealmLog, Ticket};
use crate::open::replay;
use crate::projection::Trees;
use model::RealmId;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};

/// Page cache of the trees while they are checked, in bytes.
const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// Progress reports of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckProgress {
    /// The check reads a journal.
    Journal { shard: usize, progress: log::Progress },
    /// The check begins to compare an organization.
    Realm { realm: RealmId, done: usize, total: usize },
}

/// Ignores reports of durable frames: a check appends nothing.
struct IgnoreReports;

impl Durable for IgnoreReports {
    fn durable(&mut self, _: Ticket, _: Result<(), LogError>) {}
}

/// Checks a whole data folder. As on every start, frames that the trees lack after a crash are replayed first.
///
/// With `rebuild`, the trees of organizations that differ from their journal are rebuilt from it, and trees that
/// cannot be opened at all are moved aside. The journal is never changed beyond what opening it does. Differences are
/// part of the report; see [`CheckReport::is_clean`].
///
/// # Errors
/// [`StoreError`] when the disk fails, or a journal was written by a newer server.
pub fn check_folder(
    folder: &DataFolder,
    rebuild: bool,
    mut progress: impl FnMut(CheckProgress),
) -> Result<CheckReport, StoreError> {
    if folder.is_live_copy() {
        finish_copy(folder, rebuild)?;
    }
    let mut report = CheckReport::default();
    let mut journals = Vec::new();
    for shard in 0..folder.shards() {
        let (shard, journal) = check_journal(folder, shard, &mut progress)?;
        report.shards.push(shard);
        journals.extend(journal);
    }
    let checked = check_realms(folder, &journals, &report, rebuild, &mut progress);
    let ends = ends_of(&journals)?;
    if !rebuild && !report.has_damaged_journal() {
        folder.check_ends(&ends)?;
    }
    // Without an intact journal the trees are the only data left, so they are not touched even if damaged.
    let is_journal_sound =
        !report.has_damaged_journal() && journals.iter().any(|journal| !journal.realms().is_empty());
    report.trees_damage = match &checked {
        Ok(realms) if is_journal_sound => find_surplus(realms),
        Err(error) if error.is_tree_damage() && !error.is_full() => Some(error.to_string()),
        _ => None,
    };
    let checked = match (&report.trees_damage, checked) {
        (None, checked) => checked,
        (Some(_), checked) if !rebuild || !is_journal_sound => Ok(checked.unwrap_or_default()),
        (Some(_), _) => {
            report.trees_moved = Some(move_trees_aside(folder)?);
            check_realms(folder, &journals, &report, rebuild, &mut progress)
        }
    };
    report.realms = checked?;
    if rebuild && is_journal_sound {
        for (realm, last) in &ends {
            Checkpoints::of(&folder.checkpoints(), *realm).remove_after(*last);
        }
        folder.note_state(false, &ends)?;
    }
    journals.iter().for_each(|journal| journal.close());
    Ok(report)
}

/// The last frame of each organization.
fn ends_of(journals: &[Journal]) -> Result<BTreeMap<RealmId, u64>, StoreError> {
    let mut ends = BTreeMap::new();
    for journal in journals {
        for realm in journal.realms() {
            ends.insert(RealmId(realm), journal.open(realm, 0)?.last_sequence);
        }
    }
    Ok(ends)
}

/// Completes a copy that was made while a server used the original: truncates its journals where they end, and removes its trees, which
/// are rebuilt. Only with `rebuild`.
fn finish_copy(folder: &DataFolder, rebuild: bool) -> Result<(), StoreError> {
    if !rebuild {
        return Err(StoreError::LiveCopy { path: folder.path().to_path_buf() });
    }
    for shard in 0..folder.shards() {
        let options = JournalOptions { is_copy: true, ..JournalOptions::default() };
        Journal::open(&folder.journal(shard), &options, Box::new(IgnoreReports))?.close();
    }
    folder.discard_trees()
}

/// Why the trees as a whole do not match the journal, if they hold data that it lacks.
fn find_surplus(realms: &[RealmReport]) -> Option<String> {
    realms.iter().find(|realm| realm.is_surplus).and_then(|realm| realm.problem.clone())
}

/// Checks every organization. Damage that makes sled panic is returned as an error like any other damage.
fn check_realms(
    folder: &DataFolder,
    journals: &[Journal],
    report: &CheckReport,
    rebuild: bool,
    progress: &mut impl FnMut(CheckProgress),
) -> Result<Vec<RealmReport>, StoreError> {
    let trees = Trees::open(&folder.state(), CACHE_BYTES)?;
    let checked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut realms: BTreeSet<RealmId> = trees.realms()?.into_iter().collect();
        realms.extend(journals.iter().flat_map(|journal| journal.realms()).map(RealmId));
        let mut check = Check { trees: &trees, rebuild, scratch: Scratch::new(folder.path())? };
        let mut found = Vec::new();
        for (done, realm) in realms.iter().enumerate() {
            progress(CheckProgress::Realm { realm: *realm, done, total: realms.len() });
            let mut about = RealmReport { realm: *realm, ..RealmReport::default() };
            match journals.iter().find(|journal| journal.realms().contains(&realm.0)) {
                Some(journal) => check.realm(journal, &mut about)?,
                None => check.without_journal(report, &mut about)?,
            }
            found.push(about);
        }
        trees.flush()?;
        Ok(found)
    }));
    trees.close();
    checked.unwrap_or_else(|_| Err(StoreError::TreesDamaged("reading them failed".to_owned())))
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
    report =
        ShardReport { shard, progress: found.progress, torn_tail: found.torn_tail, damage: found.damage };
    if report.damage.is_some() {
        return Ok((report, None));
    }
    let journal = Journal::open(&path, &JournalOptions::default(), Box::new(IgnoreReports))?;
    Ok((report, Some(journal)))
}

fn move_trees_aside(folder: &DataFolder) -> Result<PathBuf, StoreError> {
    let path = folder.state();
    let aside = free_name(&path.with_file_name("state-damaged"));
    std::fs::rename(&path, &aside).map_err(|source| StoreError::io("cannot move aside", &path, source))?;
    Ok(aside)
}

/// The path, or, if it exists, the path with the first unused number appended.
fn free_name(path: &Path) -> PathBuf {
    let mut name = path.to_path_buf();
    let mut number = 1;
    while name.exists() {
        number += 1;
        name = PathBuf::from(format!("{}-{number}", path.display()));
    }
    name
}

/// The context of checking one organization.
struct Check<'t> {
    trees: &'t Trees,
    rebuild: bool,
    scratch: Scratch,
}

impl Check<'_> {
    fn realm(&mut self, journal: &Journal, found: &mut RealmReport) -> Result<(), StoreError> {
        found.frames = journal.open(found.realm.0, 0)?.last_sequence;
        if !self.replay_missing(journal, found)? {
            return Ok(());
        }
        self.find(journal, found)?;
        if found.problem.is_some() || found.is_clean() || !self.rebuild {
            return Ok(());
        }
        self.trees.clear(found.realm)?;
        replay(journal, self.trees, found.realm, None)?;
        found.rebuilt = true;
        let mut again = RealmReport { realm: found.realm, ..RealmReport::default() };
        self.find(journal, &mut again)?;
        if !again.is_clean() {
            found.problem =
                Some(format!("the trees still differ after the rebuild: {}", again.listed.join("; ")));
        }
        Ok(())
    }

    /// Replays the frames that the trees lack. Returns false when the trees cannot be compared with the journal at all.
    fn replay_missing(&self, journal: &Journal, found: &mut RealmReport) -> Result<bool, StoreError> {
        let realm = found.realm;
        let view = match self.trees.load(realm) {
            Ok(view) => view,
            // A row cannot be decoded; the comparison reports which one.
            Err(StoreError::Decode { .. }) => return Ok(true),
            Err(error) => return Err(error),
        };
        if view.is_none() && self.trees.rows(realm).next().is_some() {
            return Ok(true);
        }
        let applied = view.as_ref().map_or(0, |view| view.progress.sequence.0);
        if applied > found.frames {
            let error = StoreError::JournalBehind { realm: realm.0, trees: applied, journal: found.frames };
            (found.problem, found.is_surplus) = (Some(error.to_string()), true);
            return Ok(false);
        }
        match replay(journal, self.trees, realm, view) {
            Ok(_) => found.replayed = found.frames - applied,
            Err(error @ (StoreError::Decode { .. } | StoreError::BaseMissing { .. })) => {
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
            Err(error @ (StoreError::Decode { .. } | StoreError::BaseMissing { .. })) => {
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
            "it could not be compared, because its journal is damaged; restore a backup of the data folder"
        } else {
            found.is_surplus = true;
            "the trees have it, but no journal does: the journal was lost or replaced; \
             restore a backup of the data folder"
        };
        found.problem = Some(why.into());
        Ok(())
    }
}

/// A temporary folder for rebuilt trees, removed when dropped.
struct Scratch {
    path: PathBuf,
    used: usize,
}

impl Scratch {
    fn new(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join("check-scratch");
        // Left over from a check that was killed.
        remove(&path)?;
        Ok(Self { path, used: 0 })
    }

    /// An unused path inside the folder.
    fn next(&mut self) -> PathBuf {
        self.used += 1;
        self.path.join(self.used.to_string())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.path) {
            tracing::warn!(%error, "the temporary folder of the check could not be removed");
        }
    }
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io("cannot remove", path, error))
        }
        _ => Ok(()),
    }
}
