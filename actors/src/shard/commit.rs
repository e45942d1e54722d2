//! The commit pipeline, the only way in which decisions take effect: a frame is queued for the log; only when it is
//! durable, memory changes, events are sent and the caller gets its result, all in the order of the log.

use super::daily_budget::DailyBudget;
use super::pending::{CommitCallback, Pending, PendingKind, refuse};
use super::sequencer::Sequencer;
use super::sink::Durability;
use super::uncommitted::UncommittedChannels;
use crate::account;
use crate::announce::Listening;
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::health::{Pause, StorageHealth};
use crate::shared::RealmShared;
use model::{
    Audience, Channel, ChannelId, Event, EventBody, EventNumber, Fact, Frame, Message, MessageId, QueueFact,
    RealmId, RecipientId, Subscription, UserId,
};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use storage::log::{RealmLog, Ticket};
use storage::{Applied, ProjectionSender, View};
use tokio::sync::oneshot;

thread_local! {
    /// The commit pipeline of the shard that this thread is.
    pub(crate) static COMMITTER: OnceCell<Rc<Committer>> = const { OnceCell::new() };
}

/// Maximum number of frames of a shard that wait for the disk. Beyond it, commands are refused as overloaded.
const PENDING_FRAMES_MAX: usize = 16_384;

/// Number of event numbers outside the log that are reserved at once.
const RESERVED_EVENTS: u64 = 4096;

struct RealmSlot {
    realm: Arc<RealmShared>,
    sequencer: Sequencer,
    epoch: u64,
    fanout: Rc<Fanout>,
    /// Whether frames that create the organization again wait for the disk: nothing is decided meanwhile.
    is_resetting: bool,
}

/// Why a shard refuses changes.
#[derive(Clone, Copy)]
struct Failure {
    pause: Pause,
    /// Whether the journal works nevertheless, so that essential facts can be stored.
    allows_essential_writes: bool,
}

/// The commit pipeline of a shard. Lives on the shard's thread.
pub struct Committer {
    log: Arc<dyn RealmLog>,
    durability: Arc<Durability>,
    projection: RefCell<Option<ProjectionSender>>,
    slots: RefCell<HashMap<RealmId, RealmSlot>>,
    pending: RefCell<VecDeque<Pending>>,
    last_ticket: Cell<Ticket>,
    uncommitted: RefCell<UncommittedChannels>,
    /// Messages as they were when a change of them was decided, until it is published.
    targets: RefCell<HashMap<(RealmId, MessageId), Arc<Message>>>,
    budget: RefCell<Option<DailyBudget>>,
    conversations: RefCell<Option<DailyBudget>>,
    shard: usize,
    health: Arc<StorageHealth>,
    failure: Cell<Option<Failure>>,
    /// How often the shard has restarted from the durable state.
    generation: Cell<u64>,
}

impl Committer {
    /// A pipeline into a log, which reports to `durability`.
    pub fn new(
        log: Arc<dyn RealmLog>,
        durability: Arc<Durability>,
        projection: ProjectionSender,
        (shard, health): (usize, Arc<StorageHealth>),
    ) -> Rc<Self> {
        Rc::new(Self {
            log,
            durability,
            projection: RefCell::new(Some(projection)),
            slots: RefCell::default(),
            pending: RefCell::default(),
            last_ticket: Cell::new(0),
            uncommitted: RefCell::default(),
            targets: RefCell::default(),
            budget: RefCell::default(),
            conversations: RefCell::default(),
            shard,
            health,
            failure: Cell::default(),
            generation: Cell::new(0),
        })
    }

    /// Limits the bytes that each account may write.
    pub fn limit_writes(&self, budget: DailyBudget) {
        *self.budget.borrow_mut() = Some(budget);
    }

    /// Limits the direct conversations that each account may start.
    pub fn limit_conversations(&self, budget: DailyBudget) {
        *self.conversations.borrow_mut() = Some(budget);
    }

    /// Whether an account may start another direct conversation. Fails with `ConversationBudgetSpent`.
    pub fn check_conversation(&self, realm: RealmId, account: UserId) -> Result<(), DomainError> {
        self.conversations.borrow_mut().as_mut().map_or(Ok(()), |budget| budget.check(realm, account))
    }

    /// Counts a direct conversation that an account has started.
    pub fn charge_conversation(&self, realm: RealmId, account: UserId) {
        if let Some(budget) = self.conversations.borrow_mut().as_mut() {
            budget.charge(realm, account, 1);
        }
    }

    /// Adds an organization of this shard.
    pub fn add_realm(&self, realm: Arc<RealmShared>, sequencer: Sequencer, epoch: u64, fanout: Rc<Fanout>) {
        self.slots
            .borrow_mut()
            .insert(realm.id, RealmSlot { realm, sequencer, epoch, fanout, is_resetting: false });
    }

