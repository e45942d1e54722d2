//! Checks before a run that its results can be written, because a run may take an hour.

use std::fs::OpenOptions;
use std::path::Path;

use crate::error::LoadError;

/// Fails if one of the files cannot be written to a folder that exists.
pub fn check_writable(folder: &Path, names: &[&str]) -> Result<(), LoadError> {
    names.iter().try_for_each(|name| check_file(&folder.join(name)))
}

/// Fails if one of the files for other programs cannot be written.
pub fn check_exports(csv: Option<&Path>, prometheus: Option<&Path>) -> Result<(), LoadError> {
    csv.into_iter().chain(prometheus).try_for_each(check_file)
}

/// Opens a file without a change of its content. One that is not there yet is not left behind.
fn check_file(path: &Path) -> Result<(), LoadError> {
    let before = path.metadata();
    if before.as_ref().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        // To open a pipe is to wait for its reader.
        return Ok(());
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|source| LoadError::file(path, source))?;
    match before {
        Ok(_) => Ok(()),
        Err(_) => std::fs::remove_file(path).map_err(|source| LoadError::file(path, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_checked_and_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old.csv"), folder.path().join("new.csv"));
        std::fs::write(&old, "kept").unwrap();
        check_exports(Some(&old), Some(&new)).unwrap();
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "kept");
        assert!(!new.exists());
        check_exports(None, Some(Path::new("/dev/null"))).unwrap();
        let error = check_exports(None, Some(&folder.path().join("absent/x.prom"))).unwrap_err().to_string();
        assert!(error.contains("absent/x.prom"), "{error}");
        std::fs::create_dir(folder.path().join("results.json")).unwrap();
        let error = check_writable(folder.path(), &["report.html", "results.json"]).unwrap_err().to_string();
        assert!(error.contains("results.json"), "{error}");
        assert!(!folder.path().join("report.html").exists());
    }
}
