//! A small file system for tests of full disks.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A mounted tmpfs. Dropping it unmounts it.
pub struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// Mounts a file system of `mib` MiB. None if the process has no right to mount (it needs root); then the test is
    /// skipped.
    pub fn mount(mib: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let size = format!("size={mib}m");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "millstream-test"]).arg(folder.path());
        match mount.output() {
            Ok(output) if output.status.success() => Some(Self { folder }),
            refused => {
                println!("skipped: a small disk cannot be mounted here (that takes root): {refused:?}");
                None
            }
        }
    }

    /// Path for the data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Fills it to the last byte.
    pub fn fill(&self) {
        self.fill_but(0);
    }

    /// Fills it, leaving `kib` KiB free.
    pub fn fill_but(&self, kib: usize) {
        let keep = self.folder.path().join("keep");
        fs::write(&keep, vec![1; kib * 1024]).expect("room for the reserved file");
        let mut file = File::options().create(true).append(true).open(self.ballast()).expect("a file");
        let mut size = 1 << 20;
        while size > 0 {
            match file.write(&vec![0x2a; size]) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => size /= 2,
                Err(error) => panic!("{error}"),
            }
        }
        fs::remove_file(keep).expect("removed");
    }

    /// Frees the space taken by [`Self::fill`].
    pub fn free(&self) {
        fs::remove_file(self.ballast()).expect("removed");
    }

    fn ballast(&self) -> PathBuf {
        self.path().join("ballast")
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, because a process left behind by a failed test may still use it.
        let _ = Command::new("umount").arg("-l").arg(self.folder.path()).status();
    }
}
