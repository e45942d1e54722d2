//! The data folder: its lock, its format and the paths in it. `docs/data-folder.md` lists every file.

use crate::error::StoreError;
use crate::folder_access::{TRIAL, check_access, check_owner};
use crate::instance::{BUCKET_OWNER, Instance};
use crate::log;
use crate::private_files::{create_private, sync_folder, write_private};
use crate::projection::recover_renewed;
use crate::relocations::{self, Relocation, RelocationState};
use crate::secret::{hex, unhex};
use crate::unfinished::UnfinishedMarks;
use hmac::{Hmac, Mac};
use model::RealmId;
use sha2::Sha256;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub use crate::secret::SECRET_BYTES;

/// The format that this server writes.
pub const FORMAT: u32 = 1;

/// The file with the secret.
pub(crate) const SECRET: &str = "secret";

/// The file that detects that the secret was replaced.
pub(crate) const FINGERPRINT: &str = "secret.fingerprint";

/// The file that names the organization of an unfinished import, which is not served.
pub const IMPORT: &str = "import";

/// Files that an interrupted first start may leave in a folder that has no `format` yet.
const STARTED: [&str; 9] = [
    "lock",
    SECRET,
    "secret.new",
    FINGERPRINT,
    "secret.fingerprint.new",
    "journal",
    "format.new",
    "development",
    TRIAL,
];

/// The content of the file `format`.
#[derive(Debug)]
struct Format {
    millstream_format: u32,
    shards: usize,
}

/// A data folder, locked by this process until the value is dropped.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    shards: usize,
    secret: [u8; SECRET_BYTES],
    instance: Option<Instance>,
    is_live_copy: bool,
    relocations: BTreeMap<RealmId, Relocation>,
    marks: UnfinishedMarks,
    _lock: FolderLock,
}

impl DataFolder {
    /// Opens a folder, or creates it with `shards` shards and `secret`. An existing folder keeps its own.
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process uses it, [`StoreError::TooNew`],
    /// [`StoreError::NotADataFolder`], [`StoreError::Restoring`], [`StoreError::Io`]; [`StoreError::NotAllowed`] and
    /// [`StoreError::OtherOwner`] for the folder of another user.
    pub fn open(path: &Path, shards: usize, secret: [u8; SECRET_BYTES]) -> Result<Self, StoreError> {
        check_access(path)?;
        create_private(path)?;
        // Before anything is written: a folder that is not ours stays unchanged.
        if !Self::exists(path) {
            check_empty(path)?;
        }
        check_owner(path)?;
        let lock = lock(path)?;
        let format_path = path.join("format");
        if !format_path.exists() {
            write_private(&path.join(SECRET), hex(&secret).as_bytes())?;
            write_private(&path.join(FINGERPRINT), fingerprint(&secret).as_bytes())?;
            create_private(&path.join("journal"))?;
            let format = Format { millstream_format: FORMAT, shards: shards.max(1) };
            // Written last and atomically: a folder with this file is complete.
            write_private(&format_path, format!("{}\n", to_json(&format)).as_bytes())?;
            sync_folder(path)?;
        }
        let format = read_format(path)?;
        let secret = read_secret(path)?;
        check_fingerprint(path, &secret)?;
        let instance = Instance::read(path);
        let is_live_copy = match &instance {
            Some(instance) => instance.is_live_copy(path)?,
            None => false,
        };
        // Also of a copy whose original was stopped: it may be started again.
        if instance.as_ref().map(|instance| instance.is_copy(path)).transpose()?.unwrap_or(false) {
            forget_bucket(path)?;
        }
        recover_renewed(&path.join("state"))?;
        let (path, shards) = (path.to_path_buf(), format.shards);
        let (relocations, marks) = (relocations::read(&path)?, UnfinishedMarks::read(&path)?);
        Ok(Self { path, shards, secret, instance, is_live_copy, relocations, marks, _lock: lock })
    }

    /// Whether `path` is a data folder.
    pub fn exists(path: &Path) -> bool {
        path.join("format").exists()
    }

    /// The format number of a data folder.
    ///
    /// # Errors
    /// [`StoreError::TooNew`] when a newer version made it, [`StoreError::NotADataFolder`] when the number cannot be read.
    pub fn check_format(path: &Path) -> Result<u32, StoreError> {
        read_format(path).map(|format| format.millstream_format)
    }

    /// Whether a folder without data can become a data folder: it must have nothing else in it. Nothing is changed.
    ///
    /// # Errors
    /// [`StoreError::NotADataFolder`], [`StoreError::Restoring`], [`StoreError::NotAllowed`], [`StoreError::Io`].
    pub fn check_new(path: &Path) -> Result<(), StoreError> {
        check_access(path)?;
        check_empty(path)
    }

