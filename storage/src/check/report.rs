//! The result of a check, as data and as text with instructions.

use crate::log::{Damage, Progress, TornTail};
use model::RealmId;
use std::fmt;
use std::path::PathBuf;

/// The result of checking a data folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// The journal of each shard, by number.
    pub shards: Vec<ShardReport>,
    /// Why the trees could not be used; organizations are then only compared if the trees were moved and rebuilt.
    pub trees_damage: Option<String>,
    /// Where damaged trees were moved.
    pub trees_moved: Option<PathBuf>,
    /// All organizations, by id.
    pub realms: Vec<RealmReport>,
}

/// The result of checking one journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardReport {
    pub shard: usize,
    /// How much was read, up to the first damage.
    pub progress: Progress,
    /// An incomplete last write after a crash, which opening the journal discarded. Not damage.
    pub torn_tail: Option<TornTail>,
    /// The first damage in the journal, which ends the reading.
    pub damage: Option<Damage>,
}

/// The result of checking one organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RealmReport {
    pub realm: RealmId,
    /// The newest frame in the journal.
    pub frames: u64,
    /// How many frames were replayed because the trees lacked them, as after a crash. Not damage.
    pub replayed: u64,
    /// How many rows are consistent.
    pub rows: u64,
    /// How many rows differ between the trees and the journal.
    pub differing: u64,
    /// How many rows cannot be decoded or contradict other rows.
    pub inconsistent: u64,
    /// The first of these rows, described.
    pub listed: Vec<String>,
    /// A problem that no rebuild can repair, with what to do about it.
    pub problem: Option<String>,
    /// The trees hold data of the organization that no journal has.
    pub is_surplus: bool,
    /// The trees of this organization were rebuilt from its journal.
    pub rebuilt: bool,
}

impl CheckReport {
    /// Whether everything agreed, without a rebuild.
    pub fn is_clean(&self) -> bool {
        self.trees_damage.is_none()
            && !self.has_damaged_journal()
            && self.realms.iter().all(RealmReport::is_clean)
    }

    pub(super) fn has_damaged_journal(&self) -> bool {
        self.shards.iter().any(|shard| shard.damage.is_some())
    }

    /// Whether everything that was found has been repaired.
    pub fn is_repaired(&self) -> bool {
        !self.has_damaged_journal()
            && (self.trees_damage.is_none() || self.trees_moved.is_some())
            && self.realms.iter().all(|realm| realm.is_clean() || (realm.rebuilt && realm.problem.is_none()))
    }
}

impl RealmReport {
    /// Whether everything agreed, without a rebuild.
    pub fn is_clean(&self) -> bool {
        self.differing == 0 && self.inconsistent == 0 && self.problem.is_none()
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for shard in &self.shards {
            writeln!(out, "{shard}")?;
        }
        match (&self.trees_damage, &self.trees_moved) {
            (None, _) => {}
            (Some(why), None) => writeln!(out, "trees: {why}\n  {REBUILD}")?,
            (Some(why), Some(path)) => {
                writeln!(out, "trees: {why}\n  moved to {} and rebuilt from the journal", path.display())?;
            }
        }
        for realm in &self.realms {
            writeln!(out, "{realm}")?;
        }
        let verdict = match (self.is_clean(), self.is_repaired()) {
            (true, _) => "No damage was found.",
            (false, true) => "The damage was repaired.",
            (false, false) => "There is damage.",
        };
        write!(out, "{verdict}")
    }
}

const REBUILD: &str = "to rebuild the trees from the journal, run `millstream check --data DIR --rebuild` \
    (a start does the same after the folder `state` was removed)";

/// A number and a noun, in the plural unless it is one.
fn counted<N: Copy + fmt::Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    format!("{number} {noun}{}", if number == N::from(1) { "" } else { "s" })
}

impl fmt::Display for ShardReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { segments_done, frames, bytes, .. } = self.progress;
        write!(out, "journal {}: {} with {}", self.shard, counted(frames, "frame"), counted(bytes, "byte"))?;
        write!(out, " in {}", counted(segments_done, "segment"))?;
        if self.damage.is_some() {
            write!(out, " can be read")?;
        }
        if let Some(TornTail { segment, offset, bytes }) = &self.torn_tail {
            write!(
                out,
                "\n  a crash cut the last write short ({bytes} bytes in segment {segment} at byte {offset}); \
                 it was never acknowledged, and has been discarded"
            )?;
        }
        match &self.damage {
            Some(damage) => write!(
                out,
                "\n  {}\n  what follows was not read, and nothing was changed; restore a backup of the data folder",
                damage.place()
            ),
            None => Ok(()),
        }
    }
}

impl fmt::Display for RealmReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frames {
            // An organization without a journal that can be read.
            0 => write!(out, "organization {}: {} in the trees", self.realm, counted(self.rows, "row"))?,
            frames => {
                let (frames, rows) = (counted(frames, "frame"), counted(self.rows, "consistent row"));
                write!(out, "organization {}: {frames}, {rows}", self.realm)?;
            }
        }
        if self.replayed > 0 {
            let replayed = counted(self.replayed, "frame");
            write!(out, "\n  the trees lacked {replayed}, as after a kill; they are complete now")?;
        }
        if self.differing > 0 {
            let differing = counted(self.differing, "row");
            write!(out, "\n  different in the trees and in the journal: {differing}")?;
        }
        if self.inconsistent > 0 {
            let inconsistent = counted(self.inconsistent, "row");
            write!(out, "\n  unreadable, or contradicted by other rows: {inconsistent}")?;
        }
        for line in &self.listed {
            write!(out, "\n    {line}")?;
        }
        if let Some(problem) = &self.problem {
            return write!(out, "\n  {problem}");
        }
        match (self.is_clean(), self.rebuilt) {
            (true, _) => Ok(()),
            (false, true) => write!(out, "\n  the trees were rebuilt from the journal"),
            (false, false) => write!(out, "\n  {REBUILD}"),
        }
    }
}
