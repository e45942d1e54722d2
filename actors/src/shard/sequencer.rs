//! Allocates the ids of an organization. An id is used up only when the log accepted the frame that uses it,
//! so that a refused command leaves no gap.

use crate::DomainError;
use model::{ChannelId, EventNumber, MessageId, RecipientId, Sequence, UserId};
use rules::RuleError;
use rules::new_ids::used_up;
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
    pub fn take_message(&mut self) -> Result<MessageId, DomainError> {
        if self.message.0 == u32::MAX {
            return Err(DomainError::Overloaded);
        }
        let id = self.message;
        self.message = id.next();
        Ok(id)
    }

    /// Takes a user id. Fails when all are used up.
    pub fn take_user(&mut self) -> Result<UserId, DomainError> {
        let id = self.user;
        check_room(id.0, "users")?;
        self.user = id.next();
        Ok(id)
    }

    /// Takes a channel id. Fails when all are used up.
    pub fn take_channel(&mut self) -> Result<ChannelId, DomainError> {
        let id = self.channel;
        check_room(id.0, "channels")?;
        self.channel = id.next();
        Ok(id)
    }

    /// Takes an id for a set of recipients. Fails when all are used up.
    pub fn take_recipient(&mut self) -> Result<RecipientId, DomainError> {
        let id = self.recipient;
        check_room(id.0, "conversations")?;
        self.recipient = id.next();
        Ok(id)
    }
}

/// Fails for the last number: it may be in use, because numbers do not go on after it.
fn check_room(next: u32, what: &'static str) -> Result<(), DomainError> {
    if next == u32::MAX { Err(RuleError::from(used_up(what)).into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_in_use_are_never_given_again() {
        let mut ids = Sequencer {
            sequence: Sequence(1),
            event: EventNumber(1),
            reserved: EventNumber(0),
            message: MessageId(1),
            user: UserId(u32::MAX - 1).next(),
            channel: ChannelId(u32::MAX).next(),
            recipient: RecipientId(u32::MAX - 1),
        };
        assert!(ids.take_user().is_err() && ids.take_channel().is_err());
        assert_eq!(ids.take_recipient().ok(), Some(RecipientId(u32::MAX - 1)));
        let refused = ids.take_recipient().map_err(|error| error.to_string());
        assert_eq!(refused, Err("Too many conversations (maximum 4294967295).".to_owned()));
    }
}
