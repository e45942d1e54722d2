//! Chunks as they are stored: compressed where that makes them shorter. A message's HTML repeats its text, and records of one chunk
//! have much in common.
//!
//! | version | a chunk |
//! |---|---|
//! | 1 | plain ([`super::chunk`]) |
//! | 2 | the length of the plain chunk (u32 LE) and a zstd frame with it |
//! | 3 | in blocks ([`super::message_blocks`]) |
//!
//! Bodies are written as version 3, index entries as version 2. Bodies of version 2 were written before; they stay as they are
//! until a message is added to their chunk or removed from it, or until erasing copies the rows.

use super::chunk::{CHUNK_BYTES_MAX, VERSION, damaged, entries};
use super::compression::{compress, decompress, frame_bytes_max};
use super::message_blocks;
pub use super::message_blocks::OpenBlocks;
use crate::codec::decode;
use crate::error::StoreError;
use model::{Message, MessageId};
use std::borrow::Cow;
use std::cell::RefCell;

/// The version of a chunk that is compressed as a whole.
const PACKED_VERSION: u8 = 2;

/// Bytes before its frame.
const PACKED_HEAD_BYTES: usize = 5;

/// Shorter chunks stay plain.
const PLAIN_BYTES_MAX: usize = 256;

/// Bytes that a thread keeps for compressing: enough for a chunk of ordinary messages.
const ROOM_BYTES_MAX: usize = 32 * 1024;

thread_local! {
    /// Room for a compressed chunk, unless it is unusually long.
    static COMPRESSED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A plain chunk as it is stored when it is read as a whole.
///
/// # Errors
/// [`StoreError::Encode`] when the compressor has no memory.
pub fn packed(chunk: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    if stays_plain(&chunk) {
        return Ok(chunk);
    }
    let room = PACKED_HEAD_BYTES + frame_bytes_max(chunk.len());
    match room <= ROOM_BYTES_MAX {
        true => COMPRESSED.with_borrow_mut(|stored| {
            stored.resize(ROOM_BYTES_MAX, 0);
            packed_in(stored, chunk)
        }),
        false => packed_in(&mut vec![0; room], chunk),
    }
}

/// A plain chunk of bodies as it is stored: one of them is read without the others.
///
/// # Errors
/// [`StoreError::Encode`] when the compressor has no memory.
pub fn packed_bodies(chunk: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    if stays_plain(&chunk) {
        return Ok(chunk);
    }
    match message_blocks::in_blocks(&chunk)? {
        Some(stored) if stored.len() < chunk.len() => Ok(stored),
        Some(_) => Ok(chunk),
        None => packed(chunk),
    }
}

/// A stored chunk of bodies to which messages are added without unpacking what is complete of it; `None` if it is not in blocks.
///
/// # Errors
/// [`StoreError::Decode`] when it is damaged.
pub fn open_bodies(stored: &[u8]) -> Result<Option<OpenBlocks>, StoreError> {
    match stored.first() {
        Some(&message_blocks::VERSION) => OpenBlocks::resume(stored).map(Some),
        Some(_) | None => Ok(None),
    }
}

/// As [`packed_bodies`], of a chunk that was opened.
///
/// # Errors
/// [`StoreError::Encode`] when the compressor has no memory.
pub fn closed_bodies(blocks: OpenBlocks) -> Result<Vec<u8>, StoreError> {
    let plain_bytes = blocks.plain_bytes();
    let stored = blocks.finish()?;
    match stored.len() < plain_bytes {
        true => Ok(stored),
        false => message_blocks::plain(&stored),
    }
}

/// A stored chunk of bodies that is compressed as a whole, as it is stored now. `None` for all others, and for damaged ones, which
/// are reported when they are read.
///
/// # Errors
/// [`StoreError::Encode`] when the compressor has no memory.
pub fn bodies_as_now(stored: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
    if stored.first() != Some(&PACKED_VERSION) {
        return Ok(None);
    }
    match plain(stored) {
        Ok(chunk) => packed_bodies(chunk.into_owned()).map(Some),
        Err(_) => Ok(None),
    }
}

fn stays_plain(chunk: &[u8]) -> bool {
    chunk.len() <= PLAIN_BYTES_MAX || chunk.first() != Some(&VERSION)
}

/// The chunk as it is stored, compressed in a buffer with room for it.
fn packed_in(stored: &mut [u8], chunk: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    let (head, frame) = stored.split_at_mut(PACKED_HEAD_BYTES);
    head[0] = PACKED_VERSION;
    head[1..].copy_from_slice(&(chunk.len() as u32).to_le_bytes());
    let bytes = compress(&chunk, frame)?;
    let stored = &stored[..PACKED_HEAD_BYTES + bytes];
    Ok(if stored.len() < chunk.len() { stored.to_vec() } else { chunk })
}

/// The plain form of a stored chunk.
///
/// # Errors
/// [`StoreError::Decode`] when it is damaged.
pub fn plain(stored: &[u8]) -> Result<Cow<'_, [u8]>, StoreError> {
    match stored.first() {
        Some(&PACKED_VERSION) => unpacked(stored).map(Cow::Owned),
        Some(&message_blocks::VERSION) => message_blocks::plain(stored).map(Cow::Owned),
        Some(_) | None => Ok(Cow::Borrowed(stored)),
    }
}

