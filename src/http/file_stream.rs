//! A body with one large file, which goes from the connection to where it is stored without being held in memory.
//!
//! Only what is buffered counts against the memory budget. The time is bounded by progress, not in total: a large file may
//! take as long as its connection needs.

use super::body::{BodyShare, RequestBody, broken_off, too_slow};
use super::call::{Call, FromCall};
use super::error::ApiError;
use super::params::multipart::{Event, HEADERS_BYTES_MAX, Multipart, Part, check_part_count};
use super::params::{BodyKind, Fields};
use super::recorded_body::RecordedBody;
use actix_web::http::header;
use bytes::Bytes;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Bytes that have to arrive within `http.body_secs_max` each time.
const PROGRESS_BYTES: usize = 128 << 10;
/// How often an upload asks again for memory.
const MEMORY_PAUSE: Duration = Duration::from_millis(50);
/// Memory for the parameters of a body.
const FIELDS_BYTES_MAX: usize = 64 << 10;
/// Bytes of a body besides the file: parameters, headers of parts.
const OVERHEAD_BYTES_MAX: u64 = 1 << 20;

/// Receives the bytes of a file.
pub trait FileSink {
    /// A file begins.
    fn begin(
        &mut self,
        name: String,
        content_type: Option<String>,
    ) -> impl Future<Output = Result<(), ApiError>>;

    /// Some more of its bytes.
    fn write(&mut self, piece: Bytes) -> impl Future<Output = Result<(), ApiError>>;
}

/// A body that has not been read yet. For routes with `Body::Stream`.
pub struct FileStream {
    payload: RequestBody,
    kind: Result<BodyKind, ApiError>,
    query: Vec<u8>,
    /// Maximum size of a body without a file.
    plain_bytes_max: usize,
    time_max: Duration,
    share: BodyShare,
    record: RecordedBody,
}

/// What a body had besides the bytes of its file.
pub struct StreamedForm {
    /// The parameters, those of the query included.
    pub fields: Fields,
    pub file_count: usize,
    record: RecordedBody,
}

impl StreamedForm {
    /// The parameters that were not read, which a development server records also if the call fails.
    pub fn ignored(&self) -> Vec<String> {
        self.record.ignored(&self.fields)
    }
}

impl FromCall for FileStream {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let payload = call.body.take().ok_or_else(ApiError::internal)?;
        let kind = BodyKind::from_content_type(call.header(header::CONTENT_TYPE));
        let query = call.request.query_string().as_bytes().to_vec();
        let time_max = Duration::from_secs(call.app.config.http.body_secs_max);
        let share = BodyShare::new(&call.app, call.caller.as_ref(), call.address);
        let plain_bytes_max = call.app.config.http.body_bytes_max;
        let record = RecordedBody::of(&call.app, call.request);
        Ok(Self { payload, kind, query, plain_bytes_max, time_max, share, record })
    }
}

impl FileStream {
    /// Gives the first file to `sink`. `too_large` is the error for files beyond `file_bytes_max`, `second` for a second
    /// file; `memory` are the bytes that the sink buffers. Otherwise errors are as for every body; refused bodies are still
    /// received up to a limit, because many clients read the response only after they have sent everything.
    pub async fn read_into(
        self,
        sink: &mut impl FileSink,
        (file_bytes_max, too_large): (u64, ApiError),
        second: ApiError,
        memory: usize,
    ) -> Result<StreamedForm, ApiError> {
        let Self { payload, kind, query, plain_bytes_max, time_max, mut share, record } = self;
        let boundary = match kind? {
            BodyKind::Multipart(boundary) => boundary,
            kind @ (BodyKind::Form | BodyKind::Json | BodyKind::Other) => {
                let body = payload.read(plain_bytes_max, time_max, &mut share).await?;
                let fields = Fields::parse(&query, &kind, &body)?;
                record.set_parameters(&fields);
                return Ok(StreamedForm { fields, file_count: 0, record });
            }
        };
        let mut source = Source::new(payload, time_max);
        let received = async {
            let declared = source.payload.declared().unwrap_or(0);
            if declared > file_bytes_max.saturating_add(OVERHEAD_BYTES_MAX) {
                return Err(too_large.clone());
            }
            wait_for_memory(&mut share, memory + FIELDS_BYTES_MAX, time_max).await?;
            source.restart();
            let parser = Multipart::new(&boundary, HEADERS_BYTES_MAX);
            let received = Received::new(file_bytes_max, &record);
            received.read(&mut source, parser, sink, (&too_large, &second)).await
        };
        match received.await {
            Ok(received) => {
                let fields = Fields::of_parts(&query, &received.fields)?;
                record.set_parameters(&fields);
                let file_count = received.file_count;
                Ok(StreamedForm { fields, file_count, record })
            }
            Err(refusal) => {
                source.discard(file_bytes_max).await;
                Err(refusal)
            }
        }
    }
}

