//! One pass over the log: the frames after the clients' last events, as events for the queues that are resumed.
//!
//! No event contains anything that its owner may not see now, and no event is missing: if it is unknown who had a deleted
//! message, the queue ends and the client registers again.
//!
//! Names of users in the events are the current ones. The recipients of a message are those at the time of sending, by the
//! subscription spans; other events are for the recipients at their time who may still see them.
//!
//! The view is locked for one frame at a time, so that writers wait no longer.

use super::access::{redact_secrets, visible_part};
use crate::announce::{self, Replay};
use crate::error::DomainError;
use crate::fanout;
use crate::session::{Delivered, Session};
use crate::shared::RealmShared;
use model::fact::{DeletedFrom, LocalEcho};
use model::{
    Audience, ChannelId, Directory, Event, EventBody, EventNumber, Fact, Flags, Frame, MessageFact,
    MessageId, MessageRanges, QueueRecord, Sequence, User, UserId,
};
use rules::narrow::EventNarrow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use storage::View;
use storage::log::{LogError, RealmLog};

/// Maximum size of the frames that are read for one queue, in bytes.
const LOG_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A queue that is polled again after a restart.
pub(crate) struct ResumingQueue {
    pub record: Arc<QueueRecord>,
    /// The client's last event.
    pub after: u64,
    /// Frames up to this one are read; later events are delivered to the session directly.
    pub upto: Sequence,
    pub session: Arc<Session>,
}

/// Queues that wait for the next pass over the log.
#[derive(Default)]
pub(crate) struct ResumingQueues {
    pub waiting: Vec<ResumingQueue>,
    pub is_reading: bool,
}

type Echoes = HashMap<MessageId, LocalEcho>;

/// The result of a pass for one queue.
pub(crate) type Outcome = Result<Vec<Delivered>, DomainError>;

struct Collected {
    record: Arc<QueueRecord>,
    after: u64,
    upto: Sequence,
    narrow: Option<EventNarrow>,
    /// Bytes of the log before the first frame with an event for it; `None` until that was reached.
    starts_at: Option<u64>,
    bytes: usize,
    /// People whose addition was withheld.
    not_added: BTreeSet<UserId>,
    outcome: Outcome,
}

impl Collected {
    fn new(queue: &ResumingQueue) -> Self {
        let narrow = EventNarrow::parse(&queue.record.options.narrow).ok();
        Self {
            record: queue.record.clone(),
            after: queue.after,
            upto: queue.upto,
            narrow: narrow.filter(|narrow| !narrow.is_empty()),
            starts_at: None,
            bytes: 0,
            not_added: BTreeSet::new(),
            outcome: Ok(Vec::new()),
        }
    }

    fn is_open(&self) -> bool {
        self.outcome.is_ok()
    }

    fn has_begun(&self) -> bool {
        self.is_open() && self.starts_at.is_some()
    }

    fn end(&mut self) {
        self.outcome = Err(DomainError::BadEventQueue(self.record.id.clone()));
    }

    /// Whether the owner gets an event that the owner may know or not: people who were not added are not removed either.
    fn gets(&mut self, body: &EventBody, may: bool) -> bool {
        if let EventBody::UserAdded(person) = body
            && !may
        {
            self.not_added.insert(person.id);
        }
        if let EventBody::UserRemoved(person) = body
            && self.not_added.remove(person)
        {
            return false;
        }
        may
    }

    fn wants(&self, sequence: Sequence, number: EventNumber) -> bool {
        self.is_open() && number.0 > self.after && sequence <= self.upto
    }
}

pub(crate) struct Pass {
    realm: Arc<RealmShared>,
    log: Arc<dyn RealmLog>,
    /// The directory as of frame `upto`.
    directory: Directory,
    upto: Sequence,
    queues: Vec<Collected>,
}

struct Stored {
    sequence: Sequence,
    bytes: u64,
    frame: Frame,
}

