//! New, interrupted, foreign and replaced data folders, and who may open them.

use super::*;
use crate::owner::Owner;
use std::os::unix::fs::{PermissionsExt, chown};

#[test]
fn data_folder_is_private_locked_and_keeps_its_secret() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("data");
    let folder = DataFolder::open(&path, 2, [7; 32]).unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(fs::metadata(path.join("secret")).unwrap().permissions().mode() & 0o777, 0o600);
    let second = DataFolder::open(&path, 2, [8; 32]).unwrap_err();
    assert!(matches!(second, StoreError::Locked { .. }), "{second}");
    drop(folder);
    let again = DataFolder::open(&path, 5, [9; 32]).unwrap();
    assert_eq!((again.shards(), again.secret()), (2, &[7; 32]));
}

#[test]
fn data_folder_is_unlocked_despite_inherited_descriptor() {
    let temp = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(temp.path(), 1, [7; 32]).unwrap();
    // The copy that a child process holds until it calls exec.
    let copy = folder._lock.0.try_clone().unwrap();
    drop(folder);
    assert!(DataFolder::open(temp.path(), 1, [7; 32]).is_ok());
    drop(copy);
}

#[test]
fn newer_and_foreign_folders_are_rejected() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("notes.txt"), "mine").unwrap();
    let error = DataFolder::open(temp.path(), 1, [0; 32]).unwrap_err();
    assert!(matches!(error, StoreError::NotADataFolder { .. }), "{error}");
    let newer = temp.path().join("newer");
    drop(DataFolder::open(&newer, 1, [0; 32]).unwrap());
    fs::write(newer.join("format"), "{\"millstream_format\": 99, \"shards\": 1}").unwrap();
    let error = DataFolder::open(&newer, 1, [0; 32]).unwrap_err();
    assert!(matches!(error, StoreError::TooNew { found: 99, .. }), "{error}");
}

#[test]
fn replaced_secret_is_rejected_until_accepted() {
    let temp = tempfile::tempdir().unwrap();
    drop(DataFolder::open(temp.path(), 1, [7; 32]).unwrap());
    fs::write(temp.path().join("secret"), hex(&[8; 32])).unwrap();
    let error = DataFolder::open(temp.path(), 1, [9; 32]).unwrap_err();
    assert!(matches!(error, StoreError::SecretChanged { .. }), "{error}");
    assert!(!error.to_string().contains(&hex(&[8; 32])), "{error}");
    fs::remove_file(temp.path().join("secret.fingerprint")).unwrap();
    let folder = DataFolder::open(temp.path(), 1, [9; 32]).unwrap();
    assert_eq!(folder.secret(), &[8; 32]);
    drop(folder);
    // From now on the new secret is the accepted one.
    fs::write(temp.path().join("secret"), hex(&[7; 32])).unwrap();
    assert!(DataFolder::open(temp.path(), 1, [9; 32]).is_err());
}

#[test]
fn secret_is_checked_without_a_change() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path();
    drop(DataFolder::open(path, 1, [7; 32]).unwrap());
    DataFolder::check_secret(path).unwrap();
    fs::remove_file(path.join(FINGERPRINT)).unwrap();
    DataFolder::check_secret(path).unwrap();
    assert!(!path.join(FINGERPRINT).exists());
    fs::write(path.join(FINGERPRINT), fingerprint(&[8; 32])).unwrap();
    assert!(matches!(DataFolder::check_secret(path), Err(StoreError::SecretChanged { .. })));
    fs::remove_file(path.join("secret")).unwrap();
    for error in
        [DataFolder::check_secret(path).unwrap_err(), DataFolder::open(path, 1, [7; 32]).unwrap_err()]
    {
        assert!(error.to_string().contains("from a backup"), "{error}");
    }
}

#[test]
fn trees_without_journal_are_rejected() {
    let temp = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(temp.path(), 1, [7; 32]).unwrap();
    folder.check_journals().unwrap();
    fs::create_dir(folder.state()).unwrap();
    let error = folder.check_journals().unwrap_err();
    assert!(matches!(error, StoreError::JournalMissing { .. }), "{error}");
    fs::create_dir_all(folder.journal(0)).unwrap();
    assert!(folder.check_journals().is_err());
    fs::write(folder.journal(0).join("0000000001.seg"), "").unwrap();
    folder.check_journals().unwrap();
}

#[test]
fn interrupted_first_start_is_repeated() {
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("secret"), "half").unwrap();
    let folder = DataFolder::open(temp.path(), 1, [5; 32]).unwrap();
    assert_eq!(folder.secret(), &[5; 32]);
}

#[test]
fn root_makes_no_files_in_the_folder_of_another_user() {
    if !Owner::own().is_root() {
        return;
    }
    let (temp, other) = (tempfile::tempdir().unwrap(), Owner(12345));
    let folder = temp.path();
    chown(folder, Some(other.0), None).unwrap();
    let error = DataFolder::open(folder, 1, [7; 32]).unwrap_err();
    assert!(matches!(error, StoreError::OtherOwner { owner, .. } if owner == other), "{error}");
    assert!(error.to_string().contains("run this as that user: `sudo -u "), "{error}");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    // Data that root has made stays root's, whichever user owns the folder.
    chown(folder, Some(0), None).unwrap();
    drop(DataFolder::open(folder, 1, [7; 32]).unwrap());
    chown(folder, Some(other.0), None).unwrap();
    drop(DataFolder::open(folder, 1, [7; 32]).unwrap());
    chown(folder.join("format"), Some(other.0), None).unwrap();
    assert!(DataFolder::open(folder, 1, [7; 32]).is_err());
}
