//! The folder `unfinished` of a data folder: a file for each organization that is being made or reset, named by its number. It is on
//! disk before the first frame and removed after the last one, so that a start knows of which organizations there may be only a part.
//!
//! ```text
//! making 1 acme        state, the first frame that may be of it, subdomain (- without)
//! ```

use crate::error::StoreError;
use crate::private_files::{create_private, sync_folder, write_private};
use model::RealmId;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The name of the folder.
pub(crate) const FOLDER: &str = "unfinished";

/// Why an organization may be only a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedState {
    /// It is being made.
    Making,
    /// Everything in it is being replaced by its seed.
    Resetting,
    /// It was being made when the server ended. Never served.
    Removed,
}

/// An organization that may be only a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    pub state: UnfinishedState,
    /// No frame before this one is of what is being done.
    pub first: u64,
    pub subdomain: String,
    /// Whether an earlier process has begun it.
    pub is_left: bool,
}

impl UnfinishedState {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Making, "making"), (Self::Resetting, "resetting"), (Self::Removed, "removed")];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(state, _)| *state)
    }
}

impl Unfinished {
    fn line(&self) -> String {
        let subdomain = if self.subdomain.is_empty() { "-" } else { &self.subdomain };
        format!("{} {} {subdomain}\n", self.state.name(), self.first)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.trim_end().split(' ');
        let (state, first) = (UnfinishedState::parse(words.next()?)?, words.next()?.parse().ok()?);
        let subdomain = words.next().map(|name| if name == "-" { "" } else { name })?.to_owned();
        words.next().is_none().then_some(Self { state, first, subdomain, is_left: true })
    }
}

/// What the folder has, as this process knows it.
#[derive(Debug)]
pub struct UnfinishedMarks {
    data: PathBuf,
    /// Whether this process has synced the data folder, so that it has the folder of the marks after a crash.
    is_folder_durable: AtomicBool,
    all: Mutex<BTreeMap<RealmId, Mark>>,
}

#[derive(Debug)]
struct Mark {
    unfinished: Unfinished,
    /// How many do it: resets may overlap.
    holders: u32,
}

/// The unfinished organizations of a data folder, which is not opened.
///
/// # Errors
/// [`StoreError::Io`] and [`StoreError::NotADataFolder`].
pub fn read(data: &Path) -> Result<BTreeMap<RealmId, Unfinished>, StoreError> {
    let folder = data.join(FOLDER);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        entries => entries.map_err(|source| StoreError::io("cannot read", &folder, source))?,
    };
    let mut found = BTreeMap::new();
    for entry in entries {
        let name = entry.map_err(|source| StoreError::io("cannot read", &folder, source))?.file_name();
        let Some(realm) = name.to_str().and_then(|name| name.parse().ok()).map(RealmId) else { continue };
        let path = folder.join(name);
        let text = match fs::read_to_string(&path) {
            // A running server has finished it.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            text => text.map_err(|source| StoreError::io("cannot read", &path, source))?,
        };
        let unfinished = Unfinished::parse(&text).ok_or_else(|| StoreError::NotADataFolder {
            path: data.to_path_buf(),
            why: format!("its file `{FOLDER}/{realm}` is not valid; put it back from a backup"),
        })?;
        found.insert(realm, unfinished);
    }
    Ok(found)
}

impl UnfinishedMarks {
    /// Reads the folder.
    pub(crate) fn read(data: &Path) -> Result<Self, StoreError> {
        let all = read(data)?.into_iter().map(|(realm, unfinished)| (realm, Mark { unfinished, holders: 0 }));
        let all = Mutex::new(all.collect());
        Ok(Self { data: data.to_owned(), is_folder_durable: AtomicBool::default(), all })
    }

    /// Whether an organization is among them.
    pub(crate) fn has(&self, realm: RealmId) -> bool {
        self.all.lock().contains_key(&realm)
    }

    /// The organizations that may be only a part of one.
    pub fn all(&self) -> BTreeMap<RealmId, Unfinished> {
        self.all.lock().iter().map(|(realm, mark)| (*realm, mark.unfinished.clone())).collect()
    }

    /// Those of them that no call of this process is making or resetting.
    pub fn left(&self) -> BTreeMap<RealmId, Unfinished> {
        let marks = self.all.lock();
        let left = marks.iter().filter(|(_, mark)| mark.holders == 0);
        left.map(|(realm, mark)| (*realm, mark.unfinished.clone())).collect()
    }

