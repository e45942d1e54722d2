//! Intact data folders and all kinds of damage: damage is found, reported, and repaired where possible.

use super::*;
use crate::codec::encode;
use crate::fixture::*;
use crate::log::SyncPolicy;
use crate::view::chunk::{BODIES, INDEX_ROWS, OpenChunk};
use crate::view::key::{Block, Key, KeyField, Number, Position};
use crate::view::record::Record;
use crate::view::records::{self, reaction_key};
use crate::view::{EditedRow, MessageIndexRow, Progress, ReactionRow, Row, RowChange, Rows};
use crate::{Applied, StoreError};
use model::fact::{DeletedFrom, MessageUpdate, Movement, NewTopic};
use model::{
    ChannelId, ConversationId, EventNumber, Fact, Flag, FlagOp, Message, MessageFact, MessageId,
    MessageRanges, MessageVersion, PropagateMode, Reaction, Sequence, Submessage, Timestamp, UserId,
};
use std::fs;
use std::sync::Arc;
use tempfile::TempDir;

/// Messages in the folder's organization.
const MESSAGES: u32 = 40;

/// A data folder with one organization. It is not open while it is being damaged.
struct Case {
    temp: TempDir,
}

impl Case {
    /// With `MESSAGES` + 2 frames; the trees lack the rows of the last `lacking`.
    fn new(lacking: usize) -> Self {
        Self::with(MESSAGES, 0, lacking, usize::MAX)
    }

    /// With `messages`, with this many `noise` characters that compression cannot shorten much; the trees were flushed after
    /// every `frames`.
    fn with(messages: u32, noise: usize, lacking: usize, frames: usize) -> Self {
        let case = Self { temp: tempfile::tempdir().unwrap() };
        let folder = case.folder();
        let mut run = Run::new(journal(&folder));
        run.frame(first_facts());
        for id in 1..=messages {
            let mut message = channel_message(id, 1, 1, "tea");
            message.content.push_str(&noise_of(id, noise));
            run.frame(vec![sent(message)]);
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

    /// Changes rows without the journal.
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

    /// Expects a check to report this many differences, `what` and instructions; a rebuild repairs them.
    fn expect_repairable(&self, differing: u64, what: &str) {
        let report = self.check(false);
        let words = report.to_string();
        assert!(!report.is_clean() && !report.is_repaired(), "{words}");
        assert_eq!(report.realms[0].differing, differing, "{words}");
        assert!(words.contains(what), "{words}");
        assert!(words.contains("millstream check --data DIR --rebuild"), "{words}");
        assert!(words.ends_with("There is damage."), "{words}");

        let report = self.check(true);
        assert!(report.realms[0].rebuilt && report.is_repaired() && !report.is_clean(), "{report}");
        let words = self.check(false).to_string();
        assert!(words.contains(" consistent row") && words.ends_with("No damage was found."), "{words}");
    }
}

fn journal(folder: &DataFolder) -> Journal {
    let options = JournalOptions { sync: SyncPolicy::None, ..JournalOptions::default() };
    Journal::open(&folder.journal(0), &options, Box::new(Ignored)).unwrap()
}

fn put<R: Record>(key: &R::Key, record: &impl serde::Serialize) -> RowChange {
    RowChange::Put(Row { key: key_of::<R>(key), value: encode(record).unwrap() })
}

fn remove<R: Record>(key: &R::Key) -> RowChange {
    RowChange::Remove(key_of::<R>(key))
}

fn key_of<R: Record>(key: &impl KeyField) -> Vec<u8> {
    Key::new(REALM, R::ID, key).into_bytes()
}

#[test]
fn intact_folder_is_clean() {
    let case = Case::new(0);
    let mut seen = Vec::new();
    let report = check_folder(&case.folder(), false, |at| seen.push(at)).unwrap();
    assert!(report.is_clean(), "{report}");
    assert_eq!(report.realms[0].frames, u64::from(MESSAGES) + 2);
    assert_eq!(report.shards[0].progress.frames, u64::from(MESSAGES) + 2);
    assert_eq!(report.realms[0].replayed, 0);
    // Users and channels, five chunks of bodies and two of index rows.
    assert!(report.realms[0].rows > 10);
    assert!(matches!(seen.first(), Some(CheckProgress::Journal { shard: 0, .. })));
    assert!(seen.contains(&CheckProgress::Realm { realm: REALM, done: 0, total: 1 }));
}

#[test]
fn empty_folder_is_clean() {
    let temp = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(temp.path(), 2, [7; 32]).unwrap();
    assert!(check_folder(&folder, false, |_| {}).unwrap().is_clean());
}

#[test]
fn lagging_trees_are_replayed_and_clean() {
    for lacking in [1, 7, MESSAGES as usize + 2] {
        let case = Case::new(lacking);
        let report = case.check(false);
        assert!(report.is_clean(), "{report}");
        assert_eq!(report.realms[0].replayed, lacking as u64);
        assert!(report.to_string().contains(&format!("lacked {lacking} frame")), "{report}");
        assert_eq!(case.check(false).realms[0].replayed, 0);
    }
}

/// A chunk of bodies.
fn bodies(messages: &[Message]) -> RowChange {
    let mut chunk = OpenChunk::default();
    for message in messages {
        chunk.add(BODIES, message.id, &encode(message).unwrap());
    }
    RowChange::Put(Row { key: key_of::<records::Messages>(&chunk.first()), value: chunk.bytes().to_vec() })
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
        key: key_of::<records::MessageIndex>(&chunk.first()),
        value: chunk.bytes().to_vec(),
    })
}

