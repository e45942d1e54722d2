//! Parses as little of a reply as a load generator needs: status, body length, and whether the connection stays open.
//! Bodies are framed by `Content-Length` or chunked; a body that ends with the connection is an error.

use std::time::Duration;

use super::redirect::is_redirect;
use super::{HttpError, retry_after};
use crate::text::one_line;

/// Headers of most replies, and of any.
const HEADERS_MOST: usize = 64;
const HEADERS_MAX: usize = 1_024;
/// Of a request above a rate limit.
const TOO_MANY: u16 = 429;
/// Characters of the address that a redirect leads to.
const LOCATION_CHARS_MAX: usize = 300;

/// The head of a reply.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of status line and headers, including the empty line.
    pub length: usize,
    pub status: u16,
    pub framing: Framing,
    /// The server will close the connection after this reply.
    pub closes: bool,
    /// How long the server asks to wait before the next request; read only with status 429.
    pub retry_after: Option<Duration>,
    /// Where a redirect leads; read only with the statuses of one.
    pub location: Option<String>,
}

impl Head {
    /// Whether the reply is still to come.
    pub fn is_interim(&self) -> bool {
        matches!(self.status, 100 | 102..=199)
    }
}

/// How the length of a body is determined.
#[derive(Debug, PartialEq, Eq)]
pub enum Framing {
    Length(usize),
    Chunked,
}

/// Parses the head of a reply; `None` when more bytes are needed.
pub fn parse_head(bytes: &[u8]) -> Result<Option<Head>, HttpError> {
    let parsed = match parse_headers(bytes, &mut [httparse::EMPTY_HEADER; HEADERS_MOST]) {
        Err(httparse::Error::TooManyHeaders) => {
            parse_headers(bytes, &mut vec![httparse::EMPTY_HEADER; HEADERS_MAX])
        }
        parsed => parsed,
    };
    parsed.map_err(|error| HttpError::Malformed(error.to_string()))?.transpose()
}

/// The head, if all of it is there; the error inside is about its values.
fn parse_headers<'a>(
    bytes: &'a [u8],
    headers: &mut [httparse::Header<'a>],
) -> Result<Option<Result<Head, HttpError>>, httparse::Error> {
    let mut response = httparse::Response::new(headers);
    let httparse::Status::Complete(length) = response.parse(bytes)? else { return Ok(None) };
    Ok(Some(read_head(&response, length)))
}

fn read_head(response: &httparse::Response<'_, '_>, length: usize) -> Result<Head, HttpError> {
    let status = response.code.unwrap_or(0);
    let mut framing = None;
    let mut closes = response.version == Some(0);
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            framing = framing.or(Some(Framing::Length(parse_length(header.value)?)));
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if header.value.eq_ignore_ascii_case(b"chunked") {
                framing = Some(Framing::Chunked);
            }
        } else if header.name.eq_ignore_ascii_case("connection") {
            closes = header.value.eq_ignore_ascii_case(b"close");
        }
    }
    let retry_after = if status == TOO_MANY { find_retry_after(response.headers) } else { None };
    let location = if is_redirect(status) { find_location(response.headers) } else { None };
    let bodiless = matches!(status, 100..=199 | 204 | 304);
    let framing = match framing {
        _ if bodiless => Framing::Length(0),
        Some(framing) => framing,
        None if is_redirect(status) => {
            // What it says is in its head, so its body, which ends with the connection, is not read.
            closes = true;
            Framing::Length(0)
        }
        None => return Err(HttpError::Malformed("the body has no stated length".to_owned())),
    };
    Ok(Head { length, status, framing, closes, retry_after, location })
}

fn find_location(headers: &[httparse::Header<'_>]) -> Option<String> {
    let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case("location"))?;
    Some(one_line(&String::from_utf8_lossy(header.value), LOCATION_CHARS_MAX))
}

fn find_retry_after(headers: &[httparse::Header<'_>]) -> Option<Duration> {
    let value = |name: &str| {
        headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    };
    retry_after::parse(value("retry-after")?, value("date"))
}

fn parse_length(value: &[u8]) -> Result<usize, HttpError> {
    std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .ok_or_else(|| HttpError::Malformed("Content-Length is not a number".to_owned()))
}

/// Looks for the end of a chunked body that starts at `start`; `None` when more bytes are needed.
/// Returns the position after the last chunk.
pub fn find_chunks_end(bytes: &[u8], start: usize) -> Result<Option<usize>, HttpError> {
    let mut position = start;
    loop {
        let Some((size, data)) = parse_chunk_size(bytes, position)? else { return Ok(None) };
        let Some(end) = data.checked_add(size).and_then(|end| end.checked_add(2)) else {
            return Err(HttpError::Malformed("chunk size".to_owned()));
        };
        if size == 0 {
            return Ok(find_trailers_end(bytes, data));
        }
        if end > bytes.len() {
            return Ok(None);
        }
        if &bytes[end - 2..end] != b"\r\n" {
            return Err(HttpError::Malformed("chunk without its end".to_owned()));
        }
        position = end;
    }
}

/// Looks for the empty line after the last chunk, and after the trailers if there are some.
fn find_trailers_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut line = start;
    loop {
        let end = line + bytes[line..].windows(2).position(|pair| pair == b"\r\n")?;
        if end == line {
            return Some(end + 2);
        }
        line = end + 2;
    }
}

/// Moves the data of a complete chunked body together, to `start`. Returns its length.
pub fn join_chunks(bytes: &mut [u8], start: usize) -> Result<usize, HttpError> {
    let mut written = start;
    let mut position = start;
    while let Some((size, data)) = parse_chunk_size(bytes, position)? {
        if size == 0 {
            break;
        }
        bytes.copy_within(data..data + size, written);
        written += size;
        position = data + size + 2;
    }
    Ok(written - start)
}

