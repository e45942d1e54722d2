//! Errors of stored data. Their texts include instructions.

use crate::log;
use crate::owner::{Owner, explain, foreign_entry};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// An error of the store. None is caused by a request of a client.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file operation failed.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// The failed operation, such as "cannot create".
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// Another process uses the data folder.
    #[error(
        "the data folder {} is in use by another millstream process{}; stop it first, or choose another folder with --data",
        path.display(),
        pid.as_deref().map(|pid| format!(" (pid {pid})")).unwrap_or_default()
    )]
    Locked { path: PathBuf, pid: Option<String> },
    /// The files that root would make in the folder could not be read by its owner's server.
    #[error(
        "{} belongs to the user {owner}, whose server could not read the files that root makes there; run this as that \
         user: `{}` (in a container: `--user {}`)",
        path.display(), owner.command(), owner.0
    )]
    OtherOwner { path: PathBuf, owner: Owner },
    /// The folder belongs to another user, and this one may not enter it.
    #[error(
        "only {} may use {}; run this as that user: `{}` (while no server uses it, `chown -R {} {}` as root gives it to \
         this user)",
        owner.with_root(), path.display(), owner.command(), Owner::own(), path.display()
    )]
    NotAllowed { path: PathBuf, owner: Owner },
    /// The folder, or one above it, belongs to this user, and its mode does not allow to enter it.
    #[error("{0} belongs to this user, who may not enter it; run `chmod 700 {0}`", path.display())]
    Closed { path: PathBuf },
    /// The folder has a format that this server does not know.
    #[error(
        "the data folder {} has format {found}, this server knows up to {known}; use the newer server that wrote it",
        path.display()
    )]
    TooNew { path: PathBuf, found: u32, known: u32 },
    /// The folder is not a data folder and not empty.
    #[error("{} is not a millstream data folder: {why}", path.display())]
    NotADataFolder { path: PathBuf, why: String },
    /// A restore into the folder was interrupted, or goes on.
    #[error(
        "a restore into {} is not finished, and until then it is no data folder; repeat the command: `millstream restore \
         --from {} --data {}`, with the other options that it had",
        path.display(), from.as_deref().unwrap_or("BACKUPS"), path.display()
    )]
    Restoring {
        path: PathBuf,
        /// Where the backups are, if that is known.
        from: Option<String>,
    },
    /// The secret is not the one that the folder was made with.
    #[error(
        "the file `secret` in {} is not the one that this data folder was made with. With it every API key and every \
         link in a mail would stop working, and phones would get no notifications until they register again. Put the \
         old file back from a backup. To go on with the new one all the same, remove `secret.fingerprint` from the \
         folder; then all users have to log in again",
        path.display()
    )]
    SecretChanged { path: PathBuf },
    /// The secret is gone.
    #[error(
        "the file `secret` in {} is missing. With another one every API key and every link in a mail would stop working: put \
         the old file back from a backup",
        path.display()
    )]
    SecretMissing { path: PathBuf },
    /// The folder is a copy that was made while a server used the original.
    #[error(
        "the data folder {} is a copy of one that was in use, so its trees do not match its journal. Start the server on \
         it, or run `millstream check --data DIR --rebuild`: both rebuild the trees from the journal",
        path.display()
    )]
    LiveCopy { path: PathBuf },
    /// A backup cannot be made, read or restored.
    #[error("{0}")]
    Backup(String),
    /// A time from before the first change cannot be restored.
    #[error(
        "nothing had changed yet at that time; the oldest change is of {oldest} (milliseconds since 1970)"
    )]
    TooEarly {
        /// The time of the oldest change, in milliseconds since 1970.
        oldest: u64,
    },
    /// The folder has trees but no journal.
    #[error(
        "the journal {} is missing, but the folder `state` made from it is there: the journal was moved, or lost with \
         everything in it. Put it back, or restore a backup of the data folder. (`state` alone cannot replace it. Only to \
         begin with an empty server, remove `state`.)",
        path.display()
    )]
    JournalMissing { path: PathBuf },
    /// A record cannot be encoded.
    #[error("a record cannot be encoded: {0}")]
    Encode(String),
    /// A record cannot be decoded.
    #[error(
        "a stored {what} cannot be read: {why}; run `millstream check --data DIR` to see what is damaged"
    )]
    Decode {
        /// The kind of record.
        what: &'static str,
        why: String,
    },
    /// The trees are damaged, and opening them does not repair it.
    #[error(
        "the trees cannot be opened: {}; {advice}", reason_of_trees(.0), advice = advice_for_trees(is_disk_full(.0))
    )]
    Trees(#[from] sled::Error),
    /// The trees are so damaged that sled panicked.
    #[error("the trees are damaged: {0}; {advice}", advice = advice_for_trees(is_about_full_disk(.0)))]
    TreesDamaged(String),
    /// The trees have newer frames than the journal: part of the journal was lost.
    #[error(
        "the trees of organization {realm} reflect frame {trees}, but the journal ends at {journal}: \
         the journal was cut or replaced. Restore a backup of the data folder; without one, \
         `millstream check --data DIR --rebuild` goes on with what the journal has"
    )]
    JournalBehind { realm: u32, trees: u64, journal: u64 },
    /// The journal does not begin with the first frame, and there is no base that it continues.
    #[error(
        "the journal of organization {realm} begins with frame {first}, because `journal.keep` (in a cluster: `cluster.log_keep`) \
         dropped what was before, and its base cannot be used: {why}. Restore a backup of the data folder (in a cluster: of \
         the files that the nodes share, which this node must have, too)"
    )]
    BaseMissing { realm: u32, first: u64, why: String },
    /// An error of the log.
    #[error(transparent)]
    Log(#[from] crate::log::LogError),
    /// The thread that writes the trees has ended.
    #[error("the writer of the trees has stopped")]
    ProjectionStopped,
    /// The disk is too full to write the trees.
    #[error("the disk is too full to write the trees")]
    NoRoom,
    /// The trees cannot be replaced because something reads them for long.
    #[error("the trees are being read for too long to be replaced")]
    TreesBusy,
    /// The trees are closed until they can be opened: the disk is full, or has failed.
    #[error("the trees are closed until the disk works and has free space")]
    TreesClosed,
    /// A call into sled never ended, and the trees were given up until the process ends.
    #[error(
        "the trees do not answer since a fault of the disk, and only another process can open them again; nothing that was \
         acknowledged is lost"
    )]
    TreesHang,
    /// The trees are rebuilt in the background.
    #[error(
        "the trees are being rebuilt from the journal; messages from before the start can be read afterwards"
    )]
    TreesRebuilding,
    /// The trees cannot be opened, and the journal is too long to be replayed into memory.
    #[error(
        "the disk is full and the trees cannot be opened; the journal is too long to serve it from memory \
         (more than {limit_bytes} bytes): free some space and start again"
    )]
    TooLongForMemory {
        /// The limit, in bytes of frames.
        limit_bytes: usize,
    },
}

