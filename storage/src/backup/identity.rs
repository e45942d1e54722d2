//! Whose backups a repository has: all of them are of one data folder, which its secret identifies.

use super::manifest::{Manifest, hex};
use crate::error::StoreError;
use crate::folder::{FINGERPRINT, SECRET};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// What identifies a data folder. A restored folder has the secret of the one that was backed up, and is the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// SHA-256 of the fingerprint of the secret, hexadecimal. Folders of old versions have none until a server starts.
    fingerprint: Option<String>,
    /// SHA-256 of the secret, hexadecimal.
    secret: Option<String>,
}

impl Identity {
    /// That of a data folder.
    pub(super) fn of_folder(data: &Path) -> Result<Self, StoreError> {
        Ok(Self { fingerprint: hash_of(&data.join(FINGERPRINT))?, secret: hash_of(&data.join(SECRET))? })
    }

    /// That of the folder that a backup was made of: every backup has these files, also those of old versions.
    pub(super) fn of_backup(manifest: &Manifest) -> Self {
        let hash = |name: &str| manifest.files.get(name).map(|entry| entry.hash.clone());
        Self { fingerprint: hash(FINGERPRINT), secret: hash(SECRET) }
    }

    /// Whether both are known to be of two folders.
    pub(super) fn is_other(&self, other: &Self) -> bool {
        let differ = |one: &Option<String>, two: &Option<String>| Some(one.as_ref()? != two.as_ref()?);
        let by_fingerprint = differ(&self.fingerprint, &other.fingerprint);
        by_fingerprint.or_else(|| differ(&self.secret, &other.secret)).unwrap_or(false)
    }
}

/// The SHA-256 of a small file; `None` if there is none.
fn hash_of(path: &Path) -> Result<Option<String>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(hex(&Sha256::digest(bytes)))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::io("cannot read", path, source)),
    }
}
