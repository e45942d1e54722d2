//! Writing messages into answers: a page at once, a large answer part by part while its client reads it.

use crate::api::wire::message::{MessageForm, MessageWriter};
use crate::http::admission::Admission;
use crate::http::reply::PartStream;
use crate::http::{ApiError, Envelope};
use actix_web::web;
use actors::queries::{FetchedMessage, MessageParts, MessageSnapshot, Narrowed};
use actors::{DomainError, RealmHandle};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use model::{Flag, Flags, MessageId, User};
use std::sync::Arc;

/// So many messages are written at once; a larger answer is made while it is sent.
pub const AT_ONCE_MAX: usize = 150;
/// So many bytes of bodies in memory are written at once.
const AT_ONCE_BYTES_MAX: usize = 512 << 10;
/// Bytes after which a part of a large answer is given out.
const PART_BYTES: usize = 96 << 10;
/// Messages that are read first, when nothing is known of their sizes, and at most.
const BATCH: (usize, usize) = (16, 128);

/// The messages of one answer.
pub enum Page {
    /// Few enough for one piece.
    AtOnce(MessageSnapshot),
    /// To be read in parts.
    InParts(MessageParts),
}

impl Page {
    /// Notes what is needed of some messages (ascending) that match a narrow.
    pub fn take(narrowed: &Narrowed<'_>, ids: &[MessageId]) -> Self {
        if ids.len() <= AT_ONCE_MAX {
            let snapshot = narrowed.snapshot(ids);
            if snapshot.bytes_in_memory() <= AT_ONCE_BYTES_MAX {
                return Self::AtOnce(snapshot);
            }
        }
        Self::InParts(narrowed.parts(ids.to_vec()))
    }
}

/// Who reads which messages, and how.
pub struct PageReader {
    /// Of which organization.
    pub realm: RealmHandle,
    /// None: without an account.
    pub asker: Option<Arc<User>>,
    /// The form of messages that the client wants.
    pub form: MessageForm,
}

impl PageReader {
    /// Writes messages, ascending, as the field `messages`, as of the moment in which it was decided that the asker may
    /// read them: here, or in the line of pages where the disk is read.
    ///
    /// # Errors
    /// 503 when the storage fails or too many wait already.
    pub async fn write_at_once(
        self,
        admission: &Admission,
        snapshot: MessageSnapshot,
    ) -> Result<Envelope, ApiError> {
        if snapshot.is_in_memory() {
            return Ok(self.write(snapshot)?);
        }
        Ok(admission.enter_pages()?.work(move || self.write(snapshot)).await??)
    }

    fn write(&self, snapshot: MessageSnapshot) -> Result<Envelope, DomainError> {
        let messages = snapshot.read(&self.realm)?;
        let directory = self.realm.directory();
        let mut writer = MessageWriter::new(&directory, self.asker.as_deref(), self.form);
        let mut envelope = Envelope::with_capacity(0);
        let out = envelope.open_field("messages");
        out.reserve(messages.iter().map(|fetched| writer.size_of(&fetched.message)).sum());
        out.push(b'[');
        for (index, fetched) in messages.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            writer.push(out, &fetched.message, Some(shown_flags(self.asker.as_deref(), fetched.flags)));
        }
        out.push(b']');
        Ok(envelope)
    }

    /// The elements of the field `messages` without its brackets, made as they are sent; each part in its turn of the line
    /// of pages. A storage that fails ends the stream with an error.
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

/// Writes a large answer part by part.
struct PartWriter {
    reader: PageReader,
    parts: MessageParts,
    /// How many messages are read next.
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

    /// Writes the next messages, and says how many.
    fn write_batch(&mut self, out: &mut Vec<u8>) -> Result<usize, DomainError> {
        let PageReader { realm, asker, form } = &self.reader;
        let asker = asker.as_deref();
        let messages = self.parts.read_next(realm, asker.map(|asker| asker.id), self.batch)?;
        let directory = realm.directory();
        if asker.is_some_and(|asker| !directory.is_active_user(asker.id)) {
            return Err(DomainError::UserDeactivated);
        }
        let mut writer = MessageWriter::new(&directory, asker, *form);
        for fetched in &messages {
            if self.has_written {
                out.push(b',');
            }
            self.has_written = true;
            writer.push(out, &fetched.message, Some(shown_flags(asker, fetched.flags)));
        }
        Ok(messages.len())
    }
}

/// More messages than one answer may have.
const COUNT_MAX: usize = 5001;

/// About how many bytes an answer in parts holds at a time: its ids, and a part in each of the buffers on its way.
pub fn bytes_in_parts(count: usize) -> u64 {
    (count.min(COUNT_MAX) * size_of::<MessageId>() + 4 * PART_BYTES) as u64
}

/// Runs something that reads messages: here, or where it may wait for the disk.
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
            tracing::error!(%error, "a read was given up");
            Err(ApiError::internal())
        }
    }
}

/// The flags to show: for somebody without an account, everything is read.
pub fn shown_flags(asker: Option<&User>, flags: Flags) -> Flags {
    if asker.is_some() { flags } else { Flags::only(Flag::Read) }
}

/// A message as an account (none: without one) may read it; none where there is no such message, or not for it.
pub async fn read_one(
    realm: &RealmHandle,
    reader: Option<&User>,
    id: MessageId,
) -> Result<Option<FetchedMessage>, ApiError> {
    let Some(snapshot) = realm.message_snapshot(reader, id) else { return Ok(None) };
    let realm = realm.clone();
    Ok(run(snapshot.is_in_memory(), move || snapshot.read(&realm)).await?.pop())
}