    /// Whether the secret of a data folder is there, and the one that the folder was made with. Nothing is changed.
    ///
    /// # Errors
    /// [`StoreError::SecretMissing`], [`StoreError::SecretChanged`], [`StoreError::NotADataFolder`], [`StoreError::Io`].
    pub fn check_secret(path: &Path) -> Result<(), StoreError> {
        is_secret_known(path, &read_secret(path)?).map(drop)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of shards.
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// The secret from which API keys are derived. Never print it.
    pub fn secret(&self) -> &[u8; SECRET_BYTES] {
        &self.secret
    }

    /// The organizations that were carried between this folder and a cluster.
    pub fn relocations(&self) -> &BTreeMap<RealmId, Relocation> {
        &self.relocations
    }

    /// Whether the folder has an organization that is not to be served from it: it is elsewhere, or only a part of one.
    pub fn is_not_served(&self, realm: RealmId) -> bool {
        let is_away = |found: &Relocation| found.state != RelocationState::Here;
        self.relocations.get(&realm).is_some_and(is_away) || self.marks.has(realm)
    }

    /// The organizations that may be only a part of one.
    pub fn marks(&self) -> &UnfinishedMarks {
        &self.marks
    }

    /// What the keys of an organization are derived from. Never print it.
    pub fn secret_of(&self, realm: RealmId) -> &[u8; SECRET_BYTES] {
        let own = self.relocations.get(&realm).and_then(|found| found.secret.as_ref());
        own.unwrap_or(&self.secret)
    }

    /// Records where an organization is; `None`: here, as if it had never been away. Durable when this returns.
    ///
    /// # Errors
    /// [`StoreError::Io`]: then it is unknown which of the two states a start finds.
    pub fn relocate(&mut self, realm: RealmId, relocation: Option<Relocation>) -> Result<(), StoreError> {
        let mut all = self.relocations.clone();
        match relocation {
            Some(relocation) => all.insert(realm, relocation),
            None => all.remove(&realm),
        };
        relocations::write(&self.path, &all)?;
        self.relocations = all;
        Ok(())
    }

    /// The journal folder of a shard.
    pub fn journal(&self, shard: usize) -> PathBuf {
        self.path.join("journal").join(format!("shard-{shard:03}"))
    }

    /// Rejects a folder that has trees but no journal: starting would begin a new, empty history.
    pub fn check_journals(&self) -> Result<(), StoreError> {
        let has_segment = |shard| log::has_segments(&self.journal(shard));
        let missing = (0..self.shards).find(|shard| !has_segment(*shard));
        match missing.filter(|_| self.state().exists()) {
            Some(shard) => Err(StoreError::JournalMissing { path: self.journal(shard) }),
            None => Ok(()),
        }
    }

    /// Whether this is a copy that was made while a server used the original: its journal is whole up to some point, and
    /// nothing else in it matches.
    pub fn is_live_copy(&self) -> bool {
        self.is_live_copy
    }

    /// Removes the trees of a live copy, which are rebuilt from its journal.
    pub fn discard_trees(&self) -> Result<(), StoreError> {
        let path = self.state();
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::io("cannot remove", &path, error))
            }
            _ => Ok(()),
        }
    }

    /// Rejects journals that lost their end. `ends` has the last frame of each organization.
    ///
    /// # Errors
    /// [`StoreError::JournalBehind`].
    pub fn check_ends(&self, ends: &BTreeMap<RealmId, u64>) -> Result<(), StoreError> {
        match &self.instance {
            Some(instance) if !self.is_live_copy => instance.check(ends),
            _ => Ok(()),
        }
    }

    /// Records that a server uses the folder, or that it stopped cleanly, and the last frame of each organization.
    pub fn note_state(&self, is_running: bool, ends: &BTreeMap<RealmId, u64>) -> Result<(), StoreError> {
        Instance::write(&self.path, is_running, ends)
    }

    /// The folder of the checkpoints.
    pub fn checkpoints(&self) -> PathBuf {
        self.path.join(crate::checkpoint::FOLDER)
    }

    /// The folder of the bases.
    pub fn bases(&self) -> PathBuf {
        self.path.join(crate::base::FOLDER)
    }

    /// The folder of the search indexes, which can be made again from the journal.
    pub fn search(&self) -> PathBuf {
        self.path.join("search")
    }

    /// What was erased from the folder.
    pub fn erased(&self) -> PathBuf {
        self.path.join("erased")
    }

    /// The folder of the trees.
    pub fn state(&self) -> PathBuf {
        self.path.join("state")
    }
}

/// The lock file, unlocked on drop.
#[derive(Debug)]
struct FolderLock(File);

impl Drop for FolderLock {
    /// Unlocks explicitly: closing the file is not enough, because a child process that is being started holds a copy of
    /// the file descriptor, and with it the lock, until it calls exec.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the data folder could not be unlocked; the lock is released when the process ends");
        }
    }
}

