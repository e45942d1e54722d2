//! Rows that hold several messages. With a row for each message, sled would be the largest cost of sending; a chunk is
//! written once for all its messages in one batch, and read with one lookup.
//!
//! A chunk is `version (u8)`, then for each message `id (u32 BE) ‖ length (u32 BE) ‖ record`; its key has the id of the
//! first message that was added. Messages are only added to the newest chunk, so the same log makes the same chunks.
//! Deleted messages are removed from their chunk without changing its key; an empty chunk's row is removed unless it is
//! the newest.
//!
//! The writer of the trees compresses chunks ([`super::packed`]).

use crate::checkpoint::codec::saved;
use crate::codec::{decode, encode};
use crate::error::StoreError;
use model::{Message, MessageId};

/// The version of a plain chunk.
pub const VERSION: u8 = 1;

/// Limit of a plain chunk, so that a damaged length cannot exhaust memory. A chunk of one message has a record of at most
/// [`crate::codec::RECORD_BYTES_MAX`].
pub const CHUNK_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Room of a chunk that begins in a batch: more messages follow in the same one.
const APPENDED_BYTES: usize = 2048;

/// Bytes before each record.
pub const ENTRY_HEAD_BYTES: usize = 8;

/// The limits at which a chunk is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLimits {
    /// Messages in one chunk.
    pub messages_max: usize,
    /// Bytes of one chunk, unless a single message is larger.
    pub bytes_max: usize,
}

/// Bodies: few enough bytes that a row is written anew when a message is added to it. One of them is read without the others
/// ([`super::message_blocks`]).
pub const BODIES: ChunkLimits = ChunkLimits { messages_max: 32, bytes_max: 16 * 1024 };

/// Index rows, which are small.
pub const INDEX_ROWS: ChunkLimits = ChunkLimits { messages_max: 128, bytes_max: 16 * 1024 };

/// A stored chunk, decoded: messages' ids and records, in order.
#[derive(Clone, Debug)]
pub struct Chunk<T>(pub Vec<(MessageId, T)>);

/// Whether the messages of a chunk ascend from the id in its key. The first ones may have been deleted.
pub fn ascend<T>(first: MessageId, chunk: &Chunk<T>) -> Result<(), String> {
    let ids = chunk.0.iter().map(|(id, _)| *id);
    let before = std::iter::once(None).chain(ids.clone().map(Some));
    match ids.zip(before).find(|(id, before)| *id < first || before.is_some_and(|before| before >= *id)) {
        Some((id, _)) => Err(format!("has message {id} where it does not belong")),
        None => Ok(()),
    }
}

/// The newest chunk of a table, to which messages are added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenChunk {
    first: MessageId,
    messages: usize,
    bytes: Vec<u8>,
}

saved!(OpenChunk { first, messages, bytes });

impl OpenChunk {
    /// The chunk as it was stored, not compressed.
    pub fn restore(first: MessageId, bytes: Vec<u8>) -> Result<Self, StoreError> {
        let mut messages = 0;
        for entry in entries(&bytes) {
            entry?;
            messages += 1;
        }
        Ok(Self { first, messages, bytes })
    }

    /// Adds a message's record, in a new chunk where it does not fit. The row's key and value are
    /// `first` and `bytes` afterwards. Returns whether the chunk is new.
    pub fn add(&mut self, limits: ChunkLimits, id: MessageId, record: &[u8]) -> bool {
        let bytes = self.bytes.len() + ENTRY_HEAD_BYTES + record.len();
        let is_full = self.messages >= limits.messages_max || bytes > limits.bytes_max;
        // The key of a chunk whose messages were all deleted stays the same.
        let is_new = self.bytes.is_empty() || (is_full && self.messages > 0);
        if is_new {
            // The next chunk grows about as large as this one, unless that has a single long message.
            if self.bytes.capacity() > 2 * limits.bytes_max {
                self.bytes = Vec::new();
            }
            self.bytes.clear();
            self.bytes.push(VERSION);
            (self.first, self.messages) = (id, 0);
        }
        self.messages += 1;
        push(&mut self.bytes, id, record);
        is_new
    }

    /// Removes messages. Returns whether there were any, so that the row has to be written.
    pub fn erase(&mut self, gone: impl Fn(MessageId) -> bool) -> Result<bool, StoreError> {
        if self.messages == 0 {
            return Ok(false);
        }
        self.bytes = match without(&self.bytes, gone)?.0 {
            Rest::Same => return Ok(false),
            Rest::Some(bytes) => bytes,
            Rest::Empty => vec![VERSION],
        };
        self.messages = entries(&self.bytes).count();
        Ok(true)
    }