    /// Records that an organization is about to be made, reset or removed. Durable when this returns.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn note(&self, realm: RealmId, unfinished: Unfinished) -> Result<(), StoreError> {
        let mut marks = self.all.lock();
        let known = marks.get(&realm);
        let holders = known.map_or(0, |known| known.holders) + 1;
        // The frames of an earlier one may be a part, too.
        let first = known.map_or(unfinished.first, |known| unfinished.first.min(known.unfinished.first));
        let unfinished = Unfinished { first, is_left: false, ..unfinished };
        let folder = self.data.join(FOLDER);
        if !folder.exists() {
            create_private(&folder)?;
        }
        if !self.is_folder_durable.load(Ordering::Relaxed) {
            sync_folder(&self.data)?;
            self.is_folder_durable.store(true, Ordering::Relaxed);
        }
        write_private(&file(&self.data, realm), unfinished.line().as_bytes())?;
        sync_folder(&folder)?;
        marks.insert(realm, Mark { unfinished, holders });
        Ok(())
    }

    /// Gives up what [`Self::note`] began: the file stays.
    pub fn leave(&self, realm: RealmId) {
        if let Some(mark) = self.all.lock().get_mut(&realm) {
            mark.holders = mark.holders.saturating_sub(1);
        }
    }

    /// Ends what [`Self::note`] began. The organization is whole unless it is still being reset by another call. Whether
    /// the file is gone after a crash does not matter: a start finds the last frame, too.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn forget(&self, realm: RealmId) -> Result<(), StoreError> {
        let mut marks = self.all.lock();
        let Some(mark) = marks.get_mut(&realm) else { return Ok(()) };
        mark.holders = mark.holders.saturating_sub(1);
        if mark.holders > 0 {
            return Ok(());
        }
        let path = file(&self.data, realm);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::io("cannot remove", &path, error));
            }
            Ok(()) | Err(_) => {}
        }
        marks.remove(&realm);
        Ok(())
    }
}

fn file(data: &Path, realm: RealmId) -> PathBuf {
    data.join(FOLDER).join(realm.0.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::DataFolder;

    fn unfinished(state: UnfinishedState, first: u64, subdomain: &str) -> Unfinished {
        Unfinished { state, first, subdomain: subdomain.to_owned(), is_left: false }
    }

    #[test]
    fn marks_are_found_by_the_next_process() {
        let temp = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(temp.path(), 1, [7; 32]).unwrap();
        let all = [
            unfinished(UnfinishedState::Making, 1, ""),
            unfinished(UnfinishedState::Resetting, 40, "acme"),
            unfinished(UnfinishedState::Removed, 1, "beta"),
        ];
        for (number, one) in (1..).zip(&all) {
            folder.marks().note(RealmId(number), one.clone()).unwrap();
            assert!(folder.is_not_served(RealmId(number)));
        }
        drop(folder);
        std::fs::write(temp.path().join(FOLDER).join("4.new"), "mak").unwrap();
        let folder = DataFolder::open(temp.path(), 1, [7; 32]).unwrap();
        let found: Vec<_> = folder.marks().all().into_values().collect();
        assert_eq!(found, all.map(|one| Unfinished { is_left: true, ..one }));
        folder.marks().forget(RealmId(2)).unwrap();
        assert!(!folder.is_not_served(RealmId(2)));
        assert_eq!(read(temp.path()).unwrap().len(), 2);
        std::fs::write(temp.path().join(FOLDER).join("4"), "mak").unwrap();
        assert!(read(temp.path()).is_err());
    }

    #[test]
    fn overlapping_resets_are_unfinished_until_the_last_one_ends() {
        let temp = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(temp.path(), 1, [7; 32]).unwrap();
        for first in [40, 60] {
            folder.marks().note(RealmId(2), unfinished(UnfinishedState::Resetting, first, "")).unwrap();
        }
        folder.marks().forget(RealmId(2)).unwrap();
        assert_eq!(read(temp.path()).unwrap()[&RealmId(2)].first, 40);
        assert!(folder.marks().left().is_empty());
        folder.marks().forget(RealmId(2)).unwrap();
        assert!(folder.marks().all().is_empty() && read(temp.path()).unwrap().is_empty());
    }
}
