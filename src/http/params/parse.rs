//! Parses the bytes of a query string and a body into names and values, decoded once into one buffer.
//!
//! Form-encoded and multipart bodies are read; any other body has no parameters, and is remembered as not read.

use super::multipart::{BOUNDARY_BYTES_MAX, Event, Multipart, Part, malformed};
use crate::http::error::ApiError;
use bytes::Bytes;
use memchr::{memchr, memchr_iter};
use serde::de::IgnoredAny;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

/// Maximum number of parameters of a request, query and body together.
const FIELDS_MAX: usize = 1000;
/// Bytes of a multipart body in memory that are copied at a time.
const CHUNK_BYTES: usize = 16 << 10;

/// The encoding of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyKind {
    Form,
    /// `multipart/form-data` with this boundary. Parts with a file name are no parameters.
    Multipart(String),
    /// `application/json`: read as empty, but for the names in it, which are reported as ignored.
    Json,
    /// None, or anything else: read as empty.
    Other,
}

impl fmt::Display for BodyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "form",
            Self::Multipart(_) => "multipart",
            Self::Json => "JSON",
            Self::Other => "other",
        })
    }
}

impl BodyKind {
    /// From the `Content-Type` header. Multipart without a usable boundary is an error.
    pub fn from_content_type(header: Option<&str>) -> Result<Self, ApiError> {
        let mut pieces = header.unwrap_or("").split(';');
        let kind = pieces.next().unwrap_or("").trim();
        if kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
            return Ok(Self::Form);
        }
        if kind.eq_ignore_ascii_case("application/json") {
            return Ok(Self::Json);
        }
        if !kind.eq_ignore_ascii_case("multipart/form-data") {
            return Ok(Self::Other);
        }
        for piece in pieces {
            if let Some((name, value)) = piece.split_once('=')
                && name.trim().eq_ignore_ascii_case("boundary")
            {
                let boundary = value.trim().trim_matches('"');
                if !boundary.is_empty() && boundary.len() <= BOUNDARY_BYTES_MAX {
                    return Ok(Self::Multipart(boundary.to_owned()));
                }
            }
        }
        Err(malformed())
    }
}

/// The parameters of one request, and which of them were read.
///
/// Body parameters follow those of the query, so that the last one of a name wins.
#[derive(Debug, Default)]
pub struct Fields {
    text: String,
    pairs: Vec<Pair>,
    /// Index in `pairs` of the first parameter of the body.
    body_from: usize,
    /// The body, if its encoding is not read.
    unread: Unread,
    /// The names that were asked for, which tests compare with the declarations.
    #[cfg(debug_assertions)]
    asked: std::cell::RefCell<Vec<String>>,
}

/// A body that was not read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Unread {
    is_there: bool,
    /// The names in it, if it is a JSON object.
    names: Vec<String>,
}

impl Unread {
    fn of(kind: &BodyKind, body: &[u8]) -> Self {
        match kind {
            BodyKind::Form | BodyKind::Multipart(_) => Self::default(),
            BodyKind::Other => Self { is_there: !body.is_empty(), names: Vec::new() },
            BodyKind::Json => match serde_json::from_slice::<Option<BTreeMap<String, IgnoredAny>>>(body) {
                Ok(object) => {
                    let names: Vec<String> =
                        object.unwrap_or_default().into_keys().take(FIELDS_MAX).collect();
                    Self { is_there: !names.is_empty(), names }
                }
                Err(_) => Self { is_there: !body.trim_ascii().is_empty(), names: Vec::new() },
            },
        }
    }
}

/// `text[start..value_start]` is the name, `text[value_start..end]` the value.
#[derive(Debug)]
struct Pair {
    start: usize,
    value_start: usize,
    end: usize,
    read: Cell<bool>,
}

