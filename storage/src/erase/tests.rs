//! Erasing: what was deleted is nowhere in the folder, and everything else is as before.

use super::*;
use crate::DataFolder;
use crate::check::check_folder;
use crate::checkpoint::{Checkpoints, Pace, advance};
use crate::fixture::*;
use crate::log::{self, Compacted, Journal, JournalOptions, RealmLog};
use crate::open::{decode_frame, open_realm};
use crate::projection::Trees;
use model::fact::{DeletedFrom, MessageRanges};
use model::{ChannelId, Fact, HistoryBound, Message, MessageFact, MessageId, UserId};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// In the contents of messages that are deleted, and in those that stay.
const SECRET: &str = "qxzvqxzv";
const KEPT: &str = "wumpwump";

fn message(id: u32, word: &str, words: usize) -> Message {
    let mut message = channel_message(id, 1, 1, "tea");
    message.content = format!("{word} {id} ").repeat(words);
    message.rendered = format!("<p>{}</p>", message.content);
    message
}

fn deleted(ids: &[u32]) -> Fact {
    Fact::Message(MessageFact::Deleted {
        from: DeletedFrom::Topic { channel: ChannelId(1), topic: "tea".to_owned() },
        messages: MessageRanges::from_sorted(ids.iter().map(|id| MessageId(*id))),
        by: Some(UserId(1)),
    })
}

/// Waits until all frames are durable. Returns the number of them.
fn wait(run: &Run<Journal>) -> u64 {
    let last = run.view().progress.sequence.0;
    while run.log.read(REALM.0, last + 1).is_err() {
        std::thread::yield_now();
    }
    last
}

struct Case {
    run: Run<Journal>,
    trees: Trees,
    folder: DataFolder,
    temp: TempDir,
}

impl Case {
    fn data(&self) -> PathBuf {
        self.temp.path().join("data")
    }

    fn checkpoints(&self) -> Checkpoints {
        Checkpoints::of(&self.folder.checkpoints(), REALM)
    }

    /// An organization with 60 messages, of which each third is deleted, with trees, checkpoints and archives. Each fifth was
    /// edited twice.
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(&temp.path().join("data"), 1, [7; 32]).unwrap();
        let options = JournalOptions {
            segment_bytes: 64 * 1024,
            first_segment_bytes: 32 * 1024,
            original_kept: std::time::Duration::ZERO,
            ..JournalOptions::default()
        };
        let journal = Journal::open(&folder.journal(0), &options, Box::new(Ignored)).unwrap();
        let trees = trees(&folder.state());
        let mut case = Self { run: Run::new(journal), trees, folder, temp };
        case.run.frame(first_facts());
        for id in 1..=60 {
            let word = if id % 3 == 0 { SECRET } else { KEPT };
            // Some are longer than what is stored without compression.
            let words = if id % 10 == 0 { 900 } else { 3 };
            case.run.frame(vec![sent(message(id, word, words))]);
            if id % 5 == 0 {
                case.run.frame(vec![edited(id, 1, word)]);
                case.run.frame(vec![edited(id, 2, &format!("newest {word}"))]);
            }
            // Groups of one frame and of some.
            if id % 4 == 0 {
                wait(&case.run);
            }
        }
        wait(&case.run);
        case.run.write_all(&case.trees);
        advance(&case.checkpoints(), &case.run.log, 30, &Pace::unlimited()).unwrap();
        let gone: Vec<u32> = (1..=60).filter(|id| id % 3 == 0).collect();
        case.run.frame(vec![deleted(&gone)]);
        case.run.frame(vec![sent(message(61, KEPT, 3))]);
        let end = wait(&case.run);
        case.run.write_all(&case.trees);
        advance(&case.checkpoints(), &case.run.log, end, &Pace::unlimited()).unwrap();
        while case.run.log.compact(&mut |_| true).unwrap() != Compacted::Nothing {}
        case
    }

    fn targets(&self) -> ErasureTargets {
        ErasureTargets { messages: self.run.view().deleted_messages().clone(), ..ErasureTargets::default() }
    }

    /// Does everything that erasing does, in its order.
    fn erase(&mut self, gone: ErasureTargets, record: &mut ShardRecord) -> Erased {
        self.run.write_all(&self.trees);
        self.trees.flush().unwrap();
        let upto = wait(&self.run);
        assert!(self.checkpoints().renew(&self.run.log, upto, &Pace::unlimited()).unwrap());
        let parts = self.run.log.parts().unwrap();
        parts.seal(REALM.0).unwrap();
        let gone = [(REALM.0, gone)].into();
        let erased = erase_parts(parts, &gone, record, &mut |_| true, &mut |_, _| {}).unwrap().unwrap();
        assert!(self.trees.renew(&mut |_| true).unwrap());
        assert!(parts.remove_originals(true).unwrap().is_empty());
        erased
    }

    /// How often a word is in the folder: in the bytes of files, in the frames of the journal, and in the rows.
    fn count(&self, word: &str) -> usize {
        let mut found = 0;
        let mut folders = vec![self.data()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found += occurrences(&fs::read(path).unwrap(), word);
                }
            }
        }
        for frame in self.run.log.read(REALM.0, 1).unwrap() {
            let frame = decode_frame(&frame.unwrap().payload).unwrap();
            found += occurrences(format!("{frame:?}").as_bytes(), word);
        }
        found
            + self
                .messages()
                .iter()
                .map(|message| occurrences(format!("{message:?}").as_bytes(), word))
                .sum::<usize>()
    }

    /// The messages in the trees, with their histories.
    fn messages(&self) -> Vec<Message> {
        let sent = stored_messages(&self.trees, 99).unwrap();
        let whole = |mut message: Message| {
            let changes = self.run.view().changes_of(message.id);
            self.trees.complete(REALM, &mut message, changes, &mut HistoryBound::CARRIED.clone()).unwrap();
            message
        };
        sent.into_iter().map(whole).collect()
    }

    /// Closes everything and verifies it.
    fn check(self) {
        let Self { run, trees, folder, temp } = self;
        run.log.close();
        trees.close();
        let report = check_folder(&folder, false, |_| {}).unwrap();
        assert!(report.is_clean(), "{report}");
        drop((folder, temp));
    }
}

