//! A folder that several machines share, such as one of a network file system.

use crate::backup::{Access, FileStore, rename_below};
use crate::private_files::{create_private, sync_folder, write_synced};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Marks files that are being written.
const UNFINISHED: &str = "unfinished-";

/// Files by name below a folder. Several processes may write to it at once: each has its own name for unfinished files.
#[derive(Debug)]
pub struct SharedFolder {
    path: PathBuf,
    writer: String,
}

impl SharedFolder {
    /// The folder at a path, which may be missing; `writer` is a name that no other process uses.
    pub fn new(path: &Path, writer: &str) -> Self {
        Self { path: path.to_path_buf(), writer: writer.to_owned() }
    }
}

impl FileStore for SharedFolder {
    fn title(&self) -> String {
        self.path.display().to_string()
    }

    /// Files are named by their content, so nothing has to be kept from the others.
    fn lock(&mut self, _: Access) -> io::Result<bool> {
        Ok(true)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let entries = match fs::read_dir(self.path.join(folder)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(names),
            entries => entries?,
        };
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !name.starts_with(UNFINISHED) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(File::open(self.path.join(name))?))
    }

    fn store(&self, name: &str, content: &mut dyn Read) -> io::Result<()> {
        let path = self.path.join(name);
        let folder = path.parent().unwrap_or(&self.path);
        create_private(folder).map_err(io::Error::other)?;
        let unfinished = folder.join(format!("{UNFINISHED}{}", self.writer));
        let written = write_synced(&unfinished, content).and_then(|()| fs::rename(&unfinished, &path));
        if written.is_err() {
            // It takes room; the next file replaces it otherwise.
            let _ = fs::remove_file(&unfinished);
        }
        written?;
        sync_folder(folder).map_err(io::Error::other)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        rename_below(&self.path, name, to)
    }

    /// Has nothing left to do: each file was synced when it was stored.
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
