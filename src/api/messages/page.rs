//! Writing messages into responses: a page at once, a large response in parts while its client reads it.

use super::range::MESSAGES_MAX;
use crate::api::wire::json::push_value;
use crate::api::wire::message::{MessageForm, MessageWriter};
use crate::http::admission::Admission;
use crate::http::reply::{PartStream, push_fields};
use crate::http::{ApiError, Envelope, HandlerResult, Reply};
use actix_web::web;
use actors::budget::Reservation;
use actors::queries::{FetchedMessage, MessageParts, MessageSnapshot, Narrowed};
use actors::search::Highlighter;
use actors::{DomainError, RealmHandle};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use model::{Flag, Flags, Message, MessageId, User};
use rules::text::escape_html;
use serde::Serialize;
use std::sync::Arc;

/// Maximum number of messages that are written at once; a larger response is encoded while it is sent.
const AT_ONCE_MAX: usize = 150;
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

/// What is written of each message.
#[derive(Clone, Copy)]
pub enum PageForm {
    /// The message, in a list.
    Messages(MessageForm),
    /// What a search found in it, in an object by its id; nothing of messages that were not delivered to the reader.
    Matches,
}

impl PageForm {
    const fn brackets(self) -> (u8, u8) {
        match self {
            Self::Messages(_) => (b'[', b']'),
            Self::Matches => (b'{', b'}'),
        }
    }
}

/// Reads and writes messages for one reader.
pub struct PageReader {
    realm: RealmHandle,
    /// None without an account.
    reader: Option<Arc<User>>,
    form: PageForm,
    /// Marks the words of a search.
    highlighter: Option<Highlighter>,
    has_written: bool,
}

impl PageReader {
    /// For one response.
    pub fn new(
        realm: RealmHandle,
        reader: Option<Arc<User>>,
        form: PageForm,
        highlighter: Option<Highlighter>,
    ) -> Self {
        Self { realm, reader, form, highlighter, has_written: false }
    }

    /// Responds with messages, ascending, as the field `messages`, and further fields. `held` is memory for a response in parts.
    ///
    /// # Errors
    /// 503 if the storage fails or too many requests wait; RATE_LIMIT_HIT, SERVER_OVERLOADED.
    pub async fn reply(
        self,
        admission: Admission,
        page: Page,
        held: Option<Reservation>,
        shown: &impl Serialize,
    ) -> HandlerResult {
        let parts = match page {
            Page::AtOnce(snapshot) => {
                return self.write_at_once(&admission, snapshot).await?.fields(shown)?.reply();
            }
            Page::InParts(parts) => parts,
        };
        let held = match held {
            Some(held) => held,
            None => admission.reserve(bytes_in_parts(parts.left())).await?,
        };
        // Encoded while it is sent, so that it is never in memory as a whole.
        let (open, close) = self.form.brackets();
        let mut start = Envelope::with_capacity(0);
        start.open_field("messages").push(open);
        let mut end = vec![close];
        push_fields(&mut end, shown)?;
        let end = stream::once(async move { Ok(Bytes::from(end)) });
        let parts = self.write_in_parts(admission, parts).chain(end).boxed();
        Ok(Reply::flow(start, parts).holding(held)?)
    }

    /// As of the moment of the access check: here, or in the queue of pages if the disk has to be read or words are marked.
    async fn write_at_once(
        mut self,
        admission: &Admission,
        snapshot: MessageSnapshot,
    ) -> Result<Envelope, ApiError> {
        if snapshot.is_in_memory() && self.highlighter.is_none() {
            return Ok(self.write(snapshot)?);
        }
        Ok(admission.enter_pages()?.work(move || self.write(snapshot)).await??)
    }

    fn write(&mut self, snapshot: MessageSnapshot) -> Result<Envelope, DomainError> {
        let is_in_memory = snapshot.is_in_memory();
        let messages = snapshot.read(&self.realm)?;
        let (open, close) = self.form.brackets();
        let mut envelope = Envelope::with_capacity(0);
        let out = envelope.open_field("messages");
        out.push(open);
        self.push_all(out, &messages, is_in_memory);
        out.push(close);
        Ok(envelope)
    }

