//! Checkpoints and archived frames: an organization opens from what is there, whatever is missing or damaged, and nothing is
//! removed from the log that could not be read back.

use super::*;
use crate::base::{first_of, unpacked};
use crate::checkpoint::Pace;
use crate::fixture::*;
use crate::log::MemoryLog;
use crate::open::replay;
use crate::projection::Trees;
use crate::view::Row;
use model::{Flag, FlagOp};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

const MESSAGES: u32 = 600;
/// The frames of the log.
const LAST: u64 = 721;

/// A log, a place, and the rows that the organization must have.
struct Case {
    temp: TempDir,
    log: MemoryLog,
    rows: Vec<Row>,
    nodes: AtomicU64,
}

/// All rows of the organization, as they were before they were compressed.
fn rows_of(trees: &Trees) -> Vec<Row> {
    trees.rows(REALM).map(|row| row.and_then(unpacked).unwrap()).collect()
}

impl Case {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let mut run = Run::new(memory_log());
        run.frame(first_facts());
        for id in 1..=MESSAGES {
            run.frame(vec![sent(channel_message(id, 1, 1 + id % 2, &format!("topic {}", id % 7)))]);
            if id % 5 == 0 {
                run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Add, &[(id - 3, id)])]);
            }
        }
        let trees = trees(&temp.path().join("first/state"));
        let view = replay(&run.log, &trees, REALM, None).unwrap().unwrap();
        assert_eq!(view.progress.sequence.0, LAST);
        let rows = rows_of(&trees);
        Self { temp, log: run.log, rows, nodes: AtomicU64::new(0) }
    }

    fn place(&self) -> PathBuf {
        self.temp.path().join("shared")
    }

    /// The place, as a node with an empty data folder uses it, and the trees of that node.
    fn node(&self) -> (SharedStore, Trees) {
        let data = self.temp.path().join(format!("node{}", self.nodes.fetch_add(1, Ordering::Relaxed)));
        let place = SharedFolder::new(&self.place(), "n-1");
        (SharedStore::new(Box::new(place), &data.join("base")), trees(&data.join("state")))
    }

    /// Makes checkpoints as one owner.
    fn make(&self, sequences: &[u64]) -> SharedStore {
        let (store, _) = self.node();
        for sequence in sequences {
            let made = store.make(&self.log, REALM, *sequence, &Pace::unlimited()).unwrap().unwrap();
            assert_eq!(made.sequence, *sequence);
        }
        store
    }

    /// Opens the organization on a node that never had it. Returns the frame from which the log was read.
    fn open(&self) -> Result<u64, StoreError> {
        let (store, trees) = self.node();
        let view = store.load(&self.log, &trees, REALM, None)?;
        let from = view.as_ref().map_or(1, |view| view.progress.sequence.0 + 1);
        let view = replay(&self.log, &trees, REALM, view)?.unwrap();
        assert_eq!(view.progress.sequence.0, LAST);
        assert!(rows_of(&trees) == self.rows, "the rows differ");
        Ok(from)
    }

    fn trim(&self, store: &SharedStore, before: u64) -> Result<Trimmed, StoreError> {
        store.trim(
            &self.log,
            Archiving { realm: REALM, before: 10_000 + before },
            &Pace::limited(u64::MAX, Arc::default()),
        )
    }

    fn file(&self, name: &str) -> PathBuf {
        self.place().join("realm-0000000003").join(name)
    }
}

fn damage(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(path, bytes).unwrap();
}

#[test]
fn node_opens_an_organization_that_it_never_had() {
    let case = Case::new();
    assert_eq!(case.open().unwrap(), 1);
    let store = case.make(&[300, 500, 700]);
    assert_eq!(case.open().unwrap(), 701);
    // Two are kept.
    assert_eq!(store.checkpoints(REALM).unwrap(), [700, 500]);
    // A node that has most of it reads the log.
    let (store, trees) = case.node();
    let view = replay(&case.log, &trees, REALM, None).unwrap();
    let view = store.load(&case.log, &trees, REALM, view).unwrap().unwrap();
    assert_eq!(view.progress.sequence.0, LAST);
}

#[test]
fn damaged_or_missing_checkpoint_falls_back() {
    let case = Case::new();
    let store = case.make(&[300, 600]);
    damage(&case.file("00000000000000000600.base"));
    assert_eq!(case.open().unwrap(), 301);
    fs::remove_file(case.file("00000000000000000300.base")).unwrap();
    assert_eq!(case.open().unwrap(), 1);
    fs::remove_dir_all(case.place()).unwrap();
    assert_eq!(case.open().unwrap(), 1);
    // The next one is made without them.
    store.make(&case.log, REALM, 650, &Pace::unlimited()).unwrap().unwrap();
    assert_eq!(case.open().unwrap(), 651);
}

