//! Comparing everything in a backup repository with its checksums, and setting aside what is damaged, so that the next backup
//! stores it again.

use super::identity::Identity;
use super::{Backups, Manifest, copy, manifest};
use crate::error::StoreError;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// Damaged files that are listed; the others are only counted.
pub(super) const LISTED_MAX: usize = 100;

/// Files that cannot be read, after which the disk or the service is what fails.
const UNREADABLE_MAX: usize = 10;

/// The folder of a backup repository for files that were set aside.
const ASIDE: &str = "damaged";

/// The result of comparing a backup repository with its checksums.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The times of the backups, oldest first, in milliseconds since 1970.
    pub backups: Vec<u64>,
    /// Those of them that lack something.
    pub damaged_backups: Vec<u64>,
    /// The files of the newest backup whose manifest is whole.
    pub files: usize,
    pub bytes: u64,
    /// The first 100 damaged files of the repository.
    pub damaged: Vec<DamagedFile>,
    /// How many damaged files there are.
    pub damaged_count: usize,
    /// How many of them were set aside.
    pub set_aside: usize,
    /// How many of them the disk or the service cannot read; these are not set aside.
    pub unreadable: usize,
    /// The backups are of more than one data folder, as older versions allowed.
    pub is_mixed: bool,
}

/// A damaged file in a backup repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedFile {
    /// Its name in the repository, such as `files/<SHA-256>`.
    pub name: String,
    pub damage: Damage,
    /// What it is in the data folder, by the newest backup that has it; none for a manifest.
    pub path: Option<String>,
    /// The times of the backups that have it, oldest first, in milliseconds since 1970.
    pub backups: Vec<u64>,
}

/// What is wrong with a file in a backup repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    Missing,
    /// It differs from its checksum.
    Changed,
    /// The disk or the service cannot read it, for this reason.
    Unreadable(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("is missing"),
            Self::Changed => f.write_str("is damaged"),
            Self::Unreadable(why) => write!(f, "cannot be read ({why})"),
        }
    }
}

impl Backups {
    /// Compares everything with its checksums, each content once, however many backups have it. With `repairs`, damaged files are
    /// set aside in the folder `damaged`: the next backup stores again what the data folder still has of them.
    ///
    /// # Errors
    /// [`StoreError::Backup`] if there is no backup, or the repository cannot be read or, with `repairs`, written.
    pub fn verify(&self, repairs: bool) -> Result<Verified, StoreError> {
        let backups = self.times()?;
        if backups.is_empty() {
            return Err(StoreError::Backup(format!("{} has no backup", self.repository.title())));
        }
        let found = Verified { backups, ..Verified::default() };
        let mut verifying =
            Verifying { backups: self, repairs, found, contents: BTreeMap::new(), damaged: BTreeSet::new() };
        verifying.read_manifests()?;
        verifying.compare_contents()?;
        verifying.name_backups()?;
        if verifying.found.set_aside > 0 {
            self.sync()?;
        }
        Ok(verifying.found)
    }

    /// Copies a content, and compares it with its checksum. What is wrong with it; none if nothing is.
    pub(super) fn copy_content(
        &self,
        (hash, bytes): (&str, u64),
        path: &str,
        to: &mut dyn Write,
    ) -> Result<Option<Damage>, StoreError> {
        let mut to = Target { to, failure: None };
        let copied =
            self.repository.open(&manifest::file(hash)).and_then(|mut from| copy(&mut from, &mut to));
        match copied {
            Ok((found, count)) if found == hash && count == bytes => Ok(None),
            Ok(_) => Ok(Some(Damage::Changed)),
            Err(error) => match to.failure {
                Some(failure) => Err(StoreError::io("cannot write", Path::new(path), failure)),
                None if error.kind() == ErrorKind::NotFound => Ok(Some(Damage::Missing)),
                None => Ok(Some(Damage::Unreadable(error.to_string()))),
            },
        }
    }
}

/// A content that backups have.
struct Content {
    bytes: u64,
    /// Its path in the newest backup that has it.
    path: String,
}

/// A backup repository that is being compared.
struct Verifying<'b> {
    backups: &'b Backups,
    repairs: bool,
    found: Verified,
    /// What was found of each content, by its SHA-256.
    contents: BTreeMap<String, Content>,
    /// The SHA-256 of damaged contents.
    damaged: BTreeSet<String>,
}

