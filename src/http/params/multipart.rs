//! `multipart/form-data`, taken apart as it arrives: by `parse` for parameters that are in memory, by `http::upload` for
//! bodies with files.

use crate::http::error::ApiError;
use bytes::{Buf, Bytes, BytesMut};
use memchr::memmem::{self, Finder};

/// Longest boundary accepted, in bytes. RFC 2046 allows 70.
pub(super) const BOUNDARY_BYTES_MAX: usize = 200;
/// Maximum size of the headers of a part of a body with a file.
pub(in crate::http) const HEADERS_BYTES_MAX: usize = 16 << 10;
/// Maximum number of parts of a body with a file.
const PARTS_MAX: usize = 1000;
/// Ends the headers of a part.
const HEADERS_END: &[u8] = b"\r\n\r\n";

/// The error for a body that does not follow its boundary.
pub(in crate::http) fn malformed() -> ApiError {
    ApiError::bad_request("Malformed multipart body")
}

/// Refuses a part beyond the maximum of a body with a file. `count` includes it.
pub(in crate::http) fn check_part_count(count: usize) -> Result<(), ApiError> {
    match count <= PARTS_MAX {
        true => Ok(()),
        false => Err(ApiError::bad_request(format!("Too many parts (maximum {PARTS_MAX})."))),
    }
}

/// What a part is, by its headers.
pub(in crate::http) enum Part {
    Field(Vec<u8>),
    /// A file; its name is empty where a form had a place for one and none was chosen.
    File {
        /// The name of the file, as sent.
        file_name: Vec<u8>,
        content_type: Option<String>,
    },
}

/// The next piece of a body.
pub(in crate::http) enum Event {
    /// More bytes are needed: [`Multipart::feed`].
    Incomplete,
    Part(Part),
    /// Some of the content of the part that began last; before the first part, the preamble.
    Content(Bytes),
    PartEnd,
    End,
}

/// Takes a body apart as it arrives. Holds no more of it than was fed and not yet taken, and copies only what is divided
/// between two feeds.
pub(in crate::http) struct Multipart {
    /// What was fed last and not taken yet.
    chunk: Bytes,
    /// Incomplete headers, or content that may be the beginning of a delimiter; before `chunk`, which is then empty.
    carry: BytesMut,
    delimiter: Finder<'static>,
    headers_bytes_max: usize,
    is_in_content: bool,
    /// Whether nothing was fed yet.
    is_empty: bool,
}

impl Multipart {
    /// The preamble of a body is read like the content of a part that never began.
    pub fn new(boundary: &str, headers_bytes_max: usize) -> Self {
        // So that a delimiter at the very beginning is like any other.
        let (chunk, carry) = (Bytes::new(), BytesMut::from(&b"\r\n"[..]));
        let delimiter = Finder::new(&format!("\r\n--{boundary}")).into_owned();
        Self { chunk, carry, delimiter, headers_bytes_max, is_in_content: true, is_empty: true }
    }

    /// Adds the next bytes of the body.
    pub fn feed(&mut self, bytes: Bytes) {
        self.is_empty &= bytes.is_empty();
        self.carry.extend_from_slice(&std::mem::take(&mut self.chunk));
        if self.carry.is_empty() {
            self.chunk = bytes;
            return;
        }
        self.carry.extend_from_slice(&bytes);
        if self.is_in_content {
            self.chunk = self.carry.split().freeze();
        }
    }

    /// Ends a body in which more bytes were expected. Clients send an empty body for a form without fields; every other
    /// body that ends early is refused.
    pub fn end_early(&self) -> Result<(), ApiError> {
        if self.is_empty { Ok(()) } else { Err(malformed()) }
    }

    /// The next event. Fails for a body that does not follow its boundary, and for headers that are too long.
    pub fn next(&mut self) -> Result<Event, ApiError> {
        if self.is_in_content { Ok(self.next_content()) } else { self.next_headers() }
    }

    fn next_content(&mut self) -> Event {
        let end = match self.delimiter.find(&self.chunk) {
            Some(0) => {
                self.chunk.advance(self.delimiter.needle().len());
                self.is_in_content = false;
                return Event::PartEnd;
            }
            Some(end) => end,
            None => self.chunk.len() - begun_delimiter(&self.chunk, self.delimiter.needle()),
        };
        let content = self.chunk.split_to(end);
        if content.is_empty() {
            self.carry.extend_from_slice(&std::mem::take(&mut self.chunk));
            return Event::Incomplete;
        }
        Event::Content(content)
    }

    fn next_headers(&mut self) -> Result<Event, ApiError> {
        // What was fed may end with the delimiter.
        if self.carry.is_empty() && self.chunk.is_empty() {
            return Ok(Event::Incomplete);
        }
        if self.carry.is_empty() && memmem::find(&self.chunk, HEADERS_END).is_none() {
            self.carry.extend_from_slice(&std::mem::take(&mut self.chunk));
        }
        if self.carry.is_empty() {
            return if self.chunk.starts_with(b"--") { Ok(Event::End) } else { self.take_headers() };
        }
        if self.carry.starts_with(b"--") {
            return Ok(Event::End);
        }
        if memmem::find(&self.carry, HEADERS_END).is_none() {
            let is_too_long = self.carry.len() > self.headers_bytes_max;
            return if is_too_long { Err(malformed()) } else { Ok(Event::Incomplete) };
        }
        self.chunk = self.carry.split().freeze();
        self.take_headers()
    }

