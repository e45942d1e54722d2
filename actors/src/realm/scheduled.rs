//! Scheduled messages and reminders (docs/api/scheduled-messages.md): scheduling, changing, deleting, and how they end.

use super::frame_draft::{FrameDraft, requester};
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{
    Directory, Fact, PersonalFact, ScheduledMessage, ScheduledMessageId, ScheduledTo, TextKind, UserId,
};
use rules::bot_notices::not_sent_text;
use rules::error::{RuleError, TextError};
use rules::new_ids::id_after;
use rules::saved_texts::check_room;
use rules::scheduling::{SCHEDULED_MAX, check_due};
use std::sync::Arc;

/// So many messages are claimed at once.
const CLAIMED_MAX: usize = 64;

/// Schedule a message or a reminder that was checked and rendered.
pub struct ScheduleMessage {
    /// The sender, or the user to remind.
    pub user: UserId,
    /// The message to send.
    pub message: ScheduledMessage,
}

impl SerializedCommand for ScheduleMessage {
    type Outcome = ScheduledMessageId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Self::Outcome, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        requester(directory, self.user)?;
        check_due(self.message.due, context.now)?;
        let id = ScheduledMessageId(id_after(
            directory.last_text_id(TextKind::ScheduledMessage),
            "scheduled messages",
        )?);
        check_scheduled(directory, self.user, id, &self.message)?;
        Ok((id, vec![set(self.user, id, true, self.message)]))
    }
}

/// Replace a scheduled message by what it is after a change, which was checked and rendered.
pub struct UpdateScheduled {
    /// The user who scheduled it.
    pub user: UserId,
    /// The id of the scheduled message or reminder.
    pub id: ScheduledMessageId,
    /// What the change was made to.
    pub before: Arc<ScheduledMessage>,
    /// What it is now.
    pub after: ScheduledMessage,
}

impl SerializedCommand for UpdateScheduled {
    /// Whether the message was still what the change was made to; otherwise nothing has changed.
    type Outcome = bool;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(bool, Vec<Fact>), DomainError> {
        let current = find(context, self.user, self.id)?;
        if *current != *self.before {
            return Ok((false, Vec::new()));
        }
        if self.after == *self.before {
            return Ok((true, Vec::new()));
        }
        check_due(self.after.due, context.now)?;
        check_scheduled(&context.directory, self.user, self.id, &self.after)?;
        Ok((true, vec![set(self.user, self.id, false, self.after)]))
    }
}

/// Delete a scheduled message or a reminder.
pub struct DeleteScheduled {
    /// The sender, or the user to remind.
    pub user: UserId,
    /// The id of the scheduled message or reminder.
    pub id: ScheduledMessageId,
    /// Whether a reminder is meant.
    pub is_reminder: bool,
}

impl SerializedCommand for DeleteScheduled {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let found = context.directory.scheduled_message(self.user, self.id);
        if found.is_none_or(|found| found.reminder.is_some() != self.is_reminder) {
            let missing =
                if self.is_reminder { TextError::ReminderMissing } else { TextError::ScheduledMissing };
            return Err(RuleError::from(missing).into());
        }
        check_unclaimed(context, self.user, self.id)?;
        Ok(((), vec![removed(self.user, self.id, self.is_reminder)]))
    }
}

/// A message that is due, and cannot be changed until it is sent.
pub(crate) struct Claimed {
    /// The sender, or the user to remind.
    pub user: UserId,
    /// The id of the scheduled message or reminder.
    pub id: ScheduledMessageId,
    /// The message to send.
    pub message: Arc<ScheduledMessage>,
}

/// Claims messages that are due. The result includes all changes that were decided before.
pub(crate) struct ClaimDue;

impl SerializedCommand for ClaimDue {
    type Outcome = Vec<Claimed>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Vec<Claimed>, Vec<Fact>), DomainError> {
        let (directory, claims) = (&context.directory, &context.realm.scheduled);
        let claimed = claims.claim_some(directory.scheduled_due(context.now), CLAIMED_MAX);
        let claimed = claimed.into_iter().filter_map(|(user, id)| {
            let message = directory.scheduled_message(user, id)?.clone();
            Some(Claimed { user, id, message })
        });
        Ok((claimed.collect(), Vec::new()))
    }
}

