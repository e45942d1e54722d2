//! An export as a file: it has its name once it is complete and durable, and nothing is left of one that failed.

use super::run::{ExportRequest, Exported, export};
use super::snapshot::Step;
use crate::transfer::problem::TransferError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes that are written at a time.
pub(super) const BUFFER_BYTES: usize = 1 << 18;
/// How archives begin.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A file that gets its name when it is complete. Dropping it before removes it.
pub struct UnfinishedFile {
    to: PathBuf,
    new: PathBuf,
    file: BufWriter<File>,
}

impl UnfinishedFile {
    /// Begins a file, under another name.
    ///
    /// # Errors
    /// `System` when the file exists or cannot be written, `Busy` while another export writes it.
    pub fn create(to: &Path) -> Result<Self, TransferError> {
        check_target(to)?;
        let new = unfinished(to);
        let failed = |reason| TransferError::system(&new, reason);
        remove_left_over(&new)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).map_err(failed)?;
        // So that another export to the same file does not remove it. Some file systems have no locks.
        let _ = file.try_lock();
        Ok(Self { to: to.to_owned(), new, file: BufWriter::with_capacity(BUFFER_BYTES, file) })
    }

    /// Gives the file its name. It is durable when this returns.
    ///
    /// # Errors
    /// `System` when the disk fails, or the name was taken meanwhile.
    pub fn complete(mut self) -> Result<(), TransferError> {
        let failed = |reason| TransferError::system(&self.new, reason);
        self.file.flush().and_then(|()| self.file.get_ref().sync_all()).map_err(failed)?;
        // A hard link fails if the name was taken meanwhile; renaming would replace the other file.
        fs::hard_link(&self.new, &self.to).map_err(|reason| TransferError::system(&self.to, reason))?;
        fs::remove_file(&self.new).map_err(failed)?;
        let folder = target_folder(&self.to);
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
    }
}

/// Removes what is left of an export that was killed: the beginning of an archive, or nothing yet. All else is not its own.
fn remove_left_over(new: &Path) -> Result<(), TransferError> {
    let failed = |reason| TransferError::system(new, reason);
    let is_file = match fs::symlink_metadata(new) {
        Err(reason) if reason.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.map_err(failed)?.is_file(),
    };
    let mut start = Vec::new();
    if is_file {
        let file = File::open(new).map_err(failed)?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(TransferError::Busy);
        }
        file.take(GZIP.len() as u64).read_to_end(&mut start).map_err(failed)?;
    }
    if !is_file || !GZIP.starts_with(&start) {
        let why =
            "it is not what an interrupted export leaves; remove it, or choose another name for the export";
        return Err(failed(io::Error::new(ErrorKind::AlreadyExists, why)));
    }
    fs::remove_file(new).map_err(failed)
}

impl Write for UnfinishedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        // A complete one has lost this name.
        let _ = fs::remove_file(&self.new);
    }
}

/// Writes an export to a new file. Blocks, as [`export`] does.
///
/// # Errors
/// `System` when the file exists or cannot be written; those of [`export`].
pub fn export_to_file(
    request: &ExportRequest,
    to: &Path,
    progress: &dyn Fn(Step),
) -> Result<Exported, TransferError> {
    let (file, exported) = export(request, UnfinishedFile::create(to)?, progress)?;
    file.complete()?;
    Ok(exported)
}

/// Refuses a file that exists, and a folder that is missing or may not be used.
///
/// # Errors
/// `System`, with the reason.
pub fn check_target(to: &Path) -> Result<(), TransferError> {
    let refused = |kind, why: &str| Err(TransferError::system(to, io::Error::new(kind, why)));
    let folder = target_folder(to);
    match fs::metadata(&folder) {
        Ok(found) if !found.is_dir() => {
            return refused(ErrorKind::NotADirectory, "what should be its folder is a file");
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return refused(ErrorKind::NotFound, "there is no such folder");
        }
        Err(error) => return Err(TransferError::system(&folder, error)),
        Ok(_) => {}
    }
    match to.symlink_metadata() {
        Ok(_) => refused(ErrorKind::AlreadyExists, "it exists already"),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(TransferError::system(to, error)),
    }
}

/// The folder of a file.
pub fn target_folder(to: &Path) -> PathBuf {
    to.parent().unwrap_or(to).to_owned()
}

/// The name of the top folder in an archive: that of the file without its ending.
pub fn top_name(to: &Path) -> String {
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let name = [".tar.gz", ".tgz"].into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    if name.is_empty() || name == "." || name == ".." { "export".to_owned() } else { name.to_owned() }
}

/// The name of a file until it is complete.
fn unfinished(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_os_string();
    name.push(".new");
    to.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_has_its_name_when_it_is_complete() {
        let temp = tempfile::tempdir().unwrap();
        let to = temp.path().join("acme.tar.gz");
        let names =
            || fs::read_dir(temp.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        let mut file = UnfinishedFile::create(&to).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(names(), ["acme.tar.gz.new"]);
        drop(file);
        assert!(names().is_empty());
        let mut file = UnfinishedFile::create(&to).unwrap();
        file.write_all(b"whole").unwrap();
        assert!(matches!(UnfinishedFile::create(&to), Err(TransferError::Busy)), "it is being written");
        file.complete().unwrap();
        assert_eq!(names(), ["acme.tar.gz"]);
        assert_eq!(fs::read(&to).unwrap(), b"whole");
        assert!(UnfinishedFile::create(&to).is_err());
    }

    #[test]
    fn only_what_an_export_left_is_replaced() {
        let temp = tempfile::tempdir().unwrap();
        let (to, new) = (temp.path().join("acme.tar.gz"), temp.path().join("acme.tar.gz.new"));
        for left in [&b""[..], &GZIP, b"\x1f\x8b\x08half"] {
            fs::write(&new, left).unwrap();
            assert!(UnfinishedFile::create(&to).is_ok(), "{left:?}");
        }
        for notes in ["x", "my own notes"] {
            fs::write(&new, notes).unwrap();
            let error = UnfinishedFile::create(&to).err().map(|error| error.to_string());
            assert!(error.is_some_and(|error| error.contains("acme.tar.gz.new")));
            assert_eq!(fs::read_to_string(&new).unwrap(), notes);
        }
        fs::remove_file(&new).unwrap();
        std::os::unix::fs::symlink("nowhere", &new).unwrap();
        assert!(UnfinishedFile::create(&to).is_err());
        assert!(fs::symlink_metadata(&new).unwrap().is_symlink());
    }

    #[test]
    fn name_that_is_taken_meanwhile_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let to = temp.path().join("acme.tar.gz");
        let file = UnfinishedFile::create(&to).unwrap();
        fs::write(&to, "another").unwrap();
        assert!(file.complete().is_err());
        assert_eq!(fs::read(&to).unwrap(), b"another");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[test]
    fn refused_targets_say_why() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("file");
        fs::write(&file, "").unwrap();
        for (to, expected) in [
            (file.clone(), "it exists already"),
            (temp.path().join("none/x.tar.gz"), "there is no such folder"),
            (file.join("x.tar.gz"), "what should be its folder is a file"),
        ] {
            let error = check_target(&to).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        check_target(&temp.path().join("x.tar.gz")).unwrap();
    }
}
