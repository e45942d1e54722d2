//! The positions file of a journal: what reading its sealed segments would find, so that opening reads only the newest one.
//!
//! ```text
//! positions = magic (8) ‖ version (u32) ‖ 0 (u32) ‖ journal (u64) ‖ number of the next group (u64)
//!             ‖ successor, 0 for none (u64) ‖ tails ‖ oldest tails ‖ segments ‖ index ‖ checksum (u64)
//! tails     = count (u32) ‖ entries as in a roster (40 each)
//! segments  = count (u32), each: number (u64) ‖ count (u32) ‖ (realm (u32) ‖ last frame in it (u64))…
//! index     = count (u32), each: realm (u32) ‖ first (u64) ‖ last (u64) ‖ count (u32)
//!             ‖ (sequence (u64) ‖ segment (u64) ‖ offset (u64))…
//! ```
//!
//! It is derived and replaced as a whole whenever a segment is sealed. Without it, or when it does not match the segments,
//! everything is read as before. The roster of the first segment that is read must equal its tails.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::codec::{self, ROSTER_ENTRY_BYTES, Tail};
use super::index::{Index, IndexEntry, RealmIndex, Sealed};

const MAGIC: [u8; 8] = *b"\x89MSPOSN\n";
const VERSION: u32 = 1;
const FILE: &str = "positions";

/// The state of a journal at the end of its sealed segments.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    pub journal: u64,
    pub next_group: u64,
    pub successor: Option<u64>,
    pub tails: BTreeMap<u32, Tail>,
    /// The tails at the beginning of the oldest segment.
    pub oldest: BTreeMap<u32, Tail>,
    pub segments: VecDeque<Sealed>,
    pub index: Index,
}

/// What is encoded, borrowed from a scan or a writer.
pub(crate) struct View<'s> {
    pub journal: u64,
    pub next_group: u64,
    pub successor: Option<u64>,
    pub tails: &'s BTreeMap<u32, Tail>,
    pub oldest: &'s BTreeMap<u32, Tail>,
    pub segments: &'s VecDeque<Sealed>,
    /// The segment that is not sealed.
    pub active: u64,
    pub index: &'s Index,
}

