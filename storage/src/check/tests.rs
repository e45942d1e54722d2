//! Data folders in order, and with each kind of damage: it is found, said, and repaired where it can be.

use super::*;
use crate::codec::encode;
use crate::fixture::*;
use crate::log::SyncPolicy;
use crate::tables::{self, Key, Table};
use crate::view::chunk::{BODIES, INDEX_ROWS, OpenChunk};
use crate::view::{MessageIndexRow, Progress, Row, RowChange, Rows};
use crate::{Applied, StoreError};
use model::fact::{DeletedFrom, MessageUpdate, Movement, NewTopic};
use model::{
    ChannelId, EventNumber, Fact, Flag, FlagOp, Message, MessageId, MessageRanges, PropagateMode, Sequence,
    Submessage, Timestamp, UserId,
};
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

/// Messages in the folder's organization.
const MESSAGES: u32 = 40;

/// A data folder with one organization. No process has it while it is damaged.
struct Case {
    temp: TempDir,
}

impl Case {
    /// Of `MESSAGES` + 2 frames, the rows of the last `lacking` are not in the trees.
    fn new(lacking: usize) -> Self {
        Self::with(MESSAGES, lacking, usize::MAX)
    }

    /// Of `messages`; the trees were handed to the disk after every `frames`.
    fn with(messages: u32, lacking: usize, frames: usize) -> Self {
        let case = Self { temp: tempfile::tempdir().unwrap() };
        let folder = case.folder();
        let mut run = Run::new(journal(&folder));
        run.frame(first_facts());
        for id in 1..=messages {
            run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
        }
        run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Add, &[(1, 10)])]);
        let trees = trees(&folder.state());
        while run.waiting.len() > lacking {
            run.write(&trees, frames.min(run.waiting.len() - lacking));
            trees.flush().unwrap();
        }
        run.log.close();
        case
    }

    fn folder(&self) -> DataFolder {
        DataFolder::open(self.temp.path(), 1, [7; 32]).unwrap()
    }

    /// Changes rows behind the journal's back.
    fn change(&self, rows: Vec<RowChange>) {
        let trees = trees(&self.folder().state());
        let view = trees.load(REALM).unwrap().unwrap();
        let applied =
            Applied { realm: REALM, progress: view.progress, rows: Rows(rows), stored: Arc::default() };
        trees.write(vec![applied]).unwrap();
        trees.flush().unwrap();
    }

    fn check(&self, rebuild: bool) -> CheckReport {
        let report = check_folder(&self.folder(), rebuild, |_| {}).unwrap();
        assert!(!self.temp.path().join("check-scratch").exists(), "the scratch folder is left");
        report
    }

    /// A check finds this much about the organization, in words that say `what` and what to do about it;
    /// a rebuild repairs it.
    fn expect_repairable(&self, differing: u64, what: &str) {
        let report = self.check(false);
        let words = report.to_string();
        assert!(!report.is_clean() && !report.is_repaired(), "{words}");
        assert_eq!(report.realms[0].differing, differing, "{words}");
        assert!(words.contains(what), "{words}");
        assert!(words.contains("millstream check --data DIR --rebuild"), "{words}");
        assert!(words.ends_with("not clean"), "{words}");

        let report = self.check(true);
        assert!(report.realms[0].rebuilt && report.is_repaired() && !report.is_clean(), "{report}");
        let report = self.check(false);
        assert!(report.is_clean() && report.to_string().ends_with("clean"), "{report}");
    }
}

fn journal(folder: &DataFolder) -> Journal {
    let options = JournalOptions { sync: SyncPolicy::None, ..JournalOptions::default() };
    Journal::open(&folder.journal(0), &options, Box::new(Ignored)).unwrap()
}

fn put(key: Key, record: &impl serde::Serialize) -> RowChange {
    RowChange::Put(Row { key: key.into_bytes(), value: encode(record).unwrap() })
}

