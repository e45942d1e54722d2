//! Facts become memory and rows. Values are absolute, so a frame may be applied to rows that have it already.

use super::arrivals::ids_of;
use super::changed::TouchedBlocks;
use super::flag_blocks::blocks_of;
use super::index::day_of;
use super::{MessageIndexRow, Progress, Rows, View, chunk};
use crate::codec::encode;
use crate::error::StoreError;
use crate::tables;
use model::fact::MessageRanges;
use model::{Directory, Fact, Flag, FlagOp, Frame, JobId, Message, Realm, Sequence, UserId};
use std::sync::Arc;

/// Every how many frames the position of their events is noted.
const EVENT_POSITION_FRAMES: u64 = 64;

/// From so many messages on, changing a flag looks for the smallest form of the set anew.
const OPTIMIZE_MESSAGES_MIN: u64 = 64;

impl View {
    /// An organization as its first frame makes it.
    ///
    /// # Errors
    /// [`StoreError::Decode`] when the frame does not begin with the creation of an organization.
    pub fn create(sequence: Sequence, frame: &Frame) -> Result<(Self, Rows), StoreError> {
        let Some(Fact::RealmCreated(realm)) = frame.facts.first() else {
            return Err(StoreError::Decode {
                what: "first frame",
                why: "it does not create an organization".into(),
            });
        };
        let mut view = Self::empty(Realm::clone(realm));
        let rows = view.apply(sequence, frame)?;
        Ok((view, rows))
    }

    /// An organization with nothing in it.
    pub(super) fn empty(realm: Realm) -> Self {
        Self {
            directory: Directory::new(realm),
            messages: Default::default(),
            queues: Default::default(),
            recent: Default::default(),
            jobs: Default::default(),
            progress: Progress::default(),
            chunks: Default::default(),
            changed: Default::default(),
            deleted: Default::default(),
            moves: Default::default(),
            arrivals: Default::default(),
        }
    }

    /// Applies the facts of the next frame and returns the rows that make the trees say the same.
    ///
    /// # Errors
    /// [`StoreError::Encode`] when a record is too large to store.
    pub fn apply(&mut self, sequence: Sequence, frame: &Frame) -> Result<Rows, StoreError> {
        let mut rows = Rows::default();
        let mut events = 0;
        for (position, fact) in (0..).zip(&frame.facts) {
            self.apply_fact((sequence, position), frame, fact, &mut rows)?;
            events += fact.events_max();
        }
        self.progress.sequence = sequence;
        if events > 0 {
            self.progress.last_event = model::EventNumber(frame.first_event.0 + events - 1);
        }
        if sequence.0.is_multiple_of(EVENT_POSITION_FRAMES) {
            rows.put(tables::event_position(self.realm(), frame.first_event.0), &sequence)?;
        }
        Ok(rows)
    }

    /// `position` is the fact's in its frame.
    fn apply_fact(
        &mut self,
        (sequence, position): (Sequence, u16),
        frame: &Frame,
        fact: &Fact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        match fact {
            Fact::MessageSent { message, .. } => self.apply_message(sequence, message, rows),
            Fact::MessageUpdated(update) => self.apply_update((sequence, position), update, rows),
            Fact::MessagesDeleted { messages, .. } => self.apply_deleted(messages, rows),
            Fact::ReactionAdded { message, reaction } => {
                self.apply_own_record(sequence, message, rows)?;
                self.apply_reactor(message.id, reaction.user, rows)
            }
            Fact::ReactionRemoved { message, .. } | Fact::SubmessageAdded { message, .. } => {
                self.apply_own_record(sequence, message, rows)
            }
            Fact::FlagsChanged { user, flag, op, messages } => {
                self.apply_flags(*user, *flag, *op, messages, rows)
            }
            Fact::QueueRegistered(record) => {
                self.queues.insert(record.id.clone(), Arc::new(model::QueueRecord::clone(record)));
                rows.put(tables::queue(self.realm(), &record.id), record)
            }
            Fact::QueueEnded(queue) => {
                self.queues.remove(queue);
                rows.remove(tables::queue(self.realm(), queue));
                Ok(())
            }
            Fact::EventNumbersReserved(number) => {
                self.progress.reserved_events = *number;
                Ok(())
            }
            Fact::JobAdded { due, task } => {
                self.apply_job_added(JobId::of(sequence, position), frame.at, (*due, task), rows)
            }
            Fact::JobEnded { job, outcome } => self.apply_job_ended(*job, frame.at, outcome, rows),
            about_directory => self.apply_directory_fact(frame.at, about_directory, rows),
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
            rows.put(tables::day(realm, day), &message.id)?;
        }
        let chunks = &mut self.chunks;
        chunks.bodies.add(chunk::BODIES, message.id, &encode(message)?);
        rows.put_bytes(tables::message_chunk(realm, chunks.bodies.first()), chunks.bodies.bytes());
        chunks.index_rows.add(chunk::INDEX_ROWS, message.id, &encode(&row)?);
        rows.put_bytes(tables::index_chunk(realm, chunks.index_rows.first()), chunks.index_rows.bytes());
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
        // Ranges may reach over ids that nobody has; nothing is ever said about those.
        let ids = ids_of(messages) & &self.messages.all;
        if ids.is_empty() {
            return Ok(());
        }
        let delivered = self.delivered_among(user, &ids);
        let mine = self.messages.users.entry(user).or_default();
        // A flag on a message that was never delivered makes it historical; it counts as read
        // unless being unread is what was asked for.
        let historical = &(&ids - &delivered) - &mine.historical;
        let mut touched = TouchedBlocks::new();
        for block in blocks_of(&historical) {
            touched.extend([(user, Flag::Historical, block), (user, Flag::Read, block)]);
        }
        mine.read |= &historical;
        mine.historical |= &historical;
        if let Some(set) = mine.set_mut(flag) {
            match op {
                FlagOp::Add => *set |= &ids,
                FlagOp::Remove => *set -= &ids,
            }
            if ids.len() >= OPTIMIZE_MESSAGES_MIN {
                set.optimize();
            }
            touched.extend(blocks_of(&ids).into_iter().map(|block| (user, flag, block)));
        }
        self.put_flag_blocks(&touched, rows)
    }
}
