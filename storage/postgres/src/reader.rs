//! Reading the frames of a realm, a few megabytes at a time, each compared with the chain.

use crate::append_queue::chained;
use crate::queries::{Param, Queries};
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use storage::log::{FrameBytes, LogError};

/// Frames that are read at once: few at first, because many readers need only the first one, then more and more.
const FRAMES_FIRST: i64 = 16;
const FRAMES_GROWTH: i64 = 4;
const FRAMES_MAX: i64 = 4096;
/// Bytes that are read at once, about.
const BYTES_MAX: i64 = 4 * 1024 * 1024;
/// How long reading may be interrupted by a failover.
pub(crate) const READ_PATIENCE: Duration = Duration::from_secs(40);

/// The next frames, at least one, until their sizes are `$4` bytes.
const FRAMES: &str = "
SELECT seq, chain, frame FROM (
    SELECT seq, chain, frame, sum(octet_length(frame)) OVER (ORDER BY seq) - octet_length(frame) AS before
    FROM (SELECT seq, chain, frame FROM millstream.realm_log
          WHERE realm = $1 AND seq >= $2 AND seq <= $3 ORDER BY seq LIMIT $5) AS found) AS sized
WHERE before < $4 ORDER BY seq";

const CHAIN: &str = "SELECT chain FROM millstream.realm_log WHERE realm = $1 AND seq = $2";

const FIRST: &str = "SELECT first FROM millstream.realm_head WHERE realm = $1";

/// The frames of one realm.
pub(crate) struct Reader {
    queries: Queries,
    realm: u32,
    next: u64,
    last: u64,
    /// The chain before the next frame; none if that frame was trimmed.
    chain: Option<u64>,
    found: VecDeque<(u64, u64, Bytes)>,
    /// How many frames are read at once next.
    count: i64,
}

impl Reader {
    pub(crate) fn new(queries: Queries, realm: u32, (next, last): (u64, u64)) -> Result<Self, LogError> {
        let chain = match next {
            1 => Some(0),
            _ => {
                let rows = queries.run(
                    CHAIN,
                    params([i64::from(realm), (next - 1).cast_signed()]),
                    READ_PATIENCE,
                )?;
                rows.first().map(|row| row.get::<_, i64>(0).cast_unsigned())
            }
        };
        Ok(Self { queries, realm, next, last, chain, found: VecDeque::new(), count: FRAMES_FIRST })
    }

    fn fetch(&mut self) -> Result<(), LogError> {
        let of =
            [i64::from(self.realm), self.next.cast_signed(), self.last.cast_signed(), BYTES_MAX, self.count];
        self.count = (self.count * FRAMES_GROWTH).min(FRAMES_MAX);
        for row in self.queries.run(FRAMES, params(of), READ_PATIENCE)? {
            let (sequence, chain): (i64, i64) = (row.get(0), row.get(1));
            let frame = Bytes::copy_from_slice(row.get(2));
            self.found.push_back((sequence.cast_unsigned(), chain.cast_unsigned(), frame));
        }
        Ok(())
    }

    fn damage(&self, what: &str) -> LogError {
        LogError::Unavailable(Arc::from(format!(
            "the log in the database is damaged: frame {} of realm {} {what}; restore a backup of the database",
            self.next, self.realm
        )))
    }

    /// Why the next frame is not there: the owner may have trimmed it meanwhile.
    fn missing(&self) -> Result<LogError, LogError> {
        let rows = self.queries.run(FIRST, params([i64::from(self.realm)]), READ_PATIENCE)?;
        let first = rows.first().map_or(1, |row| row.get::<_, i64>(0).cast_unsigned());
        let (realm, last, asked) = (self.realm, self.last, self.next);
        Ok(match asked < first {
            true => LogError::OutOfRange { realm, first, last, asked },
            false => self.damage("is missing"),
        })
    }

    fn read(&mut self) -> Result<FrameBytes, LogError> {
        if self.found.is_empty() {
            self.fetch()?;
        }
        let found = self.found.pop_front().filter(|(sequence, ..)| *sequence == self.next);
        let Some((sequence, chain, payload)) = found else { return Err(self.missing()?) };
        if self.chain.is_some_and(|before| chained(before, &payload) != chain) {
            return Err(self.damage("does not match its checksum"));
        }
        (self.next, self.chain) = (sequence + 1, Some(chain));
        Ok(FrameBytes { realm: self.realm, sequence, payload, original: None })
    }
}

impl Iterator for Reader {
    type Item = Result<FrameBytes, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next > self.last {
            return None;
        }
        let read = self.read();
        if read.is_err() {
            // Nothing comes after an error.
            self.next = self.last + 1;
        }
        Some(read)
    }
}

/// Numbers as parameters of a statement.
pub(crate) fn params<const N: usize>(numbers: [i64; N]) -> Vec<Param> {
    numbers.into_iter().map(|number| Box::new(number) as Param).collect()
}
