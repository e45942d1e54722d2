//! Actions about messages: those that the requester did not write.

use super::decided::{Decided, action};
use super::values::{Changes, channel_name};
use model::fact::{DeletedFrom, MessageUpdate};
use model::{ActionKind, AuditAction, MessageFact, MessageRanges, Subject, UserId};

/// The action of a fact about messages; none for most.
pub fn of_message(decided: &Decided<'_>, fact: &MessageFact) -> Option<AuditAction> {
    match fact {
        MessageFact::Deleted { from, messages, by: Some(by) } => deleted(decided, from, messages, *by),
        MessageFact::Updated(update) => moved(decided, update),
        MessageFact::Deleted { by: None, .. }
        | MessageFact::Sent { .. }
        | MessageFact::FlagsChanged { .. }
        | MessageFact::ReactionAdded { .. }
        | MessageFact::ReactionRemoved { .. }
        | MessageFact::SubmessageAdded { .. }
        | MessageFact::HistoryErased { .. }
        | MessageFact::ConversationCreated(_) => None,
    }
}

fn deleted(
    decided: &Decided<'_>,
    from: &DeletedFrom,
    messages: &MessageRanges,
    by: UserId,
) -> Option<AuditAction> {
    if (decided.wrote_all)(by, messages) {
        return None;
    }
    let about = match from {
        DeletedFrom::Topic { channel, topic } => Subject::Topic { channel: *channel, name: topic.clone() },
        DeletedFrom::Direct(_) => Subject::DirectMessages,
    };
    Some(AuditAction { count: messages.len(), ..action(ActionKind::MessagesDeleted, about) })
}

fn moved(decided: &Decided<'_>, update: &MessageUpdate) -> Option<AuditAction> {
    let movement = update.movement.as_ref().filter(|movement| !movement.is_resolve)?;
    if (decided.wrote_all)(update.by, &movement.messages) {
        return None;
    }
    let mut changes = Changes::default();
    if let Some(arrival) = &movement.new_channel {
        let name = |channel| channel_name(decided.before, channel);
        changes.add("channel", &name(movement.channel), &name(arrival.channel));
    }
    if let Some(topic) = &movement.new_topic {
        changes.add("topic", &movement.topic, &topic.name);
    }
    let about = Subject::Topic { channel: movement.channel, name: movement.topic.clone() };
    let count = movement.messages.len();
    Some(AuditAction { count, changes: changes.0, ..action(ActionKind::MessagesMoved, about) })
}
