//! The one way in which decisions become true: a frame is queued for the log; when it is durable, and
//! not before, memory changes, events go out and the caller gets its answer, all in the order of the log.

use super::ahead::ChannelsAhead;
use super::sequencer::Sequencer;
use super::sink::Durability;
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::shared::RealmShared;
use model::{Audience, Channel, ChannelId, Event, EventBody, EventNumber, Fact, Frame, RealmId};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use storage::log::{FrameBytes, LogError, RealmLog, Ticket};
use storage::{Applied, ProjectionSender};

/// Called once on the shard's thread: after the frame was published, or when it never will be.
pub type Done = Box<dyn FnOnce(Result<(), DomainError>)>;

/// Frames that may wait for the disk in one shard. Past it commands are refused as overloaded.
pub const PENDING_FRAMES_MAX: usize = 16_384;

/// How many event numbers outside the log are reserved at once.
const RESERVED_EVENTS: u64 = 4096;

enum What {
    /// A frame that the log has been given.
    Frame(Frame),
    /// An event that is not kept (typing, presence); it waits for the frames decided before it.
    Passing(Box<Event>, Audience),
    /// Nothing but the answer: somebody waits for what was decided before.
    Turn,
}

struct Pending {
    /// What the log must have reached.
    ticket: Ticket,
    realm: Arc<RealmShared>,
    what: What,
    done: Option<Done>,
}

struct RealmSlot {
    sequencer: Sequencer,
    epoch: u64,
    fanout: Rc<Fanout>,
}

/// The commit pipeline of a shard. Lives on the shard's thread.
pub struct Committer {
    log: Arc<dyn RealmLog>,
    durability: Arc<Durability>,
    projection: RefCell<Option<ProjectionSender>>,
    slots: RefCell<HashMap<RealmId, RealmSlot>>,
    pending: RefCell<VecDeque<Pending>>,
    last_ticket: Cell<Ticket>,
    ahead: RefCell<ChannelsAhead>,
    failure: RefCell<Option<String>>,
}

impl Committer {
    /// A pipeline into a log whose reports arrive at `durability`.
    pub fn new(
        log: Arc<dyn RealmLog>,
        durability: Arc<Durability>,
        projection: ProjectionSender,
    ) -> Rc<Self> {
        Rc::new(Self {
            log,
            durability,
            projection: RefCell::new(Some(projection)),
            slots: RefCell::default(),
            pending: RefCell::default(),
            last_ticket: Cell::new(0),
            ahead: RefCell::default(),
            failure: RefCell::default(),
        })
    }

    /// Adds an organization of this shard.
    pub fn add_realm(&self, realm: RealmId, sequencer: Sequencer, epoch: u64, fanout: Rc<Fanout>) {
        self.slots.borrow_mut().insert(realm, RealmSlot { sequencer, epoch, fanout });
    }

    /// The next ids of an organization, to decide with. They are taken when `commit` gets them back.
    ///
    /// # Errors
    /// [`DomainError::Storage`] after a failure, [`DomainError::Overloaded`] when too much waits.
    pub fn ids(&self, realm: RealmId) -> Result<Sequencer, DomainError> {
        if let Some(why) = self.failure.borrow().as_ref() {
            return Err(DomainError::Storage(why.clone()));
        }
        if self.pending.borrow().len() >= PENDING_FRAMES_MAX {
            return Err(DomainError::Overloaded);
        }
        match self.slots.borrow().get(&realm) {
            Some(slot) => Ok(slot.sequencer),
            None => Err(DomainError::Stopping),
        }
    }

    /// Queues what was decided with `ids` as one frame; true when the log took it. `done` runs when the
    /// frame is published, or at once when it was refused: nothing has changed then, and no id is taken.
    /// There is no waiting between `ids` and here, so id order is log order.
    pub fn commit(&self, realm: &Arc<RealmShared>, ids: Sequencer, facts: Vec<Fact>, done: Done) -> bool {
        match self.append(realm, ids, facts) {
            Ok((ticket, frame)) => {
                self.last_ticket.set(ticket);
                self.ahead.borrow_mut().note(realm.id, ticket, &frame.facts);
                let what = What::Frame(frame);
                let pending = Pending { ticket, realm: realm.clone(), what, done: Some(done) };
                self.pending.borrow_mut().push_back(pending);
                true
            }
            Err(error) => {
                done(Err(error));
                false
            }
        }
    }