impl Pass {
    /// For these queues. Must be called on the thread that publishes frames, so that the directory is that of the newest.
    pub fn new(realm: &Arc<RealmShared>, log: Arc<dyn RealmLog>, queues: &[ResumingQueue]) -> Self {
        let (directory, upto) = {
            let view = realm.view.read();
            (view.directory.clone(), view.progress.sequence)
        };
        let mut queues: Vec<Collected> = queues.iter().map(Collected::new).collect();
        // Queues of one account in sequence: access is checked once for each event.
        queues.sort_by_key(|queue| queue.record.user);
        Self { realm: realm.clone(), log, directory, upto, queues }
    }

    /// Reads the log. Blocks: about 30 µs for each frame. The outcomes are in no particular order.
    pub fn run(mut self) -> Vec<(Arc<QueueRecord>, Outcome)> {
        if let Err(error) = self.read() {
            let why = || match &error {
                DomainError::Stopping => DomainError::Stopping,
                other => DomainError::Storage(other.to_string()),
            };
            for queue in self.queues.iter_mut().filter(|queue| queue.is_open()) {
                queue.outcome = Err(why());
            }
        }
        self.queues.into_iter().map(|queue| (queue.record, queue.outcome)).collect()
    }

    fn read(&mut self) -> Result<(), DomainError> {
        let changes = self.collect_changes()?;
        let Some(after) = self.lowest(|queue| queue.is_open()) else { return Ok(()) };
        let from = self.realm.trees.frame_before_event(self.realm.id, EventNumber(after))?;
        let kept = changes.iter().filter(|(sequence, _)| *sequence >= from).map(|(_, fact)| fact);
        let mut replay = Replay::start(self.directory.clone(), kept);
        for stored in self.frames(from)? {
            let Stored { sequence, frame, .. } = stored?;
            let realm = self.realm.clone();
            let mut texts = HashMap::new();
            for (position, id, number) in announce::edits(&frame) {
                texts.extend(realm.texts_of(id, number)?.map(|texts| (position, texts)));
            }
            let view = realm.view.read();
            // Messages may have been deleted meanwhile.
            for (position, id, _) in announce::edits(&frame) {
                if !view.messages.all.contains(id.0) {
                    texts.remove(&position);
                }
            }
            let echoes = echoes(&frame);
            for (event, audience) in replay.events(&view, texts, &frame) {
                self.deliver((&view, &echoes), sequence, event, &audience);
            }
        }
        Ok(())
    }

    /// Collects the changes of the directory, and ends the queues that are too far behind, or whose events cannot be
    /// determined any more.
    fn collect_changes(&mut self) -> Result<Vec<(Sequence, Fact)>, DomainError> {
        let mut read = 0;
        while let Some(after) = self.lowest(|queue| queue.is_open() && queue.starts_at.is_none()) {
            let mut changes = Vec::new();
            let mut is_complete = true;
            let from = self.realm.trees.frame_before_event(self.realm.id, EventNumber(after))?;
            if !self.has_frames(from) {
                // What the queues that are furthest behind need was dropped from the journal.
                self.queues
                    .iter_mut()
                    .filter(|queue| queue.is_open() && queue.after == after)
                    .for_each(Collected::end);
                continue;
            }
            for stored in self.frames(from)? {
                let Stored { sequence, bytes, frame } = stored?;
                self.note_frame(sequence, &frame, read);
                read += bytes;
                if self.end_lagging_queues(read) && !self.queues.iter().any(Collected::has_begun) {
                    // None of the remaining queues needs the frames before the next one's.
                    is_complete = false;
                    break;
                }
                changes.extend(frame.facts.into_iter().filter(Replay::needs).map(|fact| (sequence, fact)));
            }
            if is_complete {
                return Ok(changes);
            }
        }
        Ok(Vec::new())
    }

