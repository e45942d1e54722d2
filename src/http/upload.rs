//! A body that holds a file, read as it comes: parameters into memory, the file into memory as long as it is short and
//! then into a temporary one, so that many slow uploads hold little.
//!
//! Who asks is known before a byte of the body is read.

use super::body::{DISCARDED_BYTES_MAX, broken_off, read_body, too_slow};
use super::call::{Call, FromCall};
use super::error::ApiError;
use super::params::{BodyKind, Fields, multipart};
use actix_web::http::header;
use actix_web::web::{self, Payload};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use multipart::{Part, find, malformed, parse_disposition};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::time::Duration;

/// Bytes of a file that are kept in memory.
const MEMORY_BYTES_MAX: usize = 256 << 10;
/// Bytes of the headers of a part.
const HEADERS_BYTES_MAX: usize = 16 << 10;
/// Parts of one body.
const PARTS_MAX: usize = 1000;

/// A body yet to be read. For routes with `Body::Stream`.
pub struct Upload {
    payload: Payload,
    kind: Result<BodyKind, ApiError>,
    query: Vec<u8>,
    fields_bytes_max: usize,
    time_max: Duration,
}

impl FromCall for Upload {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        let payload = call.payload.take().ok_or_else(ApiError::internal)?;
        let kind = BodyKind::from_content_type(call.header(header::CONTENT_TYPE));
        let query = call.request.query_string().as_bytes().to_vec();
        let settings = &call.app.config.http;
        let fields_bytes_max = settings.body_bytes_max;
        let time_max = Duration::from_secs(settings.body_secs_max);
        Ok(Self { payload, kind, query, fields_bytes_max, time_max })
    }
}

/// What a body held.
pub struct Form {
    /// The parameters, of the query too.
    pub fields: Fields,
    /// How many files there were.
    pub file_count: usize,
    /// The first of them.
    pub file: Option<UploadedFile>,
}

/// A file that was sent.
#[derive(Debug)]
pub struct UploadedFile {
    /// What it is called where it comes from.
    pub name: String,
    /// What it is said to be, such as `image/png`.
    pub content_type: Option<String>,
    /// How long it was, in bytes. What is behind the bound was not kept.
    pub size: u64,
    content: Spool,
}

impl Upload {
    /// Reads all of it. Of a file that is longer than `file_bytes_max` only the length is known afterwards.
    ///
    /// # Errors
    /// 413 for parameters past `http.body_bytes_max` and for bodies that do not end, 408 past `http.body_secs_max`, 400
    /// for what is malformed or breaks off.
    pub async fn read(self, file_bytes_max: u64) -> Result<Form, ApiError> {
        let time_max = self.time_max;
        tokio::time::timeout(time_max, self.read_all(file_bytes_max))
            .await
            .unwrap_or_else(|_| Err(too_slow()))
    }

    async fn read_all(self, file_bytes_max: u64) -> Result<Form, ApiError> {
        let Self { payload, kind, query, fields_bytes_max, time_max } = self;
        let boundary = match kind? {
            BodyKind::Multipart(boundary) => boundary,
            kind => {
                let body = read_body(payload, fields_bytes_max, time_max).await?;
                let fields = Fields::parse(&query, &kind, &body)?;
                return Ok(Form { fields, file_count: 0, file: None });
            }
        };
        let delimiter = format!("\r\n--{boundary}").into_bytes();
        let read_bytes_max = file_bytes_max + fields_bytes_max as u64 + DISCARDED_BYTES_MAX as u64;
        let mut parts = Parts::new(payload, delimiter, read_bytes_max);
        let mut sent = Sent { fields: Vec::new(), bytes: 0, file_count: 0, file: None };
        let mut count = 0;
        while let Some(headers) = parts.next_headers().await? {
            count += 1;
            if count > PARTS_MAX {
                return Err(malformed());
            }
            match parse_disposition(&headers)? {
                Part::Field(name) => sent.take_field(name, &mut parts, fields_bytes_max).await?,
                // A place for a file where nobody chose one.
                Part::File { file_name } if file_name.is_empty() => parts.skip_content().await?,
                Part::File { file_name } => {
                    sent.take_file(file_name, &headers, &mut parts, file_bytes_max).await?;
                }
            }
        }
        let fields = Fields::of_parts(&query, &sent.fields)?;
        Ok(Form { fields, file_count: sent.file_count, file: sent.file })
    }
}

/// What has come so far.
struct Sent {
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
    file_count: usize,
    file: Option<UploadedFile>,
}

impl Sent {
    async fn take_field(
        &mut self,
        name: Vec<u8>,
        parts: &mut Parts,
        bytes_max: usize,
    ) -> Result<(), ApiError> {
        let mut value = Vec::new();
        self.bytes += name.len();
        while let Some(piece) = parts.next_piece().await? {
            self.bytes += piece.len();
            if self.bytes > bytes_max {
                return Err(ApiError::body_too_large(bytes_max));
            }
            value.extend_from_slice(&piece);
        }
        self.fields.push((name, value));
        Ok(())
    }

