//! Encoding of records: one version byte, then bincode 1, compressed where it is long.
//!
//! Long records are HTML or lists with many repetitions: ten thousand emoji are 900 KB of HTML, and 4 to 230 KB
//! compressed. So a message of any permitted content fits into a frame.
//!
//! bincode has no field names, so a changed struct needs a new version byte, and old versions must stay readable.

use crate::error::StoreError;
use bincode::Options;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::cell::Cell;

/// The version of all records together, facts and their variants included. It grows by one with each release that stores what
/// the one before cannot read. Nodes of a cluster write a version only once the operator says that no older node comes back.
/// The feature `next-records` makes the next release of it, for tests of upgrades.
pub const RECORDS: i32 = if cfg!(feature = "next-records") { 2 } else { 1 };

/// The version that is written for records that are not compressed.
const VERSION: u8 = 1;

/// The version of records that are compressed: version 1, where what follows the version byte is its length before as four bytes,
/// little endian, and an LZ4 block.
const COMPRESSED_VERSION: u8 = 2;

/// Records longer than this many bytes are compressed.
const PLAIN_BYTES_MAX: usize = 4 * 1024;

/// A thread keeps its buffer for records up to this size.
const KEPT_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    /// Where the next record is encoded.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Maximum bytes of a record, so that a damaged length cannot exhaust memory.
pub(crate) const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;

// `DefaultOptions` alone would be varint, which is not the format of `bincode::serialize`.
fn unlimited() -> impl Options {
    bincode::DefaultOptions::new().with_fixint_encoding()
}

fn options() -> impl Options {
    unlimited().with_limit(RECORD_BYTES_MAX)
}

/// Encodes a record.
///
/// # Errors
/// [`StoreError::Encode`] when the record is larger than 4 MB.
pub fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, StoreError> {
    // Taken, because a record may be encoded within another one.
    let mut buffer = BUFFER.take();
    buffer.clear();
    let encoded = encode_in(&mut buffer, record);
    if buffer.capacity() <= KEPT_BYTES_MAX {
        BUFFER.set(buffer);
    }
    encoded
}

/// The size of an encoded record before it is compressed, in bytes; as much as no record may have if it cannot be encoded.
pub(crate) fn plain_bytes<T: Serialize>(record: &T) -> u64 {
    unlimited().serialized_size(record).unwrap_or(RECORD_BYTES_MAX)
}

/// Encodes a record in a buffer that may have room already: the size of a record is not known before.
fn encode_in<T: Serialize>(bytes: &mut Vec<u8>, record: &T) -> Result<Vec<u8>, StoreError> {
    let failed = |error: bincode::Error| StoreError::Encode(error.to_string());
    bytes.push(VERSION);
    unlimited().serialize_into(&mut *bytes, record).map_err(failed)?;
    if bytes.len() as u64 - 1 > RECORD_BYTES_MAX {
        return Err(failed(bincode::ErrorKind::SizeLimit.into()));
    }
    if bytes.len() > PLAIN_BYTES_MAX {
        let mut compressed = vec![COMPRESSED_VERSION];
        compressed.extend(lz4_flex::block::compress_prepend_size(&bytes[1..]));
        if compressed.len() < bytes.len() {
            return Ok(compressed);
        }
    }
    Ok(bytes.to_vec())
}

/// Decodes a record; `what` names it in errors.
///
/// # Errors
/// [`StoreError::Decode`] for a version that a newer server wrote, and for anything that is not a record.
pub fn decode<T: DeserializeOwned>(bytes: &[u8], what: &'static str) -> Result<T, StoreError> {
    let Some((version, body)) = bytes.split_first() else {
        return Err(StoreError::Decode { what, why: "the row is empty".into() });
    };
    match *version {
        VERSION => deserialize(body, what),
        COMPRESSED_VERSION => deserialize(&decompress(body, what)?, what),
        newer => {
            Err(StoreError::Decode { what, why: format!("version {newer} was written by a newer server") })
        }
    }
}

fn deserialize<T: DeserializeOwned>(body: &[u8], what: &'static str) -> Result<T, StoreError> {
    options().deserialize(body).map_err(|error| StoreError::Decode { what, why: error.to_string() })
}

/// Decodes a record that is not compressed and too short to be, so that it is nothing but bincode, and what is decoded may borrow
/// from it. `None` for all others, and for anything that is not a record.
pub(crate) fn decode_plain<'r, T: Deserialize<'r>>(record: &'r [u8]) -> Option<T> {
    match record.split_first() {
        Some((&VERSION, body)) if record.len() <= PLAIN_BYTES_MAX => options().deserialize(body).ok(),
        Some(_) | None => None,
    }
}

/// Options for parts of rows that have a version of their own: integers take as few bytes as they need.
fn variable() -> impl Options {
    bincode::DefaultOptions::new()
}

/// Adds a part of a row whose version is elsewhere in it.
///
/// # Errors
/// [`StoreError::Encode`] when the encoder fails.
pub(crate) fn encode_part<T: Serialize>(bytes: &mut Vec<u8>, part: &T) -> Result<(), StoreError> {
    variable().serialize_into(bytes, part).map_err(|error| StoreError::Encode(error.to_string()))
}