#[test]
fn a_folder_in_order_is_clean() {
    let case = Case::new(0);
    let mut seen = Vec::new();
    let report = check_folder(&case.folder(), false, |at| seen.push(at)).unwrap();
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.realms[0].frames, u64::from(MESSAGES) + 2);
    assert_eq!(report.shards[0].progress.frames, u64::from(MESSAGES) + 2);
    assert_eq!(report.realms[0].replayed, 0);
    // Its people and channels, five chunks of bodies and two of index rows.
    assert!(report.realms[0].rows > 10);
    assert!(matches!(seen.first(), Some(CheckProgress::Journal { shard: 0, .. })));
    assert!(seen.contains(&CheckProgress::Realm { realm: REALM, done: 0, total: 1 }));
}

#[test]
fn an_empty_folder_is_clean() {
    let temp = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(temp.path(), 2, [7; 32]).unwrap();
    assert!(check_folder(&folder, false, |_| {}).unwrap().is_clean());
}

#[test]
fn trees_that_lag_are_brought_up_and_not_called_damaged() {
    for lacking in [1, 7, MESSAGES as usize + 2] {
        let case = Case::new(lacking);
        let report = case.check(false);
        assert!(report.is_clean(), "{report}");
        assert_eq!(report.realms[0].replayed, lacking as u64);
        assert!(report.to_string().contains(&format!("lacked {lacking} frames")), "{report}");
        assert_eq!(case.check(false).realms[0].replayed, 0);
    }
}

/// A chunk of bodies.
fn bodies(messages: &[Message]) -> RowChange {
    let mut chunk = OpenChunk::default();
    for message in messages {
        chunk.add(BODIES, message.id, &encode(message).unwrap());
    }
    RowChange::Put(Row {
        key: tables::message_chunk(REALM, chunk.first()).into_bytes(),
        value: chunk.bytes().to_vec(),
    })
}

/// A chunk of index rows, as if no message had a link.
fn index_rows(messages: &[Message]) -> RowChange {
    let mut chunk = OpenChunk::default();
    for message in messages {
        let mut row = MessageIndexRow::from(message);
        row.traits.has_link = false;
        chunk.add(INDEX_ROWS, message.id, &encode(&row).unwrap());
    }
    RowChange::Put(Row {
        key: tables::index_chunk(REALM, chunk.first()).into_bytes(),
        value: chunk.bytes().to_vec(),
    })
}

#[test]
fn a_removed_row_is_found() {
    let case = Case::new(0);
    case.change(vec![RowChange::Remove(tables::message_chunk(REALM, MessageId(17)).into_bytes())]);
    case.expect_repairable(1, "messages from 17 on: is in the log, but not in the trees");
}

#[test]
fn a_changed_row_is_found() {
    let case = Case::new(0);
    let mut message = channel_message(17, 1, 1, "tea");
    message.content = "coffee".into();
    case.change(vec![bodies(&[message])]);
    case.expect_repairable(1, "messages from 17 on: differs between the trees and the log");
}

#[test]
fn an_extra_row_is_found() {
    let case = Case::new(0);
    let extra = channel_message(MESSAGES + 1, 1, 1, "tea");
    case.change(vec![bodies(&[extra])]);
    case.expect_repairable(1, "messages from 41 on: is in the trees, but not in the log");
}

#[test]
fn a_row_that_cannot_be_read_is_found() {
    let case = Case::new(0);
    let key = tables::flags(REALM, UserId(2), Flag::Read, 0).into_bytes();
    case.change(vec![RowChange::Put(Row { key, value: vec![1, 2, 3] })]);
    assert!(trees(&case.folder().state()).load(REALM).is_err());
    case.expect_repairable(1, "flag 0 of user 2, block 0: cannot be read");
}

#[test]
fn missing_progress_and_missing_organization_are_found() {
    for table in [Table::Progress, Table::Realm] {
        let case = Case::new(0);
        {
            let trees = trees(&case.folder().state());
            trees.remove_row(&Key::table(REALM, table));
            trees.flush().unwrap();
        }
        case.expect_repairable(1, "is in the log, but not in the trees");
    }
}