/// Several files of one account at a time wait for each other rather than being refused.
async fn wait_for_memory(share: &mut BodyShare, bytes: usize, time_max: Duration) -> Result<(), ApiError> {
    let deadline = Instant::now() + time_max;
    loop {
        match share.hold(bytes) {
            Err(_) if Instant::now() < deadline => tokio::time::sleep(MEMORY_PAUSE).await,
            held => return Ok(held?),
        }
    }
}

/// A body that has to make progress.
struct Source {
    payload: RequestBody,
    time_max: Duration,
    deadline: Instant,
    since_deadline: usize,
    has_failed: bool,
}

impl Source {
    fn new(payload: RequestBody, time_max: Duration) -> Self {
        let deadline = Instant::now() + time_max;
        Self { payload, time_max, deadline, since_deadline: 0, has_failed: false }
    }

    /// The time that was waited for memory does not count.
    fn restart(&mut self) {
        self.deadline = Instant::now() + self.time_max;
    }

    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let Ok(next) = timeout_at(self.deadline, self.payload.next()).await else {
            self.has_failed = true;
            return Err(too_slow());
        };
        let chunk = next.transpose().map_err(|error| {
            self.has_failed = true;
            broken_off(error)
        })?;
        self.since_deadline += chunk.as_ref().map_or(0, Bytes::len);
        if self.since_deadline >= PROGRESS_BYTES {
            self.since_deadline = 0;
            self.deadline = Instant::now() + self.time_max;
        }
        Ok(chunk)
    }

    /// Receives the rest of a refused body, as long as it makes progress.
    async fn discard(mut self, bytes_max: u64) {
        let mut left = bytes_max.saturating_add(OVERHEAD_BYTES_MAX);
        while !self.has_failed && left > 0 {
            match self.next().await {
                Ok(Some(chunk)) => left = left.saturating_sub(chunk.len() as u64),
                Ok(None) | Err(_) => return,
            }
        }
    }
}

enum Open {
    /// The preamble, or an input for a file in which none was chosen.
    Skipped,
    Field(Vec<u8>, Vec<u8>),
    File,
}

struct Received<'r> {
    fields: Vec<(Vec<u8>, Vec<u8>)>,
    fields_bytes: usize,
    file_count: usize,
    file_bytes: u64,
    file_bytes_max: u64,
    part_count: usize,
    open: Open,
    record: &'r RecordedBody,
}

impl<'r> Received<'r> {
    fn new(file_bytes_max: u64, record: &'r RecordedBody) -> Self {
        Self {
            fields: Vec::new(),
            fields_bytes: 0,
            file_count: 0,
            file_bytes: 0,
            file_bytes_max,
            part_count: 0,
            open: Open::Skipped,
            record,
        }
    }

    async fn read(
        mut self,
        source: &mut Source,
        mut parser: Multipart,
        sink: &mut impl FileSink,
        (too_large, second): (&ApiError, &ApiError),
    ) -> Result<Self, ApiError> {
        loop {
            match parser.next()? {
                Event::Incomplete => match source.next().await? {
                    Some(chunk) => parser.feed(chunk),
                    None => {
                        parser.end_early()?;
                        return Ok(self);
                    }
                },
                Event::Part(part) => self.begin(part, sink, second).await?,
                Event::Content(piece) => self.add(piece, sink, too_large).await?,
                Event::PartEnd => self.end_part(),
                Event::End => return Ok(self),
            }
        }
    }

    async fn begin(
        &mut self,
        part: Part,
        sink: &mut impl FileSink,
        second: &ApiError,
    ) -> Result<(), ApiError> {
        self.part_count += 1;
        check_part_count(self.part_count)?;
        self.open = match part {
            Part::Field(name) => {
                self.fields_bytes += name.len();
                Open::Field(name, Vec::new())
            }
            Part::File { file_name, .. } if file_name.is_empty() => Open::Skipped,
            Part::File { .. } if self.file_count > 0 => return Err(second.clone()),
            Part::File { file_name, content_type } => {
                self.file_count += 1;
                let name = String::from_utf8_lossy(&file_name).into_owned();
                self.record.begin_file(Some(&name));
                sink.begin(name, content_type).await?;
                Open::File
            }
        };
        Ok(())
    }

    async fn add(
        &mut self,
        piece: Bytes,
        sink: &mut impl FileSink,
        too_large: &ApiError,
    ) -> Result<(), ApiError> {
        match &mut self.open {
            Open::Skipped => Ok(()),
            Open::Field(_, value) => {
                self.fields_bytes += piece.len();
                if self.fields_bytes > FIELDS_BYTES_MAX {
                    return Err(ApiError::body_too_large(FIELDS_BYTES_MAX));
                }
                value.extend_from_slice(&piece);
                Ok(())
            }
            Open::File => {
                self.file_bytes += piece.len() as u64;
                self.record.add(piece.len() as u64);
                if self.file_bytes > self.file_bytes_max {
                    return Err(too_large.clone());
                }
                sink.write(piece).await
            }
        }
    }

    fn end_part(&mut self) {
        if let Open::Field(name, value) = std::mem::replace(&mut self.open, Open::Skipped) {
            self.fields.push((name, value));
        }
    }
}
