//! What is erased from facts: contents become as many spaces, so that replaying leads to the same state.

use super::targets::ErasureTargets;
use crate::error::StoreError;
use crate::open::{decode_frame, encode_frame};
use model::blank::blank;
use model::{Fact, MessageFact, MessageId};
use roaring::RoaringBitmap;
use std::sync::Arc;

/// A frame without what is gone; `None` if it has nothing of it.
pub fn erased_frame(payload: &[u8], targets: &ErasureTargets) -> Result<Option<Vec<u8>>, StoreError> {
    let mut frame = decode_frame(payload)?;
    if !erase_facts(&mut frame.facts, targets) {
        return Ok(None);
    }
    Ok(Some(encode_frame(&frame)?.to_vec()))
}

/// Adds the messages of which a frame has contents.
pub fn add_contents(payload: &[u8], messages: &mut RoaringBitmap) -> Result<(), StoreError> {
    add_contents_of(&decode_frame(payload)?.facts, messages);
    Ok(())
}

fn add_contents_of(facts: &[Fact], messages: &mut RoaringBitmap) {
    for fact in facts {
        match fact {
            Fact::Message(fact) => messages.extend(content_of(fact).map(|id| id.0)),
            Fact::PreImages(facts) => add_contents_of(facts, messages),
            Fact::Realm(_)
            | Fact::User(_)
            | Fact::Personal(_)
            | Fact::Group(_)
            | Fact::Channel(_)
            | Fact::Subscription(_)
            | Fact::Queue(_)
            | Fact::Job(_)
            | Fact::Push(_)
            | Fact::Invitation(_)
            | Fact::Picture(_)
            | Fact::Attachment(_)
            | Fact::Audit(_) => {}
        }
    }
}

/// The message of which a fact has content.
fn content_of(fact: &MessageFact) -> Option<MessageId> {
    match fact {
        MessageFact::Sent { message, .. } => Some(message.id),
        MessageFact::Updated(update) => update.edited.is_some().then_some(update.target),
        MessageFact::SubmessageAdded { message, .. } => Some(*message),
        MessageFact::Deleted { .. }
        | MessageFact::FlagsChanged { .. }
        | MessageFact::ReactionAdded { .. }
        | MessageFact::ReactionRemoved { .. }
        | MessageFact::HistoryErased { .. }
        | MessageFact::ConversationCreated(_) => None,
    }
}

/// Erases from facts. Returns whether there was anything.
fn erase_facts(facts: &mut [Fact], targets: &ErasureTargets) -> bool {
    let mut is_changed = false;
    for fact in facts {
        is_changed |= match fact {
            Fact::Message(fact) => erase_message_fact(fact, targets),
            Fact::PreImages(facts) => erase_facts(facts, targets),
            Fact::Realm(_)
            | Fact::User(_)
            | Fact::Personal(_)
            | Fact::Group(_)
            | Fact::Channel(_)
            | Fact::Subscription(_)
            | Fact::Queue(_)
            | Fact::Job(_)
            | Fact::Push(_)
            | Fact::Invitation(_)
            | Fact::Picture(_)
            | Fact::Attachment(_)
            | Fact::Audit(_) => targets.accounts.iter().fold(false, |had, account| had | account.erase(fact)),
        };
    }
    is_changed
}

fn erase_message_fact(fact: &mut MessageFact, targets: &ErasureTargets) -> bool {
    match fact {
        MessageFact::Sent { message, .. } if targets.has_version(message.id, 0) => {
            let is_deleted = targets.messages.contains(message.id.0);
            let message = Arc::make_mut(message);
            let parts = message.submessages.iter_mut().filter(|_| is_deleted);
            let had_parts = parts.fold(false, |had, part| had | blank(&mut part.content));
            message.blank() | had_parts
        }
        MessageFact::Updated(update) => match &mut update.edited {
            Some(version) if targets.has_version(update.target, version.number) => {
                Arc::make_mut(version).blank()
            }
            Some(_) | None => false,
        },
        MessageFact::SubmessageAdded { message, submessage, .. } if targets.messages.contains(message.0) => {
            blank(&mut submessage.content)
        }
        MessageFact::Sent { .. }
        | MessageFact::SubmessageAdded { .. }
        | MessageFact::Deleted { .. }
        | MessageFact::FlagsChanged { .. }
        | MessageFact::ReactionAdded { .. }
        | MessageFact::ReactionRemoved { .. }
        | MessageFact::HistoryErased { .. }
        | MessageFact::ConversationCreated(_) => false,
    }
}
