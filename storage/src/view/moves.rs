//! Moves of messages. A move is one compact record however many messages it moved; the present state of a message is
//! composed when it is read, from its record and its moves.

use crate::checkpoint::codec::{Input, Output, Saved};
use crate::codec;

use super::flag_blocks::{BLOCK_MESSAGES, blocks_of};
use model::fact::{Movement, NewTopic};
use model::history::CARRIED_EDITS_MAX;
use model::{ChannelId, EditEntry, Message, MessageId, Place, RecipientId, Timestamp, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;

/// A move as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveRecord {
    pub at: Timestamp,
    pub by: UserId,
    pub movement: Movement,
}

/// A move in memory: the part needed to compose messages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Move {
    pub at: Timestamp,
    pub by: UserId,
    pub new_channel: Option<(ChannelId, RecipientId)>,
    pub new_topic: Option<NewTopic>,
    pub is_resolve: bool,
}

impl Move {
    /// The part of a movement that is stored in memory.
    pub fn of(at: Timestamp, by: UserId, movement: &Movement) -> Self {
        Self {
            at,
            by,
            new_channel: movement.new_channel.as_ref().map(|arrival| (arrival.channel, arrival.recipient)),
            new_topic: movement.new_topic.clone(),
            is_resolve: movement.is_resolve,
        }
    }
}

/// All moves of existing messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves {
    /// Messages that were moved.
    moved: RoaringBitmap,
    /// Moves in chronological order, with those of their messages that still exist.
    all: Vec<(RoaringBitmap, Arc<Move>)>,
    /// Block of messages → positions in `all` of the moves with messages in it, ascending.
    blocks: HashMap<u32, Vec<usize>>,
}

impl PartialEq for Moves {
    /// `blocks` is not compared: it may refer to moves whose messages were all deleted.
    fn eq(&self, other: &Self) -> bool {
        self.moved == other.moved && self.all == other.all
    }
}

impl Saved for Move {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        out.put_bytes(&codec::encode(self).map_err(io::Error::other)?)
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        codec::decode(input.take_bytes()?, "move").ok()
    }
}

impl Saved for Moves {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        let Self { moved, all, blocks: _ } = self;
        moved.save(out)?;
        all.save(out)
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        let (moved, all): (RoaringBitmap, Vec<(RoaringBitmap, Arc<Move>)>) =
            (Saved::load(input)?, Saved::load(input)?);
        let mut blocks: HashMap<u32, Vec<usize>> = HashMap::new();
        for (position, (ids, _)) in all.iter().enumerate() {
            for block in blocks_of(ids) {
                blocks.entry(block).or_default().push(position);
            }
        }
        Some(Self { moved, all, blocks })
    }
}

impl Moves {
    /// Adds the newest move.
    pub fn add(&mut self, ids: RoaringBitmap, moved: Move) {
        self.moved |= &ids;
        for block in blocks_of(&ids) {
            self.blocks.entry(block).or_default().push(self.all.len());
        }
        self.all.push((ids, Arc::new(moved)));
    }

    /// Removes deleted messages.
    pub fn forget(&mut self, ids: &RoaringBitmap) {
        let gone = &self.moved & ids;
        self.moved -= &gone;
        for block in blocks_of(&gone) {
            for position in self.blocks.get(&block).map(Vec::as_slice).unwrap_or_default() {
                self.all[*position].0 -= &gone;
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
        let positions = self.blocks.get(&(id.0 / BLOCK_MESSAGES))?;
        let moves = positions.iter().map(|position| &self.all[*position]);
        Some(Relocation(
            moves.filter(|(ids, _)| ids.contains(id.0)).map(|(_, moved)| moved.clone()).collect(),
        ))
    }
}

/// The moves of one message at one point in time, which are applied to its record for readers.
///
/// Code that decides under the view's lock what may be shown and reads bodies afterwards must take these under the same
/// lock: with later moves, a message could reveal a place that its reader must not see.
#[derive(Clone, Debug)]
pub struct Relocation(Vec<Arc<Move>>);

impl Relocation {
    /// Applies the moves to a message, with the newest of them in its history.
    pub fn apply(&self, own: &Message) -> Message {
        self.apply_with(own, CARRIED_EDITS_MAX)
    }

    /// Applies the moves to a message, with at most `moves_max` of them in its history.
    pub fn apply_with(&self, own: &Message, moves_max: usize) -> Message {
        let mut message = own.clone();
        let mut history = VecDeque::new();
        for moved in &self.0 {
            if let Some(entry) = apply_move(&mut message, moved) {
                history.push_front(entry);
                history.truncate(moves_max);
            }
        }
        message.edits = merge(&own.edits, history);
        message
    }

    /// The place after these moves, from the place where the message was sent.
    pub(super) fn place(&self, sent: &Place) -> Place {
        let (mut channel, mut topic) = (sent.channel().unwrap_or_default(), sent.topic());
        for moved in &self.0 {
            channel = moved.new_channel.map_or(channel, |(channel, _)| channel);
            topic = moved.new_topic.as_ref().map_or(topic, |new| &new.name);
        }
        Place::Channel { channel, topic: topic.into() }
    }
}

/// Applies a move to a message and returns the entry of its history; `None` if nothing changed, not even the spelling.
fn apply_move(message: &mut Message, moved: &Move) -> Option<EditEntry> {
    if !moved.is_resolve {
        message.last_moved = Some(moved.at);
    }
    let Place::Channel { channel, topic } = &mut message.place else { return None };
    let mut entry = EditEntry { user: moved.by, at: moved.at, ..EditEntry::default() };
    if let Some((new, recipient)) = moved.new_channel {
        entry.channel = Some((std::mem::replace(channel, new), new));
        message.recipient = recipient;
    }
    if let Some(new) = &moved.new_topic {
        message.topic_links.clone_from(&new.links);
        if *topic != new.name {
            entry.topic = Some((std::mem::replace(topic, new.name.clone()), new.name.clone()));
        }
    }
    (entry.channel.is_some() || entry.topic.is_some()).then_some(entry)
}

/// Merges both histories, newest first. A request that changed content and place is one entry.
fn merge(contents: &[EditEntry], moves: VecDeque<EditEntry>) -> Vec<EditEntry> {
    let mut merged = Vec::with_capacity(contents.len() + moves.len());
    let mut contents = contents.iter().cloned().peekable();
    for mut moved in moves {
        while let Some(newer) = contents.next_if(|edit| edit.at > moved.at) {
            merged.push(newer);
        }
        let same_request = contents.next_if(|edit| (edit.at, edit.user) == (moved.at, moved.user));
        if let Some(edit) = same_request {
            moved.prev_content = edit.prev_content;
            moved.prev_rendered = edit.prev_rendered;
        }
        merged.push(moved);
    }
    merged.extend(contents);
    merged
}
