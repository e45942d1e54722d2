//! Journals whose oldest frames were dropped: everything that is made from them, each step ended by a crash, and damage.

use super::*;
use crate::backup::{Access, Backups, Folder, OnDamage, restore};
use crate::check::check_folder;
use crate::checkpoint::{Checkpoints, advance};
use crate::fixture::*;
use crate::folder::DataFolder;
use crate::log::{Journal, JournalOptions, SyncPolicy};
use crate::open::open_realm;
use model::fact::DeletedFrom;
use model::{ChannelId, Fact, Flag, FlagOp, MessageFact, MessageId, MessageRanges};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use tempfile::TempDir;

const MESSAGES: u32 = 600;

/// A data folder with small segments, and the rows that its organization must have.
struct Case {
    temp: TempDir,
    rows: Vec<Row>,
}

fn journal(data: &Path) -> Journal {
    let options = JournalOptions {
        sync: SyncPolicy::None,
        segment_bytes: 64 * 1024,
        first_segment_bytes: 64 * 1024,
        ..JournalOptions::default()
    };
    Journal::open(&data.join("journal/shard-000"), &options, Box::new(Ignored)).unwrap()
}

/// Frames from before frame `first` may be dropped; no time between the steps.
fn policy(first: u64) -> TrimPolicy {
    TrimPolicy {
        realm: REALM,
        before: 10_000 + first,
        stored: 721,
        messages: 0,
        pause: Duration::ZERO,
        base_every: Duration::ZERO,
    }
}

/// The rows after opening a folder, which rebuilds what it lacks. Chunks as they were before they were compressed.
fn rows_of(data: &Path) -> Result<Vec<Row>, StoreError> {
    let journal = journal(data);
    let trees = Trees::open(&data.join("state"), 16 << 20)?;
    open_realm(&journal, &trees, REALM)?;
    trees.rows(REALM).map(|row| row.and_then(unpacked)).collect()
}

impl Case {
    fn new() -> Self {
        let mut case = Self { temp: tempfile::tempdir().unwrap(), rows: Vec::new() };
        drop(DataFolder::open(&case.data(), 1, [7; 32]).unwrap());
        let mut run = Run::new(journal(&case.data()));
        let trees = trees(&case.data().join("state"));
        run.frame(first_facts());
        for id in 1..=MESSAGES {
            run.frame(vec![sent(channel_message(id, 1, 1 + id % 2, &format!("topic {}", id % 7)))]);
            if id % 5 == 0 {
                run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Add, &[(id - 3, id)])]);
            }
            // Small groups.
            if id % 50 == 0 {
                run.sync();
            }
        }
        run.write_all(&trees);
        run.log.close();
        drop((run, trees));
        case.rows = rows_of(&case.data()).unwrap();
        case
    }

    fn data(&self) -> PathBuf {
        self.temp.path().join("data")
    }

    /// Takes steps until nothing is due.
    fn trim(&self, first: u64) -> Vec<TrimStep> {
        let log = journal(&self.data());
        log.open(REALM.0, 0).unwrap();
        let mut taken = Vec::new();
        loop {
            match trim_step(&self.data(), &log, &policy(first), &Pace::unlimited()).unwrap() {
                TrimStep::Nothing => return taken,
                // A trim is repeated until it is durable.
                step if taken.last() == Some(&step) => {}
                step => taken.push(step),
            }
        }
    }

    /// A copy of the folder as it is.
    fn copy(&self, name: &str) -> PathBuf {
        let to = self.temp.path().join(name);
        copy_folder(&self.data(), &to);
        to
    }

    fn first(&self) -> u64 {
        first_of(&journal(&self.data()), REALM).unwrap()
    }
}

/// The journal is open, and a file in reserve may get its name meanwhile: what changed while it was copied is copied again, so that
/// the copy is a state in which the process could have ended.
fn copy_folder(from: &Path, to: &Path) {
    let is_copied = || {
        let names = names_of(from);
        fs::create_dir_all(to).unwrap();
        for name in &names {
            let (from, to) = (from.join(name), to.join(name));
            if from.is_dir() {
                copy_folder(&from, &to);
                continue;
            }
            match fs::copy(&from, &to) {
                Err(error) if error.kind() == ErrorKind::NotFound => return false,
                copied => drop(copied.unwrap()),
            }
        }
        names == names_of(from)
    };
    while !is_copied() {
        fs::remove_dir_all(to).unwrap();
    }
}

fn names_of(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    entries.map(|name| name.into_string().unwrap()).collect()
}

