//! The bytes of the journal: pure functions between headers and arrays, with no files and no clock.
//!
//! A segment is a file of a fixed size, filled with zeros and synced before its first use:
//!
//! ```text
//! segment  = block 0: segment header, zeros │ group │ group │ ... │ zeros to the end
//! group    = header (48) │ records │ END (8) │ zeros to the next block of 4096
//! record   = header (40) │ payload
//! ```
//!
//! A group is what one commit wrote. It starts on a block of its own, so stored bytes are never written
//! again, and a write cut short by a crash leaves blocks, sectors or a tail of zeros, never anything else.
//! After a failed write or sync nothing more is written to that segment: the header of the next one records where it
//! ends, and later bytes are not part of the journal. The first group of a segment begins with a roster, the state of
//! every realm at that point: it links segments when older ones are trimmed away. All integers are little-endian.
//! Checksums are xxh3-64; those of groups are seeded with the journal's random number, so that no payload can pass for
//! a group.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The format of the segment files. A journal with another number is refused.
pub(crate) const FORMAT: u32 = 1;

/// Size of a block, in bytes: each group of frames begins on one.
pub(crate) const BLOCK_BYTES: u64 = 4096;
pub(crate) const SECTOR_BYTES: usize = 512;
pub(crate) const SEGMENT_HEADER_BYTES: usize = 56;
pub(crate) const GROUP_HEADER_BYTES: usize = 48;
pub(crate) const RECORD_HEADER_BYTES: usize = 40;
pub(crate) const ROSTER_ENTRY_BYTES: usize = 40;
/// Ends every group. It has no zero byte, so a group that is cut short anywhere is detected.
pub(crate) const GROUP_END: [u8; 8] = *b"\xE7MSGEND\xE7";

const SEGMENT_MAGIC: [u8; 8] = *b"\x89MSJRNL\n";
const GROUP_MAGIC: u32 = 0xE75A_6D31;
const RECORD_VERSION: u8 = 1;

/// The largest payload of one frame, in bytes (512 KiB). A larger one is refused with `LogError::TooLarge`.
pub const PAYLOAD_BYTES_MAX: usize = 512 * 1024;

/// A group takes no further frame once it has this many.
pub(crate) const GROUP_FRAMES_MAX: usize = 1024;
/// A group takes no further frame once its records have this many bytes.
pub(crate) const GROUP_FILL_BYTES: usize = 1024 * 1024;
/// The largest group on disk, its segment's roster aside.
pub(crate) const GROUP_BYTES_MAX: u64 =
    (GROUP_FILL_BYTES + RECORD_HEADER_BYTES + PAYLOAD_BYTES_MAX) as u64 + 2 * BLOCK_BYTES;

/// The end of a segment's file name.
pub(crate) const SEGMENT_SUFFIX: &str = ".seg";

/// The end of an archive's file name.
pub(crate) const ARCHIVE_SUFFIX: &str = ".arc";

/// The name of a segment's file.
pub(crate) fn file_name(number: u64) -> String {
    format!("{number:010}{SEGMENT_SUFFIX}")
}

/// The name of an archive's file.
pub(crate) fn archive_name(number: u64) -> String {
    format!("{number:010}{ARCHIVE_SUFFIX}")
}

/// The length of a group of `body_bytes` on disk, padded to whole blocks.
pub(crate) fn group_bytes(body_bytes: u64) -> u64 {
    (GROUP_HEADER_BYTES as u64 + body_bytes + GROUP_END.len() as u64).next_multiple_of(BLOCK_BYTES)
}

/// The header of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    /// The random number that all segments of one journal share.
    pub journal: u64,
    /// 1 for the first segment ever, then one more for each.
    pub number: u64,
    pub bytes: u64,
    /// Where the previous segment ends, in bytes: later bytes of it were abandoned after a failed write. 0 if nothing was
    /// abandoned.
    pub previous_end: u64,
}

/// Why a segment header was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderFault {
    Format(u32),
    Checksum,
}

