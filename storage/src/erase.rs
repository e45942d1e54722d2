//! Erases the contents of deleted messages from a data folder that no server uses: from the journal, and from everything that is
//! derived from it, which is made again.
//!
//! In the journal a frame with such content is replaced by one that has spaces in its place, so that replaying it
//! leads to the same state; its header and its chain stay. The trees are built anew, because sled keeps old bytes in its files.

use crate::error::StoreError;
use crate::folder::DataFolder;
use crate::log::{self, Durable, ErasedFrames, Journal, JournalOptions, LogError, RealmLog, Ticket};
use crate::open::{decode_frame, encode_frame, open_realm};
use crate::projection::Trees;
use model::fact::MessageRanges;
use model::{Fact, MessageFact, MessageId, RealmId};
use roaring::RoaringBitmap;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Page cache of the trees while they are built, in bytes.
const CACHE_BYTES: u64 = 64 * 1024 * 1024;

/// What was erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Messages that are deleted, of all organizations, also those whose content was erased before.
    pub messages: u64,
    /// Frames of the journal that lost content now, and parts of the journal that were written again.
    pub frames: u64,
    pub parts: u64,
}

/// Ignores reports of durable frames: nothing is appended.
struct IgnoreReports;

impl Durable for IgnoreReports {
    fn durable(&mut self, _: Ticket, _: Result<(), LogError>) {}
}

/// Erases the contents of deleted messages from the journal, the trees, the checkpoints and the search indexes. It can be
/// interrupted at any point, and repeated.
///
/// # Errors
/// [`StoreError::LiveCopy`], [`StoreError::JournalBehind`], damage of the journal, and errors of reading and writing.
pub fn erase_folder(folder: &DataFolder) -> Result<Erased, StoreError> {
    if folder.is_live_copy() {
        return Err(StoreError::LiveCopy { path: folder.path().to_path_buf() });
    }
    folder.check_journals()?;
    let (mut erased, mut ends, mut deleted) = (Erased::default(), BTreeMap::new(), Vec::new());
    for shard in 0..folder.shards() {
        let journal = open_journal(folder, shard)?;
        ends.extend(ends_of(&journal)?);
        deleted.push(deleted_messages(&journal)?);
    }
    folder.check_ends(&ends)?;
    check_trees(folder, &ends)?;
    for (shard, deleted) in deleted.iter().enumerate() {
        let ErasedFrames { frames, parts } = erase_journal(&folder.journal(shard), deleted)?;
        erased.messages += deleted.values().map(RoaringBitmap::len).sum::<u64>();
        erased.frames += frames;
        erased.parts += parts;
    }
    for derived in [folder.checkpoints(), folder.search()] {
        remove(&derived)?;
    }
    rebuild_trees(folder)?;
    folder.note_state(false, &ends)?;
    Ok(erased)
}

fn open_journal(folder: &DataFolder, shard: usize) -> Result<Journal, StoreError> {
    let options = JournalOptions { reads_all: true, ..JournalOptions::default() };
    Ok(Journal::open(&folder.journal(shard), &options, Box::new(IgnoreReports))?)
}

/// The last frame of each organization of a journal.
fn ends_of(journal: &Journal) -> Result<BTreeMap<RealmId, u64>, StoreError> {
    let mut ends = BTreeMap::new();
    for realm in journal.realms() {
        ends.insert(RealmId(realm), journal.open(realm, 0)?.last_sequence);
    }
    Ok(ends)
}

/// The ids of the deleted messages of each organization.
fn deleted_messages(journal: &Journal) -> Result<BTreeMap<u32, RoaringBitmap>, StoreError> {
    let mut all = BTreeMap::new();
    for realm in journal.realms() {
        let first = journal.open(realm, 0)?.first_sequence;
        let deleted: &mut RoaringBitmap = all.entry(realm).or_default();
        for frame in journal.read(realm, first)? {
            for fact in decode_frame(&frame?.payload)?.facts {
                if let Fact::Message(MessageFact::Deleted { messages, .. }) = fact {
                    add(deleted, &messages);
                }
            }
        }
    }
    Ok(all)
}

fn add(deleted: &mut RoaringBitmap, messages: &MessageRanges) {
    for (first, last) in &messages.0 {
        if first <= last {
            deleted.insert_range(first.0..=last.0);
        }
    }
}

