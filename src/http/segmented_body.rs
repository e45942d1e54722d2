//! Bodies of responses that are larger than one write: parts, some of them shared between responses, handed out in
//! bounded pieces, so that a connection never holds a second copy of the whole.

use actix_web::body::{BodySize, MessageBody};
use actors::budget::Reservation;
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Maximum size of a piece, which is written at once. Each write costs system calls and wakes the client.
pub const PIECE_BYTES_MAX: usize = 160 << 10;
/// Bytes after which a body yields to other connections of its thread.
const BYTES_PER_POLL: usize = 2 * PIECE_BYTES_MAX;

/// A body of known length, made of parts.
pub(super) struct SegmentedBody {
    parts: VecDeque<Bytes>,
    size: u64,
    /// Bytes that have not been handed out.
    left: u64,
    given_in_poll: usize,
    /// Released when the last piece has been taken or the connection ends.
    _held: Option<Reservation>,
}

impl SegmentedBody {
    /// A body of these parts, in order; `held` is released with it.
    pub fn new(parts: impl IntoIterator<Item = Bytes>, held: Option<Reservation>) -> Self {
        let parts: VecDeque<Bytes> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let size = parts.iter().map(|part| part.len() as u64).sum();
        Self { parts, size, left: size, given_in_poll: 0, _held: held }
    }

    fn next(&mut self) -> Option<Bytes> {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let piece = self.take(left.min(PIECE_BYTES_MAX))?;
        self.left -= piece.len() as u64;
        Some(piece)
    }

    /// The next bytes: a part of a large part, or small ones combined.
    fn take(&mut self, room: usize) -> Option<Bytes> {
        let first = self.parts.front_mut()?;
        if first.len() > room {
            return Some(first.split_to(room));
        }
        if first.len() >= room / 2 || self.parts.len() == 1 {
            return self.parts.pop_front();
        }
        let mut piece = BytesMut::with_capacity(room);
        while piece.len() < room
            && let Some(part) = self.parts.front_mut()
        {
            let room = room - piece.len();
            if part.len() > room {
                piece.extend_from_slice(&part.split_to(room));
            } else {
                piece.extend_from_slice(part);
                self.parts.pop_front();
            }
        }
        Some(piece.freeze())
    }
}

impl MessageBody for SegmentedBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.size)
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Infallible>>> {
        if self.given_in_poll >= BYTES_PER_POLL {
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
        let mut body =
            SegmentedBody::new([Bytes::from(vec![1; 1 << 20]), Bytes::from_static(b"end")], Some(held));
        assert_eq!(body.size(), BodySize::Sized((1 << 20) + 3));
        let largest = std::iter::from_fn(|| body.next()).map(|piece| piece.len()).max();
        assert_eq!(largest, Some(PIECE_BYTES_MAX));
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
