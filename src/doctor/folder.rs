//! The data folder: its owner and mode, its format, and the disk below it.

use super::finding::Finding;
use crate::config::Config;
use crate::storage_error::storage_error_text;
use crate::units::size;
use actors::folder_access::{foreign_entry, unwritable_folder};
use actors::{DomainError, IMPORT_REMEDY, Reserve, Server, SpaceLevels};
use rustix::fs::{StatVfsMountFlags, statfs, statvfs};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What to do where the data of another user is.
const OWN_USER: &str = "run this as the server's user";
/// What to do where no data is.
const NO_DATA: &str = "there is no data yet; `millstream realm create` creates an organization";
/// Free space that a server should have, in bytes.
const FREE_BYTES_GOOD: u64 = 1 << 30;
/// Files that should fit on the disk.
const INODES_MIN: u64 = 1_000;
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

/// Whether the folder is one for data, belongs to this user, can be written, and only its owner can read it.
pub fn access(config: &Config) -> Finding {
    let (what, path) = ("data folder", config.data.display());
    let found = match std::fs::metadata(&config.data) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Finding::warning(what, format!("{path} does not exist; the first start creates it"));
        }
        Err(error) => {
            return Finding::problem(what, unreadable(&config.data, &path.to_string(), &error));
        }
    };
    if !found.is_dir() {
        return Finding::problem(
            what,
            format!("{path} is not a folder; choose another with `data` or --data"),
        );
    }
    let own = rustix::process::geteuid().as_raw();
    if own != 0 && found.uid() != own {
        let text = format!("{path} belongs to user {}, and this is user {own}; {OWN_USER}", found.uid());
        return Finding::problem(what, text);
    }
    // Before any advice about its mode: that of a folder of something else must not change.
    if let Err(error) = check_purpose(&config.data) {
        return Finding::problem(what, storage_error_text(&error));
    }
    if found.permissions().mode() & 0o077 != 0 {
        return Finding::problem(what, format!("other users can read {path}; run `chmod 700 {path}`"));
    }
    if statvfs(&config.data).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY)) {
        return Finding::problem(
            what,
            format!("{path} is on a file system that is read-only; mount it for writing"),
        );
    }
    if let Some((folder, error)) = unwritable_folder(&config.data) {
        return Finding::problem(what, unwritable(&folder, &error));
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

/// That something of a data folder cannot be read, and what to do.
fn unreadable(folder: &Path, what: &str, error: &std::io::Error) -> String {
    match check_purpose(folder) {
        Err(reason) => storage_error_text(&reason),
        Ok(()) => format!("{what} cannot be read: {error}; {OWN_USER}"),
    }
}

/// That the server's own user cannot write a folder, and what to do.
pub fn unwritable(folder: &Path, error: &std::io::Error) -> String {
    let remedy = match error.kind() {
        ErrorKind::ReadOnlyFilesystem => "mount the file system for writing".to_owned(),
        _ => format!("run `chmod 700 {}`", folder.display()),
    };
    format!("{} belongs to this user, who cannot write it ({error}); {remedy}", folder.display())
}

/// A folder has data of this server, or nothing.
fn check_purpose(folder: &Path) -> Result<(), DomainError> {
    if Server::has_data(folder) { Ok(()) } else { Server::check_new_folder(folder) }
}

/// A file of the data that belongs to another user: a command was run as root.
fn foreign_file(data: &Path, owner: u32) -> Option<PathBuf> {
    let folders = [data.to_owned(), data.join("journal"), data.join("state")];
    folders.iter().find_map(|folder| foreign_entry(folder, owner))
}

/// Whether this version can open the folder.
pub fn format(config: &Config) -> Finding {
    let what = "format";
    match std::fs::metadata(config.data.join("format")) {
        Ok(_) => {}
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Finding::problem(what, unreadable(&config.data, "the file `format`", &error));
        }
        Err(_) if config.data.exists() => {
            if let Err(error) = check_purpose(&config.data) {
                return Finding::problem(what, storage_error_text(&error));
            }
            return Finding::warning(what, NO_DATA);
        }
        Err(_) => return Finding::warning(what, NO_DATA),
    }
    match Server::check_format(&config.data) {
        Ok(number) => Finding::good(what, format!("format {number}, which this version reads and writes")),
        Err(error) => Finding::problem(what, storage_error_text(&error)),
    }
}

/// Whether the secret is the one that the folder was made with; none without data.
pub fn secret(config: &Config) -> Option<Finding> {
    let what = "secret";
    Server::has_data(&config.data).then(|| match Server::check_secret(&config.data) {
        Ok(()) => Finding::good(what, "it is the one that the folder was made with"),
        Err(error) => Finding::problem(what, storage_error_text(&error)),
    })
}

/// An import that is not finished; none if all are.
pub fn unfinished_import(config: &Config) -> Option<Finding> {
    let what = "import";
    if !Server::has_data(&config.data) {
        return None;
    }
    match Server::unfinished_import_in(&config.data) {
        Ok(import) => import.map(|import| {
            let text = format!(
                "{import} is not finished, and its organization cannot be used until then; {IMPORT_REMEDY}"
            );
            Finding::warning(what, text)
        }),
        Err(error) => Some(Finding::problem(what, storage_error_text(&error))),
    }
}

/// Organizations of which the folder has only a part; none if all are whole. A running server may just be making or resetting them.
pub fn unfinished_realms(config: &Config, is_running: bool) -> Option<Finding> {
    let what = "organizations";
    match Server::unfinished_realms_in(&config.data) {
        Ok(found) if found.is_empty() => None,
        Ok(found) => {
            let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
            let now = if is_running { " (unless the server that runs is just doing that)" } else { "" };
            Some(Finding::warning(what, format!("{}{now}", texts.join("; "))))
        }
        Err(error) => Some(Finding::problem(what, storage_error_text(&error))),
    }
}

/// The folder, or the one above that exists.
fn existing(config: &Config) -> &Path {
    config.data.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."))
}

/// Free space for the journal and uploaded files, by the levels of the server.
pub fn space(config: &Config) -> Finding {
    let (what, folder) = ("disk space", existing(config));
    if let Ok(found) = statvfs(folder)
        && found.f_files > 0
        && found.f_favail < INODES_MIN
    {
        return Finding::problem(
            what,
            format!("only {} inodes are free; remove files of this disk", found.f_favail),
        );
    }
    let Config { storage, .. } = config;
    let reserve = Reserve { warn_bytes: storage.free_bytes_warn, min_bytes: storage.free_bytes_min };
    let Some(SpaceLevels { free_bytes, warn_bytes, min_bytes }) = reserve.levels(folder) else {
        return Finding::warning(what, "the free space is unknown");
    };
    let shown = size(free_bytes);
    if free_bytes < min_bytes {
        return Finding::problem(what, format!("{shown} are free, and changes are refused; make room"));
    }
    match free_bytes < warn_bytes.max(FREE_BYTES_GOOD) {
        true => Finding::warning(what, format!("{shown} are free; make room before the disk is full")),
        false => Finding::good(what, format!("{shown} are free")),
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
            let remedy = match error.kind() {
                ErrorKind::PermissionDenied | ErrorKind::NotADirectory => "see `data folder`",
                ErrorKind::StorageFull => "make room on the disk",
                ErrorKind::ReadOnlyFilesystem => "mount the file system for writing",
                _ => "check the disk",
            };
            Finding::warning(what, format!("it cannot be measured: {error}; {remedy}"))
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