    fn note_frame(&mut self, sequence: Sequence, frame: &Frame, read: u64) {
        let end = EventNumber(frame.first_event.0 + frame.facts.iter().map(Fact::events_max).sum::<u64>());
        let is_risky = frame.facts.iter().any(|fact| lost_messages(fact).is_some());
        let view = is_risky.then(|| self.realm.view.read());
        for queue in self.queues.iter_mut().filter(|queue| queue.wants(sequence, end)) {
            queue.starts_at.get_or_insert(read);
            if let Some(view) = &view
                && frame.facts.iter().any(|fact| is_uncertain(view, queue.record.user, fact))
            {
                queue.end();
            }
        }
    }

    fn end_lagging_queues(&mut self, read: u64) -> bool {
        let mut is_any = false;
        for queue in self.queues.iter_mut().filter(|queue| queue.is_open()) {
            if queue.starts_at.is_some_and(|start| read - start > LOG_BYTES_MAX) {
                is_any = true;
                metrics::counter!("millstream_queues_not_resumed_total").increment(1);
                tracing::info!(queue = %queue.record.id, "client is too far behind; event queue not resumed");
                queue.end();
            }
        }
        is_any
    }

    fn lowest(&self, counts: impl Fn(&Collected) -> bool) -> Option<u64> {
        self.queues.iter().filter(|queue| counts(queue)).map(|queue| queue.after).min()
    }

    /// Whether the journal still has the frames from one on.
    fn has_frames(&self, from: Sequence) -> bool {
        !matches!(self.log.read(self.realm.id.0, from.0), Err(LogError::OutOfRange { .. }))
    }

    /// The frames from one on, up to the newest one when the pass was created.
    fn frames(
        &self,
        from: Sequence,
    ) -> Result<impl Iterator<Item = Result<Stored, DomainError>> + use<>, DomainError> {
        let storage = |error: storage::log::LogError| DomainError::Storage(error.to_string());
        let frames = self.log.read(self.realm.id.0, from.0).map_err(storage)?;
        let (realm, upto) = (self.realm.clone(), self.upto.0);
        let frames = frames.map(move |stored| {
            if realm.resume.is_stopping() {
                return Err(DomainError::Stopping);
            }
            let stored = stored.map_err(storage)?;
            let frame = storage::decode_frame(&stored.payload)?;
            Ok(Stored { sequence: Sequence(stored.sequence), bytes: stored.payload.len() as u64, frame })
        });
        // Later events are delivered directly.
        Ok(frames.take_while(move |stored| stored.as_ref().map_or(true, |stored| stored.sequence.0 <= upto)))
    }

    /// Adds an event to each of its queues.
    fn deliver(
        &mut self,
        (view, echoes): (&View, &Echoes),
        sequence: Sequence,
        mut event: Event,
        audience: &Audience,
    ) {
        let limits = self.realm.queue_limits;
        redact_secrets(view, &mut event.body, audience);
        let event = Arc::new(event);
        let echo = if let Audience::Readers(message) = audience { echoes.get(&message.id) } else { None };
        let mut visible: Option<(UserId, Option<Arc<Event>>)> = None;
        let mut shared = SharedEvent::default();
        for queue in &mut self.queues {
            let number = event.number;
            if !queue.wants(sequence, number) || !queue.record.options.kinds.contains(event.body.kind()) {
                continue;
            }
            let Some(user) = view.directory.user(queue.record.user) else { continue };
            let Some(flags) = flags_for(view, &queue.record, user, audience) else { continue };
            let seen = match visible.take() {
                Some((id, seen)) if id == user.id => seen,
                _ => visible_part(view, user, &event),
            };
            let gets = queue.gets(&event.body, seen.is_some());
            visible = Some((user.id, seen.clone()));
            let Some(seen) = seen.filter(|seen| gets && passes(view, queue, seen, flags)) else { continue };
            let local_id =
                echo.filter(|echo| echo.queue == queue.record.id).map(|echo| echo.local_id.clone());
            let delivered = Delivered { event: shared.of(&self.realm, seen), flags, local_id };
            queue.bytes += delivered.bytes();
            match &mut queue.outcome {
                Ok(found) if found.len() < limits.events_max && queue.bytes <= limits.bytes_per_user_max => {
                    found.push(delivered);
                }
                _ => queue.end(),
            }
        }
    }
}

