//! Free space on a disk.

use std::path::Path;

/// The space of a file system, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Free space that this process may use.
    pub free_bytes: u64,
    pub total_bytes: u64,
}

/// Space reserved for what sled allocates besides the rows, in bytes.
const SPARE_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// On a small disk, the reserve is this fraction of it, as a divisor.
const SPARE_SHARE: u64 = 32;

impl Space {
    /// Whether the trees can grow by `bytes`.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.free_bytes >= bytes + SPARE_BYTES_MAX.min(self.total_bytes / SPARE_SHARE)
    }
}

/// The space of the file system that holds `path`; `None` when the system does not report it.
pub fn space(path: &Path) -> Option<Space> {
    let found = rustix::fs::statvfs(path).ok()?;
    let free_bytes = found.f_bavail.saturating_mul(found.f_frsize);
    let total_bytes = found.f_blocks.saturating_mul(found.f_frsize);
    // Some file systems report no size; they are not full.
    (total_bytes > 0).then_some(Space { free_bytes, total_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_of_existing_and_missing_folder() {
        let folder = tempfile::tempdir().unwrap();
        let space = space(folder.path()).unwrap();
        assert!(space.free_bytes <= space.total_bytes);
        assert!(!Space { free_bytes: 2 << 20, total_bytes: 1 << 30 }.has_room(1));
        assert!(Space { free_bytes: 1 << 20, total_bytes: 16 << 20 }.has_room(1 << 19));
        assert_eq!(super::space(&folder.path().join("missing")), None);
    }
}
