//! Backups of folders that grow, damaged ones, and restoring as of the backup or of an earlier time.

use super::*;
use crate::fixture::*;
use crate::folder::DataFolder;
use crate::log::{Journal, JournalOptions, RealmLog};
use crate::open::open_realm_in_memory;
use crate::projection::Trees;
use model::MessageId;
use std::fs;
use std::path::PathBuf;
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
    let backups = case.backups();
    let first = backups.add(&case.data(), 1_000_000_000_000_000).unwrap();
    assert!(first.new_files == first.files && first.files >= 4, "{first:?}");
    let again = backups.add(&case.data(), 1_000_000_000_000_001).unwrap();
    assert_eq!((again.files, again.new_files, again.new_bytes), (first.files, 0, 0));
    assert!(backups.add(&case.data(), 5).is_err(), "the clock was set back");
    for at in backups.times().unwrap() {
        assert_eq!(backups.verify(Some(at)).unwrap().files.len(), first.files);
    }
    run.log.close();
    for number in 1..=2 {
        let data = case.temp.path().join(format!("restored{number}"));
        let restored = restore(&backups, &data, None).unwrap();
        assert_eq!((restored.files + 1, restored.frames_removed), (first.files, 0));
        assert_eq!(fs::read_to_string(data.join("blobs/1/a b.txt")).unwrap(), "tea");
        assert_eq!(Case::newest(&data), MessageId(30));
        assert!(restore(&backups, &data, None).unwrap_err().to_string().contains("not empty"));
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
        restore(&backups, &data, Some(time)).unwrap();
        let found = Case::newest(&data);
        assert!(found.0 <= newest && found.0 + 3 >= newest, "{found} at {time}");
    }
    let late = restore(&backups, &case.temp.path().join("late"), Some(2_000_000_000_000_000));
    assert!(late.unwrap_err().to_string().contains("none that reaches"));
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
    let manifest = backups.verify(None).unwrap();
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
            assert!(backups.verify(None).unwrap_err().to_string().contains(path.as_str()), "{path}");
            let data = case.temp.path().join("restored");
            assert!(restore(&backups, &data, None).is_err(), "{path}");
            assert!(!DataFolder::exists(&data));
        }
        fs::write(&file, whole).unwrap();
    }
    // A restore that was interrupted is begun again.
    let data = case.temp.path().join("restored");
    assert!(data.join("restoring").exists());
    restore(&backups, &data, None).unwrap();
    assert!(DataFolder::exists(&data) && !data.join("restoring").exists());
}
