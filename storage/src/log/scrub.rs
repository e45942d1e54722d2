//! Reading sealed segments slowly in the background, because opening does not: damage is found while there still is a
//! backup without it.

use std::path::Path;
use std::time::Duration;

use super::codec::BLOCK_BYTES;
use super::error::{Damage, LogError};
use super::part::{self, Part};
use super::recover::Scan;

/// The result of reading one sealed segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scrubbed {
    /// Bytes that were read.
    pub bytes: u64,
    /// The first damage in it.
    pub damage: Option<Damage>,
}

/// The sealed segments of a journal, ascending: all that have a successor with a group in it.
///
/// # Errors
/// [`LogError::Io`].
pub fn sealed_segments(folder: &Path) -> Result<Vec<u64>, LogError> {
    let mut numbers = part::list(folder)?;
    while let Some(newest) = numbers.pop() {
        let has_group = Part::open(folder, newest)
            .and_then(|part| part.read_group(BLOCK_BYTES))
            .is_ok_and(|group| group.is_some());
        if has_group {
            break;
        }
    }
    Ok(numbers)
}

/// Reads a sealed segment and verifies every checksum and chain in it, and that the next segment continues it. Pauses so
/// that about `bytes_per_sec` are read; `None` once `goes_on` says no, or when the segment was removed meanwhile.
///
/// # Errors
/// [`LogError::Io`] and [`LogError::Format`]; damage is part of the result.
pub fn scrub_segment(
    folder: &Path,
    number: u64,
    bytes_per_sec: u64,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Scrubbed>, LogError> {
    let mut bytes = 0;
    let mut pace = |read: u64| {
        bytes += read;
        std::thread::sleep(Duration::from_secs_f64(read as f64 / bytes_per_sec.max(1) as f64));
        goes_on()
    };
    let damage = match Scan::default().read_sealed(folder, number, &mut pace) {
        Ok(Some(_)) => None,
        Ok(None) => return Ok(None),
        Err(LogError::Corrupt(damage)) => Some(*damage),
        Err(LogError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(Scrubbed { bytes, damage }))
}
