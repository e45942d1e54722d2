//! `multipart/form-data` that is already in memory: its parameters, one after the other.
//!
//! Parts with a file name are skipped here; endpoints that take files read their body as it comes (`http::upload`).

use crate::http::error::ApiError;

/// Longest boundary accepted, in bytes. RFC 2046 allows 70.
pub(super) const BOUNDARY_BYTES_MAX: usize = 200;

/// The answer to a body that does not follow its own boundary.
pub(in crate::http) fn malformed() -> ApiError {
    ApiError::bad_request("Malformed multipart body")
}

/// Calls `visit` with name and value of every part that is no file.
pub(super) fn each_field(
    body: &[u8],
    boundary: &str,
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), ApiError>,
) -> Result<(), ApiError> {
    let delimiter = format!("\r\n--{boundary}");
    let delimiter = delimiter.as_bytes();
    let mut rest = if body.starts_with(&delimiter[2..]) {
        &body[delimiter.len() - 2..]
    } else {
        after(body, delimiter).ok_or_else(malformed)?
    };
    // Here `rest` always stands right behind a delimiter.
    while !rest.starts_with(b"--") {
        let line_end = find(rest, b"\r\n").ok_or_else(malformed)?;
        if !rest[..line_end].iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return Err(malformed());
        }
        // Keeps the line end, so that a part without any header also ends in an empty line.
        let headers_end = find(&rest[line_end..], b"\r\n\r\n").ok_or_else(malformed)? + line_end;
        let content = &rest[headers_end + 4..];
        let content_end = find(content, delimiter).ok_or_else(malformed)?;
        match parse_disposition(&rest[line_end..headers_end])? {
            Part::Field(name) => visit(&name, &content[..content_end])?,
            Part::File { .. } => {}
        }
        rest = &content[content_end + delimiter.len()..];
    }
    Ok(())
}

/// What a part is, by its headers.
pub(in crate::http) enum Part {
    /// A parameter of this name.
    Field(Vec<u8>),
    /// A file; its name is empty where a form had a place for one and nobody chose any.
    File {
        /// The name of the file, as sent.
        file_name: Vec<u8>,
    },
}

/// The value of a header of a part.
pub(in crate::http) fn header<'h>(headers: &'h [u8], name: &str) -> Option<&'h [u8]> {
    headers.split(|byte| *byte == b'\n').find_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let is_it = line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes());
        is_it.then(|| line[colon + 1..].trim_ascii())
    })
}

/// Finds `Content-Disposition: form-data; name="…"` among the header lines of a part.
pub(in crate::http) fn parse_disposition(headers: &[u8]) -> Result<Part, ApiError> {
    let line = header(headers, "content-disposition").ok_or_else(malformed)?;
    let (mut name, mut file_name) = (None, None);
    let mut rest = line;
    while let Some(semicolon) = rest.iter().position(|byte| *byte == b';') {
        rest = rest[semicolon + 1..].trim_ascii_start();
        let Some(equals) = rest.iter().position(|byte| *byte == b'=') else { break };
        let key = rest[..equals].trim_ascii();
        let (value, taken) = parse_value(&rest[equals + 1..]);
        if key.eq_ignore_ascii_case(b"filename") || key.eq_ignore_ascii_case(b"filename*") {
            file_name = Some(value);
        } else if key.eq_ignore_ascii_case(b"name") {
            name = Some(value);
        }
        rest = &rest[equals + 1 + taken..];
    }
    match file_name {
        Some(file_name) => Ok(Part::File { file_name }),
        None => name.map(Part::Field).ok_or_else(malformed),
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

fn after<'a>(haystack: &'a [u8], needle: &[u8]) -> Option<&'a [u8]> {
    find(haystack, needle).map(|at| &haystack[at + needle.len()..])
}

/// Every needle here starts with a carriage return, which is rare in text: skip from one to the next.
pub(in crate::http) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + haystack[from..].iter().position(|byte| *byte == needle[0])?;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
}
