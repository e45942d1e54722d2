//! Moves of messages. A move is one compact record however many messages it moved; the present state of a message is
//! composed when it is read, from its record and its moves.

use crate::checkpoint::codec::{Input, Output, Saved};
use crate::codec;
use model::fact::{Movement, NewTopic};
use model::history::CARRIED_EDITS_MAX;
use model::{ChannelId, EditEntry, Message, Place, RecipientId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// A move as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveRecord {
    pub at: Timestamp,
    pub by: UserId,
    pub movement: Movement,
}

/// A move in memory, or several as one: the part needed to compose messages.
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

    /// This move and a later one of the same messages as one move, which leads to the same place. Its time and author are
    /// those of the newest that is not only a resolution, if there is any.
    pub fn combined_with(&self, later: &Self) -> Self {
        let newest = if later.is_resolve && !self.is_resolve { self } else { later };
        Self {
            at: newest.at,
            by: newest.by,
            new_channel: later.new_channel.or(self.new_channel),
            new_topic: later.new_topic.as_ref().or(self.new_topic.as_ref()).cloned(),
            is_resolve: self.is_resolve && later.is_resolve,
        }
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

/// The moves of one message at one point in time, oldest first, which are applied to its record for readers.
///
/// Code that decides under the view's lock what may be shown and reads bodies afterwards must take these under the same
/// lock: with later moves, a message could reveal a place that its reader must not see.
#[derive(Clone, Debug)]
pub struct Relocation(pub(super) Vec<Arc<Move>>);

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
