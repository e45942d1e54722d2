//! The zip of a Slack export: which files it has, and their JSON.

use crate::foreign_text::one_line;
use crate::transfer::problem::TransferError;
use crate::transfer::unpack::{TOO_MUCH, unpacked_max};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;
use zip::result::ZipError;

/// Files in an archive: one for each channel and day.
const FILES_MAX: usize = 4_000_000;
/// Bytes of one file: a day of a channel, or all people.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// An opened export.
pub struct SlackArchive {
    path: PathBuf,
    zip: ZipArchive<BufReader<File>>,
    /// Day → the folders that have messages of it.
    days: BTreeMap<String, BTreeSet<String>>,
    /// Bytes that all files that are read may still have, unpacked. Entries of a zip may share their bytes.
    left: u64,
}

impl SlackArchive {
    /// Opens an export.
    ///
    /// # Errors
    /// `Archive` and `TooLarge`; `NotAnExport` without users or channels.
    pub fn open(path: &Path) -> Result<Self, TransferError> {
        let file = File::open(path).map_err(|reason| TransferError::system(path, reason))?;
        let size = file.metadata().map_err(|reason| TransferError::system(path, reason))?.len();
        let zip = ZipArchive::new(BufReader::new(file));
        let zip = zip.map_err(|error| TransferError::archive(path, zip_fault(&error, true)))?;
        if zip.len() > FILES_MAX {
            return Err(TransferError::TooLarge(format!("the archive has more than {FILES_MAX} files")));
        }
        let mut days: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in zip.file_names() {
            if let Some((folder, file)) = name.split_once('/')
                && let Some(day) = file.strip_suffix(".json").filter(|day| is_day(day))
            {
                days.entry(day.to_owned()).or_default().insert(folder.to_owned());
            }
        }
        let own = Self { path: path.to_owned(), zip, days, left: unpacked_max(size) };
        for name in ["users.json", "channels.json"] {
            if own.zip.index_for_name(name).is_none() {
                return Err(TransferError::NotAnExport(format!("{} has no {name}", path.display())));
            }
        }
        Ok(own)
    }

    /// Days with messages, in order, with the folders that have some.
    pub fn days(&self) -> Vec<(String, Vec<String>)> {
        self.days.iter().map(|(day, folders)| (day.clone(), folders.iter().cloned().collect())).collect()
    }

    /// A file; none if there is none.
    ///
    /// # Errors
    /// `Archive`, `TooLarge` and `Invalid`.
    pub fn json<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, TransferError> {
        let Some(number) = self.zip.index_for_name(name) else { return Ok(None) };
        let path = &self.path;
        let broken = |error: ZipError| TransferError::archive(path, zip_fault(&error, false));
        let file = self.zip.by_index(number).map_err(broken)?;
        let mut bytes = Vec::new();
        let mut limited = file.take(FILE_BYTES_MAX + 1);
        limited.read_to_end(&mut bytes).map_err(|error| broken(error.into()))?;
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(TransferError::TooLarge(format!("{name} has more than {FILE_BYTES_MAX} bytes")));
        }
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left =
            left.ok_or_else(|| TransferError::TooLarge(format!("{}: {TOO_MUCH}", self.path.display())))?;
        serde_json::from_slice(&bytes).map(Some).map_err(|error| TransferError::invalid(name, error))
    }
}

/// What is wrong with an archive, which `is_new` if none of its files was read yet: the library says it in terms of the format.
fn zip_fault(error: &ZipError, is_new: bool) -> String {
    match error {
        ZipError::InvalidArchive(_) if is_new => {
            "it is not a zip archive, or its end is missing; give the .zip file as Slack sent it".to_owned()
        }
        ZipError::InvalidArchive(_) => "a part of it is damaged".to_owned(),
        ZipError::Io(reason) => match reason.kind() {
            ErrorKind::UnexpectedEof => "it ends too early".to_owned(),
            ErrorKind::Other | ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                "a part of it is damaged".to_owned()
            }
            _ => one_line(reason),
        },
        other => one_line(other),
    }
}

/// Whether a text is a day such as `2024-05-31`.
fn is_day(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(position, byte)| match position {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    #[test]
    fn all_files_together_have_a_bound() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut zip = ZipWriter::new(file.reopen().unwrap());
        for name in ["users.json", "channels.json", "general/2024-05-31.json"] {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(format!("[{}]", " ".repeat(998)).as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        let mut archive = SlackArchive::open(file.path()).unwrap();
        assert_eq!(archive.left, 1 << 30);
        archive.left = 2500;
        let mut read = |name: &str| archive.json::<Vec<u8>>(name).map_err(|error| error.to_string());
        assert_eq!(read("users.json"), Ok(Some(Vec::new())));
        assert_eq!(read("channels.json"), Ok(Some(Vec::new())));
        let error = read("general/2024-05-31.json").unwrap_err();
        assert!(
            error.ends_with("it unpacks to far more than any export of its size; nothing was imported"),
            "{error}"
        );
    }
}
