//! The files of the index, read with ordinary reads: a file that is cut while the server runs is an error, where a memory
//! map would end the process. Nothing waits for the disk: what a power failure damages is found by its checksum when the
//! index is opened, and made again from the journal.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

/// Small reads are answered from a part of the file of this size.
const WINDOW_BYTES: usize = 64 * 1024;

/// Bytes of a file that are written at once.
const WRITE_BYTES: usize = 64 * 1024;

/// A folder with the files of one index.
#[derive(Clone, Debug)]
pub(crate) struct Files(Arc<PathBuf>);

impl Files {
    /// The files in an existing folder.
    pub fn new(folder: &Path) -> Self {
        Self(Arc::new(folder.to_path_buf()))
    }

    fn path(&self, name: &Path) -> PathBuf {
        self.0.join(name)
    }
}

fn open_error(name: &Path, error: io::Error) -> OpenReadError {
    match error.kind() {
        ErrorKind::NotFound => OpenReadError::FileDoesNotExist(name.to_path_buf()),
        _ => OpenReadError::wrap_io_error(error, name.to_path_buf()),
    }
}

impl Directory for Files {
    fn get_file_handle(&self, name: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let open = || {
            let file = File::open(self.path(name))?;
            let bytes = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
            Ok(ReadFile { file, bytes, window: Mutex::default() })
        };
        Ok(Arc::new(open().map_err(|error| open_error(name, error))?))
    }

    fn delete(&self, name: &Path) -> Result<(), DeleteError> {
        fs::remove_file(self.path(name)).map_err(|error| match error.kind() {
            ErrorKind::NotFound => DeleteError::FileDoesNotExist(name.to_path_buf()),
            _ => DeleteError::IoError { io_error: Arc::new(error), filepath: name.to_path_buf() },
        })
    }

    fn exists(&self, name: &Path) -> Result<bool, OpenReadError> {
        self.path(name).try_exists().map_err(|error| open_error(name, error))
    }

    fn open_write(&self, name: &Path) -> Result<WritePtr, OpenWriteError> {
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.path(name));
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(name.to_path_buf()),
            _ => OpenWriteError::wrap_io_error(error, name.to_path_buf()),
        })?;
        Ok(BufWriter::with_capacity(WRITE_BYTES, Box::new(WrittenFile(file))))
    }

    fn atomic_read(&self, name: &Path) -> Result<Vec<u8>, OpenReadError> {
        fs::read(self.path(name)).map_err(|error| open_error(name, error))
    }

    fn atomic_write(&self, name: &Path, data: &[u8]) -> io::Result<()> {
        let new = self.path(&name.with_extension("new"));
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(data)?;
        drop(file);
        fs::rename(&new, self.path(name))
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    /// The data folder is locked already.
    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

/// A finished file.
#[derive(Debug)]
struct ReadFile {
    file: File,
    bytes: usize,
    /// The last part that was read for a small read, with its position.
    window: Mutex<Option<(usize, OwnedBytes)>>,
}

impl ReadFile {
    fn read(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let mut bytes = vec![0; range.len()];
        self.file.read_exact_at(&mut bytes, range.start as u64)?;
        Ok(OwnedBytes::new(bytes))
    }
}

impl FileHandle for ReadFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.bytes {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "a part of the index is missing"));
        }
        if range.len() > WINDOW_BYTES / 2 {
            return self.read(range);
        }
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let is_inside =
            |start: usize, part: &OwnedBytes| start <= range.start && range.end <= start + part.len();
        if let Some((start, part)) = &*window
            && is_inside(*start, part)
        {
            return Ok(part.slice(range.start - start..range.end - start));
        }
        let part = self.read(range.start..(range.start + WINDOW_BYTES).min(self.bytes))?;
        *window = Some((range.start, part.clone()));
        Ok(part.slice(0..range.len()))
    }
}

impl HasLen for ReadFile {
    fn len(&self) -> usize {
        self.bytes
    }
}

/// A file that is being written.
struct WrittenFile(File);

impl Write for WrittenFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for WrittenFile {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.flush()
    }
}
