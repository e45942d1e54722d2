//! The archive: a gzip-compressed tar with one top folder, written as it is made.

use super::tables::{RowCounts, Spool, TableWriter};
use crate::integrations::blobs::{Blob, BlobError};
use crate::transfer::problem::TransferError;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::StreamExt;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::Path;
use tar::{Builder, Header};
use tokio::runtime::Runtime;

/// An archive that is being written.
pub struct Archive<W: Write> {
    tar: Builder<GzEncoder<W>>,
    /// Name of the top folder.
    top: String,
    /// Seconds since 1970, the time of all entries.
    at: u64,
    /// Rows by file and table, for stats.json.
    pub stats: BTreeMap<String, RowCounts>,
    /// Uncompressed bytes of all files.
    pub bytes: u64,
    pub files: u64,
}

impl<W: Write> Archive<W> {
    /// Begins an archive with a top folder.
    pub fn new(out: W, top: &str, at: u64) -> Self {
        let tar = Builder::new(GzEncoder::new(out, Compression::fast()));
        Self { tar, top: top.to_owned(), at, stats: BTreeMap::new(), bytes: 0, files: 0 }
    }

    fn add(&mut self, name: &str, size: u64, content: impl Read) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_size(size);
        header.set_mode(0o644);
        header.set_mtime(self.at);
        self.bytes += size;
        self.files += 1;
        self.tar.append_data(&mut header, format!("{}/{name}", self.top), content)
    }

    fn failed(name: &str, reason: io::Error) -> TransferError {
        TransferError::system(Path::new(name), reason)
    }

    /// Adds a complete file of tables, and counts its rows.
    pub fn tables(&mut self, name: &str, tables: TableWriter) -> Result<(), TransferError> {
        let (spool, counts) = tables.finish()?;
        let stem = name.strip_suffix(".json").unwrap_or(name);
        self.stats.insert(stem.to_owned(), counts);
        self.spool(name, spool)
    }

    /// Adds a temporary file.
    pub fn spool(&mut self, name: &str, spool: Spool) -> Result<(), TransferError> {
        let (size, reader) = spool.into_reader()?;
        self.add(name, size, reader).map_err(|reason| Self::failed(name, reason))
    }

    /// Adds a stored file.
    pub fn blob(&mut self, runtime: &Runtime, name: &str, blob: Blob) -> Result<(), TransferError> {
        let size = blob.size;
        let reader = BlobReader { runtime, blob, rest: Bytes::new() };
        self.add(name, size, reader.take(size)).map_err(|reason| Self::failed(name, reason))
    }

    /// Counts the files of a folder, for stats.json.
    pub fn count_records(&mut self, folder: &str, count: u64) {
        let counts = RowCounts::from([(format!("{folder}_records"), count)]);
        self.stats.insert(format!("{folder}/records"), counts);
    }

    /// Adds small bytes.
    pub fn bytes(&mut self, name: &str, bytes: &[u8]) -> Result<(), TransferError> {
        self.add(name, bytes.len() as u64, bytes).map_err(|reason| Self::failed(name, reason))
    }

    /// Completes the archive; returns what it was written to.
    pub fn finish(self) -> io::Result<W> {
        self.tar.into_inner()?.finish()
    }
}

/// Reads a stored file piece by piece.
struct BlobReader<'r> {
    runtime: &'r Runtime,
    blob: Blob,
    rest: Bytes,
}

impl Read for BlobReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.runtime.block_on(self.blob.bytes.next()) {
                Some(piece) => self.rest = piece.map_err(|error: BlobError| io::Error::other(error))?,
                // Fewer bytes than the archive was promised would shift everything after it.
                None => return Ok(0),
            }
        }
        let count = self.rest.len().min(buffer.len());
        let piece = self.rest.split_to(count);
        buffer.get_mut(..count).unwrap_or_default().copy_from_slice(&piece);
        Ok(count)
    }
}
