//! Where moves have brought messages. A move is one compact record however many messages it moved; what a
//! message is now is composed when it is read, from what was sent and the moves that it was in.

use super::flag_blocks::{BLOCK_MESSAGES, blocks_of};
use model::fact::{Movement, NewTopic};
use model::{ChannelId, EditEntry, Message, MessageId, Place, RecipientId, Timestamp, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// A move as it is stored; the row of `Table::Moves`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveRecord {
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub by: UserId,
    /// Which messages went where.
    pub movement: Movement,
}

/// A move in memory: what composing a message needs of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Move {
    pub at: Timestamp,
    pub by: UserId,
    pub new_channel: Option<(ChannelId, RecipientId)>,
    pub new_topic: Option<NewTopic>,
    pub is_resolve: bool,
}

impl Move {
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

/// All moves of messages that are still there.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves {
    /// Messages that were ever moved.
    moved: RoaringBitmap,
    /// In the order in which they happened, with the messages of each that are still there.
    all: Vec<(RoaringBitmap, Arc<Move>)>,
    /// Block of messages → positions in `all` of the moves with messages in it, ascending.
    blocks: HashMap<u32, Vec<usize>>,
}

impl PartialEq for Moves {
    /// Where to look for a message's moves is not compared: it may name moves that have no message any more.
    fn eq(&self, other: &Self) -> bool {
        self.moved == other.moved && self.all == other.all
    }
}

impl Moves {
    pub fn add(&mut self, ids: RoaringBitmap, moved: Move) {
        self.moved |= &ids;
        for block in blocks_of(&ids) {
            self.blocks.entry(block).or_default().push(self.all.len());
        }
        self.all.push((ids, Arc::new(moved)));
    }

    /// Messages are gone.
    pub fn forget(&mut self, ids: &RoaringBitmap) {
        let gone = &self.moved & ids;
        self.moved -= &gone;
        for block in blocks_of(&gone) {
            for position in self.blocks.get(&block).map(Vec::as_slice).unwrap_or_default() {
                self.all[*position].0 -= &gone;
            }
        }
    }

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

/// The moves of one message as of one moment: what makes of its own record what it is to readers.
///
/// Whoever decides under the view's lock what may be shown and reads bodies afterwards takes these under the
/// same lock: with later ones, a message would show a place that its reader must not learn of.
#[derive(Clone, Debug)]
pub struct Relocation(Vec<Arc<Move>>);

impl Relocation {
    /// The message where these moves have brought it, with them in its history.
    pub fn apply(&self, own: &Message) -> Message {
        let mut message = own.clone();
        let mut history = Vec::new();
        for moved in &self.0 {
            if let Some(entry) = apply_move(&mut message, moved) {
                history.push(entry);
            }
        }
        history.reverse();
        message.edits = merge(&own.edits, history);
        message
    }

    /// Which channel and topic it leads to, from where the message was sent.
    pub(super) fn place(&self, sent: &Place) -> Place {
        let (mut channel, mut topic) = (sent.channel().unwrap_or_default(), sent.topic());
        for moved in &self.0 {
            channel = moved.new_channel.map_or(channel, |(channel, _)| channel);
            topic = moved.new_topic.as_ref().map_or(topic, |new| &new.name);
        }
        Place::Channel { channel, topic: topic.into() }
    }
}

/// Moves a message and gives its history's entry; none when it changed nothing, not even the spelling.
fn apply_move(message: &mut Message, moved: &Move) -> Option<EditEntry> {
    if !moved.is_resolve {
        message.last_moved = Some(moved.at);
    }
    let Place::Channel { channel, topic } = &mut message.place else { return None };
    let mut entry = EditEntry {
        user: moved.by,
        at: moved.at,
        prev_content: None,
        prev_rendered: None,
        channel: None,
        topic: None,
    };
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

/// Both histories as one, newest first. What one request did to content and place is one entry.
fn merge(contents: &[EditEntry], moves: Vec<EditEntry>) -> Vec<EditEntry> {
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
