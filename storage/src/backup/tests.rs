//! Backups of folders that grow, damaged ones, and restoring as of the backup or of an earlier time.

use super::*;
use crate::fixture::*;
use crate::folder::{DataFolder, IMPORT};
use crate::folder_access::check_access;
use crate::log::{Journal, JournalOptions, RealmLog};
use crate::open::open_realm_in_memory;
use crate::projection::Trees;
use model::MessageId;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;
use tempfile::TempDir;

fn open(path: &Path) -> Result<Backups, StoreError> {
    Backups::open(Box::new(Folder::new(path)), Access::Write)
}

struct Case {
    temp: TempDir,
}

impl Case {
    fn new() -> Self {
        let case = Self { temp: tempfile::tempdir().unwrap() };
        drop(DataFolder::open(&case.data(), 1, [7; 32]).unwrap());
        fs::create_dir_all(case.data().join("blobs/1")).unwrap();
        fs::write(case.data().join("blobs/1/a b.txt"), "tea").unwrap();
        case
    }

    fn data(&self) -> PathBuf {
        self.temp.path().join("data")
    }

    fn backups(&self) -> Backups {
        open(&self.temp.path().join("backups")).unwrap()
    }

    fn journal(data: &Path) -> Journal {
        let options = JournalOptions {
            segment_bytes: 64 * 1024,
            first_segment_bytes: 32 * 1024,
            ..JournalOptions::default()
        };
        Journal::open(&data.join("journal/shard-000"), &options, Box::new(Ignored)).unwrap()
    }

    /// The newest message of a data folder.
    fn newest(data: &Path) -> MessageId {
        let journal = Self::journal(data);
        let trees = Trees::closed(&data.join("state"), CACHE_BYTES);
        let opened = open_realm_in_memory(&journal, &trees, REALM).unwrap();
        opened.view.map_or(MessageId(0), |view| view.messages.last)
    }
}

#[test]
fn backup_of_a_folder_in_use() {
    let case = Case::new();
    let mut run = Run::new(Case::journal(&case.data()));
    run.frame(first_facts());
    for id in 1..=30 {
        run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
    }
    // All queued frames become durable before this returns.
    run.log.open(REALM.0, 0).unwrap();
    fs::write(case.data().join(IMPORT), "2 archive\n").unwrap();
    fs::create_dir(case.data().join("unfinished")).unwrap();
    fs::write(case.data().join("unfinished/9"), "making 1 acme\n").unwrap();
    let backups = case.backups();
    let first = backups.add(&case.data(), 1_000_000_000_000_000).unwrap();
    assert!(first.new_files == first.files && first.files >= 4, "{first:?}");
    let again = backups.add(&case.data(), 1_000_000_000_000_001).unwrap();
    assert_eq!((again.files, again.new_files, again.new_bytes), (first.files, 0, 0));
    assert!(backups.add(&case.data(), 5).is_err(), "the clock was set back");
    let verified = backups.verify(false).unwrap();
    assert_eq!((verified.files, verified.damaged_count), (first.files, 0));
    assert_eq!(verified.backups, backups.times().unwrap());
    run.log.close();
    for number in 1..=2 {
        let data = case.temp.path().join(format!("restored{number}"));
        let restored = restore(&backups, &data, None, OnDamage::Refuse).unwrap();
        assert_eq!((restored.files + 1, restored.frames_removed), (first.files, 0));
        assert_eq!(fs::read_to_string(data.join("blobs/1/a b.txt")).unwrap(), "tea");
        assert_eq!(fs::read_to_string(data.join(IMPORT)).unwrap(), "2 archive\n");
        assert_eq!(fs::read_to_string(data.join("unfinished/9")).unwrap(), "making 1 acme\n");
        assert_eq!(Case::newest(&data), MessageId(30));
        assert!(
            restore(&backups, &data, None, OnDamage::Refuse).unwrap_err().to_string().contains("not empty")
        );
    }
}

