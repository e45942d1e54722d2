//! Readers of archives, which may be made to unpack to any size: one counts what was read, the other one fails beyond a limit.

use std::cell::Cell;
use std::io::{self, Read};

/// Counts the bytes that were read, for showing progress.
pub struct CountedReader<'c, R> {
    inner: R,
    count: &'c Cell<u64>,
}

impl<'c, R: Read> CountedReader<'c, R> {
    /// A reader that adds to `count` the bytes that were read from `inner`.
    pub fn new(inner: R, count: &'c Cell<u64>) -> Self {
        Self { inner, count }
    }
}

impl<R: Read> Read for CountedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.count.set(self.count.get() + bytes as u64);
        Ok(bytes)
    }
}

/// Fails beyond a number of bytes.
pub struct LimitedReader<R> {
    inner: R,
    left: u64,
    exceeded: &'static str,
}

impl<R: Read> LimitedReader<R> {
    /// A reader of at most `bytes_max` bytes; reading more fails with the text `exceeded`.
    pub fn new(inner: R, bytes_max: u64, exceeded: &'static str) -> Self {
        Self { inner, left: bytes_max, exceeded }
    }
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(bytes as u64).ok_or_else(|| too_large(self.exceeded))?;
        Ok(bytes)
    }
}

/// The error of what has a limit and exceeds it; its text is this server's own.
pub fn too_large(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_up_to_the_limit() {
        let count = Cell::new(0);
        let mut within = LimitedReader::new(CountedReader::new(&b"12345"[..], &count), 5, "too much");
        let mut text = String::new();
        within.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), count.get()), ("12345", 5));
        let mut beyond = LimitedReader::new(&b"12345"[..], 4, "too much");
        assert_eq!(beyond.read_to_string(&mut text).unwrap_err().to_string(), "too much");
    }
}
