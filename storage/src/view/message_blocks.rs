//! Chunks of bodies as they are stored: blocks of a few messages, each compressed for itself, so that a message is read
//! without the rest of its chunk. Pages of one person's messages have one of each chunk.
//!
//! A chunk is `version 3 (u8) ‖ head ‖ a zstd frame for each block`. A block is, for each message, `distance of its id from the
//! first one of the chunk (u32) ‖ length (u32) ‖ entry` (see `compact`). Integers are those of bincode's variable encoding.

use super::chunk::{self, CHUNK_BYTES_MAX, damaged};
use super::compact::{is_like_compact, message_in, put_compact, record_in};
use super::compression::{compress_block, decompress_block};
use super::message_record::MessageRecord;
use crate::codec::{decode, encode_part, take_part};
use crate::error::StoreError;
use model::{Message, MessageId, Timestamp};
use serde::{Deserialize, Serialize};

/// The version of a chunk in blocks.
pub const VERSION: u8 = 3;

/// Messages in one block: with more, reading one takes longer; with fewer, they take more bytes.
const BLOCK_MESSAGES_MAX: usize = 8;

/// A block with this many bytes gets no further message.
const BLOCK_BYTES_MAX: usize = 3 * 1024;

const NAME: &str = "chunk of messages";

/// Blocks of most chunks, and bytes of their head, for which room is made at once.
const BLOCKS_EXPECTED: usize = 4;
const HEAD_BYTES_EXPECTED: usize = 64;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Head {
    /// Bytes of the plain chunk.
    length: u32,
    /// The first message.
    first: MessageId,
    /// When it was sent.
    sent: Timestamp,
    blocks: Vec<Block>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Block {
    /// The distance of its last message from the first one of the chunk.
    last: u32,
    /// Bytes before it was compressed.
    length: u32,
    /// Bytes of its frame.
    stored: u32,
}

/// A plain chunk in blocks; `None` if it is none of ascending messages with records that have a version.
///
/// # Errors
/// [`StoreError::Encode`] when the compressor has no memory.
pub fn in_blocks(chunk: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
    let Some((first, sent)) = beginning_of(chunk) else { return Ok(None) };
    let head = Head { length: 1, first, sent, blocks: Vec::with_capacity(BLOCKS_EXPECTED) };
    let mut blocks = OpenBlocks::new(head, Vec::with_capacity(chunk.len() / 2));
    for entry in chunk::entries(chunk) {
        let (id, record) = entry?;
        blocks.push(id, record)?;
    }
    blocks.finish().map(Some)
}

/// The first message of a plain chunk, and when it was sent; `None` if the chunk cannot be in blocks.
fn beginning_of(chunk: &[u8]) -> Option<(MessageId, Timestamp)> {
    let (mut first, mut last) = (None, None);
    for entry in chunk::entries(chunk) {
        let (id, record) = entry.ok()?;
        if last.is_some_and(|last| last >= id) || is_like_compact(record) {
            return None;
        }
        first.get_or_insert((id, record));
        last = Some(id);
    }
    first.map(|(id, record)| (id, sent_of(record)))
}

/// When the message of a record was sent; 0 if it is no record.
fn sent_of(record: &[u8]) -> Timestamp {
    match MessageRecord::of(record) {
        Some(message) => message.sent,
        // It may be compressed.
        None => decode::<Message>(record, NAME).map_or(Timestamp::default(), |message| message.sent),
    }
}

/// A chunk in blocks while messages are added to it. It becomes the same as when all its messages were put into blocks together,
/// because a block is complete before the next one begins.
#[derive(Clone, Debug)]
pub struct OpenBlocks {
    head: Head,
    /// Those of the blocks in the head, which are complete.
    frames: Vec<u8>,
    /// The block that messages are added to, with their number and the distance of the last one from the first of the chunk.
    block: Vec<u8>,
    messages: usize,
    last: u32,
    /// Room for the next entry.
    entry: Vec<u8>,
}

impl OpenBlocks {
    fn new(head: Head, frames: Vec<u8>) -> Self {
        let block = Vec::with_capacity(BLOCK_BYTES_MAX);
        Self { head, frames, block, messages: 0, last: 0, entry: Vec::new() }
    }

    /// A stored chunk in blocks, of which only the last block is decompressed.
    ///
    /// # Errors
    /// [`StoreError::Decode`] when it is damaged.
    pub fn resume(stored: &[u8]) -> Result<Self, StoreError> {
        let (head, frames) = head_of(stored)?;
        let bytes =
            head.blocks.iter().try_fold(0, |sum: usize, block| sum.checked_add(block.stored as usize));
        if bytes != Some(frames.len()) {
            return Err(damaged("the length is wrong"));
        }
        let mut blocks = Self::new(head, frames.to_vec());
        if let Some(newest) = blocks.head.blocks.last().copied() {
            blocks.last = newest.last;
            if (newest.length as usize) < BLOCK_BYTES_MAX {
                blocks.resume_block(newest)?;
            }
        }
        Ok(blocks)
    }

    /// Opens the newest block again, unless it has all its messages.
    fn resume_block(&mut self, newest: Block) -> Result<(), StoreError> {
        let complete = self.frames.len() - newest.stored as usize;
        let block = decompress_block(&self.frames[complete..], newest.length as usize)?;
        let (mut rest, mut messages) = (&block[..], 0);
        while !rest.is_empty() {
            take_entry(&mut rest, self.head.first)?;
            messages += 1;
        }
        if messages < BLOCK_MESSAGES_MAX {
            (self.block, self.messages) = (block, messages);
            self.frames.truncate(complete);
            self.head.blocks.pop();
        }
        Ok(())
    }

    /// Adds a message, unless the chunk has it already. False: its record cannot be in blocks.
    ///
    /// # Errors
    /// [`StoreError::Encode`] when the compressor has no memory.
    pub fn add(&mut self, id: MessageId, record: &[u8]) -> Result<bool, StoreError> {
        if is_like_compact(record) {
            return Ok(false);
        }
        if id > message_at(self.head.first, self.last)? {
            self.push(id, record)?;
        }
        Ok(true)
    }

    /// Adds the next message.
    fn push(&mut self, id: MessageId, record: &[u8]) -> Result<(), StoreError> {
        self.entry.clear();
        put_compact(&mut self.entry, record, id, self.head.sent)?;
        self.head.length += (chunk::ENTRY_HEAD_BYTES + record.len()) as u32;
        self.last = id.0 - self.head.first.0;
        self.messages += 1;
        encode_part(&mut self.block, &(self.last, self.entry.len() as u32))?;
        self.block.extend_from_slice(&self.entry);
        if self.messages >= BLOCK_MESSAGES_MAX || self.block.len() >= BLOCK_BYTES_MAX {
            self.end_block()?;
        }
        Ok(())
    }

    fn end_block(&mut self) -> Result<(), StoreError> {
        let stored = compress_block(&self.block, &mut self.frames)? as u32;
        self.head.blocks.push(Block { last: self.last, length: self.block.len() as u32, stored });
        self.block.clear();
        self.messages = 0;
        Ok(())
    }

    /// Bytes of the plain chunk.
    pub fn plain_bytes(&self) -> usize {
        self.head.length as usize
    }

    /// The chunk in blocks.
    ///
    /// # Errors
    /// [`StoreError::Encode`] when the compressor has no memory.
    pub fn finish(mut self) -> Result<Vec<u8>, StoreError> {
        if self.messages > 0 {
            self.end_block()?;
        }
        let mut stored = Vec::with_capacity(self.frames.len() + HEAD_BYTES_EXPECTED);
        stored.push(VERSION);
        encode_part(&mut stored, &self.head)?;
        stored.extend_from_slice(&self.frames);
        Ok(stored)
    }
}

/// The plain form of a chunk in blocks.
///
/// # Errors
/// [`StoreError::Decode`] when it is damaged.
pub fn plain(stored: &[u8]) -> Result<Vec<u8>, StoreError> {
    let (head, mut frames) = head_of(stored)?;
    let length = head.length as usize;
    let mut plain = Vec::with_capacity(length);
    plain.push(chunk::VERSION);
    for block in &head.blocks {
        let block = decompress_block(take(&mut frames, block.stored)?, block.length as usize)?;
        let mut rest = &block[..];
        while !rest.is_empty() {
            let (id, entry) = take_entry(&mut rest, head.first)?;
            chunk::push(&mut plain, id, &record_in(entry, id, head.sent)?);
            if plain.len() > length {
                return Err(damaged("the length is wrong"));
            }
        }
    }
    match plain.len() == length && frames.is_empty() {
        true => Ok(plain),
        false => Err(damaged("the length is wrong")),
    }
}

/// Adds those of some messages (ascending) that a chunk in blocks has. Only their blocks are decompressed. Returns the last
/// message of the chunk.
///
/// # Errors
/// [`StoreError::Decode`] when it is damaged.
pub fn read(stored: &[u8], wanted: &[MessageId], found: &mut Vec<Message>) -> Result<MessageId, StoreError> {
    let (head, mut frames) = head_of(stored)?;
    let (mut last, mut wanted) = (head.first, wanted);
    for block in &head.blocks {
        let frame = take(&mut frames, block.stored)?;
        last = message_at(head.first, block.last)?;
        let (here, later) = wanted.split_at(wanted.partition_point(|id| *id <= last));
        if !here.is_empty() {
            let block = decompress_block(frame, block.length as usize)?;
            head.read_block(&block, here, found)?;
        }
        wanted = later;
    }
    Ok(last)
}

impl Head {
    fn read_block(
        &self,
        block: &[u8],
        wanted: &[MessageId],
        found: &mut Vec<Message>,
    ) -> Result<(), StoreError> {
        let (mut rest, mut left) = (block, wanted.len());
        while left > 0 && !rest.is_empty() {
            let (id, entry) = take_entry(&mut rest, self.first)?;
            if wanted.binary_search(&id).is_ok() {
                found.push(message_in(entry, id, self.sent)?);
                left -= 1;
            }
        }
        Ok(())
    }
}

fn message_at(first: MessageId, distance: u32) -> Result<MessageId, StoreError> {
    first.0.checked_add(distance).map(MessageId).ok_or_else(|| damaged("an id is too large"))
}

/// The head of a chunk in blocks, and their frames.
fn head_of(stored: &[u8]) -> Result<(Head, &[u8]), StoreError> {
    let mut rest = stored.get(1..).unwrap_or_default();
    let head: Head = take_part(&mut rest, NAME)?;
    let mut lengths = head.blocks.iter().map(|block| block.length).chain([head.length]);
    match lengths.any(|length| length as usize > CHUNK_BYTES_MAX) {
        true => Err(damaged("a length exceeds the limit")),
        false => Ok((head, rest)),
    }
}

fn take_entry<'b>(block: &mut &'b [u8], first: MessageId) -> Result<(MessageId, &'b [u8]), StoreError> {
    let (distance, length): (u32, u32) = take_part(block, NAME)?;
    Ok((message_at(first, distance)?, take(block, length)?))
}

fn take<'b>(bytes: &mut &'b [u8], length: u32) -> Result<&'b [u8], StoreError> {
    let (taken, rest) =
        bytes.split_at_checked(length as usize).ok_or_else(|| damaged("it ends too early"))?;
    *bytes = rest;
    Ok(taken)
}