    fn append(
        &self,
        realm: &Arc<RealmShared>,
        mut ids: Sequencer,
        mut facts: Vec<Fact>,
    ) -> Result<(Ticket, Frame), DomainError> {
        {
            let view = realm.view.read();
            facts.extend(crate::announce::note_known_people(&view.directory, &facts));
            facts.extend(crate::announce::note(&view.directory, &facts));
        }
        let mut slots = self.slots.borrow_mut();
        let slot = slots.get_mut(&realm.id).ok_or(DomainError::Stopping)?;
        let frame = Frame { at: realm.clock.now(), first_event: ids.event, facts };
        let bytes = FrameBytes {
            realm: realm.id.0,
            sequence: ids.sequence.0,
            payload: storage::encode_frame(&frame)?,
        };
        let ticket = self.log.append(bytes, slot.epoch).map_err(|error| match error {
            LogError::Behind => DomainError::Overloaded,
            LogError::TooLarge { .. } => DomainError::TooLarge,
            error => DomainError::Storage(error.to_string()),
        })?;
        ids.sequence = ids.sequence.next();
        ids.event.0 += frame.facts.iter().map(Fact::events_max).sum::<u64>();
        slot.sequencer = ids;
        Ok((ticket, frame))
    }

    /// A channel's record, where it was changed and that is not published yet. A message in an actor's mailbox
    /// would come too late to keep out what is queued before it.
    pub fn channel_ahead(&self, realm: RealmId, channel: ChannelId) -> Option<Arc<Channel>> {
        self.ahead.borrow().get(realm, channel)
    }

    /// Whether messages from another channel are on their way to this one. Whoever decides about all of its messages
    /// waits for them.
    pub fn is_awaiting_messages(&self, realm: RealmId, channel: ChannelId) -> bool {
        self.ahead.borrow().is_awaiting(realm, channel)
    }

    /// Sends an event that is not kept, after everything decided before it.
    ///
    /// # Errors
    /// As for `ids`.
    pub fn pass(
        &self,
        realm: &Arc<RealmShared>,
        body: EventBody,
        audience: Audience,
    ) -> Result<(), DomainError> {
        let mut ids = self.ids(realm.id)?;
        if ids.event > ids.reserved {
            // A restart must not give these numbers out again: a block of them goes through the log.
            ids.reserved = EventNumber(ids.event.0 + RESERVED_EVENTS);
            let fact = Fact::EventNumbersReserved(ids.reserved);
            if !self.commit(realm, ids, vec![fact], Box::new(|_| {})) {
                return Err(DomainError::Overloaded);
            }
            ids = self.ids(realm.id)?;
        }
        let event = Event::new(ids.event, body);
        ids.event = ids.event.next();
        if let Some(slot) = self.slots.borrow_mut().get_mut(&realm.id) {
            slot.sequencer = ids;
        }
        let pending = Pending {
            ticket: self.last_ticket.get(),
            realm: realm.clone(),
            what: What::Passing(Box::new(event), audience),
            done: None,
        };
        self.pending.borrow_mut().push_back(pending);
        self.durability.wake();
        Ok(())
    }

    /// Runs `then` on the shard's thread when everything decided so far is published, in this or any other
    /// organization of the shard; at once when nothing waits.
    pub fn when_settled(&self, realm: &Arc<RealmShared>, then: Done) {
        if let Some(why) = self.failure.borrow().as_ref() {
            return then(Err(DomainError::Storage(why.clone())));
        }
        if self.is_idle() {
            return then(Ok(()));
        }
        let ticket = self.last_ticket.get();
        let pending = Pending { ticket, realm: realm.clone(), what: What::Turn, done: Some(then) };
        self.pending.borrow_mut().push_back(pending);
        self.durability.wake();
    }

    /// Publishes whatever is durable, whenever the log reports. Ends when the shard stops.
    pub async fn run(self: Rc<Self>) {
        loop {
            self.durability.changed().await;
            self.publish_durable();
        }
    }