#[test]
fn damaged_copy_is_copied_again() {
    let case = Case::new();
    case.make(&[300]);
    let (store, trees) = case.node();
    store.fetch(REALM, 300).unwrap();
    damage(&store.local(REALM).path(300));
    let view = store.load(&case.log, &trees, REALM, None).unwrap().unwrap();
    assert_eq!(view.progress.sequence.0, 300);
}

#[test]
fn checkpoint_of_another_history_is_not_used() {
    let case = Case::new();
    case.make(&[300]);
    // The log of another cluster, in the same place.
    let mut run = Run::new(memory_log());
    run.frame(first_facts());
    for id in 1..=400 {
        run.frame(vec![sent(channel_message(id, 1, 2, "other"))]);
    }
    let (store, trees) = case.node();
    assert!(store.load(&run.log, &trees, REALM, None).unwrap().is_none());
    assert!(rows_of(&trees).is_empty());
}

#[test]
fn trimmed_log_opens_from_each_checkpoint_and_from_the_archive() {
    let case = Case::new();
    let store = case.make(&[300, 600]);
    assert_eq!(case.trim(&store, LAST).unwrap(), Trimmed::Before(301));
    assert_eq!(first_of(&case.log, REALM).unwrap(), 301);
    assert_eq!(case.trim(&store, LAST).unwrap(), Trimmed::Nothing);
    assert_eq!(case.open().unwrap(), 601);
    fs::remove_file(case.file("00000000000000000600.base")).unwrap();
    assert_eq!(case.open().unwrap(), 301);
    damage(&case.file("00000000000000000300.base"));
    assert_eq!(case.open().unwrap(), 301);
    fs::remove_file(case.file("00000000000000000001-00000000000000000300.frames")).unwrap();
    let error = case.open().unwrap_err();
    assert!(matches!(error, StoreError::BaseMissing { first: 301, .. }), "{error}");
}

#[test]
fn trees_that_the_log_does_not_continue_are_replaced() {
    let case = Case::new();
    let (store, trees) = case.node();
    let goes_on = |_| Ok(true);
    let old = crate::replay::replay_until(&case.log, &trees, (REALM, 200), None, &goes_on).unwrap().unwrap();
    let owner = case.make(&[300, 600]);
    case.trim(&owner, LAST).unwrap();
    let view = store.load(&case.log, &trees, REALM, old).unwrap();
    assert_eq!(view.as_ref().unwrap().progress.sequence.0, 600);
    replay(&case.log, &trees, REALM, view).unwrap();
    assert!(rows_of(&trees) == case.rows);
}

#[test]
fn next_checkpoints_and_archives_follow_a_trim() {
    let case = Case::new();
    let store = case.make(&[300, 600]);
    case.trim(&store, LAST).unwrap();
    store.make(&case.log, REALM, 700, &Pace::unlimited()).unwrap().unwrap();
    assert_eq!(case.trim(&store, LAST).unwrap(), Trimmed::Before(601));
    assert_eq!(case.open().unwrap(), 701);
    for name in ["00000000000000000600.base", "00000000000000000700.base"] {
        damage(&case.file(name));
    }
    // From both archives.
    assert_eq!(case.open().unwrap(), 601);
}

#[test]
fn archives_that_overlap_are_read_once() {
    let case = Case::new();
    let store = case.make(&[300, 600]);
    // A crash after the first archive, before the log was trimmed.
    store.archive(&case.log, REALM, (1, 200), &Pace::unlimited()).unwrap();
    store.archive(&case.log, REALM, (150, 250), &Pace::unlimited()).unwrap();
    case.trim(&store, LAST).unwrap();
    for name in ["00000000000000000300.base", "00000000000000000600.base"] {
        damage(&case.file(name));
    }
    assert_eq!(case.open().unwrap(), 301);
}

#[test]
fn files_of_another_history_are_left_alone() {
    let case = Case::new();
    let store = case.make(&[300, 600]);
    case.trim(&store, LAST).unwrap();
    store.make(&case.log, REALM, 700, &Pace::unlimited()).unwrap().unwrap();
    case.trim(&store, LAST).unwrap();
    let names = || {
        let mut names = store.place.list("realm-0000000003").unwrap();
        names.sort();
        names
    };
    let before = names();
    // The database was restored to a state from before everything that is in these files, and went on.
    let mut run = Run::new(memory_log());
    run.frame(first_facts());
    for id in 1..=450 {
        run.frame(vec![sent(channel_message(id, 1, 2, "other"))]);
    }
    let (other, trees) = case.node();
    assert!(other.load(&run.log, &trees, REALM, None).unwrap().is_none());
    assert!(other.own_checkpoints(&run.log, REALM).unwrap().is_empty());
    for upto in [350, 400, 450] {
        assert!(other.make(&run.log, REALM, upto, &Pace::unlimited()).unwrap().is_some());
    }
    assert_eq!(other.own_checkpoints(&run.log, REALM).unwrap(), [450, 400]);
    let archiving = Archiving { realm: REALM, before: u64::MAX };
    let error = other.trim(&run.log, archiving, &Pace::unlimited()).unwrap_err();
    assert!(error.to_string().contains("moved away"), "{error}");
    assert_eq!(first_of(&run.log, REALM).unwrap(), 1);
    assert!(before.iter().all(|name| names().contains(name)), "{before:?} {:?}", names());
    // The former database comes back, and has everything.
    assert_eq!(case.open().unwrap(), 701);
    for name in before.iter().filter(|name| name.ends_with(".frames")) {
        fs::remove_file(case.file(name)).unwrap();
    }
    assert_eq!(other.trim(&run.log, archiving, &Pace::unlimited()).unwrap(), Trimmed::Before(401));
}