    /// Takes complete headers from the chunk.
    fn take_headers(&mut self) -> Result<Event, ApiError> {
        let end = memmem::find(&self.chunk, HEADERS_END).ok_or_else(malformed)?;
        let headers = self.chunk.split_to(end + HEADERS_END.len());
        let line_end = memmem::find(&headers, b"\r\n").ok_or_else(malformed)?;
        if !headers[..line_end].iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return Err(malformed());
        }
        self.is_in_content = true;
        parse_headers(&headers[line_end..]).map(Event::Part)
    }
}

/// The length of the longest end of `bytes` with which a delimiter could begin.
fn begun_delimiter(bytes: &[u8], delimiter: &[u8]) -> usize {
    let last = &bytes[bytes.len().saturating_sub(delimiter.len() - 1)..];
    let begins = |at: &usize| delimiter.starts_with(&last[*at..]);
    (0..last.len()).find(begins).map_or(0, |at| last.len() - at)
}

/// The value of a header of a part.
fn header<'h>(headers: &'h [u8], name: &str) -> Option<&'h [u8]> {
    headers.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let is_it = line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes());
        is_it.then(|| line[colon + 1..].trim_ascii())
    })
}

/// Reads `Content-Disposition: form-data; name="…"` and the type of a file.
fn parse_headers(headers: &[u8]) -> Result<Part, ApiError> {
    let line = header(headers, "content-disposition").ok_or_else(malformed)?;
    let (mut name, mut file_name, mut extended_name) = (None, None, None);
    let mut rest = line;
    while let Some(semicolon) = rest.iter().position(|byte| *byte == b';') {
        rest = rest[semicolon + 1..].trim_ascii_start();
        let Some(equals) = rest.iter().position(|byte| *byte == b'=') else { break };
        let key = rest[..equals].trim_ascii();
        let (value, taken) = parse_value(&rest[equals + 1..]);
        if key.eq_ignore_ascii_case(b"filename*") {
            extended_name = Some(decode_extended(&value));
        } else if key.eq_ignore_ascii_case(b"filename") {
            file_name = Some(value);
        } else if key.eq_ignore_ascii_case(b"name") {
            name = Some(value);
        }
        rest = &rest[equals + 1 + taken..];
    }
    match extended_name.or(file_name) {
        Some(file_name) => {
            let content_type = header(headers, "content-type");
            let content_type = content_type.and_then(|value| std::str::from_utf8(value).ok());
            Ok(Part::File { file_name, content_type: content_type.map(str::to_owned) })
        }
        None => name.map(Part::Field).ok_or_else(malformed),
    }
}

/// A value with its encoding and language before it, such as `utf-8''%C3%A4.txt` (RFC 8187); others are taken as they are.
fn decode_extended(value: &[u8]) -> Vec<u8> {
    let mut parts = value.splitn(3, |byte| *byte == b'\'');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(_), Some(encoded)) => percent_encoding::percent_decode(encoded).collect(),
        _ => value.to_vec(),
    }
}

/// A quoted or bare value, and how many bytes it took.
fn parse_value(text: &[u8]) -> (Vec<u8>, usize) {
    if text.first() != Some(&b'"') {
        let end = text.iter().position(|byte| *byte == b';').unwrap_or(text.len());
        return (text[..end].trim_ascii().to_vec(), end);
    }
    let mut value = Vec::new();
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'"' => return (value, at + 1),
            b'\\' if matches!(text.get(at + 1), Some(b'"' | b'\\')) => {
                value.push(text[at + 1]);
                at += 2;
            }
            byte => {
                value.push(byte);
                at += 1;
            }
        }
    }
    (value, text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names and contents of the fields of a body that is fed in these pieces.
    fn fields(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut parser = Multipart::new("xyz", HEADERS_BYTES_MAX);
        let (mut pieces, mut found) = (pieces.iter(), Vec::new());
        loop {
            match parser.next().unwrap() {
                Event::Incomplete => parser.feed(Bytes::copy_from_slice(pieces.next().expect("all was fed"))),
                Event::Part(Part::Field(name)) => found.push((text(&name), String::new())),
                Event::Part(Part::File { .. }) => panic!("a file in {pieces:?}"),
                Event::Content(piece) => {
                    if let Some((_, content)) = found.last_mut() {
                        content.push_str(&text(&piece));
                    }
                }
                Event::PartEnd => {}
                Event::End => return found,
            }
        }
    }

    #[test]
    fn body_may_be_divided_anywhere() {
        let part = |name: &str| {
            format!("--xyz\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{name}\r\n-\r\n")
        };
        let body = format!("{}{}--xyz--\r\n", part("a"), part("b"));
        let wanted = ["a", "b"].map(|name| (name.to_owned(), format!("{name}\r\n-")));
        for at in 0..body.len() {
            let (first, second) = body.as_bytes().split_at(at);
            assert_eq!(fields(&[first, second]), wanted, "divided at {at}");
        }
        let bytes: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
        assert_eq!(fields(&bytes), wanted);
    }
}