#[test]
fn removed_row_is_found() {
    let case = Case::new(0);
    case.change(vec![remove::<records::Messages>(&MessageId(33))]);
    case.expect_repairable(8, "chunk of messages (message 33): is in the log, but not in the trees");
}

#[test]
fn changed_row_is_found() {
    let case = Case::new(0);
    let mut messages: Vec<_> = (33..=MESSAGES).map(|id| channel_message(id, 1, 1, "tea")).collect();
    messages[2].content = "coffee".into();
    case.change(vec![bodies(&messages)]);
    case.expect_repairable(1, "chunk of messages (message 35): differs between the trees and the log");
}

#[test]
fn extra_row_is_found() {
    let case = Case::new(0);
    let extra = channel_message(MESSAGES + 1, 1, 1, "tea");
    case.change(vec![bodies(&[extra])]);
    case.expect_repairable(1, "chunk of messages (message 41): is in the trees, but not in the log");
}

#[test]
fn undecodable_row_is_found() {
    let case = Case::new(0);
    let key = key_of::<records::Flags>(&(UserId(2), Flag::Read, Block(0)));
    case.change(vec![RowChange::Put(Row { key, value: vec![1, 2, 3] })]);
    assert!(trees(&case.folder().state()).load(REALM).is_err());
    case.expect_repairable(1, "flags (user 2, flag read, block 0): cannot be read");
}

#[test]
fn missing_progress_or_organization_is_found() {
    for table in [records::Progress::ID, records::Realm::ID] {
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
fn contradictory_rows_are_found() {
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
        index_rows(&(1..MESSAGES).map(body).collect::<Vec<_>>()),
        put::<records::Subscriptions>(&(ChannelId(9), UserId(1)), &subscription),
        put::<records::Subscriptions>(&(ChannelId(1), UserId(9)), &subscription),
        put::<records::Users>(&UserId(3), &user(4)),
        put::<records::UserStatuses>(&UserId(9), &model::UserStatus::default()),
        put::<records::MutedUsers>(&(UserId(1), UserId(9)), &model::Timestamp(1)),
        put::<records::NavigationViews>(&(UserId(9), "inbox".into()), &view),
    ]);
    let report = case.check(false);
    let words = report.to_string();
    assert_eq!(report.realms[0].inconsistent, 9, "{words}");
    for what in [
        "message 40 has no index entry",
        "index entry 39 belongs to no message",
        "message 38 does not agree with its index entry",
        "subscription (channel 9, user 1): channel 9 does not exist",
        "subscription (channel 1, user 9): user 9 does not exist",
        "account (user 3): holds the record with id 4",
        "user status (user 9): user 9 does not exist",
        "muted user (user 1, user 9): user 9 does not exist",
        "navigation view (user 9, \"inbox\"): user 9 does not exist",
    ] {
        assert!(words.contains(what), "{what}\n{words}");
    }
    assert!(case.check(true).is_repaired());
    assert!(case.check(false).is_clean());
}