/// The oldest segment of a shard: files of the journal are numbered. Their sizes say nothing, because one is kept in reserve.
fn oldest_segment(shard: &Path) -> String {
    let is_part = |name: &String| name.ends_with(".seg") || name.ends_with(".arc");
    names_of(shard).into_iter().find(is_part).unwrap()
}

#[test]
fn trimmed_journal_rebuilds_trees_from_its_base() {
    let case = Case::new();
    let shard = case.data().join("journal/shard-000");
    let before = oldest_segment(&shard);
    assert_eq!(case.trim(400), [TrimStep::Base(399), TrimStep::Trimmed(400)]);
    assert_eq!(case.first(), 400);
    assert_eq!(case.trim(500), [TrimStep::Base(499), TrimStep::Trimmed(500), TrimStep::Removed(399)]);
    assert!(oldest_segment(&shard) > before, "no segment was removed");
    assert!(rows_of(&case.data()).unwrap() == case.rows);
    fs::remove_dir_all(case.data().join("state")).unwrap();
    assert!(rows_of(&case.data()).unwrap() == case.rows);
    let folder = DataFolder::open(&case.data(), 1, [7; 32]).unwrap();
    for rebuild in [false, true] {
        let report = check_folder(&folder, rebuild, |_| {}).unwrap();
        assert!(report.is_clean(), "{report}");
    }
}

#[test]
fn trees_older_than_the_journal_are_rebuilt() {
    let case = Case::new();
    case.trim(400);
    let state = case.data().join("state");
    fs::remove_dir_all(&state).unwrap();
    let old = trees(&state);
    let mut run = Run::new(memory_log());
    run.frame(first_facts());
    run.write_all(&old);
    old.close();
    assert!(rows_of(&case.data()).unwrap() == case.rows);
}

#[test]
fn crash_after_each_step() {
    let case = Case::new();
    let log = journal(&case.data());
    log.open(REALM.0, 0).unwrap();
    let mut copies = vec![case.copy("step0")];
    for (number, first) in [400, 400, 500, 500, 500].into_iter().enumerate() {
        trim_step(&case.data(), &log, &policy(first), &Pace::unlimited()).unwrap();
        copies.push(case.copy(&format!("step{}", number + 1)));
        // A base that was being made.
        let folder = case.data().join("base/realm-0000000003");
        fs::create_dir_all(folder.join("making")).unwrap();
        fs::write(folder.join("making/db"), "half").unwrap();
        fs::write(folder.join("00000000000000000450.base.new"), "half").unwrap();
        copies.push(case.copy(&format!("half{}", number + 1)));
    }
    drop(log);
    for data in copies {
        fs::remove_dir_all(data.join("state")).unwrap();
        assert!(rows_of(&data).unwrap() == case.rows, "{}", data.display());
        let log = journal(&data);
        log.open(REALM.0, 0).unwrap();
        while trim_step(&data, &log, &policy(500), &Pace::unlimited()).unwrap() != TrimStep::Nothing {
            log.open(REALM.0, 0).unwrap();
        }
        drop(log);
        fs::remove_dir_all(data.join("state")).unwrap();
        assert!(rows_of(&data).unwrap() == case.rows, "{}", data.display());
        assert!(!data.join("base/realm-0000000003/making").exists());
    }
}

#[test]
fn damaged_and_missing_base_is_an_error_with_the_remedy() {
    let case = Case::new();
    case.trim(500);
    let bases = Bases::of(&case.data().join("base"), REALM);
    let path = bases.path(499);
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        fs::write(&path, damaged).unwrap();
        assert!(bases.verify(499).is_err(), "byte {at}");
    }
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    assert!(bases.verify(499).is_err());
    let check = || {
        let folder = DataFolder::open(&case.data(), 1, [7; 32]).unwrap();
        check_folder(&folder, false, |_| {}).unwrap()
    };
    // The trees are whole, so the server starts, and the check finds it.
    assert!(rows_of(&case.data()).unwrap() == case.rows);
    let report = check().to_string();
    assert!(report.contains("Restore a backup") && report.ends_with("There is damage."), "{report}");
    for content in [Some(&whole[..whole.len() - 9]), None] {
        match content {
            Some(content) => fs::write(&path, content).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        let _ = fs::remove_dir_all(case.data().join("state"));
        let error = rows_of(&case.data()).unwrap_err();
        assert!(matches!(error, StoreError::BaseMissing { first: 500, .. }), "{error}");
        assert!(!check().is_clean());
    }
    fs::write(&path, &whole).unwrap();
    assert!(rows_of(&case.data()).unwrap() == case.rows);
}

