//! The file `instance` of a data folder: whether a server uses the folder, and how far its organizations are known to
//! reach. With it a start recognizes a copy that was made while the server was running, and a journal that lost its end.
//!
//! ```text
//! millstream instance 1
//! file 131077 1732300000123456789    inode and time of creation (ns since 1970, 0: unknown) of the file `format`
//! state running                      or `stopped`, after a clean stop
//! frame 3 1234                       an organization and a frame that its journal has
//! ```
//!
//! A copy of the folder has another inode. If its state is `running`, its files were copied at different times: the trees
//! are rebuilt from the journal, and the journal may end within its newest segments.

use crate::error::StoreError;
use crate::private_files::{sync_folder, write_private};
use model::RealmId;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

const FILE: &str = "instance";
/// The name of the folder in the bucket that has its uploaded files. The server makes it; a copy loses it, because the
/// original may still be in use.
pub const BUCKET_OWNER: &str = "bucket-owner";
const FIRST_LINE: &str = "millstream instance 1";

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Instance {
    file: (u64, u128),
    is_running: bool,
    frames: BTreeMap<RealmId, u64>,
}

/// The inode of a folder's `format` file, and when it was created.
fn identity(folder: &Path) -> Result<(u64, u128), StoreError> {
    let path = folder.join("format");
    let metadata = fs::metadata(&path).map_err(|source| StoreError::io("cannot read", &path, source))?;
    let created = metadata.created().ok().and_then(|created| created.duration_since(UNIX_EPOCH).ok());
    Ok((metadata.ino(), created.map_or(0, |created| created.as_nanos())))
}

impl Instance {
    /// Reads the file. A folder of an earlier version has none; one that cannot be read is like none.
    pub fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(FILE)).ok()?;
        let parsed = Self::parse(&text);
        if parsed.is_none() {
            tracing::warn!("the file `instance` of the data folder is not valid and is replaced");
        }
        parsed
    }

    /// Replaces the file.
    pub fn write(folder: &Path, is_running: bool, frames: &BTreeMap<RealmId, u64>) -> Result<(), StoreError> {
        let instance = Self { file: identity(folder)?, is_running, frames: frames.clone() };
        write_private(&folder.join(FILE), instance.text().as_bytes())?;
        sync_folder(folder)
    }

    /// Whether a server uses the folder, or did not stop cleanly.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Whether the folder is a copy of the one that a server used.
    pub fn is_copy(&self, folder: &Path) -> Result<bool, StoreError> {
        Ok(self.file != identity(folder)?)
    }

    /// Whether the folder is a copy that was made while a server used the original.
    pub fn is_live_copy(&self, folder: &Path) -> Result<bool, StoreError> {
        Ok(self.is_running && self.is_copy(folder)?)
    }

    /// Rejects journals that end before a frame that they are known to have had.
    pub fn check(&self, ends: &BTreeMap<RealmId, u64>) -> Result<(), StoreError> {
        for (realm, known) in &self.frames {
            let journal = ends.get(realm).copied().unwrap_or_default();
            if *known > journal {
                return Err(StoreError::JournalBehind { realm: realm.0, trees: *known, journal });
            }
        }
        Ok(())
    }

    fn text(&self) -> String {
        let state = if self.is_running { "running" } else { "stopped" };
        let mut text = format!("{FIRST_LINE}\nfile {} {}\nstate {state}\n", self.file.0, self.file.1);
        for (realm, frame) in &self.frames {
            text.push_str(&format!("frame {} {frame}\n", realm.0));
        }
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let (inode, created) = lines.next()?.strip_prefix("file ")?.split_once(' ')?;
        let is_running = match lines.next()? {
            "state running" => true,
            "state stopped" => false,
            _ => return None,
        };
        let mut frames = BTreeMap::new();
        for line in lines {
            let (realm, frame) = line.strip_prefix("frame ")?.split_once(' ')?;
            frames.insert(RealmId(realm.parse().ok()?), frame.parse().ok()?);
        }
        Some(Self { file: (inode.parse().ok()?, created.parse().ok()?), is_running, frames })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_own_no_bucket() {
        let folder = tempfile::tempdir().unwrap();
        let (own, copy) = (folder.path().join("own"), folder.path().join("copy"));
        drop(crate::DataFolder::open(&own, 1, [7; 32]).unwrap());
        Instance::write(&own, false, &BTreeMap::new()).unwrap();
        fs::write(own.join(BUCKET_OWNER), "a\n").unwrap();
        fs::create_dir_all(copy.join("journal")).unwrap();
        for name in ["format", "secret", "secret.fingerprint", FILE, BUCKET_OWNER] {
            fs::copy(own.join(name), copy.join(name)).unwrap();
        }
        for (path, keeps) in [(&own, true), (&copy, false)] {
            drop(crate::DataFolder::open(path, 1, [7; 32]).unwrap());
            assert_eq!(path.join(BUCKET_OWNER).exists(), keeps);
        }
    }

    #[test]
    fn copies_of_running_folders_are_recognized() {
        let folder = tempfile::tempdir().unwrap();
        let (own, copy) = (folder.path().join("own"), folder.path().join("copy"));
        for path in [&own, &copy] {
            fs::create_dir(path).unwrap();
            fs::write(path.join("format"), "{}").unwrap();
        }
        let frames = BTreeMap::from([(RealmId(3), 12)]);
        for is_running in [true, false] {
            Instance::write(&own, is_running, &frames).unwrap();
            fs::copy(own.join(FILE), copy.join(FILE)).unwrap();
            assert!(!Instance::read(&own).unwrap().is_live_copy(&own).unwrap());
            assert_eq!(Instance::read(&copy).unwrap().is_live_copy(&copy).unwrap(), is_running);
            assert!(Instance::read(&copy).unwrap().is_copy(&copy).unwrap());
        }
        let instance = Instance::read(&own).unwrap();
        assert!(instance.check(&frames).is_ok());
        let error = instance.check(&BTreeMap::from([(RealmId(3), 11)])).unwrap_err();
        assert!(matches!(error, StoreError::JournalBehind { realm: 3, trees: 12, journal: 11 }), "{error}");
        fs::write(own.join(FILE), "millstream instance 2\n").unwrap();
        assert_eq!(Instance::read(&own), None);
    }
}
