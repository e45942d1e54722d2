//! The body of a request on its way from the connection to the handler.

use actix_http::error::PayloadError;
use bytes::Bytes;
use futures_util::Stream;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

/// Bytes of a body that wait for the handler before the connection stops reading.
const WAITING_BYTES_MAX: usize = 128 << 10;

/// What the connection and the handler share.
#[derive(Default)]
struct State {
    chunks: VecDeque<Bytes>,
    bytes: usize,
    end: Option<Result<(), PayloadError>>,
    /// Of the handler, which may wait in another task.
    reader: Option<Waker>,
    /// Of the connection, while it waits for room.
    writer: Option<Waker>,
}

/// The handler's side.
pub struct Body(Rc<RefCell<State>>);

/// The connection's side.
pub struct BodySender(Weak<RefCell<State>>);

/// A body that arrives in pieces.
pub fn channel() -> (BodySender, Body) {
    let state = Rc::new(RefCell::new(State::default()));
    (BodySender(Rc::downgrade(&state)), Body(state))
}

impl BodySender {
    /// Whether there is room for more. A body that the handler has dropped is read and discarded.
    pub fn has_room(&self, cx: &Context<'_>) -> bool {
        let Some(state) = self.0.upgrade() else { return true };
        let mut state = state.borrow_mut();
        let has_room = state.bytes < WAITING_BYTES_MAX;
        if !has_room {
            state.writer = Some(cx.waker().clone());
        }
        has_room
    }

    /// Adds bytes, and wakes a handler that waits for them.
    pub fn push(&self, chunk: Bytes) {
        self.change(|state| {
            state.bytes += memory(&chunk);
            state.chunks.push_back(chunk);
        });
    }

    /// Ends the body. Only the first end counts.
    pub fn end(&self, result: Result<(), PayloadError>) {
        self.change(|state| {
            state.end.get_or_insert(result);
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let Some(state) = self.0.upgrade() else { return };
        let reader = {
            let mut state = state.borrow_mut();
            change(&mut state);
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl Drop for BodySender {
    fn drop(&mut self) {
        self.end(Err(PayloadError::Incomplete(None)));
    }
}

impl Stream for Body {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.0.borrow_mut();
        if let Some(chunk) = state.chunks.pop_front() {
            state.bytes -= memory(&chunk);
            if let Some(writer) = state.writer.take() {
                writer.wake();
            }
            return Poll::Ready(Some(Ok(chunk)));
        }
        let Some(end) = state.end.take() else {
            state.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        // An error is given once.
        state.end = Some(Ok(()));
        Poll::Ready(end.err().map(Err))
    }
}

/// What a chunk counts: thousands of them may have one byte each.
fn memory(chunk: &Bytes) -> usize {
    chunk.len() + size_of::<Bytes>()
}

/// A body that has arrived with the head.
pub struct WholeBody(pub Option<Bytes>);

impl Stream for WholeBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}
