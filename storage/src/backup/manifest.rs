//! Manifests: what a backup consists of. Written last, so that a backup with a manifest is complete.
//!
//! ```text
//! millstream backup 1
//! at 1732300000000                                            when it began, in ms since 1970
//! file <SHA-256> <bytes> <size and mtime (ns) of the original> <path>
//! end <SHA-256 of all lines before>
//! ```

use super::file_store::FileStore;
use crate::error::StoreError;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;

const FIRST_LINE: &str = "millstream backup 1";
const SUFFIX: &str = ".manifest";

/// A file of a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// SHA-256 of the content, hexadecimal: the name of the stored file.
    pub hash: String,
    pub bytes: u64,
    /// Size and time of modification (ns since 1970) of the original: if both are the same, it is not read again.
    pub original: (u64, u64),
}

/// The content of a backup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// When it began, in milliseconds since 1970. Everything acknowledged before is in it.
    pub at: u64,
    /// By path in the data folder.
    pub files: BTreeMap<String, Entry>,
}

impl Manifest {
    fn text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\nat {}\n", self.at);
        for (path, Entry { hash, bytes, original: (size, modified) }) in &self.files {
            text.push_str(&format!("file {hash} {bytes} {size} {modified} {path}\n"));
        }
        let end = hex(&Sha256::digest(&text));
        text.push_str(&format!("end {end}\n"));
        text
    }

    fn parse(text: &str) -> Option<Self> {
        let (content, end) = text.rsplit_once("end ")?;
        if end.trim_end() != hex(&Sha256::digest(content)) {
            return None;
        }
        let mut lines = content.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let at = lines.next()?.strip_prefix("at ")?.parse().ok()?;
        let mut files = BTreeMap::new();
        for line in lines {
            let mut fields = line.strip_prefix("file ")?.splitn(5, ' ');
            let hash = fields.next()?.to_owned();
            let bytes = fields.next()?.parse().ok()?;
            let original = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
            files.insert(fields.next()?.to_owned(), Entry { hash, bytes, original });
        }
        Some(Self { at, files })
    }

    /// Stores the manifest in a backup repository.
    pub(super) fn write(&self, repository: &dyn FileStore) -> Result<(), StoreError> {
        repository.store(&name(self.at), &mut self.text().as_bytes()).map_err(|error| {
            StoreError::Backup(format!("cannot write the manifest in {}: {error}", repository.title()))
        })
    }
}

/// The name of the manifest of a time.
pub(super) fn name(at: u64) -> String {
    format!("manifests/{at:015}{SUFFIX}")
}

/// The time of a file in the folder of manifests.
pub(super) fn time_of(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}

/// The name of a content.
pub(super) fn file(hash: &str) -> String {
    format!("files/{hash}")
}

/// Reads the manifest of a time; none if it is damaged.
pub(super) fn find(repository: &dyn FileStore, at: u64) -> Result<Option<Manifest>, StoreError> {
    let name = name(at);
    let mut bytes = Vec::new();
    let read = repository.open(&name).and_then(|mut file| file.read_to_end(&mut bytes));
    read.map_err(|error| {
        StoreError::Backup(format!("cannot read {name} in {}: {error}", repository.title()))
    })?;
    let manifest = String::from_utf8(bytes).ok().and_then(|text| Manifest::parse(&text));
    Ok(manifest.filter(|manifest| manifest.at == at))
}

/// Reads the manifest of a time, which must be whole.
pub(super) fn read(repository: &dyn FileStore, at: u64) -> Result<Manifest, StoreError> {
    find(repository, at)?.ok_or_else(|| {
        let title = repository.title();
        StoreError::Backup(format!(
            "{} in {title} is damaged; `millstream backup verify --from {title} --repair` sets it aside",
            name(at)
        ))
    })
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a SHA-256 as hexadecimal digits.
pub(super) fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 2 * bytes.len() {
        return None;
    }
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_roundtrip_and_damage() {
        let entry = Entry { hash: hex(&Sha256::digest(b"tea")), bytes: 3, original: (4096, 17) };
        let files = [("format".to_owned(), entry.clone()), ("blobs/a b".to_owned(), entry)].into();
        let text = Manifest { at: 12, files }.text();
        let read = Manifest::parse(&text).unwrap();
        assert_eq!((read.at, read.files.len(), read.text()), (12, 2, text.clone()));
        for at in 0..text.len() - 1 {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(
                String::from_utf8(bytes).ok().is_none_or(|text| Manifest::parse(&text).is_none()),
                "byte {at}"
            );
            assert_eq!(Manifest::parse(&text[..at]), None);
        }
    }
}