/// The size of the chunk at `position` and where its data starts.
fn parse_chunk_size(bytes: &[u8], position: usize) -> Result<Option<(usize, usize)>, HttpError> {
    match httparse::parse_chunk_size(&bytes[position..]) {
        Ok(httparse::Status::Complete((used, size))) => {
            let size = usize::try_from(size).map_err(|_| HttpError::Malformed("chunk size".to_owned()))?;
            Ok(Some((size, position + used)))
        }
        Ok(httparse::Status::Partial) => Ok(None),
        Err(_) => Err(HttpError::Malformed("chunk size".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_gives_status_and_length() {
        let bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\nX: y\r\n\r\nhello";
        let head = parse_head(bytes).unwrap().unwrap();
        let (length, framing) = (bytes.len() - 5, Framing::Length(12));
        assert_eq!(
            head,
            Head { length, status: 200, framing, closes: false, retry_after: None, location: None }
        );
    }

    #[test]
    fn a_server_can_ask_to_wait() {
        let waits = |status: u16, value: &str| {
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nRetry-After: {value}\r\n\r\n");
            parse_head(head.as_bytes()).unwrap().unwrap().retry_after
        };
        assert_eq!(waits(429, "5"), Some(Duration::from_secs(5)));
        let dated = "Wed, 21 Oct 2026 07:28:09 GMT\r\nDate: Wed, 21 Oct 2026 07:28:00 GMT";
        assert_eq!(waits(429, dated), Some(Duration::from_secs(9)));
        assert_eq!(waits(429, "soon"), None);
        assert_eq!(waits(200, "5"), None);
    }

    #[test]
    fn redirect_says_where_it_leads() {
        let parsed = |text: &str| {
            let head = parse_head(text.as_bytes()).unwrap().unwrap();
            (head.location, head.framing, head.closes)
        };
        let moved = "HTTP/1.1 301 Moved\r\nLocation: https://x/y\r\nContent-Length: 5\r\n\r\nmoved";
        assert_eq!(parsed(moved), (Some("https://x/y".to_owned()), Framing::Length(5), false));
        let unbounded = "HTTP/1.1 302 Found\r\nlocation: /y\x07\r\n\r\n<html>";
        assert!(parse_head(unbounded.as_bytes()).is_err(), "a control character");
        let unbounded = "HTTP/1.1 302 Found\r\nlocation: /y\r\n\r\n<html>";
        assert_eq!(parsed(unbounded), (Some("/y".to_owned()), Framing::Length(0), true));
        let found = "HTTP/1.1 200 OK\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(parsed(found).0, None, "it is no redirect");
    }

    #[test]
    fn many_headers_are_read() {
        let head = |count: usize| {
            let headers = "X: y\r\n".repeat(count - 1);
            parse_head(format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 7\r\n\r\n").as_bytes())
        };
        for count in [HEADERS_MOST, HEADERS_MOST + 1, HEADERS_MAX] {
            assert_eq!(head(count).unwrap().unwrap().framing, Framing::Length(7));
        }
        assert!(head(HEADERS_MAX + 1).is_err());
    }

    #[test]
    fn incomplete_head_needs_more_bytes() {
        let bytes = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";
        for cut in 0..bytes.len() {
            assert_eq!(parse_head(&bytes[..cut]).unwrap(), None, "cut at {cut}");
        }
        let head = parse_head(bytes).unwrap().unwrap();
        assert_eq!((head.status, head.closes), (400, true));
    }

    #[test]
    fn a_body_without_a_length_is_refused() {
        assert!(parse_head(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(parse_head(b"HTTP/1.1 200 OK\r\nContent-Length: twelve\r\n\r\n").is_err());
        let empty = parse_head(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap().unwrap();
        assert_eq!(empty.framing, Framing::Length(0));
    }

    #[test]
    fn chunks_are_joined_in_place() {
        let mut bytes = b"head4\r\nwiki\r\n6;x=y\r\npedia \r\nB\r\nin \r\nchunks\r\n0\r\n\r\nnext".to_vec();
        let whole = bytes.len() - 4;
        for cut in 4..whole {
            assert_eq!(find_chunks_end(&bytes[..cut], 4).unwrap(), None, "cut at {cut}");
        }
        assert_eq!(find_chunks_end(&bytes, 4).unwrap(), Some(whole));
        let length = join_chunks(&mut bytes, 4).unwrap();
        assert_eq!(&bytes[4..4 + length], b"wikipedia in \r\nchunks");
    }

    #[test]
    fn trailers_are_skipped() {
        let mut bytes = b"2\r\nab\r\n0\r\nExpires: never\r\nX: y\r\n\r\nnext".to_vec();
        let whole = bytes.len() - 4;
        for cut in 0..whole {
            assert_eq!(find_chunks_end(&bytes[..cut], 0).unwrap(), None, "cut at {cut}");
        }
        assert_eq!(find_chunks_end(&bytes, 0).unwrap(), Some(whole));
        assert_eq!(join_chunks(&mut bytes, 0).unwrap(), 2);
    }

    #[test]
    fn broken_chunks_are_refused() {
        assert!(find_chunks_end(b"zz\r\nab\r\n", 0).is_err());
        assert!(find_chunks_end(b"2\r\nabcd\r\n", 0).is_err());
        assert!(find_chunks_end(b"ffffffffffffffff\r\nab", 0).is_err());
    }
}