/// Records that a claimed message cannot be sent, and notifies its sender. A reminder is dropped.
pub(crate) struct FailScheduled {
    /// The user who scheduled it.
    pub user: UserId,
    /// The id of the scheduled message or reminder.
    pub id: ScheduledMessageId,
    /// The error, as the sender reads it.
    pub why: String,
}

impl SerializedCommand for FailScheduled {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let Some(message) = context.directory.scheduled_message(self.user, self.id).cloned() else {
            return Ok(((), Vec::new()));
        };
        if message.reminder.is_some() {
            return Ok(((), vec![removed(self.user, self.id, true)]));
        }
        let text = not_sent_text(message.due, &self.why);
        let failed = ScheduledMessage { failure: Some(self.why), ..ScheduledMessage::clone(&message) };
        let sender = context.directory.user(self.user).filter(|user| user.is_active).cloned();
        let mut draft = FrameDraft::new(context);
        draft.push(set(self.user, self.id, false, failed));
        if let Some(sender) = sender.filter(|_| draft.directory.realm().is_active)
            && let Some(notice) = draft.notice(&sender, text)
        {
            draft.send_direct(notice, self.user);
        }
        Ok(((), draft.facts))
    }
}

/// The fact that a claimed message was sent, for the frame of the message that it became.
pub(crate) fn scheduled_ended(claimed: &Claimed) -> Fact {
    removed(claimed.user, claimed.id, claimed.message.reminder.is_some())
}

/// The user's scheduled message, if it is not being sent.
fn find(
    context: &DecisionContext<'_>,
    user: UserId,
    id: ScheduledMessageId,
) -> Result<Arc<ScheduledMessage>, DomainError> {
    let found = context.directory.scheduled_message(user, id).filter(|found| found.reminder.is_none());
    let found = found.cloned().ok_or(RuleError::Text(TextError::ScheduledMissing))?;
    check_unclaimed(context, user, id)?;
    Ok(found)
}

fn check_unclaimed(
    context: &DecisionContext<'_>,
    user: UserId,
    id: ScheduledMessageId,
) -> Result<(), DomainError> {
    match context.realm.scheduled.is_claimed(user, id) {
        true => Err(RuleError::from(TextError::ScheduledSent).into()),
        false => Ok(()),
    }
}

/// Whether the account has room for a message that is new or changed.
fn check_scheduled(
    directory: &Directory,
    user: UserId,
    id: ScheduledMessageId,
    message: &ScheduledMessage,
) -> Result<(), RuleError> {
    let others = directory.scheduled_messages(user).filter(|(other, _)| *other != id);
    let (count, total) =
        others.fold((1, bytes(message)), |(count, total), (_, other)| (count + 1, total + bytes(other)));
    check_room("scheduled messages", (count, SCHEDULED_MAX), total)
}

fn bytes(message: &ScheduledMessage) -> usize {
    let place = match &message.to {
        ScheduledTo::Channel { topic, .. } => topic.len(),
        ScheduledTo::People(users) => size_of_val(users.as_slice()),
    };
    let note = message.reminder.as_ref().map_or(0, |reminder| reminder.note.len());
    message.content.len() + message.rendered.len() + place + note
}

fn set(user: UserId, id: ScheduledMessageId, is_new: bool, message: ScheduledMessage) -> Fact {
    let is_reminder = message.reminder.is_some();
    let message = Some(Box::new(message));
    Fact::Personal(PersonalFact::ScheduledMessageSet { user, id, is_new, is_reminder, message })
}

fn removed(user: UserId, id: ScheduledMessageId, is_reminder: bool) -> Fact {
    let (is_new, message) = (false, None);
    Fact::Personal(PersonalFact::ScheduledMessageSet { user, id, is_new, is_reminder, message })
}