/// Decodes a part of a row, which is all of `bytes`; `what` names it in errors.
///
/// # Errors
/// [`StoreError::Decode`] for anything else.
pub(crate) fn decode_part<'b, T: Deserialize<'b>>(
    bytes: &'b [u8],
    what: &'static str,
) -> Result<T, StoreError> {
    variable().deserialize(bytes).map_err(|error| StoreError::Decode { what, why: error.to_string() })
}

/// Decodes a part of a row from the beginning of `bytes`, and takes it from them; `what` names it in errors.
///
/// # Errors
/// [`StoreError::Decode`] for anything else.
pub(crate) fn take_part<T: DeserializeOwned>(bytes: &mut &[u8], what: &'static str) -> Result<T, StoreError> {
    let taken = variable().with_limit(RECORD_BYTES_MAX).deserialize_from(bytes);
    taken.map_err(|error| StoreError::Decode { what, why: error.to_string() })
}

/// Decompresses a record.
fn decompress(body: &[u8], what: &'static str) -> Result<Vec<u8>, StoreError> {
    let damaged = |why: &str| StoreError::Decode { what, why: why.to_owned() };
    let (bytes, block) = lz4_flex::block::uncompressed_size(body)
        .map_err(|_| damaged("the uncompressed length is missing"))?;
    if bytes as u64 > RECORD_BYTES_MAX {
        return Err(damaged("the uncompressed length exceeds the limit"));
    }
    lz4_flex::block::decompress(block, bytes).map_err(|error| damaged(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_bytes_of_version_1() {
        let bytes = encode(&(7u32, "ab")).unwrap();
        assert_eq!(bytes, [1, 7, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, b'a', b'b']);
        assert_eq!(decode::<(u32, String)>(&bytes, "pair").unwrap(), (7, "ab".into()));
    }

    #[test]
    fn newer_and_damaged_records_are_rejected() {
        assert!(decode::<u32>(&[9, 0, 0, 0, 0], "number").is_err());
        assert!(decode::<u32>(&[], "number").is_err());
        assert!(decode::<u32>(&[1, 0], "number").is_err());
        // A length of 2^60: refused, not allocated.
        assert!(decode::<String>(&[1, 0, 0, 0, 0, 0, 0, 0, 16], "text").is_err());
    }

    #[test]
    fn long_records_are_compressed() {
        let html = "<span class=\"emoji\">".repeat(40_000);
        let bytes = encode(&html).unwrap();
        assert_eq!(bytes[..5], [2, 0x08, 0x35, 0x0c, 0], "its version, and 8 + 800,000 bytes");
        assert!(bytes.len() < 8 * 1024, "{} bytes", bytes.len());
        assert_eq!(decode::<String>(&bytes, "text").unwrap(), html);

        let short = "a".repeat(PLAIN_BYTES_MAX - 9);
        assert_eq!(encode(&short).unwrap()[0], VERSION);
        // What does not get shorter stays as it is.
        let noise: Vec<u64> = (0..1_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let bytes = encode(&noise).unwrap();
        assert_eq!((bytes[0], decode::<Vec<u64>>(&bytes, "noise").unwrap()), (VERSION, noise));
    }

    #[test]
    fn damaged_compression_is_rejected() {
        let bytes = encode(&"ab".repeat(10_000)).unwrap();
        assert!(decode::<String>(&bytes[..3], "text").is_err());
        assert!(decode::<String>(&bytes[..bytes.len() - 1], "text").is_err());
        // A length of 4 GB: refused, not allocated.
        let mut huge = bytes;
        huge[1..5].fill(0xff);
        assert!(decode::<String>(&huge, "text").is_err());
    }

    #[test]
    fn records_of_any_size_are_encoded_one_after_the_other() {
        let record = |bytes: usize| vec![7_u8; bytes];
        for bytes in [0, 10, 5_000, 100_000, 3, RECORD_BYTES_MAX as usize - 8, 1] {
            let encoded = encode(&record(bytes)).unwrap();
            assert_eq!(decode::<Vec<u8>>(&encoded, "bytes").unwrap(), record(bytes));
        }
        assert!(encode(&record(RECORD_BYTES_MAX as usize - 7)).is_err(), "a byte more than the limit");
        assert_eq!(encode(&3_u8).unwrap(), [VERSION, 3]);
    }

    #[test]
    fn parts_take_few_bytes_and_are_taken_one_by_one() {
        let mut bytes = Vec::new();
        encode_part(&mut bytes, &(7u32, "ab")).unwrap();
        encode_part(&mut bytes, &300u32).unwrap();
        assert_eq!(bytes, [7, 2, b'a', b'b', 251, 44, 1]);
        let mut rest = &bytes[..];
        assert_eq!(take_part::<(u32, String)>(&mut rest, "pair").unwrap(), (7, "ab".into()));
        assert_eq!(decode_part::<u32>(rest, "number").unwrap(), 300);
        assert!(decode_part::<u32>(&bytes, "number").is_err(), "trailing bytes");
        // A length of 2^60: refused, not allocated.
        assert!(take_part::<String>(&mut &[253, 0, 0, 0, 0, 0, 0, 0, 16][..], "text").is_err());
    }

    #[test]
    fn trailing_bytes_are_damage() {
        assert!(decode::<u32>(&[1, 0, 0, 0, 0, 5], "number").is_err());
    }
}
