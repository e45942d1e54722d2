//! Bodies of responses that are larger than one write: parts, some of them shared between responses, handed out in
//! bounded pieces, so that a connection never holds a second copy of the whole.

use actix_web::body::{BodySize, MessageBody};
use actors::budget::Reservation;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Maximum size of a piece of combined parts.
pub const PIECE_BYTES_MAX: usize = 160 << 10;
/// Smaller parts are combined; larger ones are written as they are.
const COMBINED_BYTES_MAX: usize = 16 << 10;
/// Maximum size of a piece of one part, which is written at once, and bytes after which a body yields to other connections of its
/// thread. Each write costs system calls and wakes the client: with writes of 160 KB, sending takes a third more.
const WRITE_BYTES_MAX: usize = 1 << 20;

/// A body of known length, made of parts.
pub(super) struct SegmentedBody {
    parts: VecDeque<Bytes>,
    size: u64,
    given_in_poll: usize,
    /// Released when the last piece has been taken or the connection ends.
    _held: Option<Reservation>,
}

impl SegmentedBody {
    /// A body of these parts, in order; `held` is released with it.
    pub fn new(parts: impl IntoIterator<Item = Bytes>, held: Option<Reservation>) -> Self {
        let parts: VecDeque<Bytes> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let size = parts.iter().map(|part| part.len() as u64).sum();
        Self { parts, size, given_in_poll: 0, _held: held }
    }

    /// The next bytes: a part of a large part, or small ones combined.
    fn next(&mut self) -> Option<Bytes> {
        let first = self.parts.front_mut()?;
        if first.len() > WRITE_BYTES_MAX {
            return Some(first.split_to(WRITE_BYTES_MAX));
        }
        let small = self.parts.iter().map(Bytes::len).take_while(|bytes| *bytes <= COMBINED_BYTES_MAX);
        let mut combined = 0;
        let count = small.take_while(|bytes| take_room(&mut combined, *bytes)).count();
        // A part alone is not copied.
        if count < 2 {
            return self.parts.pop_front();
        }
        let mut piece = BytesMut::with_capacity(combined);
        self.parts.drain(..count).for_each(|part| piece.extend_from_slice(&part));
        Some(piece.freeze())
    }
}

/// Whether a piece has room for so many more bytes, which are added to it then.
fn take_room(combined: &mut usize, bytes: usize) -> bool {
    let has_room = *combined + bytes <= PIECE_BYTES_MAX;
    *combined += if has_room { bytes } else { 0 };
    has_room
}

impl MessageBody for SegmentedBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.size)
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        if self.given_in_poll >= WRITE_BYTES_MAX {
            self.given_in_poll = 0;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let piece = self.next();
        self.given_in_poll += piece.as_ref().map_or(0, Bytes::len);
        Poll::Ready(piece.map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;
    use actors::budget::{ByteBudget, Holder, Purpose};
    use proptest::prelude::*;

    #[actix_web::test]
    async fn pieces_are_bounded_and_release_their_reservation() {
        let budget = ByteBudget::new(1 << 20, 1 << 20);
        let held = budget.reserve(Holder::Server, Purpose::Answer, 1 << 20).unwrap();
        let large = Bytes::from(vec![1; 3 << 20]);
        let small = vec![Bytes::from(vec![2; 900]); 400];
        let mut body = SegmentedBody::new(small.iter().chain([&large]).chain(&small).cloned(), Some(held));
        assert_eq!(body.size(), BodySize::Sized((3 << 20) + 2 * 400 * 900));
        let pieces: Vec<Bytes> = std::iter::from_fn(|| body.next()).collect();
        let combined = [182 * 900, 182 * 900, 36 * 900];
        let expected = [&combined[..], &[1 << 20; 3], &combined[..]].concat();
        assert_eq!(pieces.iter().map(Bytes::len).collect::<Vec<_>>(), expected);
        // A large part is not copied.
        assert!(std::ptr::eq(pieces[3].as_ptr(), large.as_ptr()));
        assert_eq!(budget.used_bytes(), 1 << 20);
        drop(body);
        assert_eq!(budget.used_bytes(), 0);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_between_pieces(lengths in prop::collection::vec(0usize..50_000, 0..20)) {
            let parts = lengths.iter().enumerate().map(|(n, length)| Bytes::from(vec![n as u8; *length]));
            let parts: Vec<Bytes> = parts.collect();
            let whole = parts.concat();
            let body = SegmentedBody::new(parts, None);
            let read = actix_rt::System::new().block_on(to_bytes(body)).unwrap();
            prop_assert!(read == whole);
        }
    }
}
