//! The folder in which a web app is assembled before it is installed: every file within the limits, none outside.

use super::problem::WebAppError;
use super::selection::destination;
use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Limits of what is installed. A release has about 9,000 such files with 250 MB.
const FILES_MAX: u64 = 100_000;
const BYTES_MAX: u64 = 4 << 30;
const FILE_BYTES_MAX: u64 = 256 << 20;

/// A web app that is being assembled. Deleted when dropped, unless it was moved away.
#[derive(Debug)]
pub struct Staging {
    folder: PathBuf,
    pub files: u64,
    pub bytes: u64,
    /// Links that were left out.
    pub links: u64,
}

impl Staging {
    /// Creates the folder, which must not exist.
    pub fn create(folder: PathBuf) -> Result<Self, WebAppError> {
        fs::create_dir(&folder).map_err(|reason| WebAppError::system(&folder, reason))?;
        Ok(Self { folder, files: 0, bytes: 0, links: 0 })
    }

    /// The path of the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a file of the release is needed.
    pub fn wants(path: &str) -> bool {
        destination(path).is_some()
    }

    /// Keeps a file of the release if it is needed.
    pub fn add(&mut self, path: &str, content: &mut dyn Read, broken: Broken<'_>) -> Result<(), WebAppError> {
        let Some(place) = destination(path) else { return Ok(()) };
        self.files += 1;
        if self.files > FILES_MAX {
            return Err(WebAppError::TooLarge(format!("it has more than {FILES_MAX} files to be served")));
        }
        let file = self.folder.join(place);
        let failed = |reason| WebAppError::system(&file, reason);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut out = match OpenOptions::new().write(true).create_new(true).open(&file) {
            Err(reason) if reason.kind() == io::ErrorKind::AlreadyExists => {
                return Err(WebAppError::NotARelease(format!("it has {path} twice")));
            }
            opened => opened.map_err(failed)?,
        };
        // Errors of the source and of the disk need different remedies.
        let mut source = Source { content: content.take(FILE_BYTES_MAX + 1), error: None };
        let copied = io::copy(&mut source, &mut out);
        if let Some(reason) = source.error {
            return Err(broken(reason));
        }
        let copied = copied.map_err(failed)?;
        self.bytes += copied;
        if copied > FILE_BYTES_MAX || self.bytes > BYTES_MAX {
            return Err(WebAppError::TooLarge(format!("{path} is too large, or all files together are")));
        }
        Ok(())
    }

    /// Writes a file of our own, besides those of the release.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), WebAppError> {
        let file = self.folder.join(name);
        fs::write(&file, bytes).map_err(|reason| WebAppError::system(&file, reason))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Nothing refers to it; what cannot be deleted now is deleted by the next installation.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Makes the error of a source that cannot be read further.
pub type Broken<'b> = &'b dyn Fn(io::Error) -> WebAppError;

/// A reader that keeps its error.
struct Source<R> {
    content: R,
    error: Option<io::Error>,
}

impl<R: Read> Read for Source<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.content.read(buffer).map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                self.error = Some(error);
            }
            kind.into()
        })
    }
}