fn lock(folder: &Path) -> Result<FolderLock, StoreError> {
    let path = folder.join("lock");
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(|source| StoreError::io("cannot open", &path, source))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let pid = file
                .read_to_string(&mut pid)
                .ok()
                .map(|_| pid.trim().to_owned())
                .filter(|pid| !pid.is_empty());
            return Err(StoreError::Locked { path: folder.to_path_buf(), pid });
        }
        Err(fs::TryLockError::Error(source)) => return Err(StoreError::io("cannot lock", &path, source)),
    }
    let note = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    // The process id is only informative: a full disk must not prevent the start.
    if let Err(error) = note(&mut file) {
        tracing::warn!(%error, "the process id could not be written to the lock file of the data folder");
    }
    Ok(FolderLock(file))
}

/// A folder without a `format` file may only contain files of an interrupted first start.
fn check_empty(path: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(path).map_err(|source| StoreError::io("cannot read", path, source))?;
    for entry in entries {
        let name = entry.map_err(|source| StoreError::io("cannot read", path, source))?.file_name();
        let name = name.to_string_lossy().into_owned();
        if !STARTED.contains(&name.as_str()) {
            let why = format!(
                "the folder is not empty ({name:?}) and has no `format` file; choose an empty folder"
            );
            return Err(StoreError::NotADataFolder { path: path.to_path_buf(), why });
        }
    }
    Ok(())
}

fn read_format(folder: &Path) -> Result<Format, StoreError> {
    let text = read(&folder.join("format"))?;
    let found = parse_format(&text).ok_or_else(|| StoreError::NotADataFolder {
        path: folder.to_path_buf(),
        why: "its file `format` is not valid".into(),
    })?;
    if found.millstream_format > FORMAT {
        return Err(StoreError::TooNew {
            path: folder.to_path_buf(),
            found: found.millstream_format,
            known: FORMAT,
        });
    }
    Ok(found)
}

fn to_json(format: &Format) -> String {
    format!("{{\"millstream_format\": {}, \"shards\": {}}}", format.millstream_format, format.shards)
}

fn parse_format(text: &str) -> Option<Format> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut format = Format { millstream_format: 0, shards: 0 };
    for pair in inner.split(',') {
        let (name, value) = pair.split_once(':')?;
        match name.trim() {
            "\"millstream_format\"" => format.millstream_format = value.trim().parse().ok()?,
            "\"shards\"" => format.shards = value.trim().parse().ok()?,
            _ => {}
        }
    }
    (format.millstream_format > 0 && format.shards > 0).then_some(format)
}

fn read_secret(folder: &Path) -> Result<[u8; SECRET_BYTES], StoreError> {
    let path = folder.join(SECRET);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(StoreError::SecretMissing { path: folder.to_path_buf() });
        }
        read => read.map_err(|source| StoreError::io("cannot read", &path, source))?,
    };
    unhex(text.trim()).ok_or_else(|| StoreError::NotADataFolder {
        path: folder.to_path_buf(),
        why: "its file `secret` is not 64 hexadecimal digits".into(),
    })
}

/// Identifies a secret without revealing it.
fn fingerprint(secret: &[u8; SECRET_BYTES]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes keys of any length");
    mac.update(b"millstream data folder");
    hex(&mac.finalize().into_bytes()[..8])
}

/// Rejects a secret that differs from the one the folder was created with. A folder without a fingerprint gets one.
fn check_fingerprint(folder: &Path, secret: &[u8; SECRET_BYTES]) -> Result<(), StoreError> {
    if !is_secret_known(folder, secret)?
        && let Err(error) = write_private(&folder.join(FINGERPRINT), fingerprint(secret).as_bytes())
    {
        tracing::warn!(%error, "the fingerprint of the secret could not be stored");
    }
    Ok(())
}

/// Whether the folder has a fingerprint; an error if it is that of another secret.
fn is_secret_known(folder: &Path, secret: &[u8; SECRET_BYTES]) -> Result<bool, StoreError> {
    let path = folder.join(FINGERPRINT);
    match fs::read_to_string(&path) {
        Ok(known) if known.trim() == fingerprint(secret) => Ok(true),
        Ok(_) => Err(StoreError::SecretChanged { path: folder.to_path_buf() }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StoreError::io("cannot read", &path, source)),
    }
}

/// Makes the folder an owner of no bucket.
fn forget_bucket(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join(BUCKET_OWNER);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io("cannot remove", &path, error))
        }
        _ => Ok(()),
    }
}

fn read(path: &Path) -> Result<String, StoreError> {
    fs::read_to_string(path).map_err(|source| StoreError::io("cannot read", path, source))
}

#[cfg(test)]
mod tests;