fn version(number: u32) -> MessageVersion {
    MessageVersion {
        number,
        by: UserId(1),
        at: Timestamp(8_000),
        content: "tea".into(),
        rendered: "<p>tea</p>".into(),
        traits: Default::default(),
        user_flags: Vec::new(),
    }
}

fn reaction(user: u32) -> Reaction {
    Reaction {
        emoji_name: "tea".into(),
        emoji_code: "1f375".into(),
        reaction_type: "unicode_emoji".into(),
        user: UserId(user),
    }
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
    let (message, conversation) = (MessageId(3), ConversationId::Channel(ChannelId(1)));
    let submessage = Submessage { id: 1, msg_type: "widget".into(), content: "{}".into(), sender: UserId(1) };
    run.frame(vec![Fact::Message(MessageFact::SubmessageAdded { message, conversation, submessage })]);
    let added = MessageFact::ReactionAdded { message, conversation, reaction: reaction(1) };
    run.frame(vec![Fact::Message(added)]);
    for number in 1..=3 {
        let edited = Some(Arc::new(version(number)));
        let (target, by, at) = (message, UserId(1), Timestamp(8_000));
        let update = MessageUpdate { target, by, at, conversation, edited, movement: None };
        run.frame(vec![Fact::Message(MessageFact::Updated(Box::new(update)))]);
    }
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
        conversation,
        edited: None,
        movement: Some(movement),
    };
    run.frame(vec![Fact::Message(MessageFact::Updated(Box::new(update)))]);
    let from = DeletedFrom::Topic { channel: ChannelId(1), topic: "tea".into() };
    let messages = MessageRanges(vec![(MessageId(17), MessageId(30))]);
    run.frame(vec![Fact::Message(MessageFact::Deleted { from, messages, by: None })]);
    let trees = trees(&folder.state());
    run.write_all(&trees);
    trees.flush().unwrap();
    run.log.close();
    case
}

#[test]
fn changed_moved_and_deleted_messages_are_clean() {
    let report = changed_case().check(false);
    assert!(report.is_clean(), "{report}");
}

#[test]
fn contradictory_changes_are_found() {
    let case = changed_case();
    let traits = model::message::MessageTraits { has_link: true, ..Default::default() };
    let row = |user| ReactionRow { added: (Sequence(1), 0), reaction: reaction(user) };
    case.change(vec![
        remove::<records::MessageVersions>(&(MessageId(3), Number(2))),
        put::<records::EditedMessages>(&MessageId(3), &EditedRow { version: 3, traits }),
        put::<records::MessageVersions>(&(MessageId(4), Number(1)), &version(1)),
        put::<records::MessageVersions>(&(MessageId(18), Number(1)), &version(1)),
        put::<records::EditedMessages>(&MessageId(18), &EditedRow { version: 1, traits: Default::default() }),
        put::<records::Reactions>(&reaction_key(MessageId(5), &reaction(2)), &row(1)),
        put::<records::Reactions>(&reaction_key(MessageId(6), &reaction(9)), &row(9)),
        put::<records::Submessages>(&(MessageId(18), Number(7)), &7u8),
        bodies(&[channel_message(17, 1, 1, "tea")]),
        put::<records::Moves>(&(Sequence(43), Position(0)), &7u32),
    ]);
    let report = case.check(false);
    let words = report.to_string();
    for what in [
        "message version (message 3, number 3): has no version before it",
        "index entry of an edited message (message 3): does not agree with the newest version",
        "message version (message 4, number 1): message 4 has no index entry of its edits",
        "message version (message 18, number 1): message 18 was changed, but is not there",
        "reaction (message 5, user 2, \"unicode_emoji:1f375\"): holds the reaction 1f375 of user 1",
        "reaction (message 6, user 9, \"unicode_emoji:1f375\"): user 9 does not exist",
        "submessage (message 18, number 7): cannot be read",
        "message 17 has no index entry",
        "deleted messages (block 0): message 17 was deleted, but is there",
        "move (frame 43, fact 0): cannot be read",
    ] {
        assert!(words.contains(what), "{what}\n{words}");
    }
    assert!(case.check(true).is_repaired());
    assert!(case.check(false).is_clean());
}

