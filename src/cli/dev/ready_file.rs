//! The file of `--ready-file`: it is there while the server accepts requests.

use crate::cli::error::CliError;
use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The file of one process. Dropping it removes the file, unless another process has replaced it.
pub struct ReadyFile {
    path: PathBuf,
    /// What this process has written.
    written: RefCell<Option<String>>,
}

impl ReadyFile {
    /// Removes the file of an earlier process, and checks that a new one can be written.
    ///
    /// # Errors
    /// `Refused` with the reason of the system, and for what is there and no file, such as a device: it would be replaced.
    pub fn prepare(path: &Path) -> Result<Self, CliError> {
        let file = Self { path: path.to_owned(), written: RefCell::default() };
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(file
                .refusal(&io::Error::other("it is no regular file; name one, or a path where nothing is")));
        }
        let checked = match fs::remove_file(path) {
            Err(reason) if reason.kind() != ErrorKind::NotFound => Err(reason),
            Ok(()) | Err(_) => file.create_unfinished().and_then(|_| fs::remove_file(file.unfinished())),
        };
        checked.map_err(|reason| file.refusal(&reason))?;
        Ok(file)
    }

    /// Writes the file, which is complete as soon as it exists.
    ///
    /// # Errors
    /// `Refused` with the reason of the system.
    pub fn write(&self, text: &str) -> Result<(), CliError> {
        let text = format!("{text}\n");
        let mut file = self.create_unfinished().map_err(|reason| self.refusal(&reason))?;
        let written =
            file.write_all(text.as_bytes()).and_then(|()| fs::rename(self.unfinished(), &self.path));
        if let Err(reason) = written {
            let _ = fs::remove_file(self.unfinished());
            return Err(self.refusal(&reason));
        }
        self.written.replace(Some(text));
        Ok(())
    }

    /// The name of the file until it is complete.
    fn unfinished(&self) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        PathBuf::from(name)
    }

    fn create_unfinished(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).open(self.unfinished())
    }

    fn refusal(&self, reason: &io::Error) -> CliError {
        let path = self.path.display();
        CliError::Refused(format!("cannot write the file of --ready-file, {path}: {reason}"))
    }
}

impl Drop for ReadyFile {
    fn drop(&mut self) {
        let own = self.written.take();
        if own.is_some() && fs::read_to_string(&self.path).ok() == own {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_file_is_removed_first_and_the_own_one_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ready.json");
        fs::write(&path, "of an earlier process").unwrap();
        let file = ReadyFile::prepare(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        file.write("{}").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}\n");
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn file_of_another_process_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ready.json");
        let file = ReadyFile::prepare(&path).unwrap();
        file.write("own").unwrap();
        fs::write(&path, "of a later process").unwrap();
        drop(file);
        assert!(path.exists());
        drop(ReadyFile::prepare(&path).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn what_is_no_file_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (socket, link) = (folder.path().join("socket"), folder.path().join("link"));
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        for path in [socket.as_path(), link.as_path(), folder.path()] {
            let said = ReadyFile::prepare(path).err().unwrap().to_string();
            assert!(said.contains("it is no regular file"), "{said}");
        }
        assert!(fs::symlink_metadata(&socket).is_ok() && fs::symlink_metadata(&link).is_ok());
    }

    #[test]
    fn missing_folder_is_found_before_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let said = ReadyFile::prepare(&folder.path().join("none/ready.json")).err().unwrap().to_string();
        assert!(said.contains("cannot write the file of --ready-file"), "{said}");
    }
}