impl Verifying<'_> {
    /// Reads the manifests, the newest first.
    fn read_manifests(&mut self) -> Result<(), StoreError> {
        let mut newest: Option<Identity> = None;
        for at in self.found.backups.clone().into_iter().rev() {
            let is_newest = newest.is_none();
            let Some(Manifest { files, .. }) = self.read(at, &mut newest)? else {
                self.found.damaged_backups.push(at);
                self.add_damaged(manifest::name(at), Damage::Changed, None, vec![at])?;
                continue;
            };
            if is_newest {
                self.found.files = files.len();
                self.found.bytes = files.values().map(|entry| entry.bytes).sum();
            }
            for (path, entry) in files {
                self.contents.entry(entry.hash).or_insert(Content { bytes: entry.bytes, path });
            }
        }
        Ok(())
    }

    /// The manifest of a time; none if it is damaged.
    fn read(&mut self, at: u64, newest: &mut Option<Identity>) -> Result<Option<Manifest>, StoreError> {
        let Some(manifest) = manifest::find(&*self.backups.repository, at)? else { return Ok(None) };
        let own = Identity::of_backup(&manifest);
        self.found.is_mixed |= newest.get_or_insert_with(|| own.clone()).is_other(&own);
        Ok(Some(manifest))
    }

    fn compare_contents(&mut self) -> Result<(), StoreError> {
        for (hash, Content { bytes, path }) in std::mem::take(&mut self.contents) {
            let Some(damage) = self.backups.copy_content((&hash, bytes), &path, &mut io::sink())? else {
                continue;
            };
            let name = manifest::file(&hash);
            if let Damage::Unreadable(why) = &damage {
                self.found.unreadable += 1;
                if self.found.unreadable > UNREADABLE_MAX {
                    return Err(StoreError::Backup(format!(
                        "more than {UNREADABLE_MAX} files in {} cannot be read, the last of them {name}: {why}; see whether its disk or \
                         service works",
                        self.backups.repository.title()
                    )));
                }
            }
            self.add_damaged(name, damage, Some(path), Vec::new())?;
            self.damaged.insert(hash);
        }
        Ok(())
    }

    /// Counts a damaged file, lists it among the first ones, and sets it aside if that is wanted. One that cannot be read stays,
    /// because it may be whole.
    fn add_damaged(
        &mut self,
        name: String,
        damage: Damage,
        path: Option<String>,
        backups: Vec<u64>,
    ) -> Result<(), StoreError> {
        if self.repairs && damage == Damage::Changed {
            let aside = format!("{ASIDE}/{}", name.rsplit('/').next().unwrap_or(&name));
            let renamed = self.backups.repository.rename(&name, &aside);
            renamed.map_err(|error| self.backups.failed("set aside", &name, &error))?;
            self.found.set_aside += 1;
        }
        self.found.damaged_count += 1;
        if self.found.damaged.len() < LISTED_MAX {
            self.found.damaged.push(DamagedFile { name, damage, path, backups });
        }
        Ok(())
    }

    /// Finds the backups that have damaged contents. Reads the manifests again only if there are any.
    fn name_backups(&mut self) -> Result<(), StoreError> {
        let is_whole = |at: &u64| !self.found.damaged_backups.contains(at);
        let mut whole: Vec<u64> = self.found.backups.iter().copied().filter(is_whole).collect();
        whole.retain(|_| !self.damaged.is_empty());
        for at in whole {
            let manifest = manifest::read(&*self.backups.repository, at)?;
            let hashes: BTreeSet<&str> = manifest.files.values().map(|entry| entry.hash.as_str()).collect();
            if !hashes.iter().any(|hash| self.damaged.contains(*hash)) {
                continue;
            }
            self.found.damaged_backups.push(at);
            for file in &mut self.found.damaged {
                let hash = file.name.strip_prefix("files/");
                if hash.is_some_and(|hash| hashes.contains(hash)) {
                    file.backups.push(at);
                }
            }
        }
        self.found.damaged_backups.sort_unstable();
        Ok(())
    }
}

/// Tells errors of writing from those of reading.
struct Target<'t> {
    to: &'t mut dyn Write,
    failure: Option<io::Error>,
}

impl Write for Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes).map_err(|error| {
            let kind = error.kind();
            self.failure = Some(error);
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
