//! Buffers of a thread, which its connections use one after the other.

use bytes::BytesMut;
use std::cell::{Cell, RefCell};

/// Bytes that are read at a time.
const READ_BYTES: usize = 64 << 10;
/// A buffer that has grown beyond this is freed.
const KEPT_BYTES_MAX: usize = 64 << 10;
/// Room of a new buffer for a response.
const RESPONSE_BYTES: usize = 8 << 10;

thread_local! {
    static READ: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static RESPONSE: Cell<Option<BytesMut>> = const { Cell::new(None) };
}

/// Runs a function with the buffer for reading.
pub fn with_read_buffer<R>(run: impl FnOnce(&mut [u8]) -> R) -> R {
    READ.with_borrow_mut(|buffer| {
        buffer.resize(READ_BYTES, 0);
        run(buffer)
    })
}

/// An empty buffer for a response.
pub fn take_response_buffer() -> BytesMut {
    RESPONSE.take().unwrap_or_else(|| BytesMut::with_capacity(RESPONSE_BYTES))
}

/// Keeps a buffer whose bytes have been written for the next response.
pub fn give_response_buffer(mut buffer: BytesMut) {
    if (RESPONSE_BYTES..=KEPT_BYTES_MAX).contains(&buffer.capacity()) {
        buffer.clear();
        RESPONSE.set(Some(buffer));
    }
}
