//! zstd for chunks, with contexts that each thread makes once: making one takes longer than compressing a chunk.
//!
//! Blocks of messages are short, so they share a dictionary: what messages have in common, and tables of frequencies, which take
//! longer to read than the rest of a short block. It is what zstd's trainer made of blocks with texts of this project's documentation.
//! Blocks in other languages have tables of their own where that makes them shorter.

use super::chunk::damaged;
use crate::error::StoreError;
use std::cell::RefCell;
use std::io;
use std::sync::LazyLock;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::CParameter;

/// Above this level, chunks of text get 2 % smaller for twice the time.
const LEVEL: i32 = 3;

/// Stored blocks cannot be read without it, so it never changes: another one needs another version of chunks.
static DICTIONARY: &[u8] = include_bytes!("blocks.dictionary");

static ENCODING: LazyLock<io::Result<EncoderDictionary<'static>>> =
    LazyLock::new(|| EncoderDictionary::try_copy(DICTIONARY, LEVEL));

static DECODING: LazyLock<io::Result<DecoderDictionary<'static>>> =
    LazyLock::new(|| DecoderDictionary::try_copy(DICTIONARY));

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    static BLOCK_COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static BLOCK_DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The most bytes that a frame with `length` bytes has.
pub fn frame_bytes_max(length: usize) -> usize {
    zstd::zstd_safe::compress_bound(length)
}

/// Compresses bytes into a buffer with room for [`frame_bytes_max`]. Returns the bytes of the frame.
///
/// # Errors
/// [`StoreError::Encode`] when the compressor has no memory.
pub fn compress(bytes: &[u8], frame: &mut [u8]) -> Result<usize, StoreError> {
    COMPRESSOR
        .with_borrow_mut(|kept| made(kept, || Compressor::new(LEVEL))?.compress_to_buffer(bytes, frame))
        .map_err(|error| StoreError::Encode(error.to_string()))
}

/// Compresses a block of messages with the dictionary, and adds the frame to `frames`. Returns its bytes.
///
/// # Errors
/// [`StoreError::Encode`] when the compressor has no memory.
pub fn compress_block(block: &[u8], frames: &mut Vec<u8>) -> Result<usize, StoreError> {
    let before = frames.len();
    frames.resize(before + frame_bytes_max(block.len()), 0);
    let compressed = BLOCK_COMPRESSOR.with_borrow_mut(|kept| {
        made(kept, block_compressor)?.compress_to_buffer(block, &mut frames[before..])
    });
    frames.truncate(before + compressed.as_ref().copied().unwrap_or_default());
    compressed.map_err(|error| StoreError::Encode(error.to_string()))
}

/// The `length` bytes in a frame.
///
/// # Errors
/// [`StoreError::Decode`] when it is damaged.
pub fn decompress(frame: &[u8], length: usize) -> Result<Vec<u8>, StoreError> {
    checked(
        DECOMPRESSOR.with_borrow_mut(|kept| made(kept, Decompressor::new)?.decompress(frame, length)),
        length,
    )
}

/// The `length` bytes in the frame of a block of messages.
///
/// # Errors
/// [`StoreError::Decode`] when it is damaged.
pub fn decompress_block(frame: &[u8], length: usize) -> Result<Vec<u8>, StoreError> {
    checked(
        BLOCK_DECOMPRESSOR.with_borrow_mut(|kept| made(kept, block_decompressor)?.decompress(frame, length)),
        length,
    )
}

fn block_compressor() -> io::Result<Compressor<'static>> {
    let dictionary = ENCODING.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
    let mut compressor = Compressor::with_prepared_dictionary(dictionary)?;
    // The version of the chunk says which dictionary it is.
    compressor.set_parameter(CParameter::DictIdFlag(false))?;
    Ok(compressor)
}

fn block_decompressor() -> io::Result<Decompressor<'static>> {
    let dictionary = DECODING.as_ref().map_err(|error| io::Error::other(error.to_string()))?;
    Decompressor::with_prepared_dictionary(dictionary)
}

/// The context that a thread has kept, made if it is the first use.
fn made<T>(kept: &mut Option<T>, make: impl FnOnce() -> io::Result<T>) -> io::Result<&mut T> {
    match kept {
        Some(context) => Ok(context),
        None => Ok(kept.insert(make()?)),
    }
}

fn checked(bytes: io::Result<Vec<u8>>, length: usize) -> Result<Vec<u8>, StoreError> {
    let bytes = bytes.map_err(|error| damaged(error.to_string()))?;
    if bytes.len() != length {
        return Err(damaged("the length is wrong"));
    }
    #[cfg(test)]
    counted::add(length);
    Ok(bytes)
}

/// Counts what a thread decompresses: tests of costs.
#[cfg(test)]
pub mod counted {
    use std::cell::Cell;

    thread_local! {
        static BYTES: Cell<usize> = const { Cell::new(0) };
    }

    /// Counts bytes that were decompressed.
    pub fn add(bytes: usize) {
        BYTES.set(BYTES.get() + bytes);
    }

    /// The bytes that this thread has decompressed while it ran a function, and the function's result.
    pub fn during<T>(run: impl FnOnce() -> T) -> (usize, T) {
        let before = BYTES.get();
        let result = run();
        (BYTES.get() - before, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dictionary_is_the_one_that_stored_blocks_need() {
        assert_eq!((DICTIONARY.len(), xxhash_rust::xxh3::xxh3_64(DICTIONARY)), (2048, 0xb362_768f_6c7f_1f2a));
        let block = b"<p>one of the messages of the channel</p>".repeat(3);
        let mut frame = Vec::new();
        assert_eq!(compress_block(&block, &mut frame).unwrap(), frame.len());
        assert_eq!(decompress_block(&frame, block.len()).unwrap(), block);
        assert!(
            decompress_block(&frame, block.len() - 1).is_err()
                && decompress_block(&frame[..9], block.len()).is_err()
        );
    }
}
