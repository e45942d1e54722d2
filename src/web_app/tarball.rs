//! A release archive, read as a stream within limits: it is never unpacked as a whole.

use super::problem::WebAppError;
use super::selection::inside;
use super::staging::Staging;
use crate::bounded_read::{CountedReader, LimitedReader, too_large};
use crate::foreign_text::one_line;
use flate2::read::MultiGzDecoder;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek};
use std::path::Path;
use tar::{Archive, Entry, PaxExtensions};

/// Limits of an archive. A release has about 20,000 entries with 600 MB.
const ENTRIES_MAX: u64 = 500_000;
const UNPACKED_BYTES_MAX: u64 = 16 << 30;
/// Maximum size of an entry that only describes the next one, such as a long name.
const DESCRIPTION_BYTES_MAX: u64 = 64 << 10;
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Adds the needed files of an archive. `progress` gets the share of it that has been read, from 0 to 1.
pub fn add_archive(
    path: &Path,
    staging: &mut Staging,
    progress: &mut dyn FnMut(f64),
) -> Result<(), WebAppError> {
    let failed = |reason| WebAppError::system(path, reason);
    let mut file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len().max(1);
    let mut magic = Vec::new();
    file.by_ref().take(GZIP.len() as u64).read_to_end(&mut magic).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let read = Cell::new(0);
    let counted = BufReader::with_capacity(1 << 16, CountedReader::new(file, &read));
    let content: Box<dyn Read + '_> =
        if magic == GZIP { Box::new(MultiGzDecoder::new(counted)) } else { Box::new(counted) };
    let limited = LimitedReader::new(content, UNPACKED_BYTES_MAX, "it unpacks to more than 16 GiB");
    let entries_read = Cell::new(0);
    let broken = |reason: io::Error| WebAppError::Archive {
        path: path.to_owned(),
        reason: archive_fault(&reason, entries_read.get()),
    };
    let mut archive = Archive::new(limited);
    // Long names are read here, because the library would read them without a limit.
    let entries = archive.entries().map_err(broken)?.raw(true);
    let mut long_name = None;
    for (number, entry) in (1..).zip(entries) {
        let mut entry = entry.map_err(broken)?;
        entries_read.set(number);
        if number > ENTRIES_MAX {
            return Err(WebAppError::TooLarge(format!("the archive has more than {ENTRIES_MAX} entries")));
        }
        match described_name(&mut entry).map_err(broken)? {
            Described::Next(name) => long_name = name.or(long_name),
            Described::Nothing => {
                let name = long_name.take().unwrap_or_else(|| header_name(&entry));
                add_entry(&name, &mut entry, staging, &broken)?;
            }
        }
        progress(read.get() as f64 / size as f64);
    }
    Ok(())
}

/// What is wrong with an archive of which so many entries were read, in one line: the libraries for it say it in terms of the format,
/// and quote the bytes that they cannot read.
pub fn archive_fault(reason: &io::Error, entries_read: u64) -> String {
    const ENDED: [&str; 2] = ["unexpected EOF during skip", "failed to read entire block"];
    let fault = match reason.kind() {
        ErrorKind::UnexpectedEof => "it ends too early",
        ErrorKind::Other if ENDED.contains(&&*reason.to_string()) => "it ends too early",
        ErrorKind::Other | ErrorKind::InvalidData | ErrorKind::InvalidInput => match entries_read {
            0 => "it is not a .tar.gz archive",
            _ => "a part of it is damaged",
        },
        // Those of limits and of the system.
        _ => return one_line(reason),
    };
    fault.to_owned()
}

/// What an entry says about the next one.
pub enum Described {
    /// The next entry has this name, or other properties.
    Next(Option<String>),
    Nothing,
}

/// What a description says; entries of files and folders say nothing. Descriptions have a limit.
pub fn described_name(entry: &mut Entry<'_, impl Read>) -> io::Result<Described> {
    let kind = entry.header().entry_type();
    if kind.is_gnu_longname() {
        let bytes = description(entry)?;
        let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        return Ok(Described::Next(Some(String::from_utf8_lossy(name).into_owned())));
    }
    if kind.is_pax_local_extensions() {
        let bytes = description(entry)?;
        let path = PaxExtensions::new(&bytes).filter_map(Result::ok).find(|one| one.key_bytes() == b"path");
        return Ok(Described::Next(
            path.map(|path| String::from_utf8_lossy(path.value_bytes()).into_owned()),
        ));
    }
    if kind.is_pax_global_extensions() || kind.is_gnu_longlink() {
        return Ok(Described::Next(None));
    }
    Ok(Described::Nothing)
}

fn description(entry: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    entry.take(DESCRIPTION_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > DESCRIPTION_BYTES_MAX {
        return Err(too_large("the name of an entry is too long"));
    }
    Ok(bytes)
}

/// The name in the header of an entry.
pub fn header_name(entry: &Entry<'_, impl Read>) -> String {
    String::from_utf8_lossy(&entry.header().path_bytes()).into_owned()
}

/// Keeps a regular file. Folders are made as needed; links and devices are left out.
fn add_entry(
    name: &str,
    entry: &mut Entry<'_, impl Read>,
    staging: &mut Staging,
    broken: &dyn Fn(io::Error) -> WebAppError,
) -> Result<(), WebAppError> {
    let path = inside(name)?;
    let kind = entry.header().entry_type();
    if kind.is_file() || kind.is_contiguous() {
        return staging.add(&path, entry, broken);
    }
    if !kind.is_dir() && Staging::wants(&path) {
        staging.links += 1;
    }
    Ok(())
}