impl SegmentHeader {
    pub(crate) fn encode(&self) -> [u8; SEGMENT_HEADER_BYTES] {
        let mut out = [0; SEGMENT_HEADER_BYTES];
        out[..8].copy_from_slice(&SEGMENT_MAGIC);
        out[8..12].copy_from_slice(&FORMAT.to_le_bytes());
        out[16..24].copy_from_slice(&self.journal.to_le_bytes());
        out[24..32].copy_from_slice(&self.number.to_le_bytes());
        out[32..40].copy_from_slice(&self.bytes.to_le_bytes());
        out[40..48].copy_from_slice(&self.previous_end.to_le_bytes());
        let checksum = xxh3_64(&out[..48]);
        out[48..].copy_from_slice(&checksum.to_le_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8; SEGMENT_HEADER_BYTES]) -> Result<Self, HeaderFault> {
        if bytes[..8] != SEGMENT_MAGIC {
            return Err(HeaderFault::Checksum);
        }
        // Before the checksum: another format may have its checksum in another place.
        match u32_at(bytes, 8) {
            FORMAT => {}
            other => return Err(HeaderFault::Format(other)),
        }
        if u64_at(bytes, 48) != xxh3_64(&bytes[..48]) {
            return Err(HeaderFault::Checksum);
        }
        Ok(Self {
            journal: u64_at(bytes, 16),
            number: u64_at(bytes, 24),
            bytes: u64_at(bytes, 32),
            previous_end: u64_at(bytes, 40),
        })
    }
}

/// The header of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GroupHeader {
    /// The segment this group was written to.
    pub segment: u64,
    /// 1 for the first group ever, then one more for each, across segments.
    pub group: u64,
    pub body_bytes: u32,
    pub records: u32,
    /// xxh3 of the body, seeded with the journal's number.
    pub body_checksum: u64,
}

impl GroupHeader {
    pub(crate) fn encode(&self, journal: u64) -> [u8; GROUP_HEADER_BYTES] {
        let mut out = [0; GROUP_HEADER_BYTES];
        out[..4].copy_from_slice(&GROUP_MAGIC.to_le_bytes());
        out[4] = RECORD_VERSION;
        out[8..16].copy_from_slice(&self.segment.to_le_bytes());
        out[16..24].copy_from_slice(&self.group.to_le_bytes());
        out[24..28].copy_from_slice(&self.body_bytes.to_le_bytes());
        out[28..32].copy_from_slice(&self.records.to_le_bytes());
        out[32..40].copy_from_slice(&self.body_checksum.to_le_bytes());
        let checksum = xxh3_64_with_seed(&out[..40], journal);
        out[40..].copy_from_slice(&checksum.to_le_bytes());
        out
    }

    /// The header at the start of `bytes`, if it is complete, valid and of this journal.
    pub(crate) fn decode(bytes: &[u8], journal: u64) -> Option<Self> {
        if bytes.len() < GROUP_HEADER_BYTES
            || u32_at(bytes, 0) != GROUP_MAGIC
            || u64_at(bytes, 40) != xxh3_64_with_seed(&bytes[..40], journal)
        {
            return None;
        }
        Some(Self {
            segment: u64_at(bytes, 8),
            group: u64_at(bytes, 16),
            body_bytes: u32_at(bytes, 24),
            records: u32_at(bytes, 28),
            body_checksum: u64_at(bytes, 32),
        })
    }
}

/// The checksum of a group's body.
pub(crate) fn body_checksum(body: &[u8], journal: u64) -> u64 {
    xxh3_64_with_seed(body, journal)
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordKind {
    Frame,
    /// The state of every realm, first in each segment.
    Roster,
    /// The frames of a realm before `sequence` are trimmed.
    Trim,
    /// A frame of which content was erased, only in archives: see [`Erased`].
    Erased,
}

impl RecordKind {
    /// Whether it is a frame, also one of which content was erased.
    pub(crate) fn is_frame(self) -> bool {
        match self {
            Self::Frame | Self::Erased => true,
            Self::Roster | Self::Trim => false,
        }
    }
}

/// The header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    pub kind: RecordKind,
    pub realm: u32,
    pub epoch: u64,
    pub sequence: u64,
    /// xxh3 over the chain checksum of the realm's previous frame, this header and the payload.
    pub chain: u64,
    pub payload_bytes: u32,
}

impl RecordHeader {
    pub(crate) fn encode(&self) -> [u8; RECORD_HEADER_BYTES] {
        let mut out = [0; RECORD_HEADER_BYTES];
        out[0] = match self.kind {
            RecordKind::Frame => 1,
            RecordKind::Roster => 2,
            RecordKind::Trim => 3,
            RecordKind::Erased => 4,
        };
        out[1] = RECORD_VERSION;
        out[4..8].copy_from_slice(&self.payload_bytes.to_le_bytes());
        out[8..12].copy_from_slice(&self.realm.to_le_bytes());
        out[16..24].copy_from_slice(&self.epoch.to_le_bytes());
        out[24..32].copy_from_slice(&self.sequence.to_le_bytes());
        out[32..].copy_from_slice(&self.chain.to_le_bytes());
        out
    }

