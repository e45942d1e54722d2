//! Writing messages into responses: a page at once, a large response in parts while its client reads it.

use super::range::MESSAGES_MAX;
use crate::api::wire::message::{MessageForm, MessageWriter};
use crate::http::admission::Admission;
use crate::http::reply::PartStream;
use crate::http::{ApiError, Envelope};
use actix_web::web;
use actors::queries::{FetchedMessage, MessageParts, MessageSnapshot, Narrowed};
use actors::search::Highlighter;
use actors::{DomainError, RealmHandle};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use model::{MessageId, User};
use std::sync::Arc;

/// Maximum number of messages that are written at once; a larger response is encoded while it is sent.
pub const AT_ONCE_MAX: usize = 150;
/// Maximum bytes of messages that are written at once.
const AT_ONCE_BYTES_MAX: usize = 512 << 10;
/// Bytes of a part of a large response.
const PART_BYTES: usize = 96 << 10;
/// Messages that are read at a time: at first, when their sizes are unknown, and at most.
const BATCH: (usize, usize) = (16, 128);

/// The messages of one response.
pub enum Page {
    /// Few enough for one part.
    AtOnce(MessageSnapshot),
    /// To be read in parts.
    InParts(MessageParts),
}

impl Page {
    /// Collects messages (ascending) that match a narrow.
    pub fn take(narrowed: &Narrowed<'_>, ids: &[MessageId]) -> Self {
        if ids.len() <= AT_ONCE_MAX {
            let snapshot = narrowed.snapshot(ids);
            if snapshot.bytes_estimated() <= AT_ONCE_BYTES_MAX {
                return Self::AtOnce(snapshot);
            }
        }
        Self::InParts(narrowed.parts(ids.to_vec()))
    }
}

/// Reads and writes messages for one reader.
pub struct PageReader {
    pub realm: RealmHandle,
    /// None without an account.
    pub reader: Option<Arc<User>>,
    pub form: MessageForm,
    /// Marks the words of a search.
    pub highlighter: Option<Highlighter>,
}

impl PageReader {
    /// Writes messages, ascending, as the field `messages`, as of the moment of the access check: here, or in the queue
    /// of pages if the disk has to be read.
    ///
    /// # Errors
    /// 503 if the storage fails or too many requests wait.
    pub async fn write_at_once(
        mut self,
        admission: &Admission,
        snapshot: MessageSnapshot,
    ) -> Result<Envelope, ApiError> {
        if snapshot.is_in_memory() {
            return Ok(self.write(snapshot)?);
        }
        Ok(admission.enter_pages()?.work(move || self.write(snapshot)).await??)
    }

    fn write(&mut self, snapshot: MessageSnapshot) -> Result<Envelope, DomainError> {
        let is_in_memory = snapshot.is_in_memory();
        let messages = snapshot.read(&self.realm)?;
        let directory = self.realm.directory();
        let mut writer = MessageWriter::new(&directory, self.reader.as_deref(), self.form);
        let mut envelope = Envelope::with_capacity(0);
        let out = envelope.open_field("messages");
        out.reserve(messages.iter().map(|fetched| writer.size_of(&fetched.message)).sum());
        out.push(b'[');
        for (index, fetched) in messages.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match is_in_memory && self.highlighter.is_none() {
                true => writer.push_recent(out, &fetched.message, Some(fetched.flags)),
                false => push(&mut writer, out, fetched, self.highlighter.as_mut()),
            }
        }
        out.push(b']');
        Ok(envelope)
    }

    /// The elements of the field `messages` without its brackets, encoded while they are sent; each part waits in the
    /// line of pages. A storage error ends the stream.
    pub fn write_in_parts(self, admission: Admission, parts: MessageParts) -> PartStream {
        let writer = PartWriter { reader: self, parts, batch: BATCH.0, has_written: false };
        let parts = stream::try_unfold(writer, move |mut writer| {
            let admission = admission.clone();
            async move {
                if writer.parts.left() == 0 {
                    return Ok(None);
                }
                let place = admission.enter_pages()?;
                let work = move || writer.write_part().map(|part| Some((part, writer)));
                Ok::<_, Box<dyn std::error::Error + Send + Sync>>(place.work(work).await??)
            }
        });
        parts.boxed()
    }
}

/// Writes a large response in parts.
struct PartWriter {
    reader: PageReader,
    parts: MessageParts,
    /// Number of messages to read next.
    batch: usize,
    has_written: bool,
}

impl PartWriter {
    fn write_part(&mut self) -> Result<Bytes, DomainError> {
        let mut out = Vec::with_capacity(PART_BYTES);
        while out.len() < PART_BYTES && self.parts.left() > 0 {
            let start = out.len();
            let written = self.write_batch(&mut out)?;
            let mean = (out.len() - start) / written.max(1);
            let room = PART_BYTES.saturating_sub(out.len());
            let next = if room == 0 { PART_BYTES } else { room };
            self.batch = (next / mean.max(1)).clamp(1, BATCH.1);
        }
        Ok(out.into())
    }

    /// Writes the next messages, and returns their number.
    fn write_batch(&mut self, out: &mut Vec<u8>) -> Result<usize, DomainError> {
        let PageReader { realm, reader, form, highlighter } = &mut self.reader;
        let messages = self.parts.read_next(realm, reader.as_ref().map(|reader| reader.id), self.batch)?;
        let directory = realm.directory();
        if reader.as_ref().is_some_and(|reader| !directory.is_active_user(reader.id)) {
            return Err(DomainError::UserDeactivated);
        }
        let mut writer = MessageWriter::new(&directory, reader.as_deref(), *form);
        for fetched in &messages {
            if self.has_written {
                out.push(b',');
            }
            self.has_written = true;
            push(&mut writer, out, fetched, highlighter.as_mut());
        }
        Ok(messages.len())
    }
}

/// Writes a message, with the words of a search marked if there is one.
fn push(
    writer: &mut MessageWriter<'_>,
    out: &mut Vec<u8>,
    fetched: &FetchedMessage,
    highlighter: Option<&mut Highlighter>,
) {
    match highlighter {
        Some(highlighter) => writer.push_found(out, &fetched.message, fetched.flags, highlighter),
        None => writer.push(out, &fetched.message, Some(fetched.flags)),
    }
}

/// Estimated memory of a response in parts, in bytes: its ids, and a part in each buffer on its way.
pub fn bytes_in_parts(count: usize) -> u64 {
    // A response may have one more than are asked for: the message at the anchor.
    (count.min(MESSAGES_MAX + 1) * size_of::<MessageId>() + 4 * PART_BYTES) as u64
}

/// Runs a function that reads messages: here, or on a blocking thread if it may wait for the disk.
pub async fn run<T: Send + 'static>(
    is_in_memory: bool,
    read: impl FnOnce() -> Result<T, DomainError> + Send + 'static,
) -> Result<T, ApiError> {
    if is_in_memory {
        return Ok(read()?);
    }
    match web::block(read).await {
        Ok(result) => Ok(result?),
        Err(error) => {
            tracing::error!(%error, "reading messages for a response was cancelled");
            Err(ApiError::internal())
        }
    }
}

/// A message with the flags of its reader (none: without an account); none if it does not exist or the reader may not read it.
pub async fn read_one(
    realm: &RealmHandle,
    reader: Option<&User>,
    id: MessageId,
) -> Result<Option<FetchedMessage>, ApiError> {
    let Some(snapshot) = realm.message_snapshot(reader, id) else { return Ok(None) };
    let realm = realm.clone();
    Ok(run(snapshot.is_in_memory(), move || snapshot.read(&realm)).await?.pop())
}