    /// Changes the record of a message, if it is here.
    pub fn change(
        &mut self,
        id: MessageId,
        change: impl Fn(&[u8]) -> Result<Vec<u8>, StoreError>,
    ) -> Result<(), StoreError> {
        if self.messages > 0
            && id >= self.first
            && let Some(changed) = with_changed(&self.bytes, id, change)?
        {
            self.bytes = changed;
        }
        Ok(())
    }

    /// The id in the row's key.
    pub fn first(&self) -> MessageId {
        self.first
    }

    /// The value of the row, not compressed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The rest of a chunk after removing messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rest {
    Same,
    Some(Vec<u8>),
    /// No message is left.
    Empty,
}

/// Removes messages from a plain chunk. Also returns the last message that was in it.
pub fn without(bytes: &[u8], gone: impl Fn(MessageId) -> bool) -> Result<(Rest, MessageId), StoreError> {
    let (mut rest, mut last, mut is_same) = (vec![VERSION], MessageId::ZERO, true);
    for entry in entries(bytes) {
        let (id, record) = entry?;
        last = id;
        if gone(id) {
            is_same = false;
        } else {
            push(&mut rest, id, record);
        }
    }
    let rest = match rest.len() {
        _ if is_same => Rest::Same,
        1 => Rest::Empty,
        _ => Rest::Some(rest),
    };
    Ok((rest, last))
}

/// A plain chunk with another record of one of its messages; `None` if it has no such message.
pub fn with_changed(
    bytes: &[u8],
    id: MessageId,
    change: impl Fn(&[u8]) -> Result<Vec<u8>, StoreError>,
) -> Result<Option<Vec<u8>>, StoreError> {
    let (mut changed, mut is_found) = (vec![VERSION], false);
    for entry in entries(bytes) {
        let (own, record) = entry?;
        if own == id {
            is_found = true;
            push(&mut changed, own, &change(record)?);
        } else {
            push(&mut changed, own, record);
        }
    }
    Ok(is_found.then_some(changed))
}

/// A message's record without its texts.
pub fn blank_message(record: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut message: Message = decode(record, "message")?;
    message.blank();
    encode(&message)
}

/// Adds an entry to a plain chunk, which is empty before its first one. What it already has is not added again. Returns the
/// last message of the chunk.
pub fn append(chunk: &mut Vec<u8>, id: MessageId, record: &[u8]) -> Result<MessageId, StoreError> {
    if chunk.is_empty() {
        chunk.reserve(APPENDED_BYTES);
        chunk.push(VERSION);
    }
    let last = entries(chunk).last().transpose()?;
    Ok(append_after(chunk, last.map_or(MessageId::ZERO, |(last, _)| last), id, record))
}

/// Adds an entry to a plain chunk whose last message is known. Returns the last message of the chunk.
pub fn append_after(chunk: &mut Vec<u8>, last: MessageId, id: MessageId, record: &[u8]) -> MessageId {
    if last < id {
        push(chunk, id, record);
    }
    last.max(id)
}

/// Adds an entry to the bytes of a chunk.
pub fn push(bytes: &mut Vec<u8>, id: MessageId, record: &[u8]) {
    bytes.extend_from_slice(&id.0.to_be_bytes());
    bytes.extend_from_slice(&(record.len() as u32).to_be_bytes());
    bytes.extend_from_slice(record);
}

/// The error of a chunk that cannot be read.
pub fn damaged(why: impl Into<String>) -> StoreError {
    StoreError::Decode { what: "chunk of messages", why: why.into() }
}

/// Ids and records of a plain chunk, in order. Ends after an error.
pub fn entries(bytes: &[u8]) -> Entries<'_> {
    match bytes.split_first() {
        Some((&VERSION, rest)) => Entries { rest, error: None },
        Some((newer, _)) => Entries { rest: &[], error: Some(format!("chunk version {newer} is unknown")) },
        None => Entries { rest: &[], error: Some("the chunk is empty".into()) },
    }
}

/// Iterator over the entries of a chunk; see [`entries`].
#[derive(Debug)]
pub struct Entries<'b> {
    rest: &'b [u8],
    error: Option<String>,
}

impl<'b> Iterator for Entries<'b> {
    type Item = Result<(MessageId, &'b [u8]), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(why) = self.error.take() {
            return Some(Err(damaged(why)));
        }
        if self.rest.is_empty() {
            return None;
        }
        let Some((id, record, rest)) = split(self.rest) else {
            self.rest = &[];
            return Some(Err(damaged("the chunk ends within an entry")));
        };
        self.rest = rest;
        Some(Ok((id, record)))
    }
}