impl Fields {
    /// Parses both sources. Fails on bytes that are not UTF-8, malformed multipart, and too many parameters.
    pub fn parse(query: &[u8], kind: &BodyKind, body: &[u8]) -> Result<Self, ApiError> {
        let mut builder = Builder {
            bytes: Vec::with_capacity(query.len() + body.len()),
            pairs: Vec::with_capacity(if query.is_empty() && body.is_empty() { 0 } else { 8 }),
        };
        builder.read_form(query)?;
        let body_from = builder.pairs.len();
        match kind {
            BodyKind::Form => builder.read_form(body)?,
            BodyKind::Multipart(boundary) => {
                builder.read_multipart(body, boundary)?;
            }
            BodyKind::Json | BodyKind::Other => {}
        }
        Ok(Self { unread: Unread::of(kind, body), ..builder.finish(body_from)? })
    }

    /// Whether there was a body in an encoding that is not read. An empty JSON object, which some clients always
    /// send, does not count.
    pub fn has_unread_body(&self) -> bool {
        self.unread.is_there
    }

    /// As `parse`, for a body that was parsed before: names and values of its parameters, in their order.
    pub(in crate::http) fn of_parts(query: &[u8], parts: &[(Vec<u8>, Vec<u8>)]) -> Result<Self, ApiError> {
        let mut builder = Builder { bytes: Vec::with_capacity(query.len()), pairs: Vec::new() };
        builder.read_form(query)?;
        let body_from = builder.pairs.len();
        parts.iter().try_for_each(|(name, value)| builder.push(name, value))?;
        builder.finish(body_from)
    }

    /// The effective value, if the parameter is given: the last one of that name. Marks all of that name as read.
    pub fn optional_str(&self, name: &str) -> Option<&str> {
        #[cfg(debug_assertions)]
        self.asked.borrow_mut().push(name.to_owned());
        let mut found = None;
        for pair in &self.pairs {
            if self.name(pair) == name {
                pair.read.set(true);
                found = Some(&self.text[pair.value_start..pair.end]);
            }
        }
        found
    }

    /// The names that were asked for until now, sent or not.
    #[cfg(debug_assertions)]
    pub fn asked(&self) -> std::cell::Ref<'_, Vec<String>> {
        self.asked.borrow()
    }

    /// The last value of that name in the body alone; not marked as read.
    pub fn in_body(&self, name: &str) -> Option<&str> {
        let pair = self.pairs[self.body_from..].iter().rev().find(|pair| self.name(pair) == name)?;
        Some(&self.text[pair.value_start..pair.end])
    }

    /// The rests of the names of parameters that begin with a prefix. Marks these as read.
    pub fn names_after(&self, prefix: &str) -> Vec<&str> {
        let found = self.pairs.iter().filter_map(|pair| {
            let rest = self.name(pair).strip_prefix(prefix)?;
            pair.read.set(true);
            Some(rest)
        });
        found.collect()
    }

    /// All names and values, in their order. Reads none of them.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.pairs.iter().map(|pair| (self.name(pair), &self.text[pair.value_start..pair.end]))
    }

    /// The names that were not read, sorted and without duplicates. `client` and `method` belong to every endpoint.
    pub fn ignored(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        names.extend(self.unread.names.iter().filter(|name| !is_common(name)).cloned());
        for pair in self.pairs.iter().filter(|pair| !pair.read.get()) {
            let name = self.name(pair);
            if !is_common(name) {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    fn name(&self, pair: &Pair) -> &str {
        &self.text[pair.start..pair.value_start]
    }
}

/// Parameters that every endpoint takes.
fn is_common(name: &str) -> bool {
    name == "client" || name == "method"
}

struct Builder {
    bytes: Vec<u8>,
    pairs: Vec<Pair>,
}

impl Builder {
    fn read_form(&mut self, form: &[u8]) -> Result<(), ApiError> {
        let mut rest = Some(form);
        while let Some(form) = rest {
            let (piece, after) = match memchr(b'&', form) {
                Some(end) => (&form[..end], Some(&form[end + 1..])),
                None => (form, None),
            };
            rest = after;
            if piece.is_empty() {
                continue;
            }
            let (name, value) = match memchr(b'=', piece) {
                Some(equals) => (&piece[..equals], &piece[equals + 1..]),
                None => (piece, &piece[piece.len()..]),
            };
            let start = self.bytes.len();
            decode_into(&mut self.bytes, name);
            let value_start = self.bytes.len();
            decode_into(&mut self.bytes, value);
            self.close(start, value_start)?;
        }
        Ok(())
    }

    /// Parts with a file name are skipped.
    fn read_multipart(&mut self, body: &[u8], boundary: &str) -> Result<(), ApiError> {
        let mut parts = Multipart::new(boundary, usize::MAX);
        let mut chunks = body.chunks(CHUNK_BYTES);
        let mut open = None;
        loop {
            match parts.next()? {
                Event::Incomplete => match chunks.next() {
                    Some(chunk) => parts.feed(Bytes::copy_from_slice(chunk)),
                    None => return parts.end_early(),
                },
                Event::Part(Part::Field(name)) => {
                    let start = self.bytes.len();
                    self.bytes.extend_from_slice(&name);
                    open = Some((start, self.bytes.len()));
                }
                Event::Part(Part::File { .. }) => open = None,
                Event::Content(piece) if open.is_some() => self.bytes.extend_from_slice(&piece),
                Event::Content(_) => {}
                Event::PartEnd => {
                    open.take().map_or(Ok(()), |(start, value_start)| self.close(start, value_start))?;
                }
                Event::End => return Ok(()),
            }
        }
    }

    fn push(&mut self, name: &[u8], value: &[u8]) -> Result<(), ApiError> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name);
        let value_start = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.close(start, value_start)
    }

    fn close(&mut self, start: usize, value_start: usize) -> Result<(), ApiError> {
        if self.pairs.len() == FIELDS_MAX {
            return Err(ApiError::bad_request(format!("Too many parameters (limit: {FIELDS_MAX})")));
        }
        self.pairs.push(Pair { start, value_start, end: self.bytes.len(), read: Cell::new(false) });
        Ok(())
    }

    /// One check for the whole buffer; a character must not span two parameters either.
    fn finish(self, body_from: usize) -> Result<Fields, ApiError> {
        let Self { bytes, pairs } = self;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return Err(not_utf8(error.as_bytes(), &pairs)),
        };
        for pair in &pairs {
            if !text.is_char_boundary(pair.value_start) || !text.is_char_boundary(pair.end) {
                return Err(not_utf8(text.as_bytes(), &pairs));
            }
        }
        Ok(Fields { text, pairs, body_from, ..Fields::default() })
    }
}

