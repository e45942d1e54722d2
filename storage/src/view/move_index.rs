//! The moves that are in memory: of each message at most 256, so that reading a message costs the same however often it was
//! moved. When a message has as many, the oldest of them become one, which leads to the same place.

use super::flag_blocks::blocks_of_size;
use super::moves::{Move, Relocation};
use crate::checkpoint::codec::{Input, Output, Saved};
use model::MessageId;
use model::history::CARRIED_EDITS_MAX;
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io;
use std::sync::Arc;

/// Digits of the number of moves of a message, in binary.
const COUNT_DIGITS: usize = 8;
/// With this many moves of a message, the oldest are combined.
const MOVES_MAX: usize = 1 << COUNT_DIGITS;
/// How many a message has afterwards.
const MOVES_LEFT: usize = CARRIED_EDITS_MAX;
/// How many are combined.
const COMBINED: usize = MOVES_MAX - MOVES_LEFT + 1;

/// Messages in one block of the index. Moves of other messages of the block are examined when one is read.
const BLOCK_MESSAGES: u32 = 64;

/// All moves of existing messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves {
    /// Messages that were moved.
    moved: RoaringBitmap,
    /// Number → a move with those of its messages that still exist, at least one. For each message they are in chronological
    /// order: combined ones get the numbers before all others.
    all: BTreeMap<i64, (RoaringBitmap, Arc<Move>)>,
    /// Block of messages → numbers of the moves with messages in it, ascending.
    blocks: HashMap<u32, VecDeque<i64>>,
    /// The number of moves of each message: the messages whose number has this binary digit, from the lowest.
    counts: [RoaringBitmap; COUNT_DIGITS],
}

/// Messages with the same oldest moves, while these are combined.
struct Oldest {
    ids: RoaringBitmap,
    count: usize,
    combined: Option<Move>,
}

impl PartialEq for Moves {
    /// Whether each message has the same moves. How they are grouped depends on messages that were deleted meanwhile.
    fn eq(&self, other: &Self) -> bool {
        let moves = |moves: &Self, id| moves.of_message(MessageId(id)).map(|relocation| relocation.0);
        self.moved == other.moved && self.moved.iter().all(|id| moves(self, id) == moves(other, id))
    }
}

impl Saved for Moves {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        let Self { moved, all, blocks: _, counts: _ } = self;
        moved.save(out)?;
        let all: Vec<(RoaringBitmap, Arc<Move>)> = all.values().cloned().collect();
        all.save(out)
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        let (_, all): (RoaringBitmap, Vec<(RoaringBitmap, Arc<Move>)>) =
            (Saved::load(input)?, Saved::load(input)?);
        let mut found = Self::default();
        all.into_iter().for_each(|(ids, moved)| found.add_shared(ids, moved));
        Some(found)
    }
}

impl Moves {
    /// Adds the newest move.
    pub fn add(&mut self, ids: RoaringBitmap, moved: Move) {
        self.add_shared(ids, Arc::new(moved));
    }

    fn add_shared(&mut self, ids: RoaringBitmap, moved: Arc<Move>) {
        if ids.is_empty() {
            return;
        }
        let number = self.all.last_key_value().map_or(0, |(last, _)| last + 1);
        for block in blocks_of_size(BLOCK_MESSAGES, &ids) {
            self.blocks.entry(block).or_default().push_back(number);
        }
        self.moved |= &ids;
        let full = self.count(&ids);
        self.all.insert(number, (ids, moved));
        if !full.is_empty() {
            self.combine_oldest(&full);
        }
    }

    /// Counts another move of some messages. Returns those that have [`MOVES_MAX`], whose number is 0 afterwards.
    fn count(&mut self, ids: &RoaringBitmap) -> RoaringBitmap {
        let mut carry = ids.clone();
        for digit in &mut self.counts {
            if carry.is_empty() {
                break;
            }
            let next = &*digit & &carry;
            *digit ^= &carry;
            carry = next;
        }
        carry
    }