#[test]
fn nothing_is_dropped_that_a_checkpoint_needs_or_the_trees_lack() {
    let case = Case::new();
    let log = journal(&case.data());
    log.open(REALM.0, 0).unwrap();
    let checkpoints = Checkpoints::of(&case.data().join("checkpoints"), REALM);
    advance(&checkpoints, &log, 300, &Pace::unlimited()).unwrap();
    advance(&checkpoints, &log, 550, &Pace::unlimited()).unwrap();
    let lagging = TrimPolicy { stored: 200, ..policy(500) };
    assert_eq!(trim_step(&case.data(), &log, &lagging, &Pace::unlimited()).unwrap(), TrimStep::Base(200));
    drop(log);
    assert_eq!(case.trim(500)[0], TrimStep::Trimmed(201));
    assert_eq!(case.first(), 300);
    let log = journal(&case.data());
    for upto in [300, 550] {
        assert!(checkpoints.newest(&log, upto).is_some(), "the checkpoint {upto}");
    }
    log.open(REALM.0, 0).unwrap();
    let few = TrimPolicy { messages: 4 * u64::from(MESSAGES), ..policy(550) };
    assert_eq!(trim_step(&case.data(), &log, &few, &Pace::unlimited()).unwrap(), TrimStep::Nothing);
}

#[test]
fn backup_of_a_trimmed_journal() {
    let case = Case::new();
    let place = || Box::new(Folder::new(&case.temp.path().join("backups")));
    let backups = Backups::open(place(), Access::Write).unwrap();
    backups.add(&case.data(), 10_300).unwrap();
    case.trim(500);
    backups.add(&case.data(), 1_000_000_000).unwrap();
    let restored = case.temp.path().join("restored");
    restore(&backups, &restored, None, OnDamage::Refuse).unwrap();
    assert!(rows_of(&restored).unwrap() == case.rows);
    // The frames after this time have the trim.
    let early = case.temp.path().join("early");
    let error = restore(&backups, &early, Some(10_600), OnDamage::Refuse).unwrap_err();
    assert!(error.to_string().contains("journal.keep"), "{error}");
    restore(&backups, &early, Some(10_200), OnDamage::Refuse).unwrap();
    let log = journal(&early);
    let view = open_realm(&log, &trees(&early.join("state")), REALM).unwrap().view.unwrap();
    assert!(view.messages.last > MessageId(0) && view.progress.sequence.0 <= 200, "{:?}", view.progress);
}

/// Whether a text is in the rows of any base.
fn is_in_bases(data: &Path, text: &str) -> bool {
    let bases = Bases::of(&data.join("base"), REALM);
    bases.sequences().into_iter().any(|sequence| {
        let mut reading = bases.reading(sequence).unwrap();
        let blocks = std::iter::from_fn(|| reading.next().unwrap());
        blocks.flatten().any(|row| row.value.windows(text.len()).any(|part| part == text.as_bytes()))
    })
}

#[test]
fn renewed_base_has_nothing_that_was_deleted() {
    let case = Case::new();
    case.trim(500);
    assert!(is_in_bases(&case.data(), "<p>tea 77</p>"));
    let mut run = Run::new(journal(&case.data()));
    let state = trees(&case.data().join("state"));
    run.view = open_realm(&run.log, &state, REALM).unwrap().view;
    run.sync();
    let from = DeletedFrom::Topic { channel: ChannelId(2), topic: "topic 0".to_owned() };
    let messages = MessageRanges(vec![(MessageId(77), MessageId(77))]);
    run.frame(vec![Fact::Message(MessageFact::Deleted { from, messages, by: None })]);
    run.sync();
    run.write_all(&state);
    let bases = Bases::of(&case.data().join("base"), REALM);
    let upto = run.view.as_ref().unwrap().progress.sequence.0;
    assert!(bases.renew(&run.log, upto, &Pace::unlimited()).unwrap());
    run.log.close();
    state.close();
    let rows = rows_of(&case.data()).unwrap();
    assert!(!is_in_bases(&case.data(), "<p>tea 77</p>") && is_in_bases(&case.data(), "<p>tea 78</p>"));
    assert_eq!(Bases::of(&case.data().join("base"), REALM).sequences().len(), 1);
    fs::remove_dir_all(case.data().join("state")).unwrap();
    assert!(rows_of(&case.data()).unwrap() == rows);
}