impl View<'_> {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4096);
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&u64::from(VERSION).to_le_bytes());
        for number in [self.journal, self.next_group, self.successor.unwrap_or_default()] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        put_tails(&mut out, self.tails);
        put_tails(&mut out, self.oldest);
        let sealed: Vec<&Sealed> =
            self.segments.iter().filter(|segment| segment.number < self.active).collect();
        put_count(&mut out, sealed.len());
        for segment in sealed {
            out.extend_from_slice(&segment.number.to_le_bytes());
            put_count(&mut out, segment.last_frames.len());
            let frames: BTreeMap<&u32, &u64> = segment.last_frames.iter().collect();
            for (realm, last) in frames {
                out.extend_from_slice(&realm.to_le_bytes());
                out.extend_from_slice(&last.to_le_bytes());
            }
        }
        let realms: BTreeMap<&u32, &RealmIndex> = self.index.iter().collect();
        put_count(&mut out, realms.len());
        for (realm, index) in realms {
            out.extend_from_slice(&realm.to_le_bytes());
            out.extend_from_slice(&index.first.to_le_bytes());
            out.extend_from_slice(&index.last.to_le_bytes());
            put_count(&mut out, index.entries.len());
            for entry in &index.entries {
                for number in [entry.sequence, entry.segment, entry.offset] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
            }
        }
        let checksum = xxh3_64(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_tails(out: &mut Vec<u8>, tails: &BTreeMap<u32, Tail>) {
    put_count(out, tails.len());
    for (realm, tail) in tails {
        codec::encode_roster_entry(*realm, tail, out);
    }
}

/// The path of the file in a journal's folder.
fn path_of(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Reads the file; `None` when it is missing or not valid.
pub(crate) fn read(folder: &Path) -> Option<Positions> {
    let bytes = fs::read(path_of(folder)).ok()?;
    let found = decode(&bytes);
    if found.is_none() {
        tracing::warn!(journal = %folder.display(), "the positions of the journal are not valid; all of it is read");
    }
    found
}

/// Replaces the file. `sync` makes its content durable first.
pub(crate) fn write(folder: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    // Not `.new`, which is how unfinished segments end.
    let unfinished = folder.join("positions.tmp");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(bytes)?;
    if sync {
        file.sync_data()?;
    }
    fs::rename(&unfinished, path_of(folder))
}

/// Removes the file, because what it says does not match the segments.
pub(crate) fn remove(folder: &Path) {
    // Without it everything is read; with it as well, because it does not match.
    let _ = fs::remove_file(path_of(folder));
}

fn decode(bytes: &[u8]) -> Option<Positions> {
    let (content, checksum) = bytes.split_last_chunk::<8>()?;
    if u64::from_le_bytes(*checksum) != xxh3_64(content) {
        return None;
    }
    let mut rest = content.strip_prefix(&MAGIC)?;
    if take_u64(&mut rest)? != u64::from(VERSION) {
        return None;
    }
    let mut found = Positions {
        journal: take_u64(&mut rest)?,
        next_group: take_u64(&mut rest)?,
        successor: Some(take_u64(&mut rest)?).filter(|number| *number > 0),
        tails: take_tails(&mut rest)?,
        oldest: take_tails(&mut rest)?,
        ..Positions::default()
    };
    for _ in 0..take_u32(&mut rest)? {
        let number = take_u64(&mut rest)?;
        let mut last_frames = HashMap::new();
        for _ in 0..take_u32(&mut rest)? {
            last_frames.insert(take_u32(&mut rest)?, take_u64(&mut rest)?);
        }
        found.segments.push_back(Sealed { number, last_frames });
    }
    for _ in 0..take_u32(&mut rest)? {
        let realm = take_u32(&mut rest)?;
        let (first, last) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
        let mut entries = VecDeque::new();
        for _ in 0..take_u32(&mut rest)? {
            let (sequence, segment) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
            entries.push_back(IndexEntry { sequence, segment, offset: take_u64(&mut rest)? });
        }
        found.index.insert(realm, RealmIndex { first, last, entries });
    }
    (rest.is_empty() && !found.segments.is_empty()).then_some(found)
}

fn take_u32(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u32::from_le_bytes(*bytes))
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (bytes, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_le_bytes(*bytes))
}

fn take_tails(rest: &mut &[u8]) -> Option<BTreeMap<u32, Tail>> {
    let count = take_u32(rest)? as usize;
    let (entries, after) = rest.split_at_checked(count.checked_mul(ROSTER_ENTRY_BYTES)?)?;
    *rest = after;
    Some(codec::decode_roster(entries)?.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_roundtrip_and_damage() {
        let tails = BTreeMap::from([(3, Tail { epoch: 1, first: 1, last: 9, chain: 7 })]);
        let mut index = Index::default();
        (1..=9).for_each(|sequence| index.note(3, sequence, 1 + sequence / 6, sequence * 4096));
        let sealed = |number, last| Sealed { number, last_frames: HashMap::from([(3, last)]) };
        let segments = VecDeque::from([sealed(1, 5), sealed(2, 9), sealed(3, 12)]);
        let oldest = BTreeMap::new();
        let view = View {
            journal: 77,
            next_group: 10,
            successor: Some(2),
            tails: &tails,
            oldest: &oldest,
            segments: &segments,
            active: 3,
            index: &index,
        };
        let bytes = view.encode();
        let found = decode(&bytes).unwrap();
        assert_eq!((found.journal, found.next_group, found.successor), (77, 10, Some(2)));
        assert_eq!((found.tails, found.segments.len()), (tails.clone(), 2));
        assert_eq!(found.segments[1].last_frames, HashMap::from([(3, 9)]));
        assert_eq!(found.index.get(3).entries, index.get(3).entries);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            assert!(decode(&damaged).is_none(), "byte {at}");
            assert!(decode(&bytes[..at]).is_none(), "cut at {at}");
        }
    }
}