/// Rejects trees that reflect more than the journal has, because they would be lost.
fn check_trees(folder: &DataFolder, ends: &BTreeMap<RealmId, u64>) -> Result<(), StoreError> {
    if !folder.state().exists() {
        return Ok(());
    }
    let trees = Trees::open(&folder.state(), CACHE_BYTES)?;
    for realm in trees.realms()? {
        let (known, journal) = (trees.progress(realm)?, ends.get(&realm).copied().unwrap_or_default());
        if known > journal {
            return Err(StoreError::JournalBehind { realm: realm.0, trees: known, journal });
        }
    }
    trees.close();
    Ok(())
}

/// Erases content from a journal, and verifies all of it.
fn erase_journal(folder: &Path, deleted: &BTreeMap<u32, RoaringBitmap>) -> Result<ErasedFrames, StoreError> {
    let mut eraser = |realm: u32, payload: &[u8]| {
        let Some(deleted) = deleted.get(&realm).filter(|deleted| !deleted.is_empty()) else {
            return Ok(None);
        };
        erased_frame(payload, deleted).map_err(|error| LogError::Unavailable(error.to_string().into()))
    };
    let erased = log::erase(folder, &mut eraser)?;
    match log::verify(folder, &mut |_| {})?.damage {
        Some(damage) => Err(LogError::from(damage).into()),
        None => Ok(erased),
    }
}

/// A frame without the contents of deleted messages; `None` if it has none.
fn erased_frame(payload: &[u8], deleted: &RoaringBitmap) -> Result<Option<Vec<u8>>, StoreError> {
    let mut frame = decode_frame(payload)?;
    if !erase_facts(&mut frame.facts, &|id| deleted.contains(id.0)) {
        return Ok(None);
    }
    Ok(Some(encode_frame(&frame)?.to_vec()))
}

/// Erases the contents of messages from facts. Returns whether there were any.
fn erase_facts(facts: &mut [Fact], is_deleted: &dyn Fn(MessageId) -> bool) -> bool {
    let mut is_changed = false;
    for fact in facts {
        is_changed |= match fact {
            Fact::Message(fact) => erase_message_fact(fact, is_deleted),
            Fact::PreImages(facts) => erase_facts(facts, is_deleted),
            Fact::Realm(_)
            | Fact::User(_)
            | Fact::Personal(_)
            | Fact::Group(_)
            | Fact::Channel(_)
            | Fact::Subscription(_)
            | Fact::Queue(_)
            | Fact::Job(_)
            | Fact::Push(_)
            | Fact::Invitation(_)
            | Fact::Picture(_)
            | Fact::Attachment(_)
            | Fact::Act(_) => false,
        };
    }
    is_changed
}

fn erase_message_fact(fact: &mut MessageFact, is_deleted: &dyn Fn(MessageId) -> bool) -> bool {
    match fact {
        MessageFact::Sent { message, .. } if is_deleted(message.id) => {
            let message = Arc::make_mut(message);
            let texts = [&mut message.content, &mut message.rendered];
            let parts = message.submessages.iter_mut().map(|part| &mut part.content);
            blank(texts.into_iter().chain(parts))
        }
        MessageFact::Updated(update) if is_deleted(update.target) => match &mut update.edited {
            Some(version) => {
                let version = Arc::make_mut(version);
                blank([&mut version.content, &mut version.rendered])
            }
            None => false,
        },
        MessageFact::SubmessageAdded { message, submessage, .. } if is_deleted(*message) => {
            blank([&mut submessage.content])
        }
        MessageFact::Sent { .. }
        | MessageFact::Updated(_)
        | MessageFact::SubmessageAdded { .. }
        | MessageFact::Deleted { .. }
        | MessageFact::FlagsChanged { .. }
        | MessageFact::ReactionAdded { .. }
        | MessageFact::ReactionRemoved { .. }
        | MessageFact::ConversationCreated(_) => false,
    }
}

/// Replaces texts by as many spaces, so that records keep their length. Returns whether there was anything else in them.
fn blank<'t>(texts: impl IntoIterator<Item = &'t mut String>) -> bool {
    let mut is_changed = false;
    for text in texts {
        if text.bytes().any(|byte| byte != b' ') {
            *text = " ".repeat(text.len());
            is_changed = true;
        }
    }
    is_changed
}

/// Builds the trees anew from the journal. If this is interrupted, the next start does it.
fn rebuild_trees(folder: &DataFolder) -> Result<(), StoreError> {
    folder.discard_trees()?;
    let trees = Trees::open(&folder.state(), CACHE_BYTES)?;
    for shard in 0..folder.shards() {
        let journal = open_journal(folder, shard)?;
        for realm in journal.realms() {
            open_realm(&journal, &trees, RealmId(realm))?;
        }
    }
    trees.flush()?;
    trees.close();
    Ok(())
}

fn remove(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(StoreError::io("cannot remove", path, error))
        }
        _ => Ok(()),
    }
}
