//! A body with a file, read as a stream: parameters into memory, the file into memory and beyond a limit into a
//! temporary file, so that many slow uploads need little memory.
//!
//! The caller is authenticated before the body is read.

use super::body::{BodyShare, DISCARDED_BYTES_MAX, RequestBody, broken_off, too_slow};
use super::call::{Call, FromCall};
use super::error::ApiError;
use super::params::multipart::{Event, HEADERS_BYTES_MAX, Multipart, Part, check_part_count};
use super::params::{BodyKind, Fields};
use super::recorded_body::RecordedBody;
use actix_web::http::header;
use actix_web::web;
use bytes::Bytes;
use futures_util::StreamExt;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::time::Duration;

/// Bytes of a file that are buffered in memory.
const MEMORY_BYTES_MAX: usize = 256 << 10;

/// A body that has not been read yet. For routes with `Body::Stream`.
pub struct Upload {
    payload: RequestBody,
    kind: Result<BodyKind, ApiError>,
    query: Vec<u8>,
    fields_bytes_max: usize,
    time_max: Duration,
    share: BodyShare,
    record: RecordedBody,
}

impl FromCall for Upload {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let payload = call.body.take().ok_or_else(ApiError::internal)?;
        let kind = BodyKind::from_content_type(call.header(header::CONTENT_TYPE));
        let query = call.request.query_string().as_bytes().to_vec();
        let settings = &call.app.config.http;
        let fields_bytes_max = settings.body_bytes_max;
        let time_max = Duration::from_secs(settings.body_secs_max);
        let share = BodyShare::new(&call.app, call.caller.as_ref(), call.address);
        let record = RecordedBody::of(&call.app, call.request);
        Ok(Self { payload, kind, query, fields_bytes_max, time_max, share, record })
    }
}

/// The content of a body.
pub struct Form {
    /// The parameters, those of the query included.
    pub fields: Fields,
    pub file_count: usize,
    pub file: Option<UploadedFile>,
    record: RecordedBody,
}

impl Form {
    /// The parameters that were not read, which a development server records also if the call fails.
    pub fn ignored(&self) -> Vec<String> {
        self.record.ignored(&self.fields)
    }
}

/// An uploaded file.
#[derive(Debug)]
pub struct UploadedFile {
    /// Its name on the client's machine.
    pub name: String,
    /// Its declared type, such as `image/png`.
    pub content_type: Option<String>,
    /// Its size in bytes. Bytes beyond the limit were not kept.
    pub size: u64,
    content: Spool,
}

impl Upload {
    /// Reads the complete body. Of a file larger than `file_bytes_max` only the size is known afterwards. Status 413
    /// for parameters beyond `http.body_bytes_max` and for endless bodies, 408 after `http.body_secs_max`, 400 for
    /// malformed or incomplete bodies, 429 or 503 if there is no memory for it.
    pub async fn read(self, file_bytes_max: u64) -> Result<Form, ApiError> {
        let time_max = self.time_max;
        tokio::time::timeout(time_max, self.read_all(file_bytes_max))
            .await
            .unwrap_or_else(|_| Err(too_slow()))
    }

    async fn read_all(self, file_bytes_max: u64) -> Result<Form, ApiError> {
        let Self { payload, kind, query, fields_bytes_max, time_max, mut share, record } = self;
        let boundary = match kind? {
            BodyKind::Multipart(boundary) => boundary,
            kind @ (BodyKind::Form | BodyKind::Json | BodyKind::Other) => {
                let body = payload.read(fields_bytes_max, time_max, &mut share).await?;
                let fields = Fields::parse(&query, &kind, &body)?;
                record.set_parameters(&fields);
                return Ok(Form { fields, file_count: 0, file: None, record });
            }
        };
        let bytes_left = file_bytes_max + fields_bytes_max as u64 + DISCARDED_BYTES_MAX as u64;
        let mut source = Source { payload, bytes_left };
        // The part of a file that is in memory at a time.
        share.hold(MEMORY_BYTES_MAX)?;
        let mut received = Received::new(share, fields_bytes_max, file_bytes_max, &record);
        let mut parts = Multipart::new(&boundary, HEADERS_BYTES_MAX);
        loop {
            match parts.next()? {
                Event::Incomplete => match source.next().await? {
                    Some(chunk) => parts.feed(chunk),
                    None => break parts.end_early()?,
                },
                Event::Part(part) => received.begin(part)?,
                Event::Content(piece) => received.add(&piece).await?,
                Event::PartEnd => received.end_part(),
                Event::End => break,
            }
        }
        let fields = Fields::of_parts(&query, &received.fields)?;
        record.set_parameters(&fields);
        let (file_count, file) = (received.file_count, received.file);
        Ok(Form { fields, file_count, file, record })
    }
}