#[test]
fn rows_that_contradict_each_other_are_found() {
    let case = Case::new(0);
    let body = |id| {
        let mut message = channel_message(id, 1, 1, "tea");
        message.traits.has_link = id == 38;
        message
    };
    let subscription = model::Subscription::start("#76ce90".into(), MessageId(0));
    let view = model::NavigationView { is_pinned: true, name: None };
    case.change(vec![
        // Without 39 in the bodies, without 40 in the index, and with another 38.
        bodies(&(33..=MESSAGES).filter(|id| *id != 39).map(body).collect::<Vec<_>>()),
        index_rows(&(33..MESSAGES).map(body).collect::<Vec<_>>()),
        put(tables::subscription(REALM, ChannelId(9), UserId(1)), &subscription),
        put(tables::subscription(REALM, ChannelId(1), UserId(9)), &subscription),
        put(tables::user(REALM, UserId(3)), &user(4)),
        put(tables::user_status(REALM, UserId(9)), &model::UserStatus::default()),
        put(tables::muted_user(REALM, UserId(1), UserId(9)), &model::Timestamp(1)),
        put(tables::navigation_view(REALM, UserId(9), "inbox"), &view),
    ]);
    let report = case.check(false);
    let words = report.to_string();
    assert_eq!(report.realms[0].inconsistent, 9, "{words}");
    for what in [
        "message 40 has no index entry",
        "index entry 39 belongs to no message",
        "message 38 does not agree with its index entry",
        "subscription of user 1 to channel 9: channel 9 does not exist",
        "subscription of user 9 to channel 1: user 9 does not exist",
        "user 3: holds the record with id 4",
        "status of user 9: user 9 does not exist",
        "muting of user 9 by user 1: user 9 does not exist",
        "navigation view \"inbox\" of user 9: user 9 does not exist",
    ] {
        assert!(words.contains(what), "{what}\n{words}");
    }
    assert!(case.check(true).is_repaired());
    assert!(case.check(false).is_clean());
}

/// A folder in which messages were moved, changed and deleted.
fn changed_case() -> Case {
    let case = Case { temp: tempfile::tempdir().unwrap() };
    let folder = case.folder();
    let mut run = Run::new(journal(&folder));
    run.frame(first_facts());
    for id in 1..=MESSAGES {
        run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
    }
    let message = Arc::new(channel_message(3, 1, 1, "tea"));
    let submessage = Submessage { id: 1, msg_type: "widget".into(), content: "{}".into(), sender: UserId(1) };
    run.frame(vec![Fact::SubmessageAdded { message, submessage }]);
    let movement = Movement {
        messages: MessageRanges(vec![(MessageId(2), MessageId(9))]),
        mode: PropagateMode::Later,
        channel: ChannelId(1),
        topic: "tea".into(),
        new_channel: None,
        new_topic: Some(NewTopic { name: "milk".into(), links: Vec::new() }),
        is_resolve: false,
    };
    let update = MessageUpdate {
        target: MessageId(2),
        by: UserId(1),
        at: Timestamp(9_000),
        edited: None,
        movement: Some(movement),
    };
    run.frame(vec![Fact::MessageUpdated(Box::new(update))]);
    let from = DeletedFrom::Topic { channel: ChannelId(1), topic: "tea".into() };
    let messages = MessageRanges(vec![(MessageId(17), MessageId(30))]);
    run.frame(vec![Fact::MessagesDeleted { from, messages, by: None }]);
    let trees = trees(&folder.state());
    run.write_all(&trees);
    trees.flush().unwrap();
    run.log.close();
    case
}

#[test]
fn changed_moved_and_deleted_messages_are_in_order() {
    let report = changed_case().check(false);
    assert!(report.is_clean(), "{report}");
}

#[test]
fn rows_of_changes_that_contradict_others_are_found() {
    let case = changed_case();
    let mut changed = channel_message(3, 1, 1, "tea");
    changed.traits.has_link = true;
    case.change(vec![
        put(tables::changed_message(REALM, MessageId(3)), &changed),
        put(tables::changed_message(REALM, MessageId(4)), &channel_message(4, 1, 1, "tea")),
        put(tables::changed_message(REALM, MessageId(18)), &channel_message(18, 1, 1, "tea")),
        put(
            tables::changed_index(REALM, MessageId(18)),
            &MessageIndexRow::from(&channel_message(18, 1, 1, "tea")),
        ),
        bodies(&[channel_message(17, 1, 1, "tea")]),
        put(tables::movement(REALM, Sequence(43), 0), &7u32),
    ]);
    let report = case.check(false);
    let words = report.to_string();
    for what in [
        "message 3 does not agree with its index entry",
        "message 4 has no index entry",
        "changed message 18: message 18 was changed, but is not there",
        "message 17 has no index entry",
        "deleted messages, block 0: message 17 was deleted, but is there",
        "move of frame 43: cannot be read",
    ] {
        assert!(words.contains(what), "{what}\n{words}");
    }
    assert!(case.check(true).is_repaired());
    assert!(case.check(false).is_clean());
}

