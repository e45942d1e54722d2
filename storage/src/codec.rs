//! Records as bytes: one version byte, then bincode 1.
//!
//! bincode carries no field names, so the version byte is what lets a struct change: a new shape gets a
//! new version, and the old shape stays readable here for ever.

use crate::error::StoreError;
use bincode::Options;
use serde::{Serialize, de::DeserializeOwned};

/// The version that is written today.
const VERSION: u8 = 1;

/// A record never reads more than this, so that a damaged length cannot ask for all memory.
const RECORD_BYTES_MAX: u64 = 4 * 1024 * 1024;

fn options() -> impl Options {
    // `DefaultOptions` alone would be varint, which is not the format of `bincode::serialize`.
    bincode::DefaultOptions::new().with_fixint_encoding().with_limit(RECORD_BYTES_MAX)
}

/// The bytes of a record.
///
/// # Errors
/// [`StoreError::Encode`] when the record is larger than 4 MB.
pub fn encode<T: Serialize>(record: &T) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::with_capacity(256);
    bytes.push(VERSION);
    options().serialize_into(&mut bytes, record).map_err(|error| StoreError::Encode(error.to_string()))?;
    Ok(bytes)
}

/// The record in these bytes.
///
/// # Errors
/// [`StoreError::Decode`] for a version that a newer server wrote, and for anything that is not a record.
pub fn decode<T: DeserializeOwned>(bytes: &[u8], what: &'static str) -> Result<T, StoreError> {
    let Some((version, body)) = bytes.split_first() else {
        return Err(StoreError::Decode { what, why: "it is empty".into() });
    };
    match *version {
        VERSION => {
            options().deserialize(body).map_err(|error| StoreError::Decode { what, why: error.to_string() })
        }
        newer => {
            Err(StoreError::Decode { what, why: format!("version {newer} was written by a newer server") })
        }
    }
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
    fn newer_and_damaged_records_are_refused() {
        assert!(decode::<u32>(&[9, 0, 0, 0, 0], "number").is_err());
        assert!(decode::<u32>(&[], "number").is_err());
        assert!(decode::<u32>(&[1, 0], "number").is_err());
        // A length of 2^60: refused, not allocated.
        assert!(decode::<String>(&[1, 0, 0, 0, 0, 0, 0, 0, 16], "text").is_err());
    }

    #[test]
    fn trailing_bytes_are_damage() {
        assert!(decode::<u32>(&[1, 0, 0, 0, 0, 5], "number").is_err());
    }
}
