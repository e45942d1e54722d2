//! Making a backup of a data folder, which a server may use meanwhile.

use super::file_store::names;
use super::identity::Identity;
use super::manifest::{Entry, Manifest};
use super::paced::Paced;
use super::{Backups, copy, manifest};
use crate::base;
use crate::checkpoint;
use crate::error::StoreError;
use crate::folder::{DataFolder, FINGERPRINT, IMPORT, SECRET};
use crate::folder_access::check_access;
use crate::instance::Instance;
use crate::log::{self, LogError};
use crate::relocations;
use crate::unfinished;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// A file that was modified less than this long before a backup may change without a new time of modification.
const RECENT_NANOS: u64 = 2_000_000_000;

/// Backups from later times than now that are named.
const LATER_NAMED_MAX: usize = 10;

/// The result of a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackedUp {
    /// When it began, in milliseconds since 1970.
    pub at: u64,
    pub files: usize,
    pub bytes: u64,
    /// What was not in an earlier backup.
    pub new_files: usize,
    pub new_bytes: u64,
}

impl Backups {
    /// Backs up a data folder. `now` is in milliseconds since 1970.
    ///
    /// # Errors
    /// [`StoreError`] when something cannot be read or stored; earlier backups stay as they are.
    pub fn add(&self, data: &Path, now: u64) -> Result<BackedUp, StoreError> {
        if !DataFolder::exists(data) {
            check_access(data)?;
            return Err(StoreError::Backup(format!("{} is not a data folder", data.display())));
        }
        let times = self.times()?;
        self.check_times(&times, now)?;
        let last = match times.last() {
            Some(at) => manifest::read(&*self.repository, *at)?,
            None => Manifest::default(),
        };
        self.check_identity(&last, data)?;
        let mut adding = Adding {
            backups: self,
            data,
            is_paced: Instance::read(data).is_some_and(|instance| instance.is_running()),
            last,
            stored: self.list("files")?.iter().filter_map(|name| manifest::unhex(name)).collect(),
            manifest: Manifest { at: now, ..Manifest::default() },
            done: BackedUp { at: now, ..BackedUp::default() },
        };
        for name in ["format", SECRET, FINGERPRINT, relocations::FILE, IMPORT, "development"] {
            if data.join(name).exists() {
                adding.add(name, None)?;
            }
        }
        adding.add_unfinished()?;
        // Before the journal, which then has the frames that they stand for.
        adding.add_checkpoints()?;
        adding.add_bases()?;
        for shard in names(&data.join("journal"))? {
            adding.add_journal(&shard)?;
        }
        // Its first segments may have been removed meanwhile, after a new base was made.
        adding.add_bases()?;
        adding.add_folder("blobs")?;
        // Of development servers: what a reset goes back to.
        adding.add_folder("seeds")?;
        self.sync()?;
        adding.manifest.write(&*self.repository)?;
        self.sync()?;
        let files = &adding.manifest.files;
        let bytes = files.values().map(|entry| entry.bytes).sum();
        Ok(BackedUp { files: files.len(), bytes, ..adding.done })
    }

    /// Refuses a new backup while there are ones from later times, which would stay the newest. `times`: oldest first.
    fn check_times(&self, times: &[u64], now: u64) -> Result<(), StoreError> {
        let later = times.get(times.partition_point(|at| *at < now)..).unwrap_or_default();
        if later.is_empty() {
            return Ok(());
        }
        let mut names: Vec<String> =
            later.iter().take(LATER_NAMED_MAX).map(|at| manifest::name(*at)).collect();
        if later.len() > LATER_NAMED_MAX {
            names.push(format!("{} more", later.len() - LATER_NAMED_MAX));
        }
        Err(StoreError::Backup(format!(
            "{} has backups from a later time than now: {}. Set the clock; if it was ahead when they were made, remove these files, and \
             back up again. Nothing was changed",
            self.repository.title(),
            names.join(", ")
        )))
    }

    /// Refuses a data folder when the backups of the repository are of another one.
    fn check_identity(&self, last: &Manifest, data: &Path) -> Result<(), StoreError> {
        if !Identity::of_backup(last).is_other(&Identity::of_folder(data)?) {
            return Ok(());
        }
        Err(StoreError::Backup(format!(
            "{} has the backups of another data folder; choose another repository for those of {}. A folder whose secret was replaced \
             counts as another one. Nothing was changed",
            self.repository.title(),
            data.display()
        )))
    }

    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.repository.sync().map_err(|error| self.failed("sync", "", &error))
    }
}

