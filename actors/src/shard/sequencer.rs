//! Allocates the ids of an organization. An id is used up only when the log accepted the frame that uses it,
//! so that a refused command leaves no gap.

use model::{ChannelId, EventNumber, MessageId, RecipientId, Sequence, UserId};
use storage::View;

/// The next ids of one organization.
#[derive(Clone, Copy, Debug)]
pub struct Sequencer {
    pub sequence: Sequence,
    pub event: EventNumber,
    /// Events outside the log may use numbers up to this one.
    pub reserved: EventNumber,
    pub message: MessageId,
    pub user: UserId,
    pub channel: ChannelId,
    pub recipient: RecipientId,
}

impl Sequencer {
    /// The ids after those that an organization has used.
    pub fn after(view: &View) -> Self {
        let directory = &view.directory;
        let channel_recipients = directory.channels().map(|channel| channel.recipient);
        let recipients = channel_recipients.chain(directory.directs().map(|direct| direct.recipient));
        let last_event = view.progress.last_event.max(view.progress.reserved_events);
        Self {
            sequence: view.progress.sequence.next(),
            event: last_event.next(),
            reserved: last_event,
            message: view.messages.last.next(),
            user: directory.users().map(|user| user.id).max().unwrap_or_default().next(),
            channel: directory.channels().map(|channel| channel.id).max().unwrap_or_default().next(),
            recipient: recipients.max().unwrap_or_default().next(),
        }
    }

    /// As [`Self::after`], for a sequencer that counts decisions that never became durable. Numbers that events outside
    /// the log have used since are not used again.
    pub fn back_to(self, view: &View) -> Self {
        let durable = Self::after(view);
        let reserved = view.progress.reserved_events;
        let is_reserved = self.event > view.progress.last_event && self.event <= reserved;
        if is_reserved { Self { event: self.event, reserved, ..durable } } else { durable }
    }

    /// The newest message id in use.
    pub fn last_message(&self) -> MessageId {
        MessageId(self.message.0 - 1)
    }

    /// Takes a message id. Fails with `Overloaded` when four billion messages have been sent.
    pub fn take_message(&mut self) -> Result<MessageId, crate::DomainError> {
        if self.message.0 == u32::MAX {
            return Err(crate::DomainError::Overloaded);
        }
        let id = self.message;
        self.message = id.next();
        Ok(id)
    }

    /// Takes a user id.
    pub fn take_user(&mut self) -> UserId {
        let id = self.user;
        self.user = id.next();
        id
    }

    /// Takes a channel id.
    pub fn take_channel(&mut self) -> ChannelId {
        let id = self.channel;
        self.channel = id.next();
        id
    }

    /// Takes an id for a set of recipients.
    pub fn take_recipient(&mut self) -> RecipientId {
        let id = self.recipient;
        self.recipient = id.next();
        id
    }
}
