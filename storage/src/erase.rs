//! Erases what was deleted from the journal, while a server uses it: contents of deleted messages, old versions that none may
//! read, and what deleted accounts say about their users.
//!
//! A frame with such content is replaced by one that has spaces in its place, so that replaying it leads to the same state; its
//! header and its chain stay (`log::LogParts`). What is derived from the journal is made again: a checkpoint
//! (`Checkpoints::renew`), the trees (`Trees::renew`) and the search index.
//!
//! The order matters for a crash: checkpoints from before the deletion go first, because contents of another length fill the
//! chunks after them in another way.

use crate::error::StoreError;
use crate::log::{ErasedPart, LogError, LogParts, SealedPart};
use roaring::RoaringBitmap;
use std::collections::BTreeMap;

mod accounts;
mod facts;
mod record;
mod targets;
#[cfg(test)]
mod tests;

pub use accounts::AccountErasure;
pub use record::{EraseRecord, PartRecord, RealmRecord, ShardRecord};
pub use targets::ErasureTargets;

/// What was erased from a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Frames that lost content, and parts of the journal that were written again.
    pub frames: u64,
    pub parts: u64,
}

/// Erases content from the sealed parts of a journal, and notes in `record` what they have. `None`: `pace` gave up; erasing
/// again goes on. `report` gets the numbers of parts that are done and of all.
///
/// # Errors
/// Damage of the journal, and errors of reading and writing.
pub fn erase_parts(
    parts: &dyn LogParts,
    targets: &BTreeMap<u32, ErasureTargets>,
    record: &mut ShardRecord,
    pace: &mut dyn FnMut(u64) -> bool,
    report: &mut dyn FnMut(usize, usize),
) -> Result<Option<Erased>, StoreError> {
    let sealed = parts.sealed()?;
    let mut targets = targets.clone();
    let has_accounts = targets.values().any(|targets| !targets.accounts.is_empty());
    for part in sealed.iter().filter(|_| has_accounts) {
        if !note_addresses(parts, part.number, &mut targets, pace)? {
            return Ok(None);
        }
    }
    let targets = &targets;
    record.retain(|number, _| sealed.iter().any(|part| part.number == *number));
    let mut erased = Erased::default();
    for (done, part) in sealed.iter().enumerate() {
        report(done, sealed.len());
        let Some(known) = contents(parts, part, record, pace)? else { return Ok(None) };
        let may_have = |(realm, targets): (&u32, &ErasureTargets)| {
            known.messages.get(realm).is_some_and(|messages| targets.may_be_in(messages))
        };
        if !targets.iter().any(may_have) {
            continue;
        }
        match erase_part(parts, part.number, targets, pace)? {
            ErasedPart::Interrupted => return Ok(None),
            ErasedPart::Nothing => {}
            ErasedPart::Frames { frames, erased: now } => {
                erased.frames += frames;
                erased.parts += 1;
                known.erased = now;
            }
        }
        for (realm, messages) in &mut known.messages {
            if let Some(targets) = targets.get(realm) {
                *messages -= &targets.messages;
            }
        }
    }
    report(sealed.len(), sealed.len());
    Ok(Some(erased))
}

/// Notes the addresses that deleted accounts had. False: `pace` gave up.
fn note_addresses(
    parts: &dyn LogParts,
    number: u64,
    targets: &mut BTreeMap<u32, ErasureTargets>,
    pace: &mut dyn FnMut(u64) -> bool,
) -> Result<bool, StoreError> {
    let mut visit = |realm: u32, _: u64, payload: &[u8]| {
        let mut accounts = targets.get_mut(&realm).into_iter().flat_map(|targets| &mut targets.accounts);
        accounts.try_for_each(|account| account.note_addresses(payload)).map_err(unreadable)
    };
    Ok(parts.visit(number, &mut visit, pace)?)
}

/// What a part has contents of; it is read if that is not known. `None`: `pace` gave up.
fn contents<'r>(
    parts: &dyn LogParts,
    part: &SealedPart,
    record: &'r mut ShardRecord,
    pace: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<&'r mut PartRecord>, StoreError> {
    let known =
        record.entry(part.number).or_insert_with(|| PartRecord { erased: u32::MAX, ..PartRecord::default() });
    if known.erased == part.erased {
        return Ok(Some(known));
    }
    let mut messages: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
    let mut visit = |realm: u32, _: u64, payload: &[u8]| {
        facts::add_contents(payload, messages.entry(realm).or_default()).map_err(unreadable)
    };
    if !parts.visit(part.number, &mut visit, pace)? {
        return Ok(None);
    }
    *known = PartRecord { erased: part.erased, messages };
    Ok(Some(known))
}

fn erase_part(
    parts: &dyn LogParts,
    number: u64,
    targets: &BTreeMap<u32, ErasureTargets>,
    pace: &mut dyn FnMut(u64) -> bool,
) -> Result<ErasedPart, StoreError> {
    let mut eraser = |realm: u32, sequence: u64, payload: &[u8]| match targets.get(&realm) {
        Some(targets) if sequence > targets.kept_until => {
            facts::erased_frame(payload, targets).map_err(unreadable)
        }
        Some(_) | None => Ok(None),
    };
    Ok(parts.erase(number, &mut eraser, pace)?)
}

fn unreadable(error: StoreError) -> LogError {
    LogError::Unavailable(error.to_string().into())
}
