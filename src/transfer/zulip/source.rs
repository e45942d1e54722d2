//! The folder of an export: which files it has, and what identifies it.

use crate::transfer::problem::TransferError;
use crate::transfer::unpack::{inside, top_folder};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// An unpacked export.
#[derive(Clone, Debug)]
pub struct Source {
    folder: PathBuf,
    /// The files with messages, in order.
    messages: Vec<PathBuf>,
}

impl Source {
    /// Opens an unpacked export.
    ///
    /// # Errors
    /// `NotAnExport` when a file is missing that every export has.
    pub fn open(folder: &Path) -> Result<Self, TransferError> {
        let folder = top_folder(folder)?;
        if !folder.join("attachment.json").is_file() {
            return Err(TransferError::NotAnExport(format!("{} has no attachment.json", folder.display())));
        }
        let mut messages = Vec::new();
        let failed = |reason| TransferError::system(&folder, reason);
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            if name.ends_with(".partial") || name.ends_with(".locked") {
                return Err(TransferError::NotAnExport(format!(
                    "it has {name}: the export was not finished"
                )));
            }
            if let Some(number) = number_of(&name) {
                messages.push((number, folder.join(&*name)));
            }
        }
        messages.sort();
        let gap = (1..).zip(&messages).find(|(expected, (number, _))| expected != number);
        if let Some((missing, _)) = gap {
            return Err(TransferError::NotAnExport(format!("messages-{missing:06}.json is missing")));
        }
        Ok(Self { folder, messages: messages.into_iter().map(|(_, path)| path).collect() })
    }

    /// A file of the export.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The files with messages, in the order of the messages.
    pub fn message_files(&self) -> &[PathBuf] {
        &self.messages
    }

    /// A file that a record names below one of the folders; none if it is missing, no file, or leads out of the folder.
    pub fn stored_file(&self, folder: &str, path: &str) -> Option<PathBuf> {
        // Links are not followed, on the way neither: they could lead to any file of this machine.
        let mut file = self.folder.join(folder);
        let mut kind = fs::symlink_metadata(&file).ok()?.file_type();
        for part in &inside(Path::new(path)).ok()? {
            if !kind.is_dir() {
                return None;
            }
            file.push(part);
            kind = fs::symlink_metadata(&file).ok()?.file_type();
        }
        kind.is_file().then_some(file)
    }

    /// Identifies the export, to recognize it when an import continues.
    pub fn fingerprint(&self) -> Result<String, TransferError> {
        let mut hash = Sha256::new();
        for name in ["realm.json", "attachment.json"] {
            let path = self.file(name);
            let failed = |reason| TransferError::system(&path, reason);
            let mut file = File::open(&path).map_err(failed)?;
            let mut buffer = vec![0; 1 << 16];
            loop {
                let count = file.read(&mut buffer).map_err(failed)?;
                if count == 0 {
                    break;
                }
                hash.update(buffer.get(..count).unwrap_or_default());
            }
        }
        for path in &self.messages {
            let bytes = fs::metadata(path).map_err(|reason| TransferError::system(path, reason))?.len();
            hash.update(bytes.to_be_bytes());
        }
        Ok(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The number of a file with messages.
fn number_of(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("messages-")?.strip_suffix(".json")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        let export = tempfile::tempdir().unwrap();
        let uploads = export.path().join("uploads");
        fs::create_dir_all(uploads.join("1/ab")).unwrap();
        fs::write(uploads.join("1/ab/file"), "x").unwrap();
        symlink(outside.path(), uploads.join("2")).unwrap();
        symlink(outside.path(), uploads.join("1/cd")).unwrap();
        symlink(outside.path().join("secret"), uploads.join("1/ab/link")).unwrap();
        symlink(outside.path(), export.path().join("avatars")).unwrap();
        let source = Source { folder: export.path().to_owned(), messages: Vec::new() };
        assert_eq!(source.stored_file("uploads", "1/ab/file"), Some(uploads.join("1/ab/file")));
        for path in ["2/secret", "1/cd/secret", "1/ab/link", "1/ab", "1/ab/file/x", "../x", ""] {
            assert_eq!(source.stored_file("uploads", path), None, "{path}");
        }
        assert_eq!(source.stored_file("avatars", "secret"), None);
    }
}