#[test]
fn damaged_journal_is_found_and_trees_are_untouched() {
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
        let said = ["damaged in segment", "because its journal is damaged", "restore a backup"];
        assert!(said.iter().all(|part| words.contains(part)), "{words}");
        assert!(!words.contains("`millstream check`") && !words.contains("0 frames, "), "{words}");
        assert!(!report.realms[0].rebuilt && report.realms[0].rows > 0, "{words}");
    }
}

/// Trees that reflect more frames than the journal has.
fn case_with_trees_ahead() -> Case {
    let case = Case::new(0);
    let trees = trees(&case.folder().state());
    let progress = Progress { sequence: Sequence(99), last_event: EventNumber(99), ..Progress::default() };
    let applied = Applied { realm: REALM, progress, rows: Rows::default(), stored: Arc::default() };
    trees.write(vec![applied]).unwrap();
    trees.flush().unwrap();
    drop(trees);
    case
}

#[test]
fn trees_beyond_the_journal_are_moved_aside_and_rebuilt() {
    let case = case_with_trees_ahead();
    let report = case.check(false);
    assert!(report.to_string().contains("reflect frame 99, but the journal ends at 42"), "{report}");
    assert!(report.to_string().contains("backup"), "{report}");
    expect_moved_aside(&case);
}

#[test]
fn trees_without_journal_are_untouched() {
    let case = case_with_trees_ahead();
    fs::remove_dir_all(case.folder().journal(0)).unwrap();
    let report = case.check(true);
    assert!(report.to_string().contains("no journal does"), "{report}");
    assert!(!report.is_repaired() && report.trees_moved.is_none() && report.realms[0].rows > 0);
}

#[test]
fn rebuild_repairs_any_damage_of_trees() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 7] = [
        ("conf is not text", |state| fs::write(state.join("conf"), [0xff; 64]).unwrap()),
        ("conf is of something else", |state| {
            fs::write(state.join("conf"), "segment_size: 512\nabcd").unwrap()
        }),
        ("conf is a folder", |state| {
            fs::remove_file(state.join("conf")).unwrap();
            fs::create_dir(state.join("conf")).unwrap();
        }),
        ("db is not a database", |state| fs::write(state.join("db"), vec![0x5a; 3 << 20]).unwrap()),
        ("snapshots are broken", |state| {
            for name in ["snap.0000000000000001", "snap.FFFFFFFFFFFFFFFF", "snap.FFFFFFFFFFFFFFFF.generating"]
            {
                fs::write(state.join(name), [7; 100]).unwrap();
            }
        }),
        ("state is a file", |state| {
            fs::remove_dir_all(state).unwrap();
            fs::write(state, "trees").unwrap();
        }),
        ("state is empty", |state| {
            fs::remove_dir_all(state).unwrap();
            fs::create_dir(state).unwrap();
        }),
    ];
    for (what, damage) in damages {
        let case = Case::new(0);
        drop(trees(&case.folder().state()));
        damage(&case.folder().state());
        let report = case.check(true);
        assert!(report.is_repaired(), "{what}: {report}");
        let report = case.check(false);
        assert!(report.is_clean() && report.realms[0].rows > 10, "{what}: {report}");
    }
}

#[test]
fn unopenable_trees_are_reported_and_rebuilt() {
    let case = Case::with(2500, 600, 0, 64);
    let state = case.folder().state();
    drop(trees(&state));
    let sound = fs::read(state.join("db")).unwrap();
    let mut damaged = 0;
    for step in 1..60 {
        // A flipped bit anywhere: repaired by the replay, reported by the check, or the trees cannot be opened.
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
    assert!(report.is_clean() && report.realms[0].rows > 10, "{report}");
}