    /// How often the shard has restarted from the durable state. Actors drop what they remember of pending decisions
    /// when this changes.
    pub fn generation(&self) -> u64 {
        self.generation.get()
    }

    /// The next ids of an organization; `commit` takes them. Fails with `Paused` while the disk is almost full and after a
    /// failure, `Overloaded` when too much is pending, `WriteBudgetSpent` when the requester has written too much.
    pub fn ids(&self, realm: RealmId) -> Result<Sequencer, DomainError> {
        if let Some(failure) = self.failure.get() {
            return Err(DomainError::Paused(failure.pause));
        }
        if self.health.is_read_only() {
            return Err(DomainError::Paused(Pause::LowSpace));
        }
        if let (Some(account), Some(budget)) = (account::current(), self.budget.borrow_mut().as_mut()) {
            budget.check(realm, account)?;
        }
        self.essential_ids(realm)
    }

    /// As `ids`, for the few facts that let clients read and prevent repeated deliveries: they are stored as long as the
    /// journal works.
    pub fn essential_ids(&self, realm: RealmId) -> Result<Sequencer, DomainError> {
        if let Some(failure) = self.failure.get().filter(|failure| !failure.allows_essential_writes) {
            return Err(DomainError::Paused(failure.pause));
        }
        self.check_room()?;
        self.next_ids(realm)
    }

    /// Commits facts that are stored as long as the journal works, and waits until they are durable.
    pub async fn commit_essential(
        &self,
        realm: &Arc<RealmShared>,
        facts: Vec<Fact>,
    ) -> Result<(), DomainError> {
        let ids = self.essential_ids(realm.id)?;
        let (done, is_done) = oneshot::channel();
        self.commit(realm, ids, facts, Box::new(move |result| drop(done.send(result))));
        is_done.await.unwrap_or(Err(DomainError::Stopping))
    }

    fn check_room(&self) -> Result<(), DomainError> {
        if self.pending.borrow().len() < PENDING_FRAMES_MAX { Ok(()) } else { Err(DomainError::Overloaded) }
    }

    /// The next ids of an organization, whether or not they can be taken.
    pub fn next_ids(&self, realm: RealmId) -> Result<Sequencer, DomainError> {
        let slots = self.slots.borrow();
        let slot = slots.get(&realm).ok_or(DomainError::Stopping)?;
        if slot.is_resetting { Err(DomainError::Overloaded) } else { Ok(slot.sequencer) }
    }

    /// Queues what was decided with `ids` as one frame; true when the log took it. `done` runs when the
    /// frame is published, or at once when it was refused: nothing has changed then, and no id is taken.
    /// Nothing is awaited between `ids` and here, so id order is log order.
    pub fn commit(
        &self,
        realm: &Arc<RealmShared>,
        ids: Sequencer,
        facts: Vec<Fact>,
        done: CommitCallback,
    ) -> bool {
        match self.append(realm, ids, facts) {
            Ok((ticket, frame)) => {
                self.uncommitted.borrow_mut().note(realm.id, ticket, &frame.facts);
                let kind = PendingKind::Frame(frame);
                let pending = Pending { ticket, realm: realm.clone(), kind, done: Some(done) };
                self.pending.borrow_mut().push_back(pending);
                true
            }
            Err(error) => {
                done(Err(error));
                false
            }
        }
    }

    /// Stores the body of a message whose change is about to be committed, to update memory and for the previous state in
    /// events. It cannot change before, because changes are decided when all earlier decisions are published.
    pub fn keep_target(&self, realm: RealmId, target: Arc<Message>) {
        self.targets.borrow_mut().insert((realm, target.id), target);
    }

    /// A channel's record if an unpublished frame changes it. A message to the actor would arrive after the requests
    /// that are already in its mailbox.
    pub fn uncommitted_channel(&self, realm: RealmId, channel: ChannelId) -> Option<Arc<Channel>> {
        self.uncommitted.borrow().get(realm, channel)
    }

    /// Whether unpublished frames move messages from another channel to this one. Decisions about all of its messages
    /// wait for them.
    pub fn is_awaiting_messages(&self, realm: RealmId, channel: ChannelId) -> bool {
        self.uncommitted.borrow().is_awaiting(realm, channel)
    }

    /// Users who were subscribed to a channel in frames that are not published yet.
    pub fn new_subscriptions(&self, realm: RealmId, channel: ChannelId) -> Vec<(UserId, Subscription)> {
        self.uncommitted.borrow().subscriptions(realm, channel)
    }

    /// The recipient of a direct conversation (users sorted) that was created in a frame that is not published yet.
    pub fn uncommitted_direct(&self, realm: RealmId, users: &[UserId]) -> Option<RecipientId> {
        self.uncommitted.borrow().direct(realm, users)
    }

