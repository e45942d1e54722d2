//! Unpacking an archive within limits. It is complete and undamaged before anything of it is used.

use super::problem::TransferError;
use crate::bounded_read::{CountedReader, LimitedReader};
use crate::web_app::tarball::{Described, archive_fault, described_name, header_name};
use flate2::read::MultiGzDecoder;
use sha2::{Digest, Sha256};
use std::cell::Cell;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use tar::Archive;

/// Entries of an archive: one for each uploaded file, and some.
const ENTRIES_MAX: u64 = 20_000_000;
/// Unpacked bytes for each byte of the archive, beyond the allowance. gzip reaches 1,000; real exports about 10.
const RATIO_MAX: u64 = 200;
/// Bytes that a small archive may unpack to, whatever its ratio.
const ALLOWANCE_BYTES: u64 = 1 << 30;
/// Bytes of one path.
const PATH_BYTES_MAX: usize = 1024;
/// Says, in the folder of an unpacked archive, which archive it is; written last.
const COMPLETE: &str = ".complete";
/// Marks a folder that was made here, and may be deleted.
const OURS: &str = ".millstream-import";

/// What is wrong with an archive that unpacks to more than [`unpacked_max`].
pub const TOO_MUCH: &str = "it unpacks to far more than any export of its size";

/// Bytes that an archive of so many bytes may unpack to.
pub fn unpacked_max(archive_bytes: u64) -> u64 {
    archive_bytes.saturating_mul(RATIO_MAX).max(ALLOWANCE_BYTES)
}