#[test]
fn restore_as_of_a_time() {
    let case = Case::new();
    let mut run = Run::new(Case::journal(&case.data()));
    run.frame(first_facts());
    for id in 1..=30 {
        run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
        // A group for each frame.
        while run.log.read(REALM.0, u64::from(id) + 1).is_err() {}
    }
    run.log.close();
    let backups = case.backups();
    backups.add(&case.data(), 1_000_000_000_000_000).unwrap();
    // Frame n has the time 10,000 + n, and message n is in frame n + 1.
    for (time, newest) in [(10_031, 30), (10_030, 29), (10_011, 10), (10_001, 0)] {
        let data = case.temp.path().join(format!("at{time}"));
        restore(&backups, &data, Some(time), OnDamage::Refuse).unwrap();
        let found = Case::newest(&data);
        assert!(found.0 <= newest && found.0 + 3 >= newest, "{found} at {time}");
    }
    let late =
        restore(&backups, &case.temp.path().join("late"), Some(2_000_000_000_000_000), OnDamage::Refuse);
    assert!(late.unwrap_err().to_string().contains("none that reaches"));
    let early = restore(&backups, &case.temp.path().join("early"), Some(10_000), OnDamage::Refuse);
    assert!(matches!(early, Err(StoreError::TooEarly { oldest }) if oldest > 10_000), "{early:?}");
    assert!(!case.temp.path().join("early").exists());
}

#[test]
fn damaged_and_removed_backups() {
    let case = Case::new();
    let mut run = Run::new(Case::journal(&case.data()));
    run.frame(first_facts());
    run.log.open(REALM.0, 0).unwrap();
    run.log.close();
    let backups = case.backups();
    let at = 1_000_000_000_000_000;
    for number in 0..3 {
        fs::write(case.data().join("blobs/1/grows"), "x".repeat(number)).unwrap();
        backups.add(&case.data(), at + number as u64).unwrap();
    }
    assert!(open(&case.temp.path().join("backups")).is_err(), "it is locked");
    assert!(open(&case.data()).is_err(), "it is another folder");
    assert_eq!(backups.remove_before(at + 9).unwrap(), 2);
    assert_eq!(backups.times().unwrap(), [at + 2]);
    let manifest = manifest::read(&*backups.repository, at + 2).unwrap();
    let hashes: BTreeSet<&String> = manifest.files.values().map(|entry| &entry.hash).collect();
    assert_eq!(backups.list("files").unwrap().len(), hashes.len());
    for (path, entry) in &manifest.files {
        let file = case.temp.path().join("backups/files").join(&entry.hash);
        let whole = fs::read(&file).unwrap();
        let mut damaged = whole.clone();
        damaged[0] ^= 1;
        for content in [Some(damaged), Some(whole[1..].to_vec()), None] {
            match content {
                Some(content) => fs::write(&file, content).unwrap(),
                None => fs::remove_file(&file).unwrap(),
            }
            let found = backups.verify(false).unwrap();
            let named = (found.damaged[0].path.as_ref(), found.damaged[0].backups.as_slice());
            assert_eq!((found.damaged_count, named), (1, (Some(path), &[at + 2][..])));
            let data = case.temp.path().join("restored");
            let refused = restore(&backups, &data, None, OnDamage::Refuse).unwrap_err().to_string();
            assert!(refused.contains(&format!("{path}: files/{}", entry.hash)), "{refused}");
            assert!(refused.contains("nothing was restored") && !data.exists(), "{refused}");
        }
        fs::write(&file, whole).unwrap();
    }
}

#[test]
fn unfinished_restores_are_named_and_begun_again() {
    let case = Case::new();
    let backups = case.backups();
    backups.add(&case.data(), 1_000_000_000_000_000).unwrap();
    // As a restore leaves it that is killed.
    let data = case.temp.path().join("restored");
    fs::create_dir_all(data.join("journal")).unwrap();
    fs::write(data.join("secret"), "half").unwrap();
    fs::write(data.join("restoring"), "from /srv/backups\n").unwrap();
    let command = format!("`millstream restore --from /srv/backups --data {}`", data.display());
    let refusals = [
        DataFolder::open(&data, 1, [7; 32]).map(drop),
        DataFolder::check_new(&data),
        check_access(&data),
        backups.add(&data, 1_000_000_000_000_001).map(drop),
    ];
    for refused in refusals {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("is not finished") && refused.contains(&command), "{refused}");
    }
    // Another command that restores into it holds the mark.
    let mark = fs::File::open(data.join("restoring")).unwrap();
    mark.lock().unwrap();
    let refused = restore(&backups, &data, None, OnDamage::Refuse).unwrap_err().to_string();
    assert!(refused.contains("another command restores into"), "{refused}");
    assert_eq!(fs::read_to_string(data.join("secret")).unwrap(), "half");
    drop(mark);
    restore(&backups, &data, None, OnDamage::Refuse).unwrap();
    assert!(DataFolder::exists(&data) && !data.join("restoring").exists());
    check_access(&data).unwrap();
}

