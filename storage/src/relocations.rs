//! The file `relocated` of a data folder: organizations that were carried between the folder and a cluster, and those whose import was
//! given up, one a line. It decides what is served: an organization that is in a cluster, or only a part of one, is not opened here,
//! though its data is kept.
//!
//! ```text
//! millstream relocated 1
//! 7 away 5f2ec1d70a9b4c3e 77a1… - acme        organization, state, name of the cluster, token, secret, subdomain (- without)
//! 1001 here 5f2ec1d70a9b4c3e 9bd0… 0f3a… zoo  its keys are derived from a secret of its own
//! ```

use crate::error::StoreError;
use crate::private_files::{sync_folder, write_private};
use crate::secret::{SECRET_BYTES, hex, unhex};
use model::RealmId;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The name of the file.
pub(crate) const FILE: &str = "relocated";

const FIRST_LINE: &str = "millstream relocated 1";

/// Where an organization is that was carried between a data folder and a cluster, or that it is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocationState {
    /// In the cluster. What is here is not served.
    Away,
    /// It is being carried here. Not served until everything is here.
    Arriving,
    /// Here, after it was in the cluster.
    Here,
    /// A part of an import that was given up. Never served; no cluster has it.
    Abandoned,
}

/// An organization that was carried between a data folder and a cluster.
#[derive(Clone, PartialEq, Eq)]
pub struct Relocation {
    pub state: RelocationState,
    /// The name of the cluster.
    pub cluster: String,
    /// A random name by which the cluster knows this folder, among several that it was to be carried to.
    pub token: String,
    pub subdomain: String,
    /// What its keys are derived from, if that is not the secret of the folder.
    pub secret: Option<[u8; SECRET_BYTES]>,
}

impl std::fmt::Debug for Relocation {
    // Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {} {:?}", self.state, self.cluster, self.subdomain)
    }
}

impl RelocationState {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Away, "away"),
        (Self::Arriving, "arriving"),
        (Self::Here, "here"),
        (Self::Abandoned, "abandoned"),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }

    fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(state, _)| *state)
    }
}

impl Relocation {
    fn line(&self, realm: RealmId) -> String {
        let or_none = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        let secret = self.secret.as_ref().map_or_else(|| "-".to_owned(), |secret| hex(secret));
        format!(
            "{} {} {} {} {secret} {}\n",
            realm.0,
            self.state.name(),
            or_none(&self.cluster),
            or_none(&self.token),
            or_none(&self.subdomain)
        )
    }

    fn parse(line: &str) -> Option<(RealmId, Self)> {
        let mut words = line.split(' ');
        let realm = RealmId(words.next()?.parse().ok()?);
        let state = RelocationState::parse(words.next()?)?;
        let [cluster, token] = [words.next()?.to_owned(), words.next()?.to_owned()];
        let secret = match words.next()? {
            "-" => None,
            text => Some(unhex(text)?),
        };
        let subdomain = words.next().map(|name| if name == "-" { "" } else { name })?.to_owned();
        words.next().is_none().then_some((realm, Self { state, cluster, token, subdomain, secret }))
    }
}

/// Reads the file; a folder without it has none.
pub(crate) fn read(folder: &Path) -> Result<BTreeMap<RealmId, Relocation>, StoreError> {
    let path = folder.join(FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(source) => return Err(StoreError::io("cannot read", &path, source)),
    };
    let mut lines = text.lines();
    let is_known = lines.next() == Some(FIRST_LINE);
    let found: Option<BTreeMap<_, _>> = lines.map(Relocation::parse).collect();
    found.filter(|_| is_known).ok_or_else(|| StoreError::NotADataFolder {
        path: folder.to_path_buf(),
        why: format!("its file `{FILE}` is not valid; put it back from a backup"),
    })
}

/// Replaces the file.
pub(crate) fn write(folder: &Path, all: &BTreeMap<RealmId, Relocation>) -> Result<(), StoreError> {
    let lines: String = all.iter().map(|(realm, relocation)| relocation.line(*realm)).collect();
    write_private(&folder.join(FILE), format!("{FIRST_LINE}\n{lines}").as_bytes())?;
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::DataFolder;

    fn relocation(state: RelocationState, subdomain: &str, secret: Option<[u8; 32]>) -> Relocation {
        let (cluster, token) = ("c1".to_owned(), "t1".to_owned());
        Relocation { state, cluster, token, subdomain: subdomain.to_owned(), secret }
    }

    #[test]
    fn states_survive_a_restart() {
        let temp = tempfile::tempdir().unwrap();
        let mut folder = DataFolder::open(temp.path(), 1, [7; 32]).unwrap();
        assert!(folder.relocations().is_empty());
        folder.relocate(RealmId(7), Some(relocation(RelocationState::Away, "", None))).unwrap();
        folder.relocate(RealmId(8), Some(relocation(RelocationState::Arriving, "zoo", None))).unwrap();
        folder.relocate(RealmId(9), Some(relocation(RelocationState::Here, "ant", Some([3; 32])))).unwrap();
        folder.relocate(RealmId(11), Some(relocation(RelocationState::Abandoned, "ox", None))).unwrap();
        let expected = folder.relocations().clone();
        drop(folder);
        let mut folder = DataFolder::open(temp.path(), 1, [0; 32]).unwrap();
        assert_eq!(*folder.relocations(), expected);
        let away = [7, 8, 9, 10, 11].map(|realm| folder.is_not_served(RealmId(realm)));
        assert_eq!(away, [true, true, false, false, true]);
        assert_eq!((folder.secret_of(RealmId(9)), folder.secret_of(RealmId(8))), (&[3; 32], &[7; 32]));
        folder.relocate(RealmId(7), None).unwrap();
        assert!(!folder.is_not_served(RealmId(7)));
        assert!(!format!("{:?}", folder.relocations()).contains("0303"), "a secret is printed");
    }

    #[test]
    fn damaged_file_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        drop(DataFolder::open(temp.path(), 1, [7; 32]).unwrap());
        let first = FIRST_LINE;
        for text in ["", "x\n", &format!("{first}\n7 gone c t - -\n"), &format!("{first}\n7 away c t\n")] {
            fs::write(temp.path().join(FILE), text).unwrap();
            let error = DataFolder::open(temp.path(), 1, [7; 32]).unwrap_err();
            assert!(matches!(error, StoreError::NotADataFolder { .. }), "{text:?}: {error}");
        }
        fs::write(temp.path().join(FILE), format!("{first}\n7 away c t - -\n")).unwrap();
        assert!(DataFolder::open(temp.path(), 1, [7; 32]).unwrap().is_not_served(RealmId(7)));
    }
}
