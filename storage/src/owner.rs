//! Users of this machine, as owners of files: their names, and what to do when a file belongs to another one.

use rustix::fs::Access;
use rustix::process::geteuid;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The names of the users of this machine.
const USERS_FILE: &str = "/etc/passwd";
/// What is read of it, in bytes.
const USERS_BYTES_MAX: u64 = 1 << 20;
/// Files that are examined to find one of another user.
const FILES_MAX: usize = 10_000;

/// A user of this machine, by number. Displays the name, or the number of a user without a name here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(pub u32);

impl Owner {
    /// The user that this process acts as.
    pub fn own() -> Self {
        Self(geteuid().as_raw())
    }

    /// The owner of a file or folder.
    ///
    /// # Errors
    /// Those of the system.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::metadata(path)?.uid()))
    }

    /// Whether this is the user that may do everything.
    pub fn is_root(self) -> bool {
        self.0 == 0
    }

    /// Who may use what only this user may read.
    pub fn with_root(self) -> String {
        if self.is_root() { "root".to_owned() } else { format!("the user {self} and root") }
    }

    /// How root runs a command as this user.
    pub fn command(self) -> String {
        match self.name() {
            Some(name) => format!("sudo -u {name} millstream …"),
            None => format!("sudo -u '#{}' millstream …", self.0),
        }
    }

    fn name(self) -> Option<String> {
        let mut text = String::new();
        File::open(USERS_FILE).ok()?.take(USERS_BYTES_MAX).read_to_string(&mut text).ok()?;
        text.lines().find_map(|line| name_in(line, self.0))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(&name),
            None => write!(f, "{}", self.0),
        }
    }
}

/// The name in a line of the users, if it is that of a number.
fn name_in(line: &str, number: u32) -> Option<String> {
    let mut fields = line.split(':');
    let (name, id) = (fields.next()?, fields.nth(1)?);
    (id.parse() == Ok(number) && !name.is_empty()).then(|| name.to_owned())
}

/// Adds to a refused access who owns the file and what to do. Other errors stay as they are.
pub(crate) fn explain(path: &Path, error: io::Error) -> io::Error {
    if error.kind() != ErrorKind::PermissionDenied {
        return error;
    }
    match advice(path, Owner::own()) {
        Some(advice) => io::Error::new(ErrorKind::PermissionDenied, format!("{error}; {advice}")),
        None => error,
    }
}

/// What `own` can do about a file, or the lowest folder above it that can be examined, which belongs to another user.
fn advice(path: &Path, own: Owner) -> Option<String> {
    let (at, owner) = path.ancestors().find_map(|at| Some((at, Owner::of(at).ok()?)))?;
    if owner == own {
        return advice_on_mode(at);
    }
    let is_data = |folder: &&Path| folder.join("format").exists();
    let above = if at.is_dir() { at } else { at.parent().unwrap_or(at) };
    let folder = at.ancestors().find(is_data).unwrap_or(above);
    let shown = at.display();
    match Owner::of(folder) {
        Ok(found) if found == own => Some(format!(
            "{shown} belongs to the user {owner}: run `chown -R {own} {}` as root",
            folder.display()
        )),
        Ok(_) | Err(_) => {
            Some(format!("{shown} belongs to the user {owner}: run this as that user, `{}`", owner.command()))
        }
    }
}

/// What the owner can do about a file or folder with a mode that refuses them, or about the file's folder.
fn advice_on_mode(at: &Path) -> Option<String> {
    let is_refused = |path: &Path, wanted| rustix::fs::access(path, wanted).is_err();
    let is_unwritable = |folder: &Path| is_refused(folder, Access::WRITE_OK | Access::EXEC_OK);
    let (folder, mode) = match at.is_dir() {
        true => (at, 700),
        false if is_refused(at, Access::READ_OK | Access::WRITE_OK) => (at, 600),
        false => (at.parent()?, 700),
    };
    let is_folder = mode == 700;
    if is_folder && !(is_unwritable(folder) && Owner::of(folder).is_ok_and(|owner| owner == Owner::own())) {
        return None;
    }
    let (shown, what) = (folder.display(), if is_folder { "write in it" } else { "read and write it" });
    Some(format!("{shown} belongs to this user, who may not {what}: run `chmod {mode} {shown}`"))
}

/// The first entry of a folder that belongs to another user than `expected`.
pub(crate) fn foreign_entry(folder: &Path, expected: Owner) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(FILES_MAX);
    let mut paths = entries.map(|entry| entry.path());
    paths.find(|path| Owner::of(path).is_ok_and(|owner| owner != expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_names_or_numbers() {
        let line = "millstream:x:10001:10001::/nonexistent:/usr/sbin/nologin";
        assert_eq!(name_in(line, 10001).as_deref(), Some("millstream"));
        assert_eq!(name_in(line, 1000), None);
        assert_eq!(name_in("", 0), None);
        let unknown = Owner(4_123_456_789);
        assert_eq!(unknown.to_string(), "4123456789");
        assert_eq!(unknown.command(), "sudo -u '#4123456789' millstream …");
    }

    #[test]
    fn refused_access_names_the_owner_and_the_remedy() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("format");
        fs::write(&file, "").unwrap();
        let own = Owner::own();
        assert_eq!(advice(&file, own), None);
        let advice = advice(&file, Owner(4_123_456_789)).unwrap();
        assert!(advice.contains(&format!("belongs to the user {own}: run this as that user")), "{advice}");
        let other = io::Error::from(ErrorKind::NotFound);
        assert_eq!(explain(&file, other).kind(), ErrorKind::NotFound);
    }

    #[test]
    fn entry_of_another_user_is_found() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(foreign_entry(temp.path(), Owner(4_123_456_789)), None);
        let file = temp.path().join("conf");
        fs::write(&file, "").unwrap();
        assert_eq!(foreign_entry(temp.path(), Owner::own()), None);
        assert_eq!(foreign_entry(temp.path(), Owner(4_123_456_789)), Some(file));
    }
}