fn occurrences(bytes: &[u8], word: &str) -> usize {
    bytes.windows(word.len()).filter(|window| *window == word.as_bytes()).count()
}

#[test]
fn deleted_contents_are_nowhere_in_the_folder() {
    let mut case = Case::new();
    let before = case.messages();
    assert_eq!(before.len(), 41);
    assert!(case.count(SECRET) > 20 && case.count(KEPT) > 40);
    let mut record = ShardRecord::new();
    let erased = case.erase(case.targets(), &mut record);
    assert!(erased.frames >= 20 && erased.parts > 1, "{erased:?}");
    assert_eq!(case.count(SECRET), 0);
    assert!(case.count(KEPT) > 40);
    assert_eq!(case.messages(), before);
    // What is known of the parts says that nothing is left, and so do the parts.
    assert_eq!(case.erase(case.targets(), &mut record), Erased::default());
    assert_eq!(case.erase(case.targets(), &mut ShardRecord::new()), Erased::default());
    // The journal and the trees go on.
    case.run.frame(vec![sent(message(62, KEPT, 3))]);
    wait(&case.run);
    case.run.write_all(&case.trees);
    assert_eq!(case.messages().len(), 42);
    case.check();
}

#[test]
fn only_parts_that_are_new_or_concerned_are_read() {
    let mut case = Case::new();
    let mut record = ShardRecord::new();
    case.erase(case.targets(), &mut record);
    let newest = *record.keys().next_back().unwrap();
    case.run.frame(vec![sent(message(62, SECRET, 3))]);
    case.run.frame(vec![deleted(&[62])]);
    wait(&case.run);
    let parts = case.run.log.parts().unwrap();
    parts.seal(REALM.0).unwrap();
    let gone =
        [(REALM.0, ErasureTargets { messages: [62].into_iter().collect(), ..ErasureTargets::default() })]
            .into();
    let mut bytes = 0;
    let mut pace = |read| {
        bytes += read;
        true
    };
    let erased = erase_parts(parts, &gone, &mut record, &mut pace, &mut |_, _| {}).unwrap().unwrap();
    assert_eq!(erased, Erased { frames: 1, parts: 1 });
    assert!(
        bytes <= 4 * 5 * 4096,
        "{bytes} bytes: the new part is read for what it has, to count, and to be written"
    );
    assert_eq!(record.len() as u64, *record.keys().next_back().unwrap() - record.keys().next().unwrap() + 1);
    assert!(*record.keys().next_back().unwrap() > newest);
}

#[test]
fn old_versions_are_erased_and_the_newest_stays() {
    let mut case = Case::new();
    let mut record = ShardRecord::new();
    case.erase(case.targets(), &mut record);
    assert!(case.messages().iter().any(|message| message.id.0 == 5 && message.edits.len() == 2));
    let versions: Vec<(MessageId, u32)> = case.trees.edited_versions(REALM).map(|row| row.unwrap()).collect();
    assert_eq!(versions.len(), 8);
    case.run.frame(vec![Fact::Message(MessageFact::HistoryErased { versions: versions.clone() })]);
    let histories = versions.iter().map(|(id, kept)| (id.0, *kept)).collect();
    let erased = case.erase(ErasureTargets { histories, ..ErasureTargets::default() }, &mut record);
    assert_eq!(erased.frames, 16, "of each message, what was sent and the first edit");
    let messages = case.messages();
    for message in messages.iter().filter(|message| message.version > 0) {
        assert_eq!(message.content, format!("newest {KEPT} edited 2"));
        assert_eq!(message.edits.len(), 2);
        for edit in &message.edits {
            assert!(edit.prev_content.as_ref().unwrap().trim().is_empty(), "{edit:?}");
        }
    }
    assert_eq!(case.count("edited 1"), 0);
    assert!(case.count("edited 2") > 0);
    case.check();
}