fn split(bytes: &[u8]) -> Option<(MessageId, &[u8], &[u8])> {
    let (id, rest) = bytes.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let (record, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    Some((MessageId(u32::from_be_bytes(*id)), record, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
        entries(bytes).map(|entry| entry.map(|(id, record)| (id.0, record.to_vec())).unwrap()).collect()
    }

    #[test]
    fn full_chunk_is_followed_by_a_new_one() {
        let limits = ChunkLimits { messages_max: 2, bytes_max: 40 };
        let mut chunk = OpenChunk::default();
        chunk.add(limits, MessageId(3), b"a");
        chunk.add(limits, MessageId(5), b"b");
        assert_eq!((chunk.first(), read(chunk.bytes()).len()), (MessageId(3), 2));
        chunk.add(limits, MessageId(6), b"c");
        assert_eq!((chunk.first(), read(chunk.bytes())), (MessageId(6), vec![(6, b"c".to_vec())]));
        chunk.add(limits, MessageId(7), &[0; 100]);
        assert_eq!((chunk.first(), read(chunk.bytes()).len()), (MessageId(7), 1));
    }

    #[test]
    fn deleted_messages_are_removed_from_their_chunk() {
        let limits = ChunkLimits { messages_max: 3, bytes_max: 400 };
        let mut chunk = OpenChunk::default();
        for id in 3..=5 {
            chunk.add(limits, MessageId(id), b"a");
        }
        assert!(!chunk.erase(|id| id.0 == 7).unwrap());
        assert!(chunk.erase(|id| id.0 == 3).unwrap());
        assert_eq!((chunk.first(), read(chunk.bytes()).len()), (MessageId(3), 2));
        chunk.add(limits, MessageId(6), b"a");
        assert!(chunk.erase(|_| true).unwrap());
        assert_eq!((chunk.first(), read(chunk.bytes()).len()), (MessageId(3), 0));
        chunk.add(limits, MessageId(7), &[0; 500]);
        assert_eq!((chunk.first(), read(chunk.bytes()).len()), (MessageId(3), 1));
        let (rest, last) = without(chunk.bytes(), |id| id.0 < 7).unwrap();
        assert_eq!((rest, last), (Rest::Same, MessageId(7)));
    }

    #[test]
    fn golden_bytes_of_version_1() {
        let mut chunk = OpenChunk::default();
        chunk.add(BODIES, MessageId(258), b"xy");
        assert_eq!(chunk.bytes(), [1, 0, 0, 1, 2, 0, 0, 0, 2, b'x', b'y']);
    }

    #[test]
    fn entries_are_appended_once() {
        let (mut open, mut chunk) = (OpenChunk::default(), Vec::new());
        for id in [3, 5, 6] {
            open.add(BODIES, MessageId(id), b"ab");
            assert_eq!(append(&mut chunk, MessageId(id), b"ab").unwrap(), MessageId(id));
            assert_eq!(append(&mut chunk, MessageId(id), b"ab").unwrap(), MessageId(id));
        }
        assert_eq!(append(&mut chunk, MessageId(4), b"late").unwrap(), MessageId(6));
        assert_eq!(append_after(&mut chunk, MessageId(6), MessageId(4), b"late"), MessageId(6));
        assert_eq!(chunk, open.bytes());
        open.add(BODIES, MessageId(7), b"c");
        assert_eq!(append_after(&mut chunk, MessageId(6), MessageId(7), b"c"), MessageId(7));
        assert_eq!(chunk, open.bytes());
    }

    #[test]
    fn damaged_chunks_are_rejected() {
        for bytes in [&[][..], &[9, 0, 0][..], &[1, 0, 0, 0, 1, 0, 0, 0, 9, 7][..], &[1, 0][..]] {
            assert!(entries(bytes).any(|entry| entry.is_err()), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn restored_chunk_continues_like_the_original(
            records in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 1..40),
        ) {
            let limits = ChunkLimits { messages_max: 5, bytes_max: 200 };
            let (mut live, mut restarted) = (OpenChunk::default(), OpenChunk::default());
            for (id, record) in (1..).zip(&records) {
                live.add(limits, MessageId(id), record);
                restarted.add(limits, MessageId(id), record);
                prop_assert_eq!(&live, &restarted);
                restarted = OpenChunk::restore(restarted.first(), restarted.bytes().to_vec()).unwrap();
            }
        }
    }
}
