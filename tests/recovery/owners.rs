//! Data folders of other users: root leaves no files in them, and a refused access names the owner and what to do.

use crate::support::ServerProcess;
use crate::support::skip::{leave_out, not_skipped};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The number of a user that has no files here.
const OTHER: u32 = 12345;

const CREATE: [&str; 7] =
    ["realm", "create", "Acme", "--owner-email", "olga@acme.example", "--owner-name", "Olga"];

/// Whether this process may give files to others; records that the tests are skipped otherwise.
fn is_root() -> bool {
    const WHAT: &str = "data folders of other users";
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        not_skipped(WHAT)
    } else {
        leave_out(WHAT, "only root can give folders to other users")
    }
    is_root
}

/// A folder that others may enter, and the path of a data folder in it.
fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let data = folder.path().join("data");
    (folder, data)
}

fn run(args: &[&str], data: &Path) -> (bool, String) {
    let (status, text) = ServerProcess::run(&[args, &["--data", &data.display().to_string()]].concat());
    (status.success(), text)
}

/// Runs a command as the other user, which is refused; none if that user cannot start the program.
fn run_as_other(args: &[&str], data: &Path) -> Option<String> {
    let output = output_of_other(args, data)?;
    assert!(!output.status.success(), "{args:?} is not refused");
    Some(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What a command of the other user says; none if that user cannot start the program.
fn output_of_other(args: &[&str], data: &Path) -> Option<Output> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    command.args(args).arg("--data").arg(data).uid(OTHER).gid(OTHER).output().ok()
}

#[test]
fn folder_that_its_own_user_cannot_write_is_named() {
    if !is_root() {
        return;
    }
    let (_folder, data) = place();
    fs::create_dir(&data).expect("room");
    chown(&data, Some(OTHER), Some(OTHER)).expect("root may");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).expect("root may");
    let Some(created) = output_of_other(&CREATE, &data) else { return };
    assert!(created.status.success(), "{created:?}");
    let shown = data.display();
    for folder in [data.clone(), data.join("journal")] {
        let mode = fs::metadata(&folder).expect("it exists").permissions();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).expect("root may");
        let remedy = format!("run `chmod 700 {}`", folder.display());
        let text = run_as_other(&["serve", "--listen", "127.0.0.1:0"], &data).expect("it ran before");
        assert!(text.contains(&remedy) && !text.contains("[blobs]"), "{text}");
        let examined = output_of_other(&["doctor"], &data).expect("it ran before");
        let said = String::from_utf8_lossy(&examined.stdout);
        assert!(!examined.status.success() && said.contains(&remedy), "{said}");
        assert!(!said.contains("run this as the server's user"), "{said}");
        // A command that is the first to lock the folder makes a file in it.
        if folder == data {
            fs::remove_file(data.join("lock")).expect("it exists");
            let text = run_as_other(&["user", "list"], &data).expect("it ran before");
            assert!(text.contains("Permission denied") && text.contains(&remedy), "{text}");
        }
        fs::set_permissions(&folder, mode).expect("root may");
    }
    // Nor can its user enter it without any mode.
    fs::set_permissions(&data, fs::Permissions::from_mode(0o0)).expect("root may");
    let closed = format!("{shown} belongs to this user, who may not enter it; run `chmod 700 {shown}`");
    for args in [&["user", "list"][..], &["check"], &["doctor"]] {
        let output = output_of_other(args, &data).expect("it ran before");
        let said =
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(!output.status.success() && said.contains(&closed), "{args:?}: {said}");
        assert!(!said.contains("sudo") && !said.contains("run this as"), "{args:?}: {said}");
    }
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).expect("root may");
    let (is_done, text) = run(&["doctor"], &data);
    assert!(text.contains(&format!("{shown} belongs to user {OTHER}")), "{is_done}: {text}");
}

#[test]
fn file_in_place_of_a_data_folder_is_named_as_one() {
    let (folder, _) = place();
    let file = folder.path().join("settings.toml");
    fs::write(&file, "").expect("room");
    for args in [&["serve", "--listen", "127.0.0.1:0"][..], &["user", "list"], &CREATE] {
        let (is_done, text) = run(args, &file);
        assert!(!is_done && !text.contains("chmod"), "{text}");
        assert!(text.contains(&format!("{} is not a ", file.display())), "{text}");
    }
}

/// The files of root in a folder.
fn of_root(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let metadata = entry.metadata().expect("it exists");
        if metadata.uid() == 0 {
            found.push(entry.path());
        }
        if metadata.is_dir() {
            found.extend(of_root(&entry.path()));
        }
    }
    found
}

#[test]
fn root_leaves_no_files_in_the_folder_of_another_user() {
    if !is_root() {
        return;
    }
    let (_folder, data) = place();
    fs::create_dir(&data).expect("room");
    chown(&data, Some(OTHER), None).expect("root may");
    let refused = |args: &[&str]| {
        let (is_done, text) = run(args, &data);
        let expected = format!("{} belongs to the user {OTHER}", data.display());
        assert!(!is_done && text.contains(&expected) && text.contains("run this as that user"), "{text}");
    };
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    refused(&CREATE);
    refused(&serve);
    refused(&["dev", "--listen", "127.0.0.1:0"]);
    refused(&["import", "zulip", "missing.tar.gz"]);
    assert_eq!(fs::read_dir(&data).expect("a folder").count(), 0);
    // An empty folder of root is root's, and so is its data.
    chown(&data, Some(0), None).expect("root may");
    let (is_done, text) = run(&CREATE, &data);
    assert!(is_done, "{text}");
    let given = Command::new("chown").args(["-R", &OTHER.to_string()]).arg(&data).status();
    assert!(given.expect("chown runs").success());
    for args in [&serve[..], &["user", "list"], &["check"], &["check", "--rebuild"], &["erase", "--now"]] {
        refused(args);
    }
    assert_eq!(of_root(&data), Vec::<PathBuf>::new());
}

#[test]
fn another_user_is_told_whose_the_folder_is() {
    if !is_root() {
        return;
    }
    let (_folder, data) = place();
    let (is_done, text) = run(&CREATE, &data);
    assert!(is_done, "{text}");
    let shown = data.display();
    for args in [&["user", "list"][..], &["check"], &["serve", "--listen", "127.0.0.1:0"]] {
        let Some(text) = run_as_other(args, &data) else { return };
        assert!(text.contains(&format!("only root may use {shown}; run this as that user")), "{text}");
        assert!(!text.contains("is not a data folder"), "{text}");
    }
    // The folder was given away without what is in it.
    chown(&data, Some(OTHER), None).expect("root may");
    if let Some(text) = run_as_other(&["user", "list"], &data) {
        assert!(text.contains("belongs to the user root: run `chown -R"), "{text}");
        assert!(text.contains(&format!("{OTHER} {shown}` as root")) && !text.contains("--rebuild"), "{text}");
    }
}

#[tokio::test]
async fn running_server_is_for_its_user_and_root() {
    if !is_root() {
        return;
    }
    let (_folder, data) = place();
    let _server = ServerProcess::dev(&data);
    crate::support::wait_until("the socket is there", || data.join("control").exists()).await;
    if let Some(text) = run_as_other(&["user", "list"], &data) {
        assert!(text.contains(&format!("only root may use {}", data.display())), "{text}");
    }
}