/// A backup that is being made.
struct Adding<'b> {
    backups: &'b Backups,
    data: &'b Path,
    /// A server uses the folder, or did not stop cleanly.
    is_paced: bool,
    last: Manifest,
    /// The SHA-256 of the contents that the repository has.
    stored: BTreeSet<[u8; 32]>,
    manifest: Manifest,
    done: BackedUp,
}

impl Adding<'_> {
    /// Adds the newest checkpoint of each organization.
    fn add_checkpoints(&mut self) -> Result<(), StoreError> {
        for realm in self.realms_in(checkpoint::FOLDER)? {
            let newest = checkpoint::newest_in(&self.data.join(checkpoint::FOLDER).join(&realm));
            let Some(sequence) = newest else { continue };
            self.add_unless_known(&format!(
                "{}/{realm}/{}",
                checkpoint::FOLDER,
                checkpoint::file_name(sequence)
            ))?;
        }
        Ok(())
    }

    /// Adds the bases of the journals.
    fn add_bases(&mut self) -> Result<(), StoreError> {
        for realm in self.realms_in(base::FOLDER)? {
            for name in names(&self.data.join(base::FOLDER).join(&realm))? {
                if base::sequence_of(&name).is_some() {
                    self.add_unless_known(&format!("{}/{realm}/{name}", base::FOLDER))?;
                }
            }
        }
        Ok(())
    }

    /// Adds the marks of organizations that may be only a part of one, as they are now; those of before stay. A start finds out
    /// itself whether one is whole.
    fn add_unfinished(&mut self) -> Result<(), StoreError> {
        for name in self.realms_in(unfinished::FOLDER)? {
            let path = format!("{}/{name}", unfinished::FOLDER);
            let known = self.manifest.files.get(&path).map(|known| known.original);
            let is_known = known.is_some() && known == original(&self.data.join(&path))?;
            if !is_known && !self.keep(&path)? {
                self.add(&path, None)?;
            }
        }
        Ok(())
    }

    /// What a folder has that may be missing: a folder or file for each organization.
    fn realms_in(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let folder = self.data.join(folder);
        if folder.exists() { names(&folder) } else { Ok(Vec::new()) }
    }

    fn add_unless_known(&mut self, path: &str) -> Result<(), StoreError> {
        if self.manifest.files.contains_key(path) || self.keep(path)? { Ok(()) } else { self.add(path, None) }
    }

    /// Adds the segments of a shard that have groups. Only the newest one can still grow.
    fn add_journal(&mut self, shard: &str) -> Result<(), StoreError> {
        let folder = self.data.join("journal").join(shard);
        for number in log::segments_with_groups(&folder)? {
            if !self.add_part(shard, &folder, number)? {
                // It was removed, and with it everything before it.
                let prefix = format!("journal/{shard}/");
                self.manifest.files.retain(|path, _| !path.starts_with(&prefix));
            }
        }
        Ok(())
    }

    /// Adds a part of the journal: its archive, or its segment. False: it was removed meanwhile.
    fn add_part(&mut self, shard: &str, folder: &Path, number: u64) -> Result<bool, StoreError> {
        let [archive, segment] = log::part_names(number);
        // The archive once more, because it may take the place of the segment meanwhile.
        for name in [&archive, &segment, &archive] {
            let path = format!("journal/{shard}/{name}");
            if !folder.join(name).exists() {
                continue;
            }
            if self.keep(&path)? {
                return Ok(true);
            }
            let bytes = match log::whole_bytes(folder, number, name) {
                Err(LogError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => continue,
                found => found?,
            };
            // Of what is begun by now there may be only a part in these bytes, which take a while to copy.
            self.add_unfinished()?;
            self.add(&path, bytes)?;
            if self.manifest.files.contains_key(&path) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn add_folder(&mut self, name: &str) -> Result<(), StoreError> {
        let folder = self.data.join(name);
        if !folder.exists() {
            return Ok(());
        }
        for entry in names(&folder)? {
            let path = format!("{name}/{entry}");
            if self.data.join(&path).is_dir() {
                self.add_folder(&path)?;
            } else if !self.keep(&path)? {
                self.add(&path, None)?;
            }
        }
        Ok(())
    }

    /// Takes a file from the last backup, if it did not change since then.
    fn keep(&mut self, path: &str) -> Result<bool, StoreError> {
        let Some(original) = original(&self.data.join(path))? else { return Ok(false) };
        let is_old = original.1.saturating_add(RECENT_NANOS) < self.last.at.saturating_mul(1_000_000);
        let known = self.last.files.get(path).filter(|known| known.original == original && is_old);
        let Some(known) = known.filter(|known| self.has(&known.hash)) else { return Ok(false) };
        self.manifest.files.insert(path.to_owned(), known.clone());
        Ok(true)
    }

    fn cannot_store(&self, source: &Path, error: &io::Error) -> StoreError {
        let title = self.backups.repository.title();
        StoreError::Backup(format!("cannot write to {title}: {error} (while storing {})", source.display()))
    }

    fn has(&self, hash: &str) -> bool {
        manifest::unhex(hash).is_some_and(|hash| self.stored.contains(&hash))
    }

    /// Stores a file, or its first bytes. A file that was removed meanwhile is left out: nothing names it any more.
    fn add(&mut self, path: &str, bytes: Option<u64>) -> Result<(), StoreError> {
        let source = self.data.join(path);
        if path.contains('\n') {
            return Err(StoreError::Backup(format!("the name of {} has a line break", source.display())));
        }
        let Some(original) = original(&source)? else { return Ok(()) };
        let is_paced = self.is_paced;
        let open =
            || File::open(&source).map(|file| Paced::new(file.take(bytes.unwrap_or(u64::MAX)), is_paced));
        let (hash, bytes) = match open().and_then(|mut content| copy(&mut content, &mut io::sink())) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            read => read.map_err(|error| StoreError::io("cannot read", &source, error))?,
        };
        let is_new = !self.has(&hash);
        if is_new {
            let name = manifest::file(&hash);
            let mut content = match open() {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                opened => Expected::new(
                    opened.map_err(|error| StoreError::io("cannot read", &source, error))?,
                    &hash,
                ),
            };
            match self.backups.repository.store(&name, &mut content) {
                Err(error) if error.kind() == ErrorKind::NotFound && !source.exists() => return Ok(()),
                Err(error) if content.has_failed => {
                    return Err(StoreError::io("cannot back up", &source, error));
                }
                Err(error) => return Err(self.cannot_store(&source, &error)),
                Ok(()) => {}
            }
            self.stored.extend(manifest::unhex(&hash));
        }
        self.done.new_files += usize::from(is_new);
        self.done.new_bytes += if is_new { bytes } else { 0 };
        self.manifest.files.insert(path.to_owned(), Entry { hash, bytes, original });
        Ok(())
    }
}

/// A content that is read a second time. It ends with an error if it is not the same as before.
struct Expected<'h, R> {
    content: R,
    hash: Sha256,
    expected: &'h str,
    /// Whether reading failed: other errors are those of the repository.
    has_failed: bool,
}

impl<'h, R: Read> Expected<'h, R> {
    fn new(content: R, expected: &'h str) -> Self {
        Self { content, hash: Sha256::new(), expected, has_failed: false }
    }

    fn read_piece(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let count = self.content.read(piece)?;
        self.hash.update(&piece[..count]);
        if count == 0 && !piece.is_empty() && manifest::hex(&self.hash.clone().finalize()) != self.expected {
            return Err(io::Error::other("it changed while it was read"));
        }
        Ok(count)
    }
}

impl<R: Read> Read for Expected<'_, R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let read = self.read_piece(piece);
        self.has_failed |= read.is_err();
        read
    }
}

/// Size and time of modification of a file; `None` if there is none.
fn original(path: &Path) -> Result<Option<(u64, u64)>, StoreError> {
    match fs::metadata(path) {
        Ok(found) => {
            let modified = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            Ok(Some((found.size(), modified.map_or(u64::MAX, |time| time.as_nanos() as u64))))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::io("cannot read", path, source)),
    }
}