#[test]
fn erased_frames_keep_their_chain_and_are_sealed() {
    let mut case = Case::new();
    case.erase(case.targets(), &mut ShardRecord::new());
    let shard = case.folder.journal(0);
    assert!(log::erased_frames(&shard).unwrap() >= 20);
    let frames = case.run.log.read(REALM.0, 1).unwrap();
    let originals = frames.filter(|frame| frame.as_ref().unwrap().original.is_some());
    assert_eq!(originals.count() as u64, log::erased_frames(&shard).unwrap());
    assert_eq!(log::verify(&shard, &mut |_| {}).unwrap().damage, None);
}

#[test]
fn readers_go_on_while_parts_are_replaced() {
    let mut case = Case::new();
    let mut frames = case.run.log.read(REALM.0, 1).unwrap();
    let first = frames.next().unwrap().unwrap();
    case.erase(case.targets(), &mut ShardRecord::new());
    let rest = frames.map(|frame| frame.unwrap().sequence);
    assert!(std::iter::once(first.sequence).chain(rest).eq(1..=case.run.view().progress.sequence.0));
}

#[test]
fn interrupted_erasing_is_completed_by_the_next() {
    let whole = Case::new().erase_after(u64::MAX);
    for stop in (0..8).map(|eighth| whole * eighth / 8) {
        let mut case = Case::new();
        let before = case.messages();
        case.erase_after(stop);
        assert_eq!(case.messages(), before);
        let damage = log::verify(&case.folder.journal(0), &mut |_| {}).unwrap().damage;
        assert_eq!(damage, None, "after {stop} bytes");
        case.erase(case.targets(), &mut ShardRecord::new());
        assert_eq!((case.count(SECRET), case.messages()), (0, before));
        case.check();
    }
}

impl Case {
    /// Erases until this many bytes were read and written, and returns how many were.
    fn erase_after(&mut self, bytes_max: u64) -> u64 {
        let mut bytes = 0;
        let mut pace = |more| {
            bytes += more;
            bytes < bytes_max
        };
        let parts = self.run.log.parts().unwrap();
        parts.seal(REALM.0).unwrap();
        let gone = [(REALM.0, self.targets())].into();
        let erased = erase_parts(parts, &gone, &mut ShardRecord::new(), &mut pace, &mut |_, _| {}).unwrap();
        if erased.is_some() {
            self.trees.renew(&mut pace).unwrap();
        }
        bytes
    }
}

#[test]
fn trees_are_renewed_while_they_are_written() {
    let mut case = Case::new();
    let (trees, mut next) = (case.trees.clone(), 62);
    let run = &mut case.run;
    // Rows are written, changed and removed between the pieces that are copied.
    let mut pace = |_| {
        for _ in 0..40 {
            run.frame(vec![sent(message(next, KEPT, 3))]);
            next += 1;
        }
        run.frame(vec![deleted(&[next - 7, 61])]);
        run.frame(vec![edited(next - 3, 1, KEPT)]);
        run.write_all(&trees);
        true
    };
    assert!(trees.renew(&mut pace).unwrap());
    wait(&case.run);
    assert!(next > 100);
    assert!(!case.data().join("state.new").exists() && !case.data().join("state.old").exists());
    let last = case.run.view().progress.sequence.0;
    let opened = open_realm(&case.run.log, &case.trees, REALM).unwrap();
    assert_eq!((opened.replayed, opened.view.unwrap().progress.sequence.0), (0, last));
    case.check();
}

#[test]
fn trees_can_be_read_at_every_moment_while_they_are_renewed() {
    let case = Case::new();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    case.trees.progress(REALM).unwrap();
                }
            });
        }
        for _ in 0..20 {
            assert!(case.trees.renew(&mut |_| true).unwrap());
        }
        is_done.store(true, Ordering::Relaxed);
    });
    case.check();
}

#[test]
fn crash_while_trees_are_renewed_leaves_old_or_new_ones() {
    let case = Case::new();
    let before = case.messages();
    assert!(!case.trees.renew(&mut |_| false).unwrap(), "it was interrupted");
    let Case { run, trees, folder, temp } = case;
    run.log.close();
    trees.close();
    let data = temp.path().join("data");
    drop((folder, trees, run));
    let (state, new, old) = (data.join("state"), data.join("state.new"), data.join("state.old"));
    // Before the old ones were moved, between the two renames, and before the old ones were removed.
    for step in 0..3 {
        match step {
            0 => fs::create_dir(&new).unwrap(),
            1 => {
                fs::rename(&state, &old).unwrap();
                fs::create_dir(&new).unwrap();
            }
            _ => fs::create_dir(&old).unwrap(),
        }
        let folder = DataFolder::open(&data, 1, [7; 32]).unwrap();
        assert!(state.exists() && !new.exists() && !old.exists(), "step {step}");
        let trees = crate::fixture::trees(&folder.state());
        let found = crate::fixture::stored_messages(&trees, 99).unwrap();
        assert_eq!(found.len(), before.len());
        trees.close();
    }
}