    /// The header at the start of `bytes`, unless it is short, of an unknown kind or of an unknown version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < RECORD_HEADER_BYTES || bytes[1] != RECORD_VERSION {
            return None;
        }
        let kind = match bytes[0] {
            1 => RecordKind::Frame,
            2 => RecordKind::Roster,
            3 => RecordKind::Trim,
            4 => RecordKind::Erased,
            _ => return None,
        };
        Some(Self {
            kind,
            payload_bytes: u32_at(bytes, 4),
            realm: u32_at(bytes, 8),
            epoch: u64_at(bytes, 16),
            sequence: u64_at(bytes, 24),
            chain: u64_at(bytes, 32),
        })
    }

    /// The chain checksum of this record after one with the chain checksum `previous`; `self.chain` is ignored.
    pub(crate) fn link(mut self, previous: u64, payload: &[u8]) -> u64 {
        self.chain = previous;
        xxh3_64_with_seed(payload, xxh3_64(&self.encode()))
    }
}

/// The bytes before what is left of an erased frame's payload.
pub(crate) const ERASED_BYTES: usize = 16;

/// What an erased frame's record has before the rest of its payload. The chain in its header stays the one of the original, so
/// that the next frame still continues it; the seal covers everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Erased {
    /// xxh3 over the chain checksum of the frame before, the header, and what follows the seal.
    pub seal: u64,
    /// The checksum of the original payload, by which checkpoints name their newest frame.
    pub original: u64,
}

impl Erased {
    /// The parts of an erased frame's payload: this, and what is left of the payload.
    pub(crate) fn split(payload: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = payload.split_at_checked(ERASED_BYTES)?;
        Some((Self { seal: u64_at(head, 0), original: u64_at(head, 8) }, rest))
    }

    /// The payload of an erased frame. `header` is that of the record, with the original's chain.
    pub(crate) fn payload(header: RecordHeader, previous: u64, original: u64, rest: &[u8]) -> Vec<u8> {
        let mut payload = vec![0; 8];
        payload.extend_from_slice(&original.to_le_bytes());
        payload.extend_from_slice(rest);
        let seal = seal(header, previous, &payload[8..]);
        payload[..8].copy_from_slice(&seal.to_le_bytes());
        payload
    }
}

/// The seal of an erased frame after one with the chain checksum `previous`, over `sealed`: its payload without the seal.
pub(crate) fn seal(mut header: RecordHeader, previous: u64, sealed: &[u8]) -> u64 {
    let original = header.chain;
    header.chain = previous;
    xxh3_64_with_seed(sealed, xxh3_64_with_seed(&header.encode(), original))
}

/// The end of one realm's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// The greatest epoch seen.
    pub epoch: u64,
    /// The first sequence that was not trimmed.
    pub first: u64,
    /// The last sequence, 0 before the first frame.
    pub last: u64,
    /// The chain checksum of the last frame.
    pub chain: u64,
}

impl Default for Tail {
    fn default() -> Self {
        Self { epoch: 0, first: 1, last: 0, chain: 0 }
    }
}