    /// The log, for reading back.
    pub fn log(&self) -> Arc<dyn RealmLog> {
        self.log.clone()
    }

    /// Whether nothing waits for the disk.
    pub fn is_idle(&self) -> bool {
        self.pending.borrow().is_empty()
    }

    /// Publishes what the log has, and fails the rest when the log has failed.
    pub fn publish_durable(&self) {
        let upto = self.durability.upto();
        loop {
            let batch = self.take_durable(upto);
            let Some(first) = batch.front() else { break };
            let realm = first.realm.clone();
            if let Err(error) = self.publish(&realm, batch) {
                self.fail(&error.to_string());
                break;
            }
        }
        if let Some(why) = self.durability.failure() {
            self.fail(&why);
        }
    }

    /// The durable frames at the front that are of one organization.
    fn take_durable(&self, upto: Ticket) -> VecDeque<Pending> {
        let mut pending = self.pending.borrow_mut();
        let mut batch = VecDeque::new();
        while let Some(front) = pending.front() {
            let is_same = batch.front().is_none_or(|first: &Pending| first.realm.id == front.realm.id);
            if front.ticket > upto || !is_same {
                break;
            }
            batch.extend(pending.pop_front());
        }
        batch
    }

    fn publish(&self, realm: &Arc<RealmShared>, batch: VecDeque<Pending>) -> Result<(), DomainError> {
        let Some(fanout) = self.slots.borrow().get(&realm.id).map(|slot| slot.fanout.clone()) else {
            return Err(DomainError::Stopping);
        };
        let upto = batch.back().map_or(0, |last| last.ticket);
        let mut announced: Vec<Vec<(Event, Audience)>> = Vec::with_capacity(batch.len());
        let mut applied = Vec::with_capacity(batch.len());
        let mut answers = Vec::with_capacity(batch.len());
        {
            let mut view = realm.view.write();
            for pending in batch {
                match pending.what {
                    What::Passing(event, audience) => announced.push(vec![(*event, audience)]),
                    What::Turn => announced.push(Vec::new()),
                    What::Frame(frame) => {
                        let sequence = view.progress.sequence.next();
                        let before = crate::announce::Before::of(&view, &frame);
                        let rows = view.apply(sequence, &frame)?;
                        realm.outbox.note(&view.jobs, sequence, &frame.facts);
                        realm.noticing.note(&frame.facts);
                        note_keys(realm, &frame);
                        announced.push(crate::announce::events(&view, &before, &frame));
                        let (progress, stored) = (view.progress, view.recent.stored());
                        applied.push(Applied { realm: realm.id, progress, rows, stored });
                    }
                }
                answers.push(pending.done);
            }
        }
        self.ahead.borrow_mut().forget(realm.id, upto);
        for applied in applied {
            if let Some(projection) = self.projection.borrow().as_ref() {
                projection.send(applied)?;
            }
        }
        // Each answer right behind its own events: a queue that registers starts exactly there.
        for (events, done) in announced.into_iter().zip(answers) {
            for (event, audience) in events {
                fanout.publish(event, &audience);
            }
            if let Some(done) = done {
                done(Ok(()));
            }
        }
        Ok(())
    }

    /// Nothing is accepted any more, and nobody gets an answer that might not be true.
    fn fail(&self, why: &str) {
        if self.failure.borrow().is_none() {
            tracing::error!(why, "the shard accepts no more changes; restart the server");
            *self.failure.borrow_mut() = Some(why.to_owned());
        }
        let failed: Vec<Pending> = self.pending.borrow_mut().drain(..).collect();
        for pending in failed {
            if let Some(done) = pending.done {
                done(Err(DomainError::Storage(why.to_owned())));
            }
        }
    }

    /// Lets go of the trees, so that their writer can end.
    pub fn close(&self) {
        self.projection.borrow_mut().take();
        self.slots.borrow_mut().clear();
    }
}

/// A new API key is good from the moment on in which it is durable; the look-up must know it before the answer.
fn note_keys(realm: &RealmShared, frame: &Frame) {
    for fact in &frame.facts {
        if let Fact::UserCreated(user) | Fact::UserChanged(user) = fact {
            realm.credentials.add(realm.id, user);
        }
    }
}

#[cfg(test)]
mod tests;