    /// Sends an event that is not stored, after all earlier decisions.
    pub fn publish_ephemeral(
        &self,
        realm: &Arc<RealmShared>,
        body: EventBody,
        audience: Audience,
    ) -> Result<(), DomainError> {
        self.check_room()?;
        let mut ids = self.next_ids(realm.id)?;
        if ids.event > ids.reserved {
            ids = self.essential_ids(realm.id)?;
            // A restart must not reuse these numbers: a block of them is reserved in the log.
            ids.reserved = EventNumber(ids.event.0 + RESERVED_EVENTS);
            let fact = Fact::Queue(QueueFact::EventNumbersReserved(ids.reserved));
            if !self.commit(realm, ids, vec![fact], Box::new(|_| {})) {
                return Err(DomainError::Overloaded);
            }
            ids = self.next_ids(realm.id)?;
        }
        let event = Event::new(ids.event, body);
        ids.event = ids.event.next();
        if let Some(slot) = self.slots.borrow_mut().get_mut(&realm.id) {
            slot.sequencer = ids;
        }
        self.push_pending(realm, PendingKind::Ephemeral(Box::new(event), audience), None);
        Ok(())
    }

    /// Queues something that is published after all earlier decisions.
    fn push_pending(&self, realm: &Arc<RealmShared>, kind: PendingKind, done: Option<CommitCallback>) {
        let pending = Pending { ticket: self.last_ticket.get(), realm: realm.clone(), kind, done };
        self.pending.borrow_mut().push_back(pending);
        self.durability.wake();
    }

    /// Runs `then` on the shard's thread when all earlier decisions are published, in any organization of the shard; at
    /// once if none is pending.
    pub fn after_pending_commits(&self, realm: &Arc<RealmShared>, then: CommitCallback) {
        if let Some(failure) = self.failure.get() {
            return then(Err(DomainError::Paused(failure.pause)));
        }
        if self.is_idle() {
            return then(Ok(()));
        }
        self.push_pending(realm, PendingKind::Barrier, Some(then));
    }

    /// Publishes the durable frames whenever the log reports. Ends when the shard stops.
    pub async fn run(self: Rc<Self>) {
        loop {
            self.durability.changed().await;
            self.publish_durable();
        }
    }

    /// The log, for reading.
    pub fn log(&self) -> Arc<dyn RealmLog> {
        self.log.clone()
    }

    /// Whether no frame waits for the disk.
    pub fn is_idle(&self) -> bool {
        self.pending.borrow().is_empty()
    }

    /// Publishes the durable frames, and fails the others if the log has failed.
    pub fn publish_durable(&self) {
        let upto = self.durability.upto();
        // Before anything is published: their tickets are reported, too.
        self.drop_fenced();
        loop {
            let batch = self.take_durable(upto);
            let Some(first) = batch.front() else { break };
            let realm = first.realm.clone();
            if let Err(error) = self.publish(&realm, batch) {
                tracing::error!(%error, "changes that are on disk cannot be applied to memory");
                self.pause(Pause::TreesFailed, false);
                break;
            }
        }
        if let Some(error) = self.durability.failure() {
            self.pause(Pause::from(&error), false);
        }
    }

    /// The durable frames of one organization at the front of the queue.
    fn take_durable(&self, upto: Ticket) -> VecDeque<Pending> {
        let mut pending = self.pending.borrow_mut();
        let first = pending.front().map(|first| first.realm.id);
        let is_next = |next: &&Pending| next.ticket <= upto && Some(next.realm.id) == first;
        let count = pending.iter().take_while(is_next).count();
        pending.drain(..count).collect()
    }

