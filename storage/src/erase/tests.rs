//! Erasing: what was deleted is nowhere in the folder, and everything else is as before.

use super::*;
use crate::check::check_folder;
use crate::checkpoint::{Checkpoints, Pace, advance};
use crate::fixture::*;
use model::fact::{DeletedFrom, MessageUpdate};
use model::{ChannelId, Message, MessageVersion, Spot, Timestamp, UserId};
use std::fs;
use std::path::PathBuf;
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

fn edited(id: u32, word: &str) -> Fact {
    let version = MessageVersion {
        number: 1,
        by: UserId(1),
        at: Timestamp(10_500),
        content: format!("{word} edited"),
        rendered: format!("<p>{word} edited</p>"),
        traits: Default::default(),
        user_flags: Vec::new(),
    };
    Fact::Message(MessageFact::Updated(Box::new(MessageUpdate {
        target: MessageId(id),
        by: UserId(1),
        at: Timestamp(10_500),
        spot: Spot::Channel(ChannelId(1)),
        edited: Some(Arc::new(version)),
        movement: None,
    })))
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
    temp: TempDir,
}

impl Case {
    fn data(&self) -> PathBuf {
        self.temp.path().join("data")
    }

    fn folder(&self) -> DataFolder {
        DataFolder::open(&self.data(), 1, [7; 32]).unwrap()
    }

    /// A folder with 60 messages, of which each third is deleted, with trees, checkpoints and archives.
    fn new() -> Self {
        let case = Self { temp: tempfile::tempdir().unwrap() };
        let folder = case.folder();
        let options = JournalOptions {
            segment_bytes: 64 * 1024,
            first_segment_bytes: 32 * 1024,
            original_kept: std::time::Duration::ZERO,
            ..JournalOptions::default()
        };
        let journal = Journal::open(&folder.journal(0), &options, Box::new(IgnoreReports)).unwrap();
        let trees = trees(&folder.state());
        let mut run = Run::new(journal);
        run.frame(first_facts());
        for id in 1..=60 {
            let word = if id % 3 == 0 { SECRET } else { KEPT };
            // Some are longer than what is stored without compression.
            let words = if id % 10 == 0 { 900 } else { 3 };
            run.frame(vec![sent(message(id, word, words))]);
            if id % 9 == 0 || id % 7 == 0 {
                run.frame(vec![edited(id, word)]);
            }
            // Groups of one frame and of some.
            if id % 4 == 0 {
                wait(&run);
            }
        }
        wait(&run);
        run.write_all(&trees);
        let checkpoints = Checkpoints::of(&folder.checkpoints(), REALM);
        advance(&checkpoints, &run.log, 30, &Pace::unlimited()).unwrap();
        let gone: Vec<u32> = (1..=60).filter(|id| id % 3 == 0).collect();
        run.frame(vec![deleted(&gone)]);
        run.frame(vec![sent(message(61, KEPT, 3))]);
        let end = wait(&run);
        run.write_all(&trees);
        advance(&checkpoints, &run.log, end, &Pace::unlimited()).unwrap();
        fs::create_dir_all(folder.search().join("1")).unwrap();
        fs::write(folder.search().join("1/words"), SECRET).unwrap();
        while run.log.compact(&mut |_| true).unwrap() != log::Compacted::Nothing {}
        run.log.close();
        trees.close();
        case
    }

    /// How often a word is in the folder: in the bytes of files, and in the frames of the journal.
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
        let journal = open_journal(&self.folder(), 0).unwrap();
        for frame in journal.read(REALM.0, 1).unwrap() {
            let frame = decode_frame(&frame.unwrap().payload).unwrap();
            found += occurrences(format!("{frame:?}").as_bytes(), word);
        }
        found
    }

    /// The messages in the trees.
    fn messages(&self) -> Vec<Message> {
        let trees = trees(&self.data().join("state"));
        let found = trees.messages(REALM, (MessageId(1), MessageId(99)), |_| true).unwrap();
        trees.close();
        found
    }
}

fn occurrences(bytes: &[u8], word: &str) -> usize {
    bytes.windows(word.len()).filter(|window| *window == word.as_bytes()).count()
}

#[test]
fn deleted_contents_are_nowhere_in_the_folder() {
    let case = Case::new();
    let before = case.messages();
    assert_eq!(before.len(), 41);
    assert!(case.count(SECRET) > 20 && case.count(KEPT) > 40);
    let erased = erase_folder(&case.folder()).unwrap();
    assert!(erased.messages == 20 && erased.frames >= 20 && erased.parts > 1, "{erased:?}");
    assert_eq!(case.count(SECRET), 0);
    assert!(case.count(KEPT) > 40);
    assert_eq!(case.messages(), before);
    let report = check_folder(&case.folder(), false, |_| {}).unwrap();
    assert!(report.is_clean(), "{report}");
    let again = erase_folder(&case.folder()).unwrap();
    assert_eq!(again, Erased { frames: 0, parts: 0, ..erased });
    assert_eq!(case.messages(), before);
}

#[test]
fn erased_frames_keep_their_chain_and_are_sealed() {
    let case = Case::new();
    erase_folder(&case.folder()).unwrap();
    let folder = case.folder();
    let shard = folder.journal(0);
    assert!(log::erased_frames(&shard).unwrap() >= 20);
    let journal = open_journal(&folder, 0).unwrap();
    let originals =
        journal.read(REALM.0, 1).unwrap().filter(|frame| frame.as_ref().unwrap().original.is_some());
    assert_eq!(originals.count() as u64, log::erased_frames(&shard).unwrap());
    drop(journal);
    assert_eq!(log::verify(&shard, &mut |_| {}).unwrap().damage, None);
}

#[test]
fn interrupted_erasing_is_completed_by_the_next() {
    for parts in 0..3 {
        let case = Case::new();
        let before = case.messages();
        let shard = case.folder().journal(0);
        let deleted = deleted_messages(&open_journal(&case.folder(), 0).unwrap()).unwrap();
        // A crash while a part was written: those before it are replaced, and it has another name.
        let mut frames = 0;
        let mut eraser = |realm: u32, payload: &[u8]| {
            frames += 1;
            match frames > parts * 40 {
                true => Err(LogError::Unavailable("stopped".into())),
                false => erased_frame(payload, &deleted[&realm])
                    .map_err(|error| LogError::Unavailable(error.to_string().into())),
            }
        };
        log::erase(&shard, &mut eraser).unwrap_err();
        let damage = log::verify(&shard, &mut |_| {}).unwrap().damage;
        assert_eq!(damage, None, "it opens after the crash");
        erase_folder(&case.folder()).unwrap();
        assert_eq!((case.count(SECRET), case.messages()), (0, before));
        assert!(check_folder(&case.folder(), false, |_| {}).unwrap().is_clean());
    }
}