impl StoreError {
    /// Adds the operation and the path to a system error, and to a refused access what to do.
    pub(crate) fn io(what: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { what, path: path.to_path_buf(), source: explain(path, source) }
    }

    /// Names the file if this is a refused access to the trees in a folder: rebuilding them would not help.
    pub(crate) fn of_trees(self, folder: &Path) -> Self {
        match self {
            Self::Trees(sled::Error::Io(error)) if error.kind() == ErrorKind::PermissionDenied => {
                let found = foreign_entry(folder, Owner::own());
                Self::io("cannot open", found.as_deref().unwrap_or(folder), error)
            }
            other => other,
        }
    }

    /// Whether the trees are damaged, which a rebuild from the journal repairs.
    pub fn is_tree_damage(&self) -> bool {
        match self {
            Self::TreesDamaged(_) => true,
            Self::Trees(error) => match error {
                sled::Error::Corruption { .. }
                | sled::Error::ReportableBug(_)
                | sled::Error::Unsupported(_)
                | sled::Error::CollectionNotFound(_) => true,
                sled::Error::Io(error) => is_damage(error.kind()),
            },
            _ => false,
        }
    }

    /// Whether the disk, or the share of it that this process may use, is full.
    pub fn is_full(&self) -> bool {
        match self {
            Self::NoRoom => true,
            Self::Io { source, .. } => log::is_full(source),
            Self::Log(error) => error.is_full(),
            Self::Trees(error) => is_disk_full(error),
            Self::TreesDamaged(why) => is_about_full_disk(why),
            _ => false,
        }
    }
}

/// What sled says; it shows errors of the system as programmers write them.
fn reason_of_trees(error: &sled::Error) -> String {
    match error {
        sled::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// What to do about trees that cannot be opened.
fn advice_for_trees(is_full: bool) -> &'static str {
    match is_full {
        true => "make room on the disk: rebuilding the trees would need more of it",
        false => {
            "run `millstream check --data DIR --rebuild`, which rebuilds them from the journal (so does a start after the \
             folder `state` was removed)"
        }
    }
}

fn is_disk_full(error: &sled::Error) -> bool {
    match error {
        sled::Error::Io(error) => log::is_full(error),
        _ => false,
    }
}

/// sled panics on unexpected I/O errors; only the text of the panic has the cause.
fn is_about_full_disk(panic: &str) -> bool {
    panic.contains("No space left on device") || panic.contains("StorageFull")
}

/// Errors that sled returns when its files are damaged. Other errors are those of the disk.
fn is_damage(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::InvalidData
            | ErrorKind::InvalidInput
            | ErrorKind::UnexpectedEof
            | ErrorKind::IsADirectory
            | ErrorKind::NotADirectory
            | ErrorKind::AlreadyExists
            | ErrorKind::NotFound
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disk_is_not_to_be_filled_by_a_rebuild() {
        let full = || std::io::Error::from(ErrorKind::StorageFull);
        let panic = format!("called `Result::unwrap()` on {:?}", full());
        for error in [StoreError::Trees(sled::Error::Io(full())), StoreError::TreesDamaged(panic)] {
            assert!(error.is_full());
            let words = error.to_string();
            assert!(words.contains("make room on the disk") && !words.contains("--rebuild"), "{words}");
        }
        let words = StoreError::Trees(sled::Error::Io(std::io::Error::from_raw_os_error(28))).to_string();
        assert!(
            words.starts_with("the trees cannot be opened: No space left on device (os error 28)"),
            "{words}"
        );
        let damaged = StoreError::Trees(sled::Error::Unsupported("tea".into())).to_string();
        assert!(damaged.contains("--rebuild"), "{damaged}");
    }
}
