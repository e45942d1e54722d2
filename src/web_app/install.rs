//! Installing, removing and reporting. Every installation is a folder of its own, and the file `current` names the one
//! that is used: it is replaced last, so that an interrupted installation leaves the old one in use.

use super::bundle::Bundle;
use super::problem::WebAppError;
use super::release::Release;
use super::source::add_source;
use super::staging::Staging;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const CURRENT: &str = "current";
const NEW_CURRENT: &str = "current.new";
const LOCK: &str = "lock";
const RECORD: &str = "installed.json";
/// The ending of a folder that is being assembled.
const UNFINISHED: &str = ".part";

/// What was installed, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub release: Release,
    pub files: u64,
    pub bytes: u64,
    /// Seconds since 1970.
    pub installed: u64,
}

/// The result of an installation.
#[derive(Clone, Debug)]
pub struct Installed {
    pub record: Record,
    /// Links in the source, which were left out.
    pub links: u64,
    /// Why the page is not made from the release's own template, if it is not.
    pub template_problem: Option<String>,
}

/// Installs a release archive, or the folder that it unpacks to. `progress` gets the share that is done, from 0 to 1.
///
/// # Errors
/// Everything is checked before the new installation is used; after an error the old one is still in use.
pub fn install(
    folder: &Path,
    source: &Path,
    progress: &mut dyn FnMut(f64),
) -> Result<Installed, WebAppError> {
    if fs::metadata(source).is_err_and(|reason| reason.kind() == ErrorKind::NotFound) {
        return Err(WebAppError::NoSource(source.to_owned()));
    }
    create_private(folder)?;
    let _lock = lock(folder)?;
    remove_unfinished(folder)?;
    let random = random_name().map_err(|reason| WebAppError::system(folder, reason))?;
    let mut staging = Staging::create(folder.join(format!("{random}{UNFINISHED}")))?;
    add_source(source, &mut staging, progress)?;
    let bundle = Bundle::load(staging.folder())?;
    let release = bundle.release().clone();
    let name = format!("{}-{random}", release.version);
    let installed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let record = Record { release, files: staging.files, bytes: staging.bytes, installed };
    let json = serde_json::to_vec(&record).unwrap_or_default();
    staging.write(RECORD, &json)?;
    sync_all(staging.folder())?;
    let place = folder.join(&name);
    fs::rename(staging.folder(), &place).map_err(|reason| WebAppError::system(&place, reason))?;
    let previous = named(folder)?;
    set_current(folder, &name)?;
    // A running server may still serve the previous one.
    remove_others(folder, &[Some(name), previous])?;
    let template_problem = bundle.template_problem().map(str::to_owned);
    Ok(Installed { record, links: staging.links, template_problem })
}

/// Removes every installation. Whether there was one.
pub fn remove(folder: &Path) -> Result<bool, WebAppError> {
    if !folder.is_dir() {
        return Ok(false);
    }
    let _lock = lock(folder)?;
    let was_there = named(folder)?.is_some();
    let current = folder.join(CURRENT);
    match fs::remove_file(&current) {
        Err(reason) if reason.kind() != ErrorKind::NotFound => {
            return Err(WebAppError::system(&current, reason));
        }
        Ok(()) | Err(_) => {}
    }
    sync_folder(folder)?;
    remove_unfinished(folder)?;
    remove_others(folder, &[])?;
    Ok(was_there)
}

/// The record of the installation in use; none if there is none.
pub fn record(folder: &Path) -> Result<Option<Record>, WebAppError> {
    let Some(root) = current_folder(folder)? else { return Ok(None) };
    let file = root.join(RECORD);
    let json = fs::read(&file).map_err(|reason| WebAppError::system(&file, reason))?;
    let broken = |error| WebAppError::Incomplete(format!("{}: {error}", file.display()));
    serde_json::from_slice(&json).map(Some).map_err(broken)
}

/// The folder of the installation in use; none if there is none.
pub fn current_folder(folder: &Path) -> Result<Option<PathBuf>, WebAppError> {
    Ok(named(folder)?.map(|name| folder.join(name)))
}

/// The name in the file `current`.
fn named(folder: &Path) -> Result<Option<String>, WebAppError> {
    let file = folder.join(CURRENT);
    match fs::read_to_string(&file) {
        Ok(text) => {
            let name = text.trim();
            let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
            let broken = || WebAppError::Incomplete(format!("{} does not name a folder", file.display()));
            if is_plain { Ok(Some(name.to_owned())) } else { Err(broken()) }
        }
        Err(reason) if reason.kind() == ErrorKind::NotFound => Ok(None),
        Err(reason) => Err(WebAppError::system(&file, reason)),
    }
}

fn create_private(folder: &Path) -> Result<(), WebAppError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|reason| WebAppError::system(folder, reason))
}

/// Held while the folder is changed, and released with the process.
fn lock(folder: &Path) -> Result<File, WebAppError> {
    let path = folder.join(LOCK);
    let failed = |reason| WebAppError::system(&path, reason);
    let file = File::create(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(WebAppError::Busy(folder.to_owned())),
        Err(TryLockError::Error(reason)) => Err(failed(reason)),
    }
}

/// Replaces the file `current` at once.
fn set_current(folder: &Path, name: &str) -> Result<(), WebAppError> {
    let (new, current) = (folder.join(NEW_CURRENT), folder.join(CURRENT));
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&new)?;
        writeln!(file, "{name}")?;
        file.sync_all()?;
        fs::rename(&new, &current)
    };
    write().map_err(|reason| WebAppError::system(&current, reason))?;
    sync_folder(folder)
}

/// Writes all files of the disk that the folder is on: one call for thousands of small files.
fn sync_all(folder: &Path) -> Result<(), WebAppError> {
    let synced = File::open(folder).and_then(|file| Ok(rustix::fs::syncfs(file)?));
    synced.map_err(|reason| WebAppError::system(folder, reason))
}

fn sync_folder(folder: &Path) -> Result<(), WebAppError> {
    let synced = File::open(folder).and_then(|file| file.sync_all());
    synced.map_err(|reason| WebAppError::system(folder, reason))
}

/// Removes what interrupted installations left.
fn remove_unfinished(folder: &Path) -> Result<(), WebAppError> {
    remove_folders(folder, |name| name.ends_with(UNFINISHED))
}

/// Removes the folders of all installations but those to keep.
fn remove_others(folder: &Path, kept: &[Option<String>]) -> Result<(), WebAppError> {
    remove_folders(folder, |name| !kept.iter().flatten().any(|kept| kept == name))
}

fn remove_folders(folder: &Path, is_removed: impl Fn(&str) -> bool) -> Result<(), WebAppError> {
    let failed = |reason| WebAppError::system(folder, reason);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().map_err(failed)?.is_dir() && is_removed(&name) && is_ours(&entry.path(), &name) {
            let path = entry.path();
            fs::remove_dir_all(&path).map_err(|reason| WebAppError::system(&path, reason))?;
        }
    }
    Ok(())
}

/// Whether a folder was made by an installation: the folder may be one of the operator's.
fn is_ours(path: &Path, name: &str) -> bool {
    name.ends_with(UNFINISHED) || path.join(RECORD).is_file()
}

fn random_name() -> std::io::Result<String> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
