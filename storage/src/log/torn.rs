//! Whether the end of a journal is what a crash leaves of its last group, or damage.

use super::codec::{self, BLOCK_BYTES, GROUP_END, GROUP_HEADER_BYTES, GroupHeader, SECTOR_BYTES};
use super::error::{Damage, LogError};
use super::segment::{self, Segment};

/// Whether `remains`, everything from `offset` to the last byte of the segment that is not zero, is a group that was cut
/// short: number `expected`, with at most `bytes_max` bytes. It is known to be incomplete.
pub(super) fn check_torn(
    segment: &Segment,
    offset: u64,
    mut remains: Vec<u8>,
    expected: Option<u64>,
    bytes_max: u64,
) -> Result<(), LogError> {
    let number = segment.header.number;
    let journal = segment.header.journal;
    let refuse = |what: &str| Err(Damage::at(number, offset, what).into());
    let Some(header) = GroupHeader::decode(&remains, journal) else {
        let has_later_group = remains
            .chunks(BLOCK_BYTES as usize)
            .skip(1)
            .any(|block| GroupHeader::decode(block, journal).is_some());
        if has_later_group {
            return refuse("a group is unreadable, though a later one was written");
        }
        if remains.len() as u64 > bytes_max {
            return refuse("more bytes than one group can have follow the last group");
        }
        // The header lies in one sector: it is complete, or cut short with nothing after it, or missing.
        let is_cut = remains.len() <= GROUP_HEADER_BYTES
            || segment::is_zero(&remains[..SECTOR_BYTES.min(remains.len())]);
        return if is_cut { Ok(()) } else { refuse("the header of a group fails its checksum") };
    };
    let group_bytes = codec::group_bytes(u64::from(header.body_bytes));
    if header.segment != number || expected.is_some_and(|group| group != header.group) {
        return refuse("a group is in the wrong place");
    }
    if offset + group_bytes > segment.header.bytes {
        return refuse("a group is longer than its segment");
    }
    if remains.len() as u64 > group_bytes {
        return refuse("a group fails its checksum, though a later one was written");
    }
    let end = GROUP_HEADER_BYTES + header.body_bytes as usize + GROUP_END.len();
    if remains.len() > end {
        return refuse("unexpected bytes follow a group");
    }
    remains.resize(end, 0);
    let mark = &remains[end - GROUP_END.len()..];
    let matching = mark.iter().zip(GROUP_END).take_while(|(byte, expected)| **byte == *expected).count();
    let is_end_cut = matching < GROUP_END.len() && segment::is_zero(&mark[matching..]);
    let has_empty_sector = remains.chunks(SECTOR_BYTES).any(segment::is_zero);
    if is_end_cut || has_empty_sector {
        return Ok(());
    }
    refuse("a group fails its checksum, and not because of an interrupted write")
}

/// Whether the group at `offset`, which is unreadable, was written as a whole. Of one that was being written, a sector is still
/// zero: also in a copy, because a group is only ever written into zeros.
pub(super) fn is_written(segment: &Segment, offset: u64) -> Result<bool, LogError> {
    let first = segment.read(offset, SECTOR_BYTES as u64)?;
    if segment::is_zero(&first) {
        return Ok(false);
    }
    let Some(header) = GroupHeader::decode(&first, segment.header.journal) else { return Ok(true) };
    let bytes = (GROUP_HEADER_BYTES + header.body_bytes as usize + GROUP_END.len()) as u64;
    if offset + bytes > segment.header.bytes {
        return Ok(true);
    }
    let group = segment.read(offset, bytes)?;
    let is_end_missing = segment::is_zero(&group[group.len() - GROUP_END.len()..]);
    Ok(!is_end_missing && !group.chunks(SECTOR_BYTES).any(segment::is_zero))
}
