//! Whose files a bucket has. Two data folders that shared one would delete each other's files: the numbers of organizations
//! begin at 1 in each, and what the organizations of one do not name is deleted as unused.
//!
//! The object `owner` has the name of the data folder or cluster that may write and delete; others may only read. It is
//! written by the first that changes something. A data folder's name is in its file `bucket-owner`, which neither a restored
//! folder has nor a copy: the original may still be in use.

use super::error::BlobError;
use super::name::random_name;
use actors::BUCKET_OWNER_FILE;
use object_store::path::Path as StorePath;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::NamedTempFile;

const OBJECT: &str = "owner";
/// Longest content of the object in bytes.
const OBJECT_BYTES_MAX: u64 = 1_024;

/// The one that may change the files of a bucket.
#[derive(Debug)]
pub struct Owner {
    name: String,
    /// Whether the bucket is known to be this owner's.
    is_known: AtomicBool,
}

impl Owner {
    /// The owner that is called `name`.
    pub fn new(name: String) -> Self {
        Self { name, is_known: AtomicBool::new(false) }
    }

    /// Asks the bucket again at the next change.
    pub fn forget(&self) {
        self.is_known.store(false, Ordering::Relaxed);
    }

    /// Refuses changes to a bucket of another owner. One without an owner becomes this one's.
    pub async fn check(&self, store: &dyn ObjectStore) -> Result<(), BlobError> {
        if self.is_known.load(Ordering::Relaxed) {
            return Ok(());
        }
        let owner = match owner_in(store).await? {
            Some(owner) => owner,
            None => self.take(store).await?,
        };
        if owner != self.name {
            return Err(BlobError::Owned);
        }
        self.is_known.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the bucket this owner's, unless another one is faster; returns the owner.
    async fn take(&self, store: &dyn ObjectStore) -> Result<String, BlobError> {
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        match store.put_opts(&object(), format!("{}\n", self.name).into(), options).await {
            Ok(_) | Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            Err(error) => return Err(BlobError::of_write(error)),
        }
        owner_in(store).await?.ok_or_else(|| BlobError::Store("the bucket forgot its owner".to_owned()))
    }

    /// Whether the bucket is another one's. Changes nothing.
    pub async fn is_other(&self, store: &dyn ObjectStore) -> Result<bool, BlobError> {
        Ok(owner_in(store).await?.is_some_and(|owner| owner != self.name))
    }
}

fn object() -> StorePath {
    StorePath::from(OBJECT)
}

/// The owner of a bucket; none if no one has changed anything there.
async fn owner_in(store: &dyn ObjectStore) -> Result<Option<String>, BlobError> {
    let found = match store.get(&object()).await.map_err(BlobError::from) {
        Ok(found) if found.meta.size <= OBJECT_BYTES_MAX => found,
        Ok(_) => return Ok(Some(String::new())),
        Err(BlobError::Missing) => return Ok(None),
        Err(error) => return Err(error),
    };
    let bytes = found.bytes().await.map_err(BlobError::from)?;
    Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned()))
}

/// The name that a data folder has; none before its server used a bucket.
///
/// # Errors
/// `Store` if the file cannot be read.
pub fn known_name_of_folder(data: &Path) -> Result<Option<String>, BlobError> {
    let path = data.join(BUCKET_OWNER_FILE);
    match fs::read_to_string(&path) {
        Ok(name) => Ok(Some(name.trim().to_owned()).filter(|name| !name.is_empty())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(BlobError::Store(format!("cannot read {}: {error}", path.display()))),
    }
}

/// The name of a data folder, which gets a random one if it has none.
pub(super) fn name_of_folder(data: &Path) -> Result<String, BlobError> {
    if let Some(name) = known_name_of_folder(data)? {
        return Ok(name);
    }
    let path = data.join(BUCKET_OWNER_FILE);
    let name = random_name()?;
    let write = || {
        // Only its owner can read it.
        let mut file = NamedTempFile::new_in(data)?;
        writeln!(file, "{name}")?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        fs::File::open(data)?.sync_all()
    };
    let written: std::io::Result<()> = write();
    written.map_err(|error| BlobError::Store(format!("cannot write {}: {error}", path.display())))?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;

    #[tokio::test]
    async fn a_bucket_has_one_owner() {
        let store = InMemory::new();
        let owner = |name: &str| Owner::new(name.to_owned());
        assert!(!owner("a").is_other(&store).await.unwrap(), "asking takes nothing");
        let first = owner("a");
        first.check(&store).await.unwrap();
        owner("a").check(&store).await.unwrap();
        assert!(matches!(owner("b").check(&store).await, Err(BlobError::Owned)));
        assert!(owner("b").is_other(&store).await.unwrap());
        store.delete(&object()).await.unwrap();
        owner("b").check(&store).await.unwrap();
        first.check(&store).await.unwrap();
        first.forget();
        assert!(matches!(first.check(&store).await, Err(BlobError::Owned)));
    }

    #[test]
    fn a_folder_keeps_its_name() {
        let data = tempfile::tempdir().unwrap();
        let name = name_of_folder(data.path()).unwrap();
        assert_eq!(name_of_folder(data.path()).unwrap(), name);
        fs::remove_file(data.path().join(BUCKET_OWNER_FILE)).unwrap();
        assert_ne!(name_of_folder(data.path()).unwrap(), name);
        assert!(name_of_folder(&data.path().join("missing")).is_err());
    }
}
