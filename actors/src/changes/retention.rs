//! Deletes messages past their retention period (docs/api/channels.md#retention), and marks channels as inactive after
//! a long time without messages.

use super::{ChangeCommand, ConversationKey, Decision, DecisionContext};
use crate::error::DomainError;
use crate::shared::RealmShared;
use crate::uploads::releases;
use model::fact::{DeletedFrom, MessageRanges};
use model::{ChannelFact, Fact, Message, MessageFact, MessageId, Place, Timestamp, TopicKey};
use roaring::RoaringBitmap;
use rules::retention::{is_idle, kept_since};
use std::collections::BTreeMap;
use std::sync::Arc;
use storage::View;

/// Messages that are deleted in one frame.
const BATCH_MESSAGES: usize = 100;

impl ConversationKey<'_> {
    /// Messages sent before this have expired; `None` if all are kept.
    fn kept_since(&self, view: &View, now: Timestamp) -> Option<Timestamp> {
        let channel = match self {
            Self::Channel(channel) => Some(view.directory.channel(*channel)?),
            Self::Direct(_) => None,
        };
        kept_since(view.directory.realm(), channel.map(|channel| &**channel), now)
    }
}

/// Whether the oldest message has expired, so that there is something to delete. Does not ask the actor.
pub(crate) fn has_expired(
    realm: &RealmShared,
    conversation: ConversationKey<'_>,
) -> Result<bool, DomainError> {
    let (since, oldest) = {
        let view = realm.view.read();
        (
            conversation.kept_since(&view, realm.clock.now()),
            conversation.messages(&view).and_then(RoaringBitmap::min),
        )
    };
    let (Some(since), Some(oldest)) = (since, oldest) else { return Ok(false) };
    Ok(realm.message(MessageId(oldest))?.is_some_and(|message| message.sent < since))
}

/// Deletes the oldest expired messages.
#[derive(Clone, Copy, Debug)]
pub struct DeleteExpired;

impl ChangeCommand for DeleteExpired {
    /// Whether all expired messages are deleted.
    type Outcome = bool;

    fn decide(&self, context: &mut DecisionContext<'_>) -> Result<Decision<bool>, DomainError> {
        let expired = expired(context)?;
        let is_complete = expired.len() < BATCH_MESSAGES;
        let mut facts = releases(context.view, expired.iter().map(|message| message.id));
        facts.extend(deletions(&expired));
        Ok(Decision::Decided(is_complete, facts))
    }
}

/// Ids ascend with time, so the expired messages come first.
fn expired(context: &DecisionContext<'_>) -> Result<Vec<Arc<Message>>, DomainError> {
    let mut expired = Vec::new();
    let Some(since) = context.conversation.kept_since(context.view, context.now) else { return Ok(expired) };
    for id in context.conversation.messages(context.view).into_iter().flatten().take(BATCH_MESSAGES) {
        match context.realm.message(MessageId(id))? {
            Some(message) if message.sent < since => expired.push(message),
            _ => break,
        }
    }
    Ok(expired)
}

/// One fact for each topic.
pub(super) fn deletions(expired: &[Arc<Message>]) -> Vec<Fact> {
    let mut places: BTreeMap<Option<TopicKey>, (DeletedFrom, Vec<MessageId>)> = BTreeMap::new();
    for message in expired {
        let (key, from) = match &message.place {
            Place::Channel { channel, topic } => {
                (Some(TopicKey::new(topic)), DeletedFrom::Topic { channel: *channel, topic: topic.clone() })
            }
            Place::Direct => (None, DeletedFrom::Direct(message.recipient)),
        };
        places.entry(key).or_insert_with(|| (from, Vec::new())).1.push(message.id);
    }
    let fact = |(from, ids)| {
        Fact::Message(MessageFact::Deleted { from, messages: MessageRanges::from_sorted(ids), by: None })
    };
    places.into_values().map(fact).collect()
}

/// Marks a channel as inactive.
#[derive(Clone, Copy, Debug)]
pub struct MarkInactive;

impl ChangeCommand for MarkInactive {
    type Outcome = ();

    fn decide(&self, context: &mut DecisionContext<'_>) -> Result<Decision<()>, DomainError> {
        let ConversationKey::Channel(channel) = context.conversation else {
            return Ok(Decision::Decided((), Vec::new()));
        };
        let is_over = is_over(context.realm, context.view, context.conversation)?;
        let facts = is_over
            .then_some(Fact::Channel(ChannelFact::ActivityChanged { channel, is_recently_active: false }));
        Ok(Decision::Decided((), facts.into_iter().collect()))
    }
}

/// Whether a channel counts as active and is no longer.
fn is_over(realm: &RealmShared, view: &View, conversation: ConversationKey<'_>) -> Result<bool, DomainError> {
    let ConversationKey::Channel(channel) = conversation else { return Ok(false) };
    let Some(record) = view.directory.channel(channel).filter(|record| record.is_recently_active) else {
        return Ok(false);
    };
    let newest = view.channel_ids(channel).and_then(RoaringBitmap::max);
    let newest = newest.map(|id| realm.message(MessageId(id))).transpose()?.flatten();
    Ok(is_idle(record, newest.map(|message| message.sent), realm.clock.now()))
}

/// As `is_over`, without asking the actor.
pub(crate) fn has_become_idle(
    realm: &RealmShared,
    conversation: ConversationKey<'_>,
) -> Result<bool, DomainError> {
    is_over(realm, &realm.view.read(), conversation)
}
