//! `GET /events`: new events, at once or when they happen (docs/api/events.md#poll-a-queue).
//!
//! Ten thousand polls wait at once, so a waiting poll holds little: the handle and the queue's record.

use super::register::narrow::parse_narrow;
use crate::api::wire::event::{ANSWER_BYTES_MAX, EventWriter};
use crate::http::{ApiError, App, Caller, Envelope, Fields, FromFields, HandlerResult, Params};
use actors::{Delivered, Polled, RealmHandle};
use model::{ClientCapabilities, EventKinds, QueueId, QueueOptions, QueueRecord};

/// Expected size of an event, in bytes.
const EVENT_BYTES: usize = 1024;

/// A poll of a queue, or of a new one.
pub struct PollEvents {
    queue: Option<QueueId>,
    last_event_id: Option<i64>,
    dont_block: bool,
    /// Options of the queue that this call creates, if it names none.
    new_queue: Option<Box<QueueOptions>>,
}

impl FromFields for PollEvents {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let queue = fields.optional_str("queue_id").map(|queue| QueueId(queue.into()));
        let last_event_id: Option<i128> = fields.optional_int("last_event_id")?;
        let dont_block = fields.bool_or("dont_block", false)?;
        let is_new = queue.is_none() && dont_block;
        let new_queue = is_new.then(|| read_options(fields).map(Box::new)).transpose()?;
        // An impossible number is handled like one that is not in the queue.
        let last_event_id = last_event_id.map(|id| id.clamp(i64::MIN.into(), i64::MAX.into()) as i64);
        Ok(Self { queue, last_event_id, dont_block, new_queue })
    }
}

/// Options of a queue that its first poll creates: those of `POST /register`, with older defaults.
fn read_options(fields: &Fields) -> Result<QueueOptions, ApiError> {
    let kinds = match fields.optional_strings("event_types")? {
        Some(words) => EventKinds::from_names(words.iter().map(String::as_str)),
        None => EventKinds::ALL,
    };
    let narrow = parse_narrow(fields, "is not a string pair")?;
    Ok(QueueOptions {
        kinds,
        apply_markdown: fields.bool_or("apply_markdown", false)?,
        client_gravatar: fields.bool_or("client_gravatar", false)?,
        slim_presence: fields.bool_or("slim_presence", false)?,
        all_public_channels: fields.bool_or("all_public_streams", false)?,
        narrow,
        capabilities: ClientCapabilities::default(),
        idle_secs_max: fields.int_or("lifespan_secs", 0)?,
    })
}

/// Returns the caller's events; at once if there are any or the client does not wait.
pub async fn poll(caller: Caller, app: App, Params(request): Params<PollEvents>) -> HandlerResult {
    let Caller { realm, user } = caller;
    if let Some(options) = request.new_queue {
        if options.all_public_channels && user.is_guest() {
            return Err(ApiError::bad_request("User not authorized for this query"));
        }
        let queue = realm.register_queue(user.id, *options).await?;
        let queue = realm.own_queue(user.id, &queue.id)?;
        return answer(&realm, &queue.record, &[], true);
    }
    let queue = request.queue.ok_or_else(|| ApiError::bad_request("Missing 'queue_id' argument"))?;
    let missing = || ApiError::bad_request("Missing 'last_event_id' argument");
    let last_event_id = request.last_event_id.ok_or_else(missing)?;
    let queue = realm.own_queue(user.id, &queue)?;
    // Only the queue is held while waiting; the account may change meanwhile.
    drop(user);
    let polled = realm.poll(&queue, Some(last_event_id), request.dont_block).await?;
    let record = queue.record;
    let events = match polled {
        Polled::Events(events) => events,
        // When the server begins to stop, the polls that wait are answered; this one came later.
        Polled::Waiting(_) if app.stopping().is_stopping() => Vec::new(),
        Polled::Waiting(waiting) => realm.next_events(&record, waiting).await?,
    };
    answer(&realm, &record, &events, !request.dont_block)
}

/// Writes the events in the form that the queue was registered for.
fn answer(
    realm: &RealmHandle,
    record: &QueueRecord,
    events: &[Delivered],
    with_queue: bool,
) -> HandlerResult {
    let mut envelope = Envelope::with_capacity((events.len() * EVENT_BYTES).min(ANSWER_BYTES_MAX) + 64);
    let out = envelope.open_field("events");
    if events.is_empty() {
        out.extend_from_slice(b"[]");
    } else {
        let directory = realm.directory();
        let owner = directory.user(record.user).ok_or_else(ApiError::internal)?;
        EventWriter::new(&directory, owner, &record.options, realm).push_all(out, events);
    }
    if with_queue {
        envelope = envelope.field("queue_id", &record.id)?;
    }
    envelope.reply()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn future_bytes<A, B, C, F>(_: impl Fn(A, B, C) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_waiting_poll_is_small() {
        assert!(future_bytes(poll) <= 1024, "{}", future_bytes(poll));
    }
}
