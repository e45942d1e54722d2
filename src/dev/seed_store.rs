//! The seeds that the organizations of a kept data folder were made from: a restart and a reset go on with them.

use super::seed::SeedDocument;
use model::RealmId;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The folder in the data folder.
const FOLDER: &str = "seeds";
/// The server's own seed. Those of single organizations are named by their ids.
const OWN_NAME: &str = "server.toml";

/// Why a server cannot begin with the seed that it was given.
#[derive(Debug, Error)]
pub enum SeedConflict {
    #[error(
        "the data folder {} has an organization already, made from another seed; to go on with it, omit --seed and --empty; \
         to begin anew, choose another folder for --data",
        .0.display()
    )]
    Different(PathBuf),
    /// An earlier version made it, or the file was removed.
    #[error(
        "the data folder {} has an organization already, and it is not known from which seed; to go on with it, omit --seed \
         and --empty; to begin anew, choose another folder for --data",
        .0.display()
    )]
    Unknown(PathBuf),
}

/// The seeds of a data folder; nothing for temporary data, on which no server starts again.
#[derive(Debug)]
pub struct SeedStore {
    data: Option<PathBuf>,
}

impl SeedStore {
    /// The seeds of a data folder, if it is kept.
    pub fn new(data: &Path, is_kept: bool) -> Self {
        Self { data: is_kept.then(|| data.to_owned()) }
    }

    /// The seed of an organization, or the server's own.
    pub fn read(&self, realm: Option<RealmId>) -> Option<SeedDocument> {
        let text = fs::read_to_string(self.path(realm)?).ok()?;
        let seed = SeedDocument::read_used(&text);
        // An earlier version may have written it.
        seed.inspect_err(|error| tracing::warn!(%error, "the seed in the data folder cannot be read")).ok()
    }

    /// Keeps the seed of an organization, or the server's own. It may have passwords, so only this user may read it.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, realm: Option<RealmId>, seed: &SeedDocument) -> io::Result<()> {
        let Some(path) = self.path(realm) else { return Ok(()) };
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(seed.to_toml().as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        fs::File::open(folder)?.sync_all()
    }

    /// Removes the seed of an organization, if there is one.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove(&self, realm: RealmId) -> io::Result<()> {
        let Some(path) = self.path(Some(realm)) else { return Ok(()) };
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => fs::File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all(),
        }
    }

    /// Whether a seed is the one that the server began with. Comments and the order of entries do not matter.
    ///
    /// # Errors
    /// If it is another one, or if that is not known.
    pub fn check(&self, seed: &SeedDocument) -> Result<(), SeedConflict> {
        let (Some(data), Some(path)) = (&self.data, self.path(None)) else { return Ok(()) };
        match fs::read_to_string(path) {
            Ok(text) if text == seed.to_toml() => Ok(()),
            Ok(_) => Err(SeedConflict::Different(data.clone())),
            Err(_) => Err(SeedConflict::Unknown(data.clone())),
        }
    }

    fn path(&self, realm: Option<RealmId>) -> Option<PathBuf> {
        let name = realm.map_or_else(|| OWN_NAME.to_owned(), |realm| format!("{realm}.toml"));
        self.data.as_ref().map(|data| data.join(FOLDER).join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn kept_seed_is_the_only_one_that_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, sample) = (SeedStore::new(folder.path(), true), SeedDocument::sample());
        assert!(matches!(kept.check(&sample), Err(SeedConflict::Unknown(_))));
        kept.write(None, &sample).unwrap();
        assert!(kept.check(&sample).is_ok());
        assert!(matches!(kept.check(&SeedDocument::empty()), Err(SeedConflict::Different(_))));
        assert_eq!((kept.read(None), kept.read(Some(RealmId(2)))), (Some(sample), None));
        kept.write(Some(RealmId(2)), &SeedDocument::empty()).unwrap();
        assert_eq!(kept.read(Some(RealmId(2))), Some(SeedDocument::empty()));
        kept.remove(RealmId(2)).unwrap();
        kept.remove(RealmId(2)).unwrap();
        assert_eq!(kept.read(Some(RealmId(2))), None);
        let mode = fs::metadata(folder.path().join("seeds/server.toml")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn kept_seed_that_is_refused_by_now_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let kept = SeedStore::new(folder.path(), true);
        let sample = SeedDocument::sample();
        let mut groups = sample.groups.clone();
        groups.iter_mut().for_each(|group| group.name.insert_str(0, "role:"));
        let earlier = SeedDocument { groups, ..sample };
        assert!(SeedDocument::read(&earlier.to_toml()).is_err());
        kept.write(None, &earlier).unwrap();
        assert_eq!(kept.read(None), Some(earlier));
    }

    #[test]
    fn seeds_of_temporary_data_are_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = SeedStore::new(folder.path(), false);
        temporary.write(None, &SeedDocument::empty()).unwrap();
        assert!(temporary.check(&SeedDocument::sample()).is_ok() && temporary.read(None).is_none());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
