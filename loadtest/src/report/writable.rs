//! Checks before a run that its results can be written, because a run may take an hour, and renames those of an earlier run,
//! which would pass for those of a run that fails.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::LoadError;

/// Links that are followed, as the system does.
const LINKS_MAX: usize = 40;

/// Fails if one of the files cannot be written to a folder that exists.
pub fn check_writable(folder: &Path, names: &[&str]) -> Result<(), LoadError> {
    names.iter().try_for_each(|name| check_file(&folder.join(name)))
}

/// Fails if one of the files for other programs cannot be written, or is also another one of the run: the other export, or one of
/// the files that the run writes itself.
pub fn check_exports(
    csv: Option<&Path>,
    prometheus: Option<&Path>,
    own: &[PathBuf],
) -> Result<(), LoadError> {
    csv.into_iter().chain(prometheus).try_for_each(check_file)?;
    let mut taken: HashSet<PathBuf> = own.iter().map(|path| canonical(path)).collect();
    for (option, path) in [("--csv", csv), ("--prometheus", prometheus)] {
        let Some(path) = path.filter(|path| is_regular(path)) else { continue };
        if !taken.insert(canonical(path)) {
            let path = path.display();
            return Err(LoadError::Usage(format!("{option}: {path} is another file of this run, too")));
        }
    }
    Ok(())
}

/// Whether a path is that of a file, or of none yet, and not of a pipe or a device.
fn is_regular(path: &Path) -> bool {
    path.metadata().map_or(true, |metadata| metadata.is_file())
}

/// A path without links and relative parts, of which the file itself may not be there yet.
fn canonical(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        if let Ok(whole) = path.canonicalize() {
            return whole;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match (path.read_link(), folder.canonicalize(), path.file_name()) {
            (Ok(target), _, _) => path = folder.join(target),
            (Err(_), Ok(folder), Some(name)) => return folder.join(name),
            (Err(_), _, _) => break,
        }
    }
    path
}

/// Prepends `previous-` to the names of those files that are in a folder. Fails if one cannot be renamed.
pub fn rename_earlier(folder: &Path, names: &[&str]) -> Result<(), LoadError> {
    names.iter().try_for_each(|name| rename_file(&folder.join(name)))
}

/// Prepends `previous-` to the names of those files for other programs that are there. Fails if one cannot be renamed.
pub fn rename_earlier_exports(csv: Option<&Path>, prometheus: Option<&Path>) -> Result<(), LoadError> {
    csv.into_iter().chain(prometheus).try_for_each(rename_file)
}

/// Renames a file, unless it is not there, is a pipe or a device, or is open already, as standard output is. A link stays, and the
/// file that it leads to is renamed.
fn rename_file(path: &Path) -> Result<(), LoadError> {
    let Ok(file) = path.canonicalize() else { return Ok(()) };
    let is_earlier = file.is_file() && !open_files().any(|open| is_same(&open, &file));
    let Some(name) = file.file_name().filter(|_| is_earlier) else { return Ok(()) };
    let mut earlier = OsString::from("previous-");
    earlier.push(name);
    std::fs::rename(&file, file.with_file_name(earlier)).map_err(|source| LoadError::file(path, source))
}

/// The files that this program has open.
fn open_files() -> impl Iterator<Item = PathBuf> {
    let files = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    files.map(|file| file.path())
}

/// Whether two paths lead to the same file.
fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// Whether writing a file for other programs replaces what was written before, and is not appended to it.
pub fn is_replaced(path: &Path) -> bool {
    is_regular(path) && !is_output(path)
}

fn is_output(path: &Path) -> bool {
    is_same(path, Path::new("/proc/self/fd/1"))
}

/// Writes a file for other programs. If it is standard output, after what was printed there.
pub fn write_export(path: &Path, text: &str) -> Result<(), LoadError> {
    let written = match is_regular(path) && is_output(path) {
        true => std::io::stdout().lock().write_all(text.as_bytes()),
        false => std::fs::write(path, text),
    };
    written.map_err(|source| LoadError::file(path, source))
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
        // Not the link that leads to it.
        Err(_) => {
            path.canonicalize().and_then(std::fs::remove_file).map_err(|source| LoadError::file(path, source))
        }
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
        check_exports(Some(&old), Some(&new), &[]).unwrap();
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "kept");
        assert!(!new.exists());
        check_exports(None, Some(Path::new("/dev/null")), &[]).unwrap();
        let error =
            check_exports(None, Some(&folder.path().join("absent/x.prom")), &[]).unwrap_err().to_string();
        assert!(error.contains("absent/x.prom"), "{error}");
        std::fs::create_dir(folder.path().join("results.json")).unwrap();
        let error = check_writable(folder.path(), &["report.html", "results.json"]).unwrap_err().to_string();
        assert!(error.contains("results.json"), "{error}");
        assert!(!folder.path().join("report.html").exists());
    }

    #[test]
    fn file_is_named_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let own = [path("results.json")];
        let check = |csv: &Path, prometheus: &Path| {
            check_exports(Some(csv), Some(prometheus), &own).map_err(|error| error.to_string())
        };
        assert_eq!(check(&path("a"), &path("b")), Ok(()));
        assert!(check(&path("a"), &path("./a")).unwrap_err().starts_with("--prometheus: "));
        std::fs::write(path("results.json"), "").unwrap();
        std::os::unix::fs::symlink(path("results.json"), path("link")).unwrap();
        for same in ["results.json", "link"] {
            assert!(check(&path(same), &path("b")).unwrap_err().starts_with("--csv: "), "{same}");
        }
        let nowhere = Path::new("/dev/null");
        assert_eq!(check(nowhere, nowhere), Ok(()));
    }

    #[test]
    fn links_stay_and_lead_to_the_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("d")).unwrap();
        std::os::unix::fs::symlink("d/target.csv", path("link.csv")).unwrap();
        let error = check_exports(Some(&path("link.csv")), Some(&path("d/target.csv")), &[]).unwrap_err();
        assert!(error.to_string().starts_with("--prometheus: "), "{error}");
        assert!(path("link.csv").is_symlink() && !path("d/target.csv").exists(), "as before the check");
        for text in ["first", "second"] {
            rename_earlier_exports(Some(&path("link.csv")), None).unwrap();
            write_export(&path("link.csv"), text).unwrap();
        }
        assert!(path("link.csv").is_symlink());
        let read = |name: &str| std::fs::read_to_string(path(name)).unwrap();
        assert_eq!(
            (read("d/target.csv"), read("d/previous-target.csv")),
            ("second".to_owned(), "first".to_owned())
        );
        let open = std::fs::File::create(path("open")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&open);
        let link = PathBuf::from(format!("/proc/self/fd/{number}"));
        rename_earlier_exports(Some(&link), None).unwrap();
        assert!(path("open").exists(), "as standard output that is a file");
    }

    #[test]
    fn files_of_an_earlier_run_are_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let (page, csv) = (folder.path().join("report.html"), folder.path().join("all.csv"));
        for text in ["first", "second"] {
            std::fs::write(&page, text).unwrap();
            std::fs::write(&csv, text).unwrap();
            rename_earlier(folder.path(), &["report.html", "results.json"]).unwrap();
            rename_earlier_exports(Some(&csv), Some(Path::new("/dev/null"))).unwrap();
            assert!(!page.exists() && !csv.exists());
            for name in ["previous-report.html", "previous-all.csv"] {
                assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), text);
            }
        }
        rename_earlier_exports(None, Some(&csv)).unwrap();
    }
}
