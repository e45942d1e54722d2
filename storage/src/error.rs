//! What can go wrong with stored data, in words that say what to do next.

use std::path::PathBuf;

/// A failure of the store. None of them is caused by what a client sent.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was tried, such as "cannot create".
        what: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Another process has the data folder.
    #[error(
        "the data folder {} is in use by another millstream process{}; stop it first, or choose another folder with --data",
        path.display(),
        pid.as_deref().map(|pid| format!(" (pid {pid})")).unwrap_or_default()
    )]
    Locked {
        /// The folder.
        path: PathBuf,
        /// Who has it, when known.
        pid: Option<String>,
    },
    /// The folder has a format that this server does not know.
    #[error(
        "the data folder {} has format {found}, this server knows up to {known}; use the newer server that wrote it",
        path.display()
    )]
    TooNew {
        /// The folder.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format known.
        known: u32,
    },
    /// The folder has something in it that is not ours.
    #[error("{} is not a millstream data folder: {why}", path.display())]
    NotADataFolder {
        /// The folder.
        path: PathBuf,
        /// What speaks against it.
        why: String,
    },
    /// A record cannot be written.
    #[error("a record cannot be encoded: {0}")]
    Encode(String),
    /// A record cannot be read.
    #[error(
        "a stored {what} cannot be read: {why}; run `millstream check --data DIR` to see what is damaged"
    )]
    Decode {
        /// Which kind of record.
        what: &'static str,
        /// Why not.
        why: String,
    },
    /// The trees are damaged beyond what opening repairs.
    #[error(
        "the trees cannot be opened: {0}; run `millstream check --data DIR`, which can rebuild them from the journal"
    )]
    Trees(#[from] sled::Error),
    /// The trees are so damaged that their library gave up instead of answering.
    #[error(
        "the trees are damaged: {0}; run `millstream check --data DIR`, which can rebuild them from the journal"
    )]
    TreesDamaged(String),
    /// The trees are ahead of the journal: part of the journal was lost.
    #[error(
        "the trees of organization {realm} reflect frame {trees}, but the journal ends at {journal}: \
         the journal was cut or replaced; the way back is a copy of the data folder made before"
    )]
    JournalBehind {
        /// Which organization.
        realm: u32,
        /// Newest frame in the trees.
        trees: u64,
        /// Newest frame in the journal.
        journal: u64,
    },
    /// The log refused.
    #[error(transparent)]
    Log(#[from] crate::log::LogError),
    /// The writer of the trees has ended.
    #[error("the writer of the trees has stopped")]
    ProjectionStopped,
}

impl StoreError {
    /// Whether the trees are damaged, which a rebuild from the journal repairs.
    pub fn is_tree_damage(&self) -> bool {
        match self {
            Self::TreesDamaged(_) => true,
            Self::Trees(error) => {
                matches!(error, sled::Error::Corruption { .. } | sled::Error::ReportableBug(_))
            }
            _ => false,
        }
    }
}
