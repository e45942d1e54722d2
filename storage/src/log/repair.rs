//! Prepares the end of a journal for appending: what a crash or a copy left incomplete is zeroed.

use std::path::Path;

use super::codec;
use super::error::LogError;
use super::part::{self, Part};
use super::recover::Scan;
use super::segment::{Faults, Segment};

/// Prepares the end of a scanned journal for appending: zeroes a torn tail and rewrites the last group.
///
/// Rewriting guards against a disk error before the restart: after a failed sync the page cache may hold, as clean, a
/// group that is not on disk. Writing the same bytes again makes the next sync report their real state.
pub(crate) fn repair(folder: &Path, scan: &Scan, sync: bool, faults: &Faults) -> Result<(), LogError> {
    let change = |segment: &mut Segment, offset: u64, bytes: &[u8]| {
        segment.commit(offset, bytes, sync).map_err(|error| LogError::io("repair", segment.path(), error))
    };
    // Archives were read back from the disk before they got their name.
    let is_segment = |number| matches!(Part::open(folder, number), Ok(Part::Segment(_)));
    if let Some(last) = scan.last_group.filter(|last| sync && is_segment(last.segment)) {
        let mut segment = Segment::open(folder, last.segment, true, faults.clone())?;
        let bytes = segment.read(last.offset, last.end - last.offset)?;
        change(&mut segment, last.offset, &bytes)?;
    }
    if let Some((number, end)) = scan.cut {
        for later in part::list(folder)?.into_iter().rev().filter(|later| *later > number) {
            part::remove(folder, later, sync)?;
        }
        if is_segment(number) {
            let mut segment = Segment::open(folder, number, true, faults.clone())?;
            let written_end = segment.written_end(end)?;
            change(&mut segment, end, &vec![0; (written_end - end) as usize])?;
        }
    }
    if let Some(torn) = scan.torn_tail {
        tracing::warn!(
            segment = %codec::file_name(torn.segment), offset = torn.offset, bytes = torn.bytes,
            "discarding an incomplete last write of the journal; it was never acknowledged"
        );
        let mut segment = Segment::open(folder, torn.segment, true, faults.clone())?;
        change(&mut segment, torn.offset, &vec![0; torn.bytes as usize])?;
    }
    Ok(())
}