/// A body and how many more bytes of it are read.
struct Source {
    payload: RequestBody,
    bytes_left: u64,
}

impl Source {
    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let Some(chunk) = self.payload.next().await.transpose().map_err(broken_off)? else { return Ok(None) };
        let length = chunk.len() as u64;
        let too_large = || ApiError::body_too_large(usize::try_from(length).unwrap_or(usize::MAX));
        self.bytes_left = self.bytes_left.checked_sub(length).ok_or_else(too_large)?;
        Ok(Some(chunk))
    }
}

enum Open {
    /// The preamble, or no file.
    Skipped,
    /// A file that is not wanted.
    Unwanted,
    Field(Vec<u8>, Vec<u8>),
    File(UploadedFile),
}

struct Received<'r> {
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    fields_bytes: usize,
    fields_bytes_max: usize,
    file_count: usize,
    file: Option<UploadedFile>,
    file_bytes_max: u64,
    part_count: usize,
    open: Open,
    share: BodyShare,
    record: &'r RecordedBody,
}

impl<'r> Received<'r> {
    fn new(share: BodyShare, fields_bytes_max: usize, file_bytes_max: u64, record: &'r RecordedBody) -> Self {
        Self {
            fields: Vec::new(),
            fields_bytes: 0,
            fields_bytes_max,
            file_count: 0,
            file: None,
            file_bytes_max,
            part_count: 0,
            open: Open::Skipped,
            share,
            record,
        }
    }

    fn begin(&mut self, part: Part) -> Result<(), ApiError> {
        self.part_count += 1;
        check_part_count(self.part_count)?;
        self.open = match part {
            Part::Field(name) => {
                self.fields_bytes += name.len();
                Open::Field(name, Vec::new())
            }
            // An input for a file in which none was chosen.
            Part::File { file_name, .. } if file_name.is_empty() => Open::Skipped,
            Part::File { file_name, content_type } => {
                self.file_count += 1;
                let name = String::from_utf8_lossy(&file_name).into_owned();
                self.record.begin_file(Some(&name));
                let file = UploadedFile { name, content_type, size: 0, content: Spool::default() };
                if self.file.is_none() { Open::File(file) } else { Open::Unwanted }
            }
        };
        Ok(())
    }

    async fn add(&mut self, piece: &[u8]) -> Result<(), ApiError> {
        match &mut self.open {
            Open::Skipped => {}
            Open::Unwanted => self.record.add(piece.len() as u64),
            Open::Field(_, value) => {
                self.fields_bytes += piece.len();
                if self.fields_bytes > self.fields_bytes_max {
                    return Err(ApiError::body_too_large(self.fields_bytes_max));
                }
                self.share.hold(MEMORY_BYTES_MAX + self.fields_bytes)?;
                value.extend_from_slice(piece);
            }
            Open::File(file) => {
                self.record.add(piece.len() as u64);
                file.size += piece.len() as u64;
                let content = std::mem::take(&mut file.content);
                if file.size <= self.file_bytes_max {
                    file.content = content.write(piece).await?;
                }
            }
        }
        Ok(())
    }

    fn end_part(&mut self) {
        match std::mem::replace(&mut self.open, Open::Skipped) {
            Open::Skipped | Open::Unwanted => {}
            Open::Field(name, value) => self.fields.push((name, value)),
            Open::File(file) => self.file = Some(file),
        }
    }
}

impl UploadedFile {
    /// Its type as declared, otherwise by the extension of its name.
    pub fn declared_type(&self) -> Option<&str> {
        let declared = self.content_type.as_deref().and_then(|kind| kind.split(';').next()).map(str::trim);
        declared.filter(|kind| !kind.is_empty() && *kind != "application/octet-stream").or_else(|| {
            let (_, extension) = self.name.rsplit_once('.')?;
            image::ImageFormat::from_extension(extension).map(|format| format.to_mime_type())
        })
    }

    /// The complete content, in memory. Only for files of bounded size.
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

/// A buffer in memory that becomes an unnamed temporary file.
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
        tracing::error!(%error, "an upload could not be buffered on disk");
        ApiError::storage_unavailable()
    })
}
