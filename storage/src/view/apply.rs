//! Applies facts to memory and derives rows. Values are absolute, so applying a frame to rows that already reflect it
//! changes nothing.

use super::arrivals::ids_of;
use super::flag_blocks::blocks_of;
use super::index::day_of;
use super::message_changes::TouchedBlocks;
use super::{MessageIndexRow, Progress, RowChange, Rows, View, chunk, key, records};
use crate::codec::encode;
use crate::error::StoreError;
use model::fact::MessageRanges;
use model::{
    Directory, Fact, Flag, FlagOp, Frame, JobFact, JobId, Message, MessageFact, QueueFact, Realm, RealmFact,
    Sequence, UserId,
};
use std::sync::Arc;

/// The position of events is stored every this many frames.
const EVENT_POSITION_FRAMES: u64 = 64;

impl View {
    /// Creates an organization from its first frame.
    ///
    /// # Errors
    /// [`StoreError::Decode`] when the frame does not begin with the creation of an organization.
    pub fn create(sequence: Sequence, frame: &Frame) -> Result<(Self, Rows), StoreError> {
        let Some(Fact::Realm(RealmFact::Created(realm))) = frame.facts.first() else {
            return Err(StoreError::Decode {
                what: "first frame",
                why: "it does not create an organization".into(),
            });
        };
        let mut view = Self::empty(Realm::clone(realm));
        let rows = view.apply(sequence, frame)?;
        Ok((view, rows))
    }

    /// An empty organization.
    pub(super) fn empty(realm: Realm) -> Self {
        Self { directory: Directory::new(realm), ..Self::default() }
    }

    /// Applies the facts of the next frame and returns the row changes that bring the trees to the same state.
    pub fn apply(&mut self, sequence: Sequence, frame: &Frame) -> Result<Rows, StoreError> {
        let mut rows = Rows::default();
        let mut events = 0;
        if let Some(Fact::Realm(RealmFact::Created(realm))) = frame.facts.first()
            && self.progress.sequence > Sequence(0)
        {
            self.start_over(Realm::clone(realm), &mut rows);
        }
        for (position, fact) in (0..).zip(&frame.facts) {
            self.apply_fact((sequence, position), frame, fact, &mut rows)?;
            events += fact.events_max();
        }
        self.progress.sequence = sequence;
        if events > 0 {
            self.progress.last_event = model::EventNumber(frame.first_event.0 + events - 1);
        }
        if sequence.0.is_multiple_of(EVENT_POSITION_FRAMES) {
            rows.put::<records::EventPositions>(self.realm(), &frame.first_event, &sequence)?;
        }
        Ok(rows)
    }

    /// Forgets everything: the frame creates the organization again, as development servers do. Numbers of events keep
    /// growing.
    fn start_over(&mut self, realm: Realm, rows: &mut Rows) {
        let Progress { last_event, reserved_events, .. } = self.progress;
        let progress = Progress { last_event, reserved_events, ..Progress::default() };
        rows.0.push(RowChange::RemoveUnder(realm.id.0.to_be_bytes().to_vec()));
        *self = Self { progress, recent: self.recent.emptied(), ..Self::empty(realm) };
    }

    /// `position` is the position of the fact in its frame.
    fn apply_fact(
        &mut self,
        (sequence, position): (Sequence, u16),
        frame: &Frame,
        fact: &Fact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        match fact {
            Fact::Realm(fact) => self.apply_realm_fact(fact, rows),
            Fact::User(fact) => self.apply_user_fact(fact, rows),
            Fact::Personal(fact) => self.apply_personal_fact(fact, rows),
            Fact::Group(fact) => self.apply_group_fact(fact, rows),
            Fact::Channel(fact) => self.apply_channel_fact(fact, rows),
            Fact::Subscription(fact) => self.apply_subscription_fact(frame.at, fact, rows),
            Fact::Message(fact) => {
                if let MessageFact::Deleted { messages, .. } = fact {
                    self.release_all(frame.at, messages, rows)?;
                }
                self.apply_message_fact((sequence, position), fact, rows)
            }
            Fact::Queue(fact) => self.apply_queue_fact(fact, rows),
            Fact::Job(JobFact::Added { due, task }) => {
                self.apply_job_added(JobId::of(sequence, position), frame.at, (*due, task), rows)
            }
            Fact::Job(JobFact::Ended { job, outcome }) => self.apply_job_ended(*job, frame.at, outcome, rows),
            Fact::Push(fact) => self.apply_push_fact(fact, rows),
            Fact::Invitation(fact) => self.apply_invitation_fact(frame.at, fact, rows),
            Fact::Picture(fact) => self.apply_picture_fact(fact, rows),
            Fact::Attachment(fact) => self.apply_attachment_fact(frame.at, fact, rows),
            Fact::PreImages(_) => Ok(()),
            Fact::Audit(entry) => self.apply_audit_entry(sequence, frame.at, entry, rows),
        }
    }