    fn publish(&self, realm: &Arc<RealmShared>, batch: VecDeque<Pending>) -> Result<(), DomainError> {
        let Some(fanout) = self.slots.borrow().get(&realm.id).map(|slot| slot.fanout.clone()) else {
            // It was removed; its frames were refused then.
            refuse(batch);
            return Ok(());
        };
        let upto = batch.back().map_or(0, |last| last.ticket);
        let mut announced: Vec<Vec<(Event, Audience)>> = Vec::with_capacity(batch.len());
        let mut applied = Vec::with_capacity(batch.len());
        let mut answers = Vec::with_capacity(batch.len());
        let mut may_begin_queue = false;
        {
            let mut view = realm.view.write();
            for pending in batch {
                match pending.kind {
                    PendingKind::Ephemeral(event, audience) => announced.push(vec![(*event, audience)]),
                    PendingKind::Barrier => {
                        may_begin_queue = true;
                        announced.push(Vec::new());
                    }
                    PendingKind::Reset(frames) => {
                        for frame in &frames {
                            applied.push(apply_frame(realm, &mut view, frame)?);
                        }
                        announced.push(Vec::new());
                    }
                    PendingKind::Frame(frame) => {
                        // A queue that begins within the group is not known yet.
                        may_begin_queue |= frame.facts.iter().any(|fact| matches!(fact, Fact::Queue(_)));
                        let listening: Listening<'_> = if may_begin_queue { None } else { Some(&*fanout) };
                        let (events, rows) = self.publish_frame(realm, &mut view, &frame, listening)?;
                        announced.push(events);
                        applied.push(rows);
                    }
                }
                answers.push(pending.done);
            }
        }
        self.uncommitted.borrow_mut().forget(realm.id, upto);
        let is_followed = self.forward_to_projection(applied);
        // Each answer follows its own events immediately: a queue that registers starts exactly there.
        for (events, done) in announced.into_iter().zip(answers) {
            for (event, audience) in events {
                fanout.publish(event, &audience);
            }
            if let Some(done) = done {
                done(Ok(()));
            }
        }
        fanout.answer_polls();
        if self.is_idle() {
            // The remaining ones belong to refused changes.
            self.targets.borrow_mut().clear();
        }
        if let Err(pause) = is_followed {
            self.pause(pause, true);
        }
        Ok(())
    }

    /// Applies a frame; returns its events, and its changes of the trees.
    fn publish_frame(
        &self,
        realm: &Arc<RealmShared>,
        view: &mut View,
        frame: &Frame,
        listening: Listening<'_>,
    ) -> Result<(Vec<(Event, Audience)>, Applied), DomainError> {
        let sequence = view.progress.sequence.next();
        for id in frame.facts.iter().filter_map(Fact::changed_message) {
            if let Some(own) = self.targets.borrow_mut().remove(&(realm.id, id)) {
                view.warm(sequence, own);
            }
        }
        let before = crate::announce::PreImages::of(view, frame, listening);
        let applied = apply_frame(realm, view, frame)?;
        realm.outbox.note(&view.jobs, sequence, &frame.facts);
        realm.note_published(sequence, &frame.facts);
        Ok((crate::announce::events(view, &before, frame, listening), applied))
    }

    /// Refuses changes until `resume`. With `allows_essential_writes` the journal still works, and pending frames still
    /// become durable; otherwise they fail.
    pub fn pause(&self, pause: Pause, allows_essential_writes: bool) {
        let before = self.failure.replace(Some(Failure { pause, allows_essential_writes }));
        if before.is_none() {
            tracing::error!(shard = self.shard, reason = pause.name(), "{pause}");
        }
        if before.is_none_or(|before| before.pause != pause) {
            self.health.pause(self.shard, pause);
        }
        if allows_essential_writes {
            return;
        }
        let failed: Vec<Pending> = self.pending.borrow_mut().drain(..).collect();
        // Later frames do not wait for failed ones, and take no number that only a failed frame reserved.
        self.last_ticket.set(self.durability.upto());
        for slot in self.slots.borrow_mut().values_mut() {
            slot.is_resetting = false;
            slot.sequencer = slot.sequencer.back_to(&slot.realm.view.read());
        }
        for pending in failed {
            if let Some(done) = pending.done {
                done(Err(DomainError::Paused(pause)));
            }
        }
    }

    /// Restarts from the durable state after the log has recovered: later decisions are dropped, and
    /// changes are accepted again. Fails when the view of an organization differs from the log; nothing has changed then.
    pub fn resume(&self, projection: Option<ProjectionSender>) -> Result<(), DomainError> {
        let mut slots = self.slots.borrow_mut();
        for slot in slots.values_mut() {
            let opened = self.log.open(slot.realm.id.0, 0).map_err(storage::StoreError::from)?;
            let view = slot.realm.view.read();
            let known = view.progress.sequence.0;
            if known != opened.last_sequence {
                let why =
                    format!("memory has frame {known} of {}, the log {}", view.realm(), opened.last_sequence);
                return Err(DomainError::Storage(why));
            }
            (slot.sequencer, slot.epoch) = (slot.sequencer.back_to(&view), opened.epoch);
            slot.fanout.forget_echoes();
        }
        drop(slots);
        if let Some(projection) = projection {
            *self.projection.borrow_mut() = Some(projection);
        }
        *self.uncommitted.borrow_mut() = UncommittedChannels::default();
        self.durability.forget_failure();
        self.last_ticket.set(self.durability.upto());
        self.generation.set(self.generation.get() + 1);
        self.failure.set(None);
        self.health.resume(self.shard);
        Ok(())
    }
}

mod append;
mod follow;
mod keys;
mod removal;
mod reset;

use keys::apply_frame;

#[cfg(test)]
mod tests;
