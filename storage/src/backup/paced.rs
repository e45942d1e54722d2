//! Reading for a backup beside a running server, which needs the same disk and cores.

use std::io::{self, Read};
use std::thread;
use std::time::{Duration, Instant};

/// After this many bytes a paced reader rests.
const PIECE_BYTES: usize = 256 * 1024;

/// The longest rest, so that one stall of the disk does not stop a backup.
const REST_MAX: Duration = Duration::from_millis(200);

/// Rests after each piece for as long as reading it and storing what was read took: half of the disk and of a core at most.
pub(super) struct Paced<R> {
    content: R,
    is_paced: bool,
    since: Instant,
    bytes: usize,
}

impl<R> Paced<R> {
    pub(super) fn new(content: R, is_paced: bool) -> Self {
        Self { content, is_paced, since: Instant::now(), bytes: 0 }
    }
}

impl<R: Read> Read for Paced<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        if self.is_paced && self.bytes >= PIECE_BYTES {
            thread::sleep(self.since.elapsed().min(REST_MAX));
            (self.since, self.bytes) = (Instant::now(), 0);
        }
        let count = self.content.read(piece)?;
        self.bytes += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_followed_by_rests() {
        for (is_paced, rests) in [(true, 3), (false, 0)] {
            let mut paced = Paced::new(io::repeat(7).take(4 * PIECE_BYTES as u64), is_paced);
            let (mut piece, begun, mut bytes) = (vec![0; PIECE_BYTES], Instant::now(), 0);
            loop {
                let count = paced.read(&mut piece).unwrap();
                bytes += count;
                if count == 0 {
                    break;
                }
                // What storing the piece takes.
                thread::sleep(Duration::from_millis(20));
            }
            assert_eq!(bytes, 4 * PIECE_BYTES);
            assert!(begun.elapsed() >= Duration::from_millis(20 * (4 + rests)));
        }
    }
}
