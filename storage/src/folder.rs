//! The data folder: who may use it, which format it has, and where things are in it.
//!
//! ```text
//! format      what the folder is, as JSON
//! lock        held by the process that uses the folder
//! secret      what API keys are derived from
//! journal/    one folder of segments for each shard: the truth
//! state/      the trees, which can be rebuilt from the journal
//! ```

use crate::error::StoreError;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The format that this server writes.
pub const FORMAT: u32 = 1;

/// Bytes of the server secret.
pub const SECRET_BYTES: usize = 32;

/// What the file `format` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Format {
    millstream_format: u32,
    shards: usize,
}

/// A data folder that this process has for itself until the value is dropped.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    shards: usize,
    secret: [u8; SECRET_BYTES],
    _lock: FolderLock,
}

impl DataFolder {
    /// Opens a folder, or creates it with `shards` shards and `secret` (both are kept from then on).
    ///
    /// # Errors
    /// [`StoreError::Locked`] while another process has it, [`StoreError::TooNew`],
    /// [`StoreError::NotADataFolder`], [`StoreError::Io`].
    pub fn open(path: &Path, shards: usize, secret: [u8; SECRET_BYTES]) -> Result<Self, StoreError> {
        create_private(path)?;
        // Before anything is put there: a folder of something else stays as it is.
        if !Self::exists(path) {
            check_empty(path)?;
        }
        let lock = lock(path)?;
        let format_path = path.join("format");
        if !format_path.exists() {
            write_private(&path.join("secret"), hex(&secret).as_bytes())?;
            let format = Format { millstream_format: FORMAT, shards: shards.max(1) };
            // Last and by rename: a folder with this file is complete.
            write_private(&format_path, format!("{}\n", to_json(&format)).as_bytes())?;
            sync_folder(path)?;
        }
        let format = read_format(path)?;
        let secret = read_secret(path)?;
        create_private(&path.join("journal"))?;
        Ok(Self { path: path.to_path_buf(), shards: format.shards, secret, _lock: lock })
    }

    /// Whether there is a data folder at a path.
    pub fn exists(path: &Path) -> bool {
        path.join("format").exists()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many shards its organizations are spread over.
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// What API keys are derived from. Never print it.
    pub fn secret(&self) -> &[u8; SECRET_BYTES] {
        &self.secret
    }

    /// The journal of a shard.
    pub fn journal(&self, shard: usize) -> PathBuf {
        self.path.join("journal").join(format!("shard-{shard:03}"))
    }

    /// The trees.
    pub fn state(&self) -> PathBuf {
        self.path.join("state")
    }
}

fn create_private(path: &Path) -> Result<(), StoreError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(path).map_err(|source| io("cannot create", path, source))
}

/// The lock, for as long as it lives.
#[derive(Debug)]
struct FolderLock(File);

impl Drop for FolderLock {
    /// Closing the file would not do: a process that is just being started from this one has a copy of it for
    /// a moment, and with the copy the lock.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the lock of the data folder goes with the process");
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
        .map_err(|source| io("cannot open", &path, source))?;
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
        Err(fs::TryLockError::Error(source)) => return Err(io("cannot lock", &path, source)),
    }
    let note = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    note(&mut file).map_err(|source| io("cannot write", &path, source))?;
    Ok(FolderLock(file))
}

/// A folder without a `format` file may hold nothing but what a start that was cut short left.
fn check_empty(path: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(path).map_err(|source| io("cannot read", path, source))?;
    for entry in entries {
        let name = entry.map_err(|source| io("cannot read", path, source))?.file_name();
        let name = name.to_string_lossy().into_owned();
        if !["lock", "secret", "secret.new", "format.new"].contains(&name.as_str()) {
            let why = format!("it has no file `format`, but a {name:?}; choose an empty folder");
            return Err(StoreError::NotADataFolder { path: path.to_path_buf(), why });
        }
    }
    Ok(())
}

fn read_format(folder: &Path) -> Result<Format, StoreError> {
    let text = read(&folder.join("format"))?;
    let found = parse_format(&text).ok_or_else(|| StoreError::NotADataFolder {
        path: folder.to_path_buf(),
        why: "its file `format` is not as expected".into(),
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
    let text = read(&folder.join("secret"))?;
    unhex(text.trim()).ok_or_else(|| StoreError::NotADataFolder {
        path: folder.to_path_buf(),
        why: "its file `secret` is not 64 hexadecimal digits".into(),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; SECRET_BYTES]> {
    let mut bytes = [0; SECRET_BYTES];
    if text.len() != 2 * SECRET_BYTES {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

fn read(path: &Path) -> Result<String, StoreError> {
    fs::read_to_string(path).map_err(|source| io("cannot read", path, source))
}

fn write_private(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let new = path.with_extension("new");
    let write = || {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|source| io("cannot write", path, source))
}

fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|source| io("cannot sync", path, source))
}

fn io(what: &'static str, path: &Path, source: std::io::Error) -> StoreError {
    StoreError::Io { what, path: path.to_path_buf(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_is_private_locked_and_keeps_its_secret() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("data");
        let folder = DataFolder::open(&path, 2, [7; 32]).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(fs::metadata(path.join("secret")).unwrap().permissions().mode() & 0o777, 0o600);
        let second = DataFolder::open(&path, 2, [8; 32]).unwrap_err();
        assert!(matches!(second, StoreError::Locked { .. }), "{second}");
        drop(folder);
        let again = DataFolder::open(&path, 5, [9; 32]).unwrap();
        assert_eq!((again.shards(), again.secret()), (2, &[7; 32]));
    }

    #[test]
    fn a_folder_is_free_even_while_a_copy_of_its_lock_is_open() {
        let temp = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(temp.path(), 1, [7; 32]).unwrap();
        // What a process that is being started has for a moment.
        let copy = folder._lock.0.try_clone().unwrap();
        drop(folder);
        assert!(DataFolder::open(temp.path(), 1, [7; 32]).is_ok());
        drop(copy);
    }

    #[test]
    fn newer_and_foreign_folders_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("notes.txt"), "mine").unwrap();
        let error = DataFolder::open(temp.path(), 1, [0; 32]).unwrap_err();
        assert!(matches!(error, StoreError::NotADataFolder { .. }), "{error}");
        let newer = temp.path().join("newer");
        drop(DataFolder::open(&newer, 1, [0; 32]).unwrap());
        fs::write(newer.join("format"), "{\"millstream_format\": 99, \"shards\": 1}").unwrap();
        let error = DataFolder::open(&newer, 1, [0; 32]).unwrap_err();
        assert!(matches!(error, StoreError::TooNew { found: 99, .. }), "{error}");
    }

    #[test]
    fn a_start_that_was_cut_short_is_repeated() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("secret"), "half").unwrap();
        let folder = DataFolder::open(temp.path(), 1, [5; 32]).unwrap();
        assert_eq!(folder.secret(), &[5; 32]);
    }
}