    fn apply_message_fact(
        &mut self,
        (sequence, position): (Sequence, u16),
        fact: &MessageFact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        match fact {
            MessageFact::Sent { message, .. } => self.apply_message(sequence, message, rows),
            MessageFact::Updated(update) => self.apply_update((sequence, position), update, rows),
            MessageFact::Deleted { from, messages, .. } => self.apply_deleted(from, messages, rows),
            MessageFact::FlagsChanged { user, flag, op, messages } => {
                self.apply_flags(*user, *flag, *op, messages, rows)
            }
            MessageFact::ReactionAdded { message, conversation, reaction } => {
                self.apply_reaction_added((sequence, position), (*message, *conversation), reaction, rows)
            }
            MessageFact::ReactionRemoved { message, reaction, left, .. } => {
                self.apply_reaction_removed(sequence, *message, reaction, *left, rows);
                Ok(())
            }
            MessageFact::SubmessageAdded { message, submessage, .. } => {
                self.apply_submessage(sequence, *message, submessage, rows)
            }
            MessageFact::HistoryErased { versions } => self.apply_history_erased(sequence, versions, rows),
            MessageFact::ConversationCreated(direct) => {
                self.put::<records::DirectConversations>(rows, direct.recipient, direct.clone())
            }
        }
    }

    fn apply_queue_fact(&mut self, fact: &QueueFact, rows: &mut Rows) -> Result<(), StoreError> {
        match fact {
            QueueFact::Registered(record) => {
                self.put::<records::Queues>(rows, record.id.clone(), model::QueueRecord::clone(record))
            }
            QueueFact::Ended(queue) => {
                self.remove::<records::Queues>(rows, queue);
                Ok(())
            }
            QueueFact::EventNumbersReserved(number) => {
                self.progress.reserved_events = *number;
                Ok(())
            }
        }
    }

    fn apply_message(
        &mut self,
        sequence: Sequence,
        message: &Arc<Message>,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let realm = self.realm();
        let row = MessageIndexRow::from(&**message);
        self.messages.add(message.id, &row);
        self.progress.last_message = self.messages.last;
        let day = day_of(message.sent);
        if self.messages.note_day(message.id, day) {
            rows.put::<records::Days>(realm, &key::Day(day), &message.id)?;
        }
        let chunks = &mut self.chunks;
        let body = encode(message)?;
        let is_first = chunks.bodies.add(chunk::BODIES, message.id, &body);
        rows.append::<records::Messages>(realm, chunks.bodies.first(), (message.id, is_first, body));
        let row = encode(&row)?;
        let is_first = chunks.index_rows.add(chunk::INDEX_ROWS, message.id, &row);
        rows.append::<records::MessageIndex>(realm, chunks.index_rows.first(), (message.id, is_first, row));
        self.recent.put(sequence, message.clone());
        Ok(())
    }

    fn apply_flags(
        &mut self,
        user: UserId,
        flag: Flag,
        op: FlagOp,
        messages: &MessageRanges,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        // Ranges may cover ids without messages; nothing is stored for those.
        let ids = ids_of(messages) & &self.messages.all;
        if ids.is_empty() {
            return Ok(());
        }
        let delivered = self.delivered_among(user, &ids);
        // A flag on a message that was never delivered makes it historical; it counts as read
        // unless the request marks it unread.
        let mut historical = &ids - &delivered;
        if let Some(mine) = self.messages.users.get(&user) {
            historical -= &mine.historical;
        }
        let mut touched = TouchedBlocks::new();
        for block in blocks_of(&historical) {
            touched.extend([(user, Flag::Historical, block), (user, Flag::Read, block)]);
        }
        self.messages.users.add_all(user, Flag::Read, &historical);
        self.messages.users.add_all(user, Flag::Historical, &historical);
        if self.messages.users.change(user, flag, op, &ids) {
            touched.extend(blocks_of(&ids).into_iter().map(|block| (user, flag, block)));
        }
        self.put_flag_blocks(&touched, rows)
    }
}