#[test]
fn refused_restore_keeps_the_folder_that_was_there() {
    let case = Case::new();
    let backups = case.backups();
    backups.add(&case.data(), 1_000_000_000_000_000).unwrap();
    for file in backups.list("files").unwrap() {
        fs::write(case.temp.path().join("backups/files").join(file), "damaged").unwrap();
    }
    let data = case.temp.path().join("restored");
    fs::create_dir(&data).unwrap();
    assert!(restore(&backups, &data, None, OnDamage::Refuse).is_err());
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
}

/// Another data folder with one file.
fn other_folder(temp: &Path) -> PathBuf {
    let data = temp.join("other");
    drop(DataFolder::open(&data, 1, [8; 32]).unwrap());
    fs::create_dir_all(data.join("blobs/1")).unwrap();
    fs::write(data.join("blobs/1/coffee.txt"), "coffee").unwrap();
    data
}

/// Several processes may make one place at once: one of them has it, and the others say so.
#[test]
fn new_place_that_is_made_several_times_at_once_is_one() {
    const AT_ONCE: usize = 4;
    let temp = tempfile::tempdir().unwrap();
    for round in 0..50 {
        let place = temp.path().join(round.to_string());
        let (start, all_tried) = (Barrier::new(AT_ONCE), Barrier::new(AT_ONCE));
        let opened: Vec<Option<String>> = thread::scope(|scope| {
            let attempt = || {
                start.wait();
                let opened = open(&place);
                all_tried.wait();
                opened.err().map(|error| error.to_string())
            };
            let attempts: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(attempt)).collect();
            attempts.into_iter().map(|attempt| attempt.join().unwrap()).collect()
        });
        let refused: Vec<&String> = opened.iter().flatten().collect();
        assert_eq!(refused.len(), AT_ONCE - 1, "{opened:?}");
        assert!(refused.iter().all(|error| error.ends_with("is used by another process")), "{opened:?}");
        let names = fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["backup", "files", "lock", "manifests"]);
    }
}

#[test]
fn place_is_of_one_data_folder() {
    let case = Case::new();
    let mut run = Run::new(Case::journal(&case.data()));
    run.frame(first_facts());
    run.log.open(REALM.0, 0).unwrap();
    run.log.close();
    let (backups, at) = (case.backups(), 1_000_000_000_000_000);
    backups.add(&case.data(), at).unwrap();
    let other = other_folder(case.temp.path());
    let names = || (backups.times().unwrap(), backups.list("files").unwrap().len());
    let before = names();
    let refused = backups.add(&other, at + 1).unwrap_err().to_string();
    assert!(refused.contains("another data folder") && refused.contains("other"), "{refused}");
    assert_eq!(names(), before);
    // A restored folder is the same one, also while it has no fingerprint, as the folders of old versions.
    let restored = case.temp.path().join("restored");
    restore(&backups, &restored, None, OnDamage::Refuse).unwrap();
    backups.add(&restored, at + 2).unwrap();
    fs::remove_file(restored.join("secret.fingerprint")).unwrap();
    backups.add(&restored, at + 3).unwrap();
    fs::remove_file(other.join("secret.fingerprint")).unwrap();
    assert!(backups.add(&other, at + 4).is_err());
    backups.add(&case.data(), at + 5).unwrap();
    assert_eq!(backups.times().unwrap(), [at, at + 2, at + 3, at + 5]);
}

#[test]
fn backups_of_two_folders_in_a_place_of_an_older_version() {
    let case = Case::new();
    let (backups, at) = (case.backups(), 1_000_000_000_000_000);
    let other = open(&case.temp.path().join("other-backups")).unwrap();
    other.add(&other_folder(case.temp.path()), at + 1).unwrap();
    backups.add(&case.data(), at).unwrap();
    backups.add(&case.data(), at + 2).unwrap();
    for folder in ["files", "manifests"] {
        for name in other.list(folder).unwrap() {
            let path = |repository: &str| case.temp.path().join(repository).join(folder).join(&name);
            fs::copy(path("other-backups"), path("backups")).unwrap();
        }
    }
    assert!(backups.verify(false).unwrap().is_mixed);
    // The backup of the other folder is nearer to the time.
    let manifest = restore::choose(&backups, Some(at + 1)).unwrap();
    assert_eq!(manifest.at, at + 2);
    assert_eq!(backups.remove_before(at + 9).unwrap(), 1);
    assert_eq!(backups.times().unwrap(), [at + 1, at + 2]);
    assert_eq!(backups.verify(false).unwrap().damaged_count, 0);
}