fn unpacked(stored: &[u8]) -> Result<Vec<u8>, StoreError> {
    let head = stored.get(1..).and_then(|rest| rest.split_first_chunk::<4>());
    let (length, frame) = head.ok_or_else(|| damaged("the length is missing"))?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > CHUNK_BYTES_MAX {
        return Err(damaged("the length exceeds the limit"));
    }
    decompress(frame, length)
}

/// Adds those of some messages (ascending) that a stored chunk of bodies has. Returns the last message of the chunk, or 0 if it
/// is empty.
///
/// # Errors
/// [`StoreError::Decode`] when it is damaged.
pub fn read_bodies(
    stored: &[u8],
    wanted: &[MessageId],
    found: &mut Vec<Message>,
) -> Result<MessageId, StoreError> {
    if stored.first() == Some(&message_blocks::VERSION) {
        return message_blocks::read(stored, wanted, found);
    }
    let mut last = MessageId::ZERO;
    for entry in entries(&plain(stored)?) {
        let (id, record) = entry?;
        last = id;
        if wanted.binary_search(&id).is_ok() {
            found.push(decode(record, "message")?);
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::encode;
    use crate::fixture::{channel_message, noise_of};
    use crate::view::chunk::{BODIES, OpenChunk};
    use crate::view::compression::counted;
    use proptest::prelude::*;

    /// A chunk of messages with these ids, and the messages.
    fn bodies(ids: impl IntoIterator<Item = u32>) -> (OpenChunk, Vec<Message>) {
        let mut chunk = OpenChunk::default();
        let message = |id| {
            let content = noise_of(id, 80);
            let rendered = format!("<p>{content}</p>");
            Message { content, rendered, ..channel_message(id, 1 + id % 3, 1, "tea") }
        };
        let messages: Vec<Message> = ids.into_iter().map(message).collect();
        for message in &messages {
            chunk.add(BODIES, message.id, &encode(message).unwrap());
        }
        (chunk, messages)
    }

    fn read(stored: &[u8], wanted: &[u32]) -> (MessageId, Vec<Message>) {
        let (wanted, mut found) = (wanted.iter().copied().map(MessageId).collect::<Vec<_>>(), Vec::new());
        let last = read_bodies(stored, &wanted, &mut found).unwrap();
        (last, found)
    }

    proptest! {
        #[test]
        fn chunks_of_any_bytes_are_packed_and_unpacked(record in prop::collection::vec(any::<u8>(), 0..2000), times in 1..40u32) {
            let mut chunk = OpenChunk::default();
            for id in 1..=times {
                chunk.add(BODIES, MessageId(id), &record);
            }
            for pack in [packed, packed_bodies] {
                let stored = pack(chunk.bytes().to_vec()).unwrap();
                prop_assert!(stored.len() <= chunk.bytes().len());
                prop_assert_eq!(&plain(&stored).unwrap()[..], chunk.bytes());
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for head in [&[][..], &[2, 64, 0, 0, 0], &[3], &[3, 251, 0, 2, 1, 0, 1, 0, 251, 0, 2]] {
                let stored = [head, &bytes[..]].concat();
                _ = plain(&stored).map(|bytes| entries(&bytes).count());
                _ = read_bodies(&stored, &[MessageId(1), MessageId(7)], &mut Vec::new());
            }
        }
    }

    #[test]
    fn golden_bytes_of_version_2() {
        let mut chunk = OpenChunk::default();
        chunk.add(BODIES, MessageId(258), &[b'x'; 300]);
        let stored = packed(chunk.bytes().to_vec()).unwrap();
        assert_eq!(stored[..9], [2, 0x35, 1, 0, 0, 0x28, 0xb5, 0x2f, 0xfd], "version, length, magic of zstd");
        assert!(stored.len() < 50, "{}", stored.len());
        assert_eq!(plain(&stored).unwrap(), chunk.bytes());
        assert_eq!(OpenChunk::restore(MessageId(258), plain(&stored).unwrap().into_owned()).unwrap(), chunk);
    }

    #[test]
    fn golden_bytes_of_version_3() {
        let (chunk, _) = bodies(200..204);
        let stored = packed_bodies(chunk.bytes().to_vec()).unwrap();
        let length = (chunk.bytes().len() as u16).to_le_bytes();
        let head = [3, 251, length[0], length[1], 200, 251, 0x98, 0x08, 1, 3, 251];
        assert_eq!(
            stored[..11],
            head,
            "version, length, first id, time, blocks, distance of the last, its length"
        );
        assert_eq!(plain(&stored).unwrap(), chunk.bytes());
    }

    #[test]
    fn messages_of_a_chunk_are_read_alone_and_together() {
        // The ids have gaps, and the 20 messages are in three blocks.
        let (chunk, messages) = bodies((7..47).step_by(2));
        let stored = [packed, packed_bodies].map(|pack| pack(chunk.bytes().to_vec()).unwrap());
        assert_eq!(stored.each_ref().map(|stored| stored[0]), [2, 3]);
        for stored in stored.iter().map(|stored| &stored[..]).chain([chunk.bytes()]) {
            let all: Vec<u32> = (1..60).collect();
            assert_eq!(read(stored, &all), (MessageId(45), messages.clone()));
            for message in &messages {
                assert_eq!(read(stored, &[message.id.0]), (MessageId(45), vec![message.clone()]));
            }
            assert_eq!(read(stored, &[3, 8, 9, 44, 45, 46]).1, [messages[1].clone(), messages[19].clone()]);
            assert_eq!(read(stored, &[]), (MessageId(45), vec![]));
        }
    }

    #[test]
    fn one_message_is_read_without_the_rest_of_its_chunk() {
        let (chunk, _) = bodies(1..=32);
        let length = chunk.bytes().len();
        let [whole, blocks] = [packed, packed_bodies].map(|pack| pack(chunk.bytes().to_vec()).unwrap());
        assert_eq!(counted::during(|| read(&whole, &[9])).0, length);
        for id in [1, 9, 32] {
            let bytes = counted::during(|| read(&blocks, &[id])).0;
            assert!(bytes > 0 && bytes * 6 < length, "message {id}: {bytes} of {length} bytes");
        }
        assert_eq!(counted::during(|| read(&blocks, &[])).0, 0);
        let (twice, both) =
            (counted::during(|| read(&blocks, &[9, 16])).0, counted::during(|| read(&blocks, &[9])).0);
        assert_eq!(twice, both, "of one block");
    }

    #[test]
    fn bodies_of_version_2_become_blocks() {
        let (chunk, _) = bodies(1..=32);
        let [whole, blocks] = [packed, packed_bodies].map(|pack| pack(chunk.bytes().to_vec()).unwrap());
        assert_eq!(bodies_as_now(&whole).unwrap().as_ref(), Some(&blocks));
        assert_eq!(bodies_as_now(&blocks).unwrap(), None);
        assert_eq!(bodies_as_now(chunk.bytes()).unwrap(), None);
        assert_eq!(bodies_as_now(&whole[..whole.len() - 1]).unwrap(), None, "damaged");
        assert_eq!(bodies_as_now(&[]).unwrap(), None);
    }

    #[test]
    fn damaged_packed_chunks_are_rejected() {
        let mut chunk = OpenChunk::default();
        chunk.add(BODIES, MessageId(7), "tea and biscuits ".repeat(50).as_bytes());
        for stored in [packed, packed_bodies].map(|pack| pack(chunk.bytes().to_vec()).unwrap()) {
            for end in 1..stored.len() {
                assert!(plain(&stored[..end]).is_err(), "{end} of version {}", stored[0]);
            }
            let mut huge = stored;
            huge[1..5].fill(0xff);
            assert!(plain(&huge).is_err());
        }
    }
}