    async fn take_file(
        &mut self,
        file_name: Vec<u8>,
        headers: &[u8],
        parts: &mut Parts,
        bytes_max: u64,
    ) -> Result<(), ApiError> {
        self.file_count += 1;
        if self.file.is_some() {
            return parts.skip_content().await;
        }
        let content_type = multipart::header(headers, "content-type");
        let content_type = content_type.and_then(|value| std::str::from_utf8(value).ok()).map(str::to_owned);
        let (mut size, mut content) = (0, Spool::default());
        while let Some(piece) = parts.next_piece().await? {
            size += piece.len() as u64;
            match size <= bytes_max {
                true => content = content.write(&piece).await?,
                false => content = Spool::default(),
            }
        }
        let name = String::from_utf8_lossy(&file_name).into_owned();
        self.file = Some(UploadedFile { name, content_type, size, content });
        Ok(())
    }
}

impl UploadedFile {
    /// What it is: as it was said, else by the end of its name.
    pub fn declared_type(&self) -> Option<&str> {
        let said = self.content_type.as_deref().and_then(|said| said.split(';').next()).map(str::trim);
        said.filter(|said| !said.is_empty() && *said != "application/octet-stream").or_else(|| {
            let (_, extension) = self.name.rsplit_once('.')?;
            image::ImageFormat::from_extension(extension).map(|format| format.to_mime_type())
        })
    }

    /// All of it, in memory. Only for files whose size is known to be bounded.
    pub async fn into_bytes(self) -> Result<Bytes, ApiError> {
        match self.content {
            Spool::Memory(bytes) => Ok(bytes.into()),
            Spool::File { mut file, pending } => {
                blocking(move || {
                    file.write_all(&pending)?;
                    file.rewind()?;
                    let mut bytes = Vec::new();
                    file.read_to_end(&mut bytes)?;
                    Ok(bytes.into())
                })
                .await
            }
        }
    }
}

/// Bytes on their way: in memory while they are few, then in a file without a name.
#[derive(Debug)]
enum Spool {
    Memory(Vec<u8>),
    File { file: File, pending: Vec<u8> },
}

impl Default for Spool {
    fn default() -> Self {
        Self::Memory(Vec::new())
    }
}

impl Spool {
    async fn write(self, piece: &[u8]) -> Result<Self, ApiError> {
        let (file, mut pending) = match self {
            Self::Memory(bytes) => (None, bytes),
            Self::File { file, pending } => (Some(file), pending),
        };
        pending.extend_from_slice(piece);
        if pending.len() <= MEMORY_BYTES_MAX {
            return Ok(match file {
                None => Self::Memory(pending),
                Some(file) => Self::File { file, pending },
            });
        }
        blocking(move || {
            let mut file = file.map_or_else(tempfile::tempfile, Ok)?;
            file.write_all(&pending)?;
            pending.clear();
            Ok(Self::File { file, pending })
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, ApiError> {
    let done = web::block(work).await.map_err(|_| ApiError::internal())?;
    done.map_err(|error| {
        tracing::error!(%error, "an upload cannot be kept for a moment");
        ApiError::unavailable("The server cannot store or read its data at the moment")
    })
}

/// The parts of a multipart body, one after the other, as they come.
struct Parts {
    payload: Payload,
    delimiter: Vec<u8>,
    buffer: BytesMut,
    /// The delimiter behind the current content was seen.
    is_at_end: bool,
    bytes_left: u64,
}

impl Parts {
    /// What stands before the first delimiter is content that nobody wants.
    fn new(payload: Payload, delimiter: Vec<u8>, read_bytes_max: u64) -> Self {
        // So that a delimiter at the very beginning is like any other.
        let buffer = BytesMut::from(&b"\r\n"[..]);
        Self { payload, delimiter, buffer, is_at_end: false, bytes_left: read_bytes_max }
    }

    /// The headers of the next part; none at the end of the body.
    async fn next_headers(&mut self) -> Result<Option<Vec<u8>>, ApiError> {
        self.skip_content().await?;
        while self.buffer.len() < 2 {
            self.more().await?;
        }
        if self.buffer.starts_with(b"--") {
            return Ok(None);
        }
        let end = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
            if self.buffer.len() > HEADERS_BYTES_MAX {
                return Err(malformed());
            }
            self.more().await?;
        };
        let headers = self.buffer.split_to(end + 4);
        let line_end = find(&headers, b"\r\n").ok_or_else(malformed)?;
        if !headers[..line_end].iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            return Err(malformed());
        }
        self.is_at_end = false;
        Ok(Some(headers[line_end..].to_vec()))
    }

    /// The next bytes of the current content; none at its end.
    async fn next_piece(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            if self.is_at_end {
                return Ok(None);
            }
            if let Some(end) = find(&self.buffer, &self.delimiter) {
                let piece = self.buffer.split_to(end).freeze();
                let _ = self.buffer.split_to(self.delimiter.len());
                self.is_at_end = true;
                return Ok((!piece.is_empty()).then_some(piece));
            }
            // The last bytes may be the beginning of a delimiter.
            let safe = (self.buffer.len() + 1).saturating_sub(self.delimiter.len());
            if safe > 0 {
                return Ok(Some(self.buffer.split_to(safe).freeze()));
            }
            self.more().await?;
        }
    }

    async fn skip_content(&mut self) -> Result<(), ApiError> {
        while self.next_piece().await?.is_some() {}
        Ok(())
    }

    async fn more(&mut self) -> Result<(), ApiError> {
        let chunk = self.payload.next().await.ok_or_else(malformed)?.map_err(broken_off)?;
        let length = chunk.len() as u64;
        let too_large = || ApiError::body_too_large(usize::try_from(length).unwrap_or(usize::MAX));
        self.bytes_left = self.bytes_left.checked_sub(length).ok_or_else(too_large)?;
        self.buffer.extend_from_slice(&chunk);
        Ok(())
    }
}
