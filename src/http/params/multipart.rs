//! `multipart/form-data`, taken apart as it arrives: by `parse` for parameters that are in memory, by `http::upload` for
//! bodies with files.

use crate::http::error::ApiError;
use bytes::{Buf, Bytes, BytesMut};

/// Longest boundary accepted, in bytes. RFC 2046 allows 70.
pub(super) const BOUNDARY_BYTES_MAX: usize = 200;

/// The error for a body that does not follow its boundary.
pub(in crate::http) fn malformed() -> ApiError {
    ApiError::bad_request("Malformed multipart body")
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

/// Takes a body apart as it arrives. Holds no more of it than was fed and not yet taken.
pub(in crate::http) struct Multipart {
    buffer: BytesMut,
    delimiter: Vec<u8>,
    headers_bytes_max: usize,
    is_in_content: bool,
    /// Whether nothing was fed yet.
    is_empty: bool,
}

impl Multipart {
    /// The preamble of a body is read like the content of a part that never began.
    pub fn new(boundary: &str, headers_bytes_max: usize) -> Self {
        // So that a delimiter at the very beginning is like any other.
        let buffer = BytesMut::from(&b"\r\n"[..]);
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        Self { buffer, delimiter, headers_bytes_max, is_in_content: true, is_empty: true }
    }

    /// Adds the next bytes of the body.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.is_empty &= bytes.is_empty();
        self.buffer.extend_from_slice(bytes);
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
        // Without a delimiter, the last bytes may be the beginning of one.
        let end = match find(&self.buffer, &self.delimiter) {
            Some(0) => {
                self.buffer.advance(self.delimiter.len());
                self.is_in_content = false;
                return Event::PartEnd;
            }
            Some(end) => end,
            None => (self.buffer.len() + 1).saturating_sub(self.delimiter.len()),
        };
        if end == 0 { Event::Incomplete } else { Event::Content(self.buffer.split_to(end).freeze()) }
    }

    fn next_headers(&mut self) -> Result<Event, ApiError> {
        if self.buffer.starts_with(b"--") {
            return Ok(Event::End);
        }
        let Some(end) = find(&self.buffer, b"\r\n\r\n") else {
            let is_too_long = self.buffer.len() > self.headers_bytes_max;
            return if is_too_long { Err(malformed()) } else { Ok(Event::Incomplete) };
        };
        let headers = self.buffer.split_to(end + 4);
        let line_end = find(&headers, b"\r\n").ok_or_else(malformed)?;
        if !headers[..line_end].iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return Err(malformed());
        }
        self.is_in_content = true;
        parse_headers(&headers[line_end..]).map(Event::Part)
    }
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

/// Every needle here begins with a carriage return, which is rare in text: skip from one to the next.
fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + haystack[from..].iter().position(|byte| *byte == needle[0])?;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
}
