//! What a check found, as data and in words that say what to do.

use crate::log::{Damage, Progress, TornTail};
use model::RealmId;
use std::fmt;
use std::path::PathBuf;

/// What a check of a data folder found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Each shard's journal, in order.
    pub shards: Vec<ShardReport>,
    /// Why the trees could not be opened; organizations were then not compared, unless they were moved.
    pub trees_damage: Option<String>,
    /// Where trees that could not be opened were moved.
    pub trees_moved: Option<PathBuf>,
    /// Each organization, by id.
    pub realms: Vec<RealmReport>,
}

/// What a check found in one journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShardReport {
    /// Which shard.
    pub shard: usize,
    /// How much there was to read, up to the first damage.
    pub progress: Progress,
    /// A last write that a crash cut short; opening the journal has dropped it. No damage.
    pub torn_tail: Option<TornTail>,
    /// The first damage.
    pub damage: Option<Damage>,
}

/// What a check found about one organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealmReport {
    /// Which.
    pub realm: RealmId,
    /// The newest frame in the journal.
    pub frames: u64,
    /// How many frames the trees lacked, as after a kill; they have them now. No damage.
    pub replayed: u64,
    /// Rows in order.
    pub rows: u64,
    /// Rows in which trees and journal differ.
    pub differing: u64,
    /// Rows that cannot be read, or that other rows contradict.
    pub inconsistent: u64,
    /// The first of them, in words.
    pub listed: Vec<String>,
    /// What no rebuild can repair, with what to do.
    pub problem: Option<String>,
    /// The trees of this organization were written anew from its journal.
    pub rebuilt: bool,
}

impl CheckReport {
    /// Whether everything agrees. Not so when it only does after the rebuild.
    pub fn is_clean(&self) -> bool {
        self.trees_damage.is_none()
            && !self.has_damaged_journal()
            && self.realms.iter().all(RealmReport::is_clean)
    }

    pub(super) fn has_damaged_journal(&self) -> bool {
        self.shards.iter().any(|shard| shard.damage.is_some())
    }

    /// Whether everything that was found is repaired.
    pub fn is_repaired(&self) -> bool {
        !self.has_damaged_journal()
            && (self.trees_damage.is_none() || self.trees_moved.is_some())
            && self.realms.iter().all(|realm| realm.is_clean() || (realm.rebuilt && realm.problem.is_none()))
    }
}

impl RealmReport {
    pub(super) fn new(realm: RealmId) -> Self {
        Self {
            realm,
            frames: 0,
            replayed: 0,
            rows: 0,
            differing: 0,
            inconsistent: 0,
            listed: Vec::new(),
            problem: None,
            rebuilt: false,
        }
    }

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
            (true, _) => "clean",
            (false, true) => "repaired",
            (false, false) => "not clean",
        };
        write!(out, "{verdict}")
    }
}

const REBUILD: &str = "to rebuild the trees from the journal, run `millstream check --data DIR --rebuild`";

impl fmt::Display for ShardReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { segments_done, frames, bytes, .. } = self.progress;
        write!(out, "journal {}: {frames} frames, {bytes} bytes in {segments_done} segments", self.shard)?;
        if let Some(tail) = &self.torn_tail {
            let TornTail { segment, offset, bytes } = tail;
            write!(
                out,
                "\n  a crash cut the last write short ({bytes} bytes in segment {segment} at byte {offset}); \
                 nobody was told that it was stored, and it was dropped"
            )?;
        }
        match &self.damage {
            Some(damage) => write!(out, "\n  {damage}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for RealmReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "organization {}: {} frames, {} rows in order", self.realm, self.frames, self.rows)?;
        if self.replayed > 0 {
            write!(
                out,
                "\n  the trees lacked {} frames, as after a kill; they have them now",
                self.replayed
            )?;
        }
        if self.differing > 0 {
            write!(out, "\n  {} rows differ between the trees and the journal", self.differing)?;
        }
        if self.inconsistent > 0 {
            write!(out, "\n  {} rows cannot be read, or other rows contradict them", self.inconsistent)?;
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