/// Unpacks a compressed archive into `to`, unless it is there already. Returns the top folder of the archive. `progress`
/// gets the read and all bytes.
///
/// # Errors
/// What is wrong with the archive; nothing of it is left then.
pub fn unpack(
    archive: &Path,
    to: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<PathBuf, TransferError> {
    let mark = identity(archive)?;
    if is_complete(to, &mark) {
        return top_folder(to);
    }
    begin(to)?;
    let unpacked = unpack_all(archive, to, progress).and_then(|()| {
        complete(to, &mark)?;
        top_folder(to)
    });
    if unpacked.is_err() {
        remove(to)?;
    }
    unpacked
}

/// Whether a folder has all of an archive.
pub fn is_complete(folder: &Path, mark: &str) -> bool {
    fs::read_to_string(folder.join(COMPLETE)).is_ok_and(|known| known == mark)
}

/// Makes an empty folder for an archive; one that an import made before is deleted.
///
/// # Errors
/// Those of [`remove`], and `System`.
pub fn begin(to: &Path) -> Result<(), TransferError> {
    remove(to)?;
    folder(to)?;
    fs::write(to.join(OURS), "").map_err(|reason| TransferError::system(to, reason))
}

/// Notes that a folder has all of an archive.
///
/// # Errors
/// `System`.
pub fn complete(folder: &Path, mark: &str) -> Result<(), TransferError> {
    fs::write(folder.join(COMPLETE), mark).map_err(|reason| TransferError::system(folder, reason))
}

/// Whether a folder was made by an import.
pub fn is_ours(folder: &Path) -> bool {
    folder.join(OURS).exists()
}

/// Deletes an unpacked archive; a missing one is not an error.
///
/// # Errors
/// `System` for a folder that was not made by an import: it may hold anything.
pub fn remove(folder: &Path) -> Result<(), TransferError> {
    if folder.exists() && !is_ours(folder) {
        let why = "it exists, and was not made by an import; --work names another folder";
        return Err(TransferError::system(folder, io::Error::other(why)));
    }
    match fs::remove_dir_all(folder) {
        Err(reason) if reason.kind() != io::ErrorKind::NotFound => Err(TransferError::system(folder, reason)),
        _ => Ok(()),
    }
}

/// Size and time of the archive with a checksum of its beginning: enough to recognize it when a command is repeated.
///
/// # Errors
/// `System`.
pub fn identity(archive: &Path) -> Result<String, TransferError> {
    let failed = |reason| TransferError::system(archive, reason);
    let file = File::open(archive).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let mut head = Vec::new();
    file.take(1 << 20).read_to_end(&mut head).map_err(failed)?;
    let modified = metadata.modified().map_err(failed)?;
    Ok(format!("{} {modified:?} {:x?}", metadata.len(), Sha256::digest(&head)))
}

fn unpack_all(archive: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), TransferError> {
    let failed = |reason| TransferError::system(archive, reason);
    let file = File::open(archive).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let read = Cell::new(0);
    let source = CountedReader::new(BufReader::with_capacity(1 << 18, file), &read);
    let mut content = LimitedReader::new(MultiGzDecoder::new(source), unpacked_max(size), TOO_MUCH);
    let entries_read = Cell::new(0);
    let broken =
        |reason: io::Error| TransferError::archive(archive, archive_fault(&reason, entries_read.get()));
    let mut archive = Archive::new(&mut content);
    // Long names are read here, because the library would read them without a limit.
    let entries = archive.entries().map_err(broken)?.raw(true);
    let mut long_name = None;
    for (number, entry) in (1..).zip(entries) {
        if number > ENTRIES_MAX {
            return Err(TransferError::TooLarge(format!("the archive has more than {ENTRIES_MAX} entries")));
        }
        let mut entry = entry.map_err(broken)?;
        entries_read.set(number);
        match described_name(&mut entry).map_err(broken)? {
            Described::Next(name) => long_name = name.or(long_name),
            Described::Nothing => {
                let name = long_name.take().unwrap_or_else(|| header_name(&entry));
                unpack_entry(&name, &mut entry, to, &broken)?;
            }
        }
        progress(read.get(), size);
    }
    // The checksum of the compressed stream comes after the last entry.
    io::copy(&mut content, &mut io::sink()).map_err(broken)?;
    Ok(())
}

fn unpack_entry(
    name: &str,
    entry: &mut tar::Entry<'_, impl Read>,
    to: &Path,
    broken: &dyn Fn(io::Error) -> TransferError,
) -> Result<(), TransferError> {
    let path = inside(Path::new(name))?;
    let target = to.join(&path);
    let failed = |reason: io::Error| match reason.kind() {
        io::ErrorKind::AlreadyExists => TransferError::Unusual(format!("{} twice", path.display())),
        _ => TransferError::system(&target, reason),
    };
    let kind = entry.header().entry_type();
    if kind.is_dir() {
        return create_folder(&target).map_err(failed);
    }
    if !kind.is_file() && !kind.is_contiguous() {
        return Err(TransferError::Unusual(format!("a link or device ({})", path.display())));
    }
    if let Some(parent) = target.parent() {
        folder(parent)?;
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target).map_err(failed)?;
    let mut file = BufWriter::with_capacity(1 << 18, file);
    // An error of either side; that of the archive is by far more likely.
    io::copy(entry, &mut file).map_err(broken)?;
    file.into_inner().map_err(|error| failed(error.into_error()))?;
    Ok(())
}

fn folder(path: &Path) -> Result<(), TransferError> {
    create_folder(path).map_err(|reason| TransferError::system(path, reason))
}

fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A path below the folder, refused if it leads out of it.
pub fn inside(path: &Path) -> Result<PathBuf, TransferError> {
    let outside = || TransferError::Outside(path.display().to_string().chars().take(200).collect());
    if path.as_os_str().len() > PATH_BYTES_MAX {
        return Err(outside());
    }
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => inside.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    Ok(inside)
}

/// The folder with the export: the given one, or its only subfolder with an export.
pub fn top_folder(folder: &Path) -> Result<PathBuf, TransferError> {
    let has_export = |folder: &Path| folder.join("realm.json").is_file();
    if has_export(folder) {
        return Ok(folder.to_owned());
    }
    let failed = |reason| TransferError::system(folder, reason);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if has_export(&path) {
            return Ok(path);
        }
    }
    Err(TransferError::NotAnExport(format!("{} has no realm.json", folder.display())))
}