#[test]
fn a_damaged_journal_is_found_and_the_trees_are_left_alone() {
    let case = Case::new(0);
    let segment = fs::read_dir(case.folder().journal(0)).unwrap().map(|entry| entry.unwrap().path());
    let segment = segment.filter(|path| fs::metadata(path).unwrap().len() > 8192).min().unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    let position = bytes.windows(5).position(|window| window == b"tea 5").unwrap();
    bytes[position] ^= 1;
    fs::write(&segment, bytes).unwrap();
    for rebuild in [false, true] {
        let report = case.check(rebuild);
        let words = report.to_string();
        assert!(report.shards[0].damage.is_some() && !report.is_clean() && !report.is_repaired(), "{words}");
        assert!(words.contains("the journal is damaged in segment"), "{words}");
        assert!(words.contains("could not be compared, because its journal is damaged"), "{words}");
        assert!(words.contains("copy of the data folder"), "{words}");
        assert!(!report.realms[0].rebuilt && report.realms[0].rows > 0, "{words}");
    }
}

#[test]
fn a_journal_that_ends_before_the_trees_is_found_and_not_rebuilt_from() {
    let case = Case::new(0);
    {
        let trees = trees(&case.folder().state());
        let progress =
            Progress { sequence: Sequence(99), last_event: EventNumber(99), ..Progress::default() };
        let applied = Applied { realm: REALM, progress, rows: Rows::default(), stored: Arc::default() };
        trees.write(vec![applied]).unwrap();
        trees.flush().unwrap();
    }
    let report = case.check(true);
    assert!(report.to_string().contains("reflect frame 99, but the journal ends at 42"), "{report}");
    assert!(!report.is_clean() && !report.is_repaired() && !report.realms[0].rebuilt);
    fs::remove_dir_all(case.folder().journal(0)).unwrap();
    let report = case.check(true);
    assert!(report.to_string().contains("no journal does"), "{report}");
    assert!(!report.is_repaired() && report.realms[0].rows > 0);
}

#[test]
fn trees_that_cannot_be_opened_are_said_and_rebuilt() {
    let case = Case::with(2500, 0, 64);
    let state = case.folder().state();
    drop(trees(&state));
    let sound = fs::read(state.join("db")).unwrap();
    let mut damaged = 0;
    for step in 1..60 {
        // A flipped bit anywhere: dropped by the trees and replayed, seen by the check, or too much for them.
        for entry in fs::read_dir(&state).unwrap().map(Result::unwrap) {
            if entry.file_name().to_string_lossy().starts_with("snap.") {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        let mut bytes = sound.clone();
        let position = step * 7919 * 131 % bytes.len();
        bytes[position] ^= 0x40;
        fs::write(state.join("db"), bytes).unwrap();
        let result = trees_of(&state);
        let Err(error) = result else { continue };
        assert!(error.is_tree_damage(), "{error}");
        damaged += 1;
        if damaged == 1 {
            expect_moved_aside(&case);
        }
    }
    assert!(damaged > 1, "no flipped bit was too much for the trees");
}

fn trees_of(state: &Path) -> Result<(), StoreError> {
    Trees::open(state, super::CACHE_BYTES)?.load(REALM).map(drop)
}

fn expect_moved_aside(case: &Case) {
    let report = case.check(false);
    let words = report.to_string();
    assert!(report.trees_damage.is_some() && !report.is_repaired(), "{words}");
    assert!(words.contains("millstream check --data DIR --rebuild"), "{words}");
    let report = case.check(true);
    assert!(report.is_repaired() && !report.is_clean(), "{report}");
    assert!(report.trees_moved.as_ref().is_some_and(|path| path.exists()), "{report}");
    let report = case.check(false);
    assert!(report.is_clean() && report.realms[0].rows > 200, "{report}");
}