    /// The messages without their brackets, encoded while they are sent; each part waits in the line of pages. A storage error
    /// ends the stream.
    fn write_in_parts(self, admission: Admission, parts: MessageParts) -> PartStream {
        let writer = PartWriter { reader: self, parts, batch: BATCH.0 };
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

    /// Writes messages, with a comma before each but the first one of the response.
    fn push_all(&mut self, out: &mut Vec<u8>, messages: &[FetchedMessage], is_recent: bool) {
        let form = match self.form {
            PageForm::Messages(form) => form,
            PageForm::Matches => return self.push_matches(out, messages),
        };
        let directory = self.realm.directory();
        let mut writer = MessageWriter::new(&directory, self.reader.as_deref(), form);
        out.reserve(messages.iter().map(|fetched| writer.size_of(&fetched.message)).sum());
        for FetchedMessage { message, flags } in messages {
            separate(out, &mut self.has_written);
            match &mut self.highlighter {
                Some(highlighter) => writer.push_found(out, message, *flags, highlighter),
                None if is_recent => writer.push_recent(out, message, Some(*flags)),
                None => writer.push(out, message, Some(*flags)),
            }
        }
    }

    fn push_matches(&mut self, out: &mut Vec<u8>, messages: &[FetchedMessage]) {
        // Messages that the reader can read, but that were not delivered to them, do not count.
        let foreign = Flags::only(Flag::Read).with(Flag::Historical);
        for FetchedMessage { message, .. } in messages.iter().filter(|fetched| fetched.flags != foreign) {
            separate(out, &mut self.has_written);
            push_match(out, message, self.highlighter.as_mut());
        }
    }
}

fn separate(out: &mut Vec<u8>, has_written: &mut bool) {
    if std::mem::replace(has_written, true) {
        out.push(b',');
    }
}

#[derive(Serialize)]
struct Match {
    match_content: String,
    match_subject: String,
}

/// Writes what a search found in a message, or all of its texts: `"id":{…}`.
fn push_match(out: &mut Vec<u8>, message: &Message, highlighter: Option<&mut Highlighter>) {
    let shown = match highlighter {
        Some(highlighter) => Match {
            match_content: highlighter.content(&message.rendered),
            match_subject: highlighter.subject(message.place.channel().map(|_| message.place.topic())),
        },
        None => Match {
            match_content: message.rendered.clone(),
            match_subject: escape_html(message.place.topic()),
        },
    };
    out.extend_from_slice(format!("\"{}\":", message.id).as_bytes());
    push_value(out, &shown);
}

/// Writes a large response in parts.
struct PartWriter {
    reader: PageReader,
    parts: MessageParts,
    /// Number of messages to read next.
    batch: usize,
}

impl PartWriter {
    fn write_part(&mut self) -> Result<Bytes, DomainError> {
        let mut out = Vec::with_capacity(PART_BYTES);
        while out.len() < PART_BYTES && self.parts.left() > 0 {
            let start = out.len();
            let read = self.write_batch(&mut out)?;
            let mean = (out.len() - start) / read.max(1);
            let room = PART_BYTES.saturating_sub(out.len());
            let next = if room == 0 { PART_BYTES } else { room };
            self.batch = (next / mean.max(1)).clamp(1, BATCH.1);
        }
        Ok(out.into())
    }

    /// Writes the next messages, and returns how many were read.
    fn write_batch(&mut self, out: &mut Vec<u8>) -> Result<usize, DomainError> {
        let Self { reader, parts, batch } = self;
        let id = reader.reader.as_ref().map(|reader| reader.id);
        let messages = parts.read_next(&reader.realm, id, *batch)?;
        if id.is_some_and(|id| !reader.realm.directory().is_active_user(id)) {
            return Err(DomainError::UserDeactivated);
        }
        reader.push_all(out, &messages, false);
        Ok(messages.len())
    }
}

/// Estimated memory of a response in parts, in bytes: its ids, and a part in each buffer on its way.
fn bytes_in_parts(count: usize) -> u64 {
    // A response may have one more than are asked for: the message at the anchor.
    (count.min(MESSAGES_MAX + 1) * size_of::<MessageId>() + 4 * PART_BYTES) as u64
}

/// Reserves memory for a response of up to `count` messages if it may be one in parts. Call it before the search: a request that
/// waits for memory holds nothing else.
///
/// # Errors
/// RATE_LIMIT_HIT, SERVER_OVERLOADED.
pub async fn reserve_for(admission: &Admission, count: usize) -> Result<Option<Reservation>, ApiError> {
    Ok(match count > AT_ONCE_MAX {
        true => Some(admission.reserve(bytes_in_parts(count)).await?),
        false => None,
    })
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