    /// Combines the oldest moves of messages that have [`MOVES_MAX`]. They have [`MOVES_LEFT`] then.
    fn combine_oldest(&mut self, full: &RoaringBitmap) {
        let blocks = blocks_of_size(BLOCK_MESSAGES, full);
        let numbers: BTreeSet<i64> =
            blocks.iter().filter_map(|block| self.blocks.get(block)).flatten().copied().collect();
        let mut left = full.clone();
        let mut open = vec![Oldest { ids: full.clone(), count: 0, combined: None }];
        for number in numbers {
            let Some((ids, moved)) = self.all.get_mut(&number) else { continue };
            let hit = &*ids & &left;
            if hit.is_empty() {
                continue;
            }
            *ids -= &hit;
            open = open.into_iter().flat_map(|oldest| oldest.split(&hit, moved)).collect();
            let (done, rest): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|oldest| oldest.count == COMBINED);
            open = rest;
            for Oldest { ids, combined, .. } in done {
                left -= &ids;
                self.add_oldest(ids, combined);
            }
            if left.is_empty() {
                break;
            }
        }
        self.remove_empty(&blocks);
        for (place, digit) in self.counts.iter_mut().enumerate() {
            if MOVES_LEFT & (1 << place) != 0 {
                *digit |= full;
            }
        }
    }

    /// Adds a combined move before all others.
    fn add_oldest(&mut self, ids: RoaringBitmap, combined: Option<Move>) {
        let Some(combined) = combined else { return };
        let number = self.all.first_key_value().map_or(0, |(first, _)| first - 1);
        for block in blocks_of_size(BLOCK_MESSAGES, &ids) {
            self.blocks.entry(block).or_default().push_front(number);
        }
        self.all.insert(number, (ids, Arc::new(combined)));
    }

    /// Removes deleted messages.
    pub fn forget(&mut self, ids: &RoaringBitmap) {
        let gone = &self.moved & ids;
        if gone.is_empty() {
            return;
        }
        self.moved -= &gone;
        self.counts.iter_mut().for_each(|digit| *digit -= &gone);
        let blocks = blocks_of_size(BLOCK_MESSAGES, &gone);
        for number in blocks.iter().filter_map(|block| self.blocks.get(block)).flatten() {
            if let Some((ids, _)) = self.all.get_mut(number) {
                *ids -= &gone;
            }
        }
        self.remove_empty(&blocks);
    }

    /// Removes, from some blocks, the moves that have no more messages there; and those that have none at all.
    fn remove_empty(&mut self, blocks: &[u32]) {
        let Self { all, blocks: index, .. } = self;
        for block in blocks {
            let Some(numbers) = index.get_mut(block) else { continue };
            let (first, last) = (block * BLOCK_MESSAGES, block * BLOCK_MESSAGES + (BLOCK_MESSAGES - 1));
            numbers.retain(|number| {
                let Some((ids, _)) = all.get(number) else { return false };
                if ids.is_empty() {
                    all.remove(number);
                    return false;
                }
                ids.range(first..=last).next().is_some()
            });
            if numbers.is_empty() {
                index.remove(block);
            }
        }
    }

    /// Whether any message from the first to the last of some (ascending) was moved.
    pub fn is_any_in(&self, ids: &[MessageId]) -> bool {
        let bounds = ids.first().zip(ids.last());
        bounds.is_some_and(|(first, last)| self.moved.range(first.0..=last.0).next().is_some())
    }

    /// The moves of a message; `None` if it was never moved.
    pub fn of_message(&self, id: MessageId) -> Option<Relocation> {
        if !self.moved.contains(id.0) {
            return None;
        }
        let numbers = self.blocks.get(&(id.0 / BLOCK_MESSAGES))?;
        let moves = numbers.iter().filter_map(|number| self.all.get(number));
        Some(Relocation(
            moves.filter(|(ids, _)| ids.contains(id.0)).map(|(_, moved)| moved.clone()).collect(),
        ))
    }
}

impl Oldest {
    /// Adds the next move, of the messages in `hit`. Returns these and the others, as far as there are any.
    fn split(self, hit: &RoaringBitmap, moved: &Move) -> Vec<Self> {
        if self.ids.is_disjoint(hit) {
            return vec![self];
        }
        let Self { ids, count, combined } = self;
        let next = match &combined {
            Some(earlier) => earlier.combined_with(moved),
            None => moved.clone(),
        };
        let with = Self { ids: &ids & hit, count: count + 1, combined: Some(next) };
        let without = Self { ids: ids - hit, count, combined };
        [with, without].into_iter().filter(|part| !part.ids.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests;