/// Names the first parameter whose bytes are not UTF-8.
fn not_utf8(bytes: &[u8], pairs: &[Pair]) -> ApiError {
    for pair in pairs {
        let Ok(name) = std::str::from_utf8(&bytes[pair.start..pair.value_start]) else { break };
        if std::str::from_utf8(&bytes[pair.value_start..pair.end]).is_err() {
            return ApiError::bad_request(format!("{name} is not valid UTF-8"));
        }
    }
    ApiError::bad_request("Parameter name is not valid UTF-8")
}

/// Decodes form encoding: `+` is a space, `%41` is `A`, a `%` without two hex digits is itself.
fn decode_into(out: &mut Vec<u8>, encoded: &[u8]) {
    let start = out.len();
    out.extend_from_slice(encoded);
    let decoded = &mut out[start..];
    // Many bytes at a time, while a loop that also decodes `%` takes one after another.
    for byte in decoded.iter_mut() {
        *byte = if *byte == b'+' { b' ' } else { *byte };
    }
    let Some(first) = memchr(b'%', encoded) else { return };
    let digit_at = |at: usize| encoded.get(at).and_then(|byte| hex_digit(*byte));
    let (mut end, mut copied) = (first, first);
    for at in memchr_iter(b'%', &encoded[first..]).map(|offset| first + offset) {
        // What is between two of them moves to the left. Digits may not begin with a `%`, so none of them was taken before.
        decoded.copy_within(copied..at, end);
        end += at - copied;
        copied = at;
        if let (Some(high), Some(low)) = (digit_at(at + 1), digit_at(at + 2)) {
            decoded[end] = high << 4 | low;
            end += 1;
            copied += 3;
        }
    }
    decoded.copy_within(copied.., end);
    end += encoded.len() - copied;
    out.truncate(start + end);
}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}
