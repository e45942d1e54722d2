//! The source of an installation: a release archive, or the folder that it unpacks to.

use super::problem::WebAppError;
use super::selection::SERVED;
use super::staging::Staging;
use super::tarball::add_archive;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// How deep folders may be nested.
const DEPTH_MAX: usize = 16;
/// Where needed files are in a release: whole folders, and single files.
const PLACES: [&str; 8] = [
    "version.py",
    "version",
    "webpack-stats-production.json",
    "staticfiles.json",
    "templates/zerver/base.html",
    "templates/zerver/app/index.html",
    "locale",
    SERVED,
];

/// Adds the needed files of an archive or of a folder.
pub fn add_source(
    source: &Path,
    staging: &mut Staging,
    progress: &mut dyn FnMut(f64),
) -> Result<(), WebAppError> {
    let found = fs::metadata(source).map_err(|reason| match reason.kind() {
        std::io::ErrorKind::NotFound => WebAppError::NoSource(source.to_owned()),
        _ => WebAppError::system(source, reason),
    })?;
    if found.is_dir() {
        let root = release_in(source);
        for (done, place) in (0_u8..).zip(PLACES) {
            progress(f64::from(done) / PLACES.len() as f64);
            add_path(&root, Path::new(place), staging, 0)?;
        }
        return Ok(());
    }
    add_archive(source, staging, progress)
}

/// The folder of a release: the given one, or the only folder in it that has built files.
fn release_in(folder: &Path) -> PathBuf {
    if folder.join(SERVED).is_dir() {
        return folder.to_owned();
    }
    let inside = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut releases = inside.map(|entry| entry.path()).filter(|path| path.join(SERVED).is_dir());
    match (releases.next(), releases.next()) {
        (Some(only), None) => only,
        (Some(_), Some(_)) | (None, _) => folder.to_owned(),
    }
}

/// Adds a file or everything in a folder; links are left out, and missing files are found missing later.
fn add_path(root: &Path, path: &Path, staging: &mut Staging, depth: usize) -> Result<(), WebAppError> {
    let full = root.join(path);
    let Ok(found) = fs::symlink_metadata(&full) else { return Ok(()) };
    let failed = |reason| WebAppError::system(&full, reason);
    if found.is_dir() {
        if depth >= DEPTH_MAX {
            return Err(WebAppError::TooLarge(format!("{} is nested too deeply", full.display())));
        }
        for entry in fs::read_dir(&full).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            add_path(root, &path.join(name), staging, depth + 1)?;
        }
        return Ok(());
    }
    let Some(name) = path.to_str().filter(|name| Staging::wants(name)) else { return Ok(()) };
    if !found.is_file() {
        staging.links += 1;
        return Ok(());
    }
    let mut file = File::open(&full).map_err(failed)?;
    staging.add(name, &mut file, &|reason| WebAppError::system(&full, reason))
}