/// The newest event that was delivered, and the equal one that queues share.
#[derive(Default)]
struct SharedEvent(Option<(Arc<Event>, Arc<Event>)>);

impl SharedEvent {
    /// The event that queues share instead of this one. It is looked for once for all queues in sequence that get this one.
    fn of(&mut self, realm: &RealmShared, event: Arc<Event>) -> Arc<Event> {
        if let Some((known, shared)) = &self.0
            && Arc::ptr_eq(known, &event)
        {
            return shared.clone();
        }
        let shared = realm.resume.shared(event.clone());
        self.0 = Some((event, shared.clone()));
        shared
    }
}

/// The local ids by which senders wait for their messages.
fn echoes(frame: &Frame) -> Echoes {
    let mut echoes = Echoes::new();
    for fact in &frame.facts {
        if let Fact::Message(MessageFact::Sent { message, echo: Some(echo) }) = fact {
            echoes.insert(message.id, echo.clone());
        }
    }
    echoes
}

fn flags_for(view: &View, record: &QueueRecord, user: &User, audience: &Audience) -> Option<Flags> {
    match audience {
        Audience::Everyone => Some(Flags::NONE),
        Audience::NonGuests => (!user.is_guest()).then_some(Flags::NONE),
        Audience::Users(users) => users.contains(&user.id).then_some(Flags::NONE),
        Audience::Flagged(users) => users.iter().find(|(id, _)| *id == user.id).map(|(_, flags)| *flags),
        Audience::Readers(message) => readers_flags(view, record, user.id, message),
        Audience::Queue(_) => None,
    }
}

/// Whether a queue accepts an event that its owner may see.
fn passes(view: &View, queue: &Collected, event: &Event, flags: Flags) -> bool {
    let wants = |narrow: &EventNarrow| {
        crate::session::wants(narrow, &view.directory, queue.record.user, event, flags)
    };
    crate::session::accepts(&queue.record.options, event) && queue.narrow.as_ref().is_none_or(wants)
}

fn readers_flags(view: &View, record: &QueueRecord, user: UserId, message: &model::Message) -> Option<Flags> {
    if view.is_delivered(user, message) {
        return Some(fanout::flags_at_send(user, message));
    }
    let channel = view.directory.channel(message.place.channel()?)?;
    let is_public = !channel.invite_only && !view.directory.user(user)?.is_guest();
    (crate::session::receives_all_public_channels(&record.options) && is_public).then_some(Flags::NONE)
}

/// The messages that a fact removed from a channel.
fn lost_messages(fact: &Fact) -> Option<(ChannelId, &MessageRanges)> {
    let Fact::Message(fact) = fact else { return None };
    match fact {
        MessageFact::Deleted { from: DeletedFrom::Topic { channel, .. }, messages, .. } => {
            Some((*channel, messages))
        }
        MessageFact::Updated(update) => {
            let movement = update.movement.as_ref().filter(|movement| movement.new_channel.is_some())?;
            Some((movement.channel, &movement.messages))
        }
        MessageFact::Sent { .. }
        | MessageFact::Deleted { .. }
        | MessageFact::FlagsChanged { .. }
        | MessageFact::ReactionAdded { .. }
        | MessageFact::ReactionRemoved { .. }
        | MessageFact::SubmessageAdded { .. }
        | MessageFact::HistoryErased { .. }
        | MessageFact::ConversationCreated(_) => None,
    }
}

/// Whether a fact removed messages from a user, and it is unknown which of them the user had: with protected history,
/// those that had been moved there.
fn is_uncertain(view: &View, user: UserId, fact: &Fact) -> bool {
    let Some((channel, messages)) = lost_messages(fact) else { return false };
    let Some(record) = view.directory.channel(channel) else { return false };
    let is_protected = record.invite_only && !record.history_public_to_subscribers;
    let own = view.directory.subscription(channel, user).filter(|own| is_protected && own.is_active);
    own.is_some_and(|own| messages.iter().any(|id| !own.received(id)))
}