#[test]
fn repaired_place_gets_its_contents_again() {
    let case = Case::new();
    let (backups, at) = (case.backups(), 1_000_000_000_000_000);
    for number in 0..3 {
        backups.add(&case.data(), at + number).unwrap();
    }
    let repository = case.temp.path().join("backups");
    let newest = manifest::read(&*backups.repository, at + 2).unwrap();
    let [tea, secret] = ["blobs/1/a b.txt", "secret"].map(|path| newest.files[path].hash.clone());
    fs::write(repository.join("files").join(&tea), "sea").unwrap();
    fs::remove_file(repository.join("files").join(&secret)).unwrap();
    fs::write(repository.join(manifest::name(at)), [0xFF, 0xFE]).unwrap();
    let found = backups.verify(false).unwrap();
    assert_eq!((found.damaged_count, found.set_aside), (3, 0));
    let uses = |hash: &str| {
        let file = found.damaged.iter().find(|file| file.name == manifest::file(hash)).unwrap();
        (file.damage.clone(), file.backups.clone())
    };
    assert_eq!(uses(&tea), (Damage::Changed, vec![at + 1, at + 2]));
    assert_eq!(uses(&secret), (Damage::Missing, vec![at + 1, at + 2]));
    assert_eq!(found.damaged_backups, [at, at + 1, at + 2]);
    assert_eq!(found.files, newest.files.len());
    // What was never damaged is neither read nor stored again.
    assert_eq!(backups.add(&case.data(), at + 3).unwrap().new_files, 1);
    assert_eq!(backups.verify(true).unwrap().set_aside, 2);
    assert_eq!(fs::read_to_string(repository.join("damaged").join(&tea)).unwrap(), "sea");
    assert_eq!(backups.add(&case.data(), at + 4).unwrap().new_files, 1);
    let found = backups.verify(false).unwrap();
    assert_eq!((found.damaged_count, found.backups), (0, vec![at + 1, at + 2, at + 3, at + 4]));
}

#[test]
fn backups_of_a_clock_that_was_ahead_are_named_and_can_be_removed() {
    let case = Case::new();
    let (backups, at) = (case.backups(), 1_000_000_000_000_000);
    for time in [at, at + 10_000, at + 20_000] {
        backups.add(&case.data(), time).unwrap();
    }
    let refused = backups.add(&case.data(), at + 5_000).unwrap_err().to_string();
    assert!(!refused.contains(&manifest::name(at)), "{refused}");
    for later in [manifest::name(at + 10_000), manifest::name(at + 20_000)] {
        assert!(refused.contains(&later), "{refused}");
        backups.remove(&later).unwrap();
    }
    backups.add(&case.data(), at + 5_000).unwrap();
    assert_eq!(backups.times().unwrap(), [at, at + 5_000]);
    assert_eq!(backups.verify(false).unwrap().damaged_count, 0);
}

#[test]
fn only_uploaded_files_can_be_skipped() {
    let case = Case::new();
    fs::write(case.data().join("blobs/1/whole.txt"), "whole").unwrap();
    let backups = case.backups();
    backups.add(&case.data(), 1_000_000_000_000_000).unwrap();
    let manifest = manifest::read(&*backups.repository, 1_000_000_000_000_000).unwrap();
    let damage = |path: &str| {
        let file = case.temp.path().join("backups/files").join(&manifest.files[path].hash);
        fs::write(file, "damaged").unwrap();
    };
    damage("blobs/1/a b.txt");
    let data = case.temp.path().join("restored");
    assert!(restore(&backups, &data, None, OnDamage::Refuse).is_err());
    let restored = restore(&backups, &data, None, OnDamage::Skip).unwrap();
    assert_eq!((restored.skipped, restored.skipped_count), (vec!["blobs/1/a b.txt".to_owned()], 1));
    assert!(!data.join("blobs/1/a b.txt").exists() && data.join("blobs/1/whole.txt").exists());
    assert!(DataFolder::exists(&data));
    damage("secret");
    let data = case.temp.path().join("again");
    let refused = restore(&backups, &data, None, OnDamage::Skip).unwrap_err().to_string();
    assert!(refused.contains("secret: files/") && !refused.contains("a b.txt"), "{refused}");
    assert!(!DataFolder::exists(&data));
}
