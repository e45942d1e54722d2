//! The data folder: its owner and mode, its format, and the disk below it.

use super::finding::Finding;
use crate::config::Config;
use crate::units::size;
use actors::Server;
use rustix::fs::{StatVfs, statfs, statvfs};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Free space that a server should have, in bytes.
const FREE_BYTES_GOOD: u64 = 1 << 30;
/// Free space below which changes may be refused, where nothing else is configured.
const FREE_BYTES_MIN: u64 = 64 << 20;
/// Syncs that are measured.
const SYNCS: usize = 10;
/// A sync that takes longer delays every message.
const SYNC_SLOW: Duration = Duration::from_millis(50);

/// Names of file systems by their magic numbers, and whether they are on another machine.
const FILE_SYSTEMS: &[(i64, &str, bool)] = &[
    (0xef53, "ext4", false),
    (0x5846_5342, "xfs", false),
    (0x9123_683e, "btrfs", false),
    (0x2fc1_2fc1, "zfs", false),
    (0xf2f5_2010, "f2fs", false),
    (0x0102_1994, "tmpfs", false),
    (0x794c_7630, "overlayfs", false),
    (0x6969, "NFS", true),
    (0xff53_4d42, "CIFS", true),
    (0xfe53_4d42, "SMB", true),
    (0x6573_5546, "FUSE", true),
    (0x00c3_6400, "Ceph", true),
    (0x0102_1997, "9p", true),
];

/// Whether the folder belongs to this user, and only its owner can read it.
pub fn access(config: &Config) -> Finding {
    let (what, path) = ("data folder", config.data.display());
    let found = match std::fs::metadata(&config.data) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Finding::warning(what, format!("{path} does not exist; the first start creates it"));
        }
        Err(error) => {
            return Finding::problem(
                what,
                format!("{path} cannot be read: {error}; run this as the server's user"),
            );
        }
    };
    let own = rustix::process::geteuid().as_raw();
    if own != 0 && found.uid() != own {
        let text = format!(
            "{path} belongs to user {}, and this is user {own}; run this as the server's user",
            found.uid()
        );
        return Finding::problem(what, text);
    }
    if found.permissions().mode() & 0o077 != 0 {
        return Finding::problem(what, format!("other users can read {path}; run `chmod 700 {path}`"));
    }
    match foreign_file(&config.data, found.uid()) {
        Some(file) => {
            let text = format!(
                "{} belongs to another user, so the server cannot write it; run `chown -R {} {path}`",
                file.display(),
                found.uid()
            );
            Finding::problem(what, text)
        }
        None => {
            Finding::good(what, format!("{path} belongs to user {}, and only they can read it", found.uid()))
        }
    }
}

/// An entry of the folder that belongs to another user: a command was run as root.
fn foreign_file(folder: &Path, owner: u32) -> Option<std::path::PathBuf> {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries(folder).chain(entries(&folder.join("journal"))).chain(entries(&folder.join("state")));
    let is_foreign = |entry: &std::fs::DirEntry| entry.metadata().is_ok_and(|found| found.uid() != owner);
    below.into_iter().find(is_foreign).map(|entry| entry.path())
}

/// Whether this version can open the folder.
pub fn format(config: &Config) -> Finding {
    let what = "format";
    if !Server::has_data(&config.data) {
        return Finding::warning(
            what,
            "there is no data yet; `millstream realm create` creates an organization",
        );
    }
    match Server::check_format(&config.data) {
        Ok(number) => Finding::good(what, format!("format {number}, which this version reads and writes")),
        Err(error) => Finding::problem(what, error.to_string()),
    }
}

/// The folder, or the one above that exists.
fn existing(config: &Config) -> &Path {
    config.data.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."))
}

/// Free space for the journal and uploaded files.
pub fn space(config: &Config) -> Finding {
    let what = "disk space";
    let found: StatVfs = match statvfs(existing(config)) {
        Ok(found) => found,
        Err(error) => return Finding::warning(what, format!("the free space is unknown: {error}")),
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let shown = size(free);
    if found.f_files > 0 && found.f_favail < 1_000 {
        return Finding::problem(
            what,
            format!("only {} inodes are free; remove files of this disk", found.f_favail),
        );
    }
    match free {
        free if free < config.storage.free_bytes_min.max(FREE_BYTES_MIN) => {
            Finding::problem(what, format!("{shown} are free, and changes are refused; make room"))
        }
        free if free < config.storage.free_bytes_warn.max(FREE_BYTES_GOOD) => {
            Finding::warning(what, format!("{shown} are free; make room before the disk is full"))
        }
        _ => Finding::good(what, format!("{shown} are free")),
    }
}

/// Whether the file system keeps what is synced.
pub fn filesystem(config: &Config) -> Finding {
    let what = "file system";
    let found = match statfs(existing(config)) {
        Ok(found) => found,
        Err(error) => return Finding::warning(what, format!("its kind is unknown: {error}")),
    };
    let kind = found.f_type as i64 & 0xffff_ffff;
    match FILE_SYSTEMS.iter().find(|(number, ..)| *number == kind) {
        Some((_, "tmpfs", _)) => {
            Finding::problem(what, "tmpfs is in memory, and is lost at a restart; use a folder on a disk")
        }
        Some((_, name, true)) => {
            let text = format!(
                "{name} may be on another machine: locks and syncs are not reliable there; use a local disk"
            );
            Finding::warning(what, text)
        }
        Some((_, "overlayfs", _)) => {
            Finding::warning(what, "overlayfs is lost with its container; mount a volume for the data folder")
        }
        Some((_, name, _)) => Finding::good(what, format!("{name}, on this machine")),
        None => Finding::good(what, format!("an unknown kind ({kind:#x})")),
    }
}

/// How long the disk takes to store a small write: every message waits for it.
pub fn sync_time(config: &Config) -> Finding {
    let what = "sync";
    match measure(existing(config)) {
        Err(error) => {
            Finding::warning(what, format!("it cannot be measured: {error}; run this as the server's user"))
        }
        Ok(median) => {
            let millis = median.as_secs_f64() * 1000.0;
            match median > SYNC_SLOW {
                true => {
                    let text = format!(
                        "a sync takes {millis:.1} ms, and every message waits for one; use a faster disk"
                    );
                    Finding::warning(what, text)
                }
                false => Finding::good(what, format!("a sync takes {millis:.1} ms")),
            }
        }
    }
}

/// The median time of a write of 4 KiB with its sync, in a file that is removed again.
fn measure(folder: &Path) -> std::io::Result<Duration> {
    let mut file = tempfile::Builder::new().prefix(".doctor-").tempfile_in(folder)?;
    let mut times = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        let start = Instant::now();
        file.write_all(&[0; 4096])?;
        file.as_file().sync_data()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times.get(SYNCS / 2).copied().unwrap_or_default())
}