/// What a place does wrong with frames or checkpoints that are stored.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// It stores something else.
    Changes,
    /// It stores nothing, and says that it did.
    Forgets,
}

/// A place that breaks the files with a suffix.
struct Faulty {
    place: SharedFolder,
    suffix: &'static str,
    fault: Fault,
}

impl FileStore for Faulty {
    fn title(&self) -> String {
        self.place.title()
    }

    fn lock(&mut self, access: crate::backup::Access) -> io::Result<bool> {
        self.place.lock(access)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.place.list(folder)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read + '_>> {
        self.place.open(name)
    }

    fn store(&self, name: &str, content: &mut dyn Read) -> io::Result<()> {
        let mut bytes = Vec::new();
        content.read_to_end(&mut bytes)?;
        match self.fault {
            _ if !name.ends_with(self.suffix) => {}
            Fault::Forgets => return Ok(()),
            Fault::Changes => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            }
        }
        self.place.store(name, &mut &*bytes)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.place.remove(name)
    }

    fn rename(&self, name: &str, to: &str) -> io::Result<()> {
        self.place.rename(name, to)
    }

    fn sync(&self) -> io::Result<()> {
        self.place.sync()
    }
}

#[test]
fn nothing_is_trimmed_that_could_not_be_read_back() {
    for fault in [Fault::Changes, Fault::Forgets] {
        let case = Case::new();
        case.make(&[300, 600]);
        let faulty = |suffix| {
            let place = Faulty { place: SharedFolder::new(&case.place(), "n-2"), suffix, fault };
            SharedStore::new(Box::new(place), &case.temp.path().join("faulty"))
        };
        assert!(case.trim(&faulty(".frames"), LAST).is_err(), "{fault:?}");
        assert_eq!(first_of(&case.log, REALM).unwrap(), 1, "{fault:?}");
        // A checkpoint that cannot be read back replaces none.
        let made = faulty(".base").make(&case.log, REALM, 700, &Pace::unlimited());
        assert!(made.is_err(), "{fault:?}");
        let (store, _) = case.node();
        assert_eq!(store.checkpoints(REALM).unwrap(), [600, 300], "{fault:?}");
    }
}

#[test]
fn nothing_is_trimmed_without_two_whole_checkpoints_or_before_its_time() {
    let case = Case::new();
    let store = case.make(&[300]);
    assert_eq!(case.trim(&store, LAST).unwrap(), Trimmed::Nothing);
    store.make(&case.log, REALM, 600, &Pace::unlimited()).unwrap();
    assert_eq!(case.trim(&store, 1).unwrap(), Trimmed::Nothing);
    // Too few to be a file of their own.
    assert_eq!(case.trim(&store, 200).unwrap(), Trimmed::Nothing);
    for name in ["00000000000000000600.base", "00000000000000000300.base"] {
        let whole = fs::read(case.file(name)).unwrap();
        damage(&case.file(name));
        assert!(case.trim(&store, LAST).is_err(), "{name}");
        fs::write(case.file(name), whole).unwrap();
    }
    assert_eq!(first_of(&case.log, REALM).unwrap(), 1);
    assert_eq!(case.trim(&store, LAST).unwrap(), Trimmed::Before(301));
}

#[test]
fn nodes_leave_marks() {
    let case = Case::new();
    let (store, _) = case.node();
    assert_eq!(store.nodes_without_marker(&[("n1", 3)]).unwrap(), ["n1"]);
    store.mark("n1", 3).unwrap();
    store.mark("n1-2", 1).unwrap();
    assert!(store.nodes_without_marker(&[("n1", 3), ("n1-2", 1)]).unwrap().is_empty());
    // A node that has another folder now.
    assert_eq!(store.nodes_without_marker(&[("n1", 4), ("n1-2", 1)]).unwrap(), ["n1"]);
    store.mark("n1", 4).unwrap();
    assert_eq!(store.marks().unwrap().len(), 2);
}