/// Appends one roster entry to `out`.
pub(crate) fn encode_roster_entry(realm: u32, tail: &Tail, out: &mut Vec<u8>) {
    out.extend_from_slice(&u64::from(realm).to_le_bytes());
    for value in [tail.epoch, tail.first, tail.last, tail.chain] {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// The entries of a roster, or `None` when the payload ends within one.
pub(crate) fn decode_roster(payload: &[u8]) -> Option<Vec<(u32, Tail)>> {
    if !payload.len().is_multiple_of(ROSTER_ENTRY_BYTES) {
        return None;
    }
    let mut entries = Vec::with_capacity(payload.len() / ROSTER_ENTRY_BYTES);
    for entry in payload.chunks_exact(ROSTER_ENTRY_BYTES) {
        let realm = u32::try_from(u64_at(entry, 0)).ok()?;
        let tail = Tail {
            epoch: u64_at(entry, 8),
            first: u64_at(entry, 16),
            last: u64_at(entry, 24),
            chain: u64_at(entry, 32),
        };
        entries.push((realm, tail));
    }
    Some(entries)
}

/// Iterates over the records of a body; `None` at the end, or when a header or a payload is incomplete.
pub(crate) struct Records<'body> {
    body: &'body [u8],
    offset: usize,
}

impl<'body> Records<'body> {
    pub(crate) fn new(body: &'body [u8]) -> Self {
        Self { body, offset: 0 }
    }

    /// Whether every byte was consumed.
    pub(crate) fn is_done(&self) -> bool {
        self.offset == self.body.len()
    }

    /// The next record's header and the range of its payload in the body.
    pub(crate) fn take(&mut self) -> Option<(RecordHeader, std::ops::Range<usize>)> {
        let header = RecordHeader::decode(&self.body[self.offset..])?;
        let start = self.offset + RECORD_HEADER_BYTES;
        let end = start.checked_add(header.payload_bytes as usize)?;
        if end > self.body.len() {
            return None;
        }
        self.offset = end;
        Some((header, start..end))
    }
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut value = [0; 4];
    value.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(value)
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_record() -> impl Strategy<Value = RecordHeader> {
        let kind = prop_oneof![
            Just(RecordKind::Frame),
            Just(RecordKind::Roster),
            Just(RecordKind::Trim),
            Just(RecordKind::Erased)
        ];
        (kind, any::<u32>(), any::<u64>(), any::<u64>(), any::<u64>(), any::<u32>()).prop_map(
            |(kind, realm, epoch, sequence, chain, payload_bytes)| RecordHeader {
                kind,
                realm,
                epoch,
                sequence,
                chain,
                payload_bytes,
            },
        )
    }

    proptest! {
        #[test]
        fn header_roundtrip(
            journal: u64, number: u64, bytes: u64, previous_end: u64, body_bytes: u32, records: u32,
            body_checksum: u64, record in any_record(),
        ) {
            let segment = SegmentHeader { journal, number, bytes, previous_end };
            prop_assert_eq!(SegmentHeader::decode(&segment.encode()), Ok(segment));
            let group = GroupHeader { segment: number, group: bytes, body_bytes, records, body_checksum };
            prop_assert_eq!(GroupHeader::decode(&group.encode(journal), journal), Some(group));
            prop_assert_eq!(RecordHeader::decode(&record.encode()), Some(record));
        }

        #[test]
        fn changed_bit_is_detected(
            journal: u64, number: u64, bytes: u64, bit in 0..SEGMENT_HEADER_BYTES * 8,
            group_bit in 0..GROUP_HEADER_BYTES * 8,
        ) {
            let mut segment = SegmentHeader { journal, number, bytes, previous_end: number }.encode();
            segment[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(SegmentHeader::decode(&segment).is_err());
            let header =
                GroupHeader { segment: number, group: bytes, body_bytes: 1, records: 1, body_checksum: number };
            let mut group = header.encode(journal);
            group[group_bit / 8] ^= 1 << (group_bit % 8);
            prop_assert_eq!(GroupHeader::decode(&group, journal), None);
        }

        #[test]
        fn group_of_another_journal_is_rejected(journal: u64, other: u64) {
            prop_assume!(journal != other);
            let header = GroupHeader { segment: 1, group: 1, body_bytes: 1, records: 1, body_checksum: 7 };
            prop_assert_eq!(GroupHeader::decode(&header.encode(journal), other), None);
        }

        #[test]
        fn chain_checksum_covers_header_and_payload(
            record in any_record(), previous: u64, payload in proptest::collection::vec(any::<u8>(), 1..600),
            at: prop::sample::Index,
        ) {
            let chain = record.link(previous, &payload);
            prop_assert_ne!(chain, record.link(previous.wrapping_add(1), &payload));
            let next = RecordHeader { sequence: record.sequence.wrapping_add(1), ..record };
            prop_assert_ne!(chain, next.link(previous, &payload));
            let mut changed = payload.clone();
            changed[at.index(payload.len())] ^= 1;
            prop_assert_ne!(chain, record.link(previous, &changed));
        }

        #[test]
        fn roster_roundtrip(tails in proptest::collection::vec(any::<(u32, u64, u64, u64, u64)>(), 0..9)) {
            let mut bytes = Vec::new();
            let mut expected = Vec::new();
            for (realm, epoch, first, last, chain) in tails {
                let tail = Tail { epoch, first, last, chain };
                encode_roster_entry(realm, &tail, &mut bytes);
                expected.push((realm, tail));
            }
            prop_assert_eq!(decode_roster(&bytes), Some(expected));
        }

        #[test]
        fn decoding_arbitrary_bodies_never_panics(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            let mut records = Records::new(&body);
            while records.take().is_some() {}
            prop_assert!(records.offset <= body.len());
        }
    }

    #[test]
    fn golden_bytes_of_journal_format_1() {
        // These bytes are on disks: they change only together with FORMAT.
        let segment = SegmentHeader { journal: 7, number: 2, bytes: 4096, previous_end: 9 }.encode();
        assert_eq!(&segment[..12], b"\x89MSJRNL\n\x01\0\0\0");
        assert_eq!(segment[40..48], [9, 0, 0, 0, 0, 0, 0, 0]);
        let record = RecordHeader {
            kind: RecordKind::Frame,
            realm: 2,
            epoch: 3,
            sequence: 4,
            chain: 5,
            payload_bytes: 6,
        };
        let bytes = record.encode();
        assert_eq!(bytes[..16], [1, 1, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[16..], [3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(record.link(9, b"hello"), 10_432_583_225_281_900_628);
    }
}
