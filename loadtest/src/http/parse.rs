//! Parses as little of a reply as a load generator needs: status, body length, and whether the connection stays open.
//! Bodies are framed by `Content-Length` or chunked; a body that ends with the connection is an error.

use std::time::Duration;

use super::HttpError;

const HEADERS_MAX: usize = 64;
/// Longest time that a server may ask to wait, in seconds: a day. A longer one becomes this.
const RETRY_AFTER_MAX: f64 = 86_400.0;

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
}

/// How the length of a body is determined.
#[derive(Debug, PartialEq, Eq)]
pub enum Framing {
    Length(usize),
    Chunked,
}

/// Parses the head of a reply; `None` when more bytes are needed.
pub fn parse_head(bytes: &[u8]) -> Result<Option<Head>, HttpError> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response.parse(bytes).map_err(|error| HttpError::Malformed(error.to_string()))?;
    let httparse::Status::Complete(length) = parsed else { return Ok(None) };
    let status = response.code.unwrap_or(0);
    let mut framing = None;
    let mut closes = response.version == Some(0);
    let mut retry_after = None;
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            framing = framing.or(Some(Framing::Length(parse_length(header.value)?)));
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if header.value.eq_ignore_ascii_case(b"chunked") {
                framing = Some(Framing::Chunked);
            }
        } else if header.name.eq_ignore_ascii_case("connection") {
            closes = header.value.eq_ignore_ascii_case(b"close");
        } else if status == 429 && header.name.eq_ignore_ascii_case("retry-after") {
            let secs = std::str::from_utf8(header.value).ok().and_then(|text| text.trim().parse().ok());
            retry_after = secs.and_then(parse_retry_after);
        }
    }
    let bodiless = matches!(status, 100..=199 | 204 | 304);
    let framing = match framing {
        _ if bodiless => Framing::Length(0),
        Some(framing) => framing,
        None => return Err(HttpError::Malformed("the body has no stated length".to_owned())),
    };
    Ok(Some(Head { length, status, framing, closes, retry_after }))
}

/// A time to wait in seconds, a day at most; none that is negative.
pub fn parse_retry_after(secs: f64) -> Option<Duration> {
    (secs >= 0.0).then(|| Duration::from_secs_f64(secs.min(RETRY_AFTER_MAX)))
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
        if end > bytes.len() {
            return Ok(None);
        }
        if &bytes[end - 2..end] != b"\r\n" {
            return Err(HttpError::Malformed("chunk without its end".to_owned()));
        }
        if size == 0 {
            return Ok(Some(end));
        }
        position = end;
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
        assert_eq!(head, Head { length, status: 200, framing, closes: false, retry_after: None });
    }

    #[test]
    fn a_server_can_ask_to_wait() {
        let waits = |status: u16, value: &str| {
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nRetry-After: {value}\r\n\r\n");
            parse_head(head.as_bytes()).unwrap().unwrap().retry_after
        };
        assert_eq!(waits(429, "5"), Some(Duration::from_secs(5)));
        assert_eq!(waits(429, "0.25"), Some(Duration::from_millis(250)));
        for endless in ["1e9", "99999999999999999999", "inf"] {
            assert_eq!(waits(429, endless), Some(Duration::from_secs(86_400)), "{endless}");
        }
        for other in ["-1", "NaN", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(waits(429, other), None, "{other}");
        }
        assert_eq!(waits(200, "5"), None);
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
    fn broken_chunks_are_refused() {
        assert!(find_chunks_end(b"zz\r\nab\r\n", 0).is_err());
        assert!(find_chunks_end(b"2\r\nabcd\r\n", 0).is_err());
        assert!(find_chunks_end(b"ffffffffffffffff\r\nab", 0).is_err());
    }
}
