//! Deletes the messages of a deleted account.

use super::retention::deletions;
use super::{ChangeCommand, ConversationKey, Decision, DecisionContext};
use crate::error::DomainError;
use crate::shared::RealmShared;
use crate::uploads::releases;
use model::{MessageId, UserId};
use roaring::RoaringBitmap;
use storage::View;

/// Messages that are deleted in one frame.
const BATCH_MESSAGES: usize = 100;

/// The messages of a sender in a conversation.
fn sent_by(view: &View, conversation: ConversationKey<'_>, sender: UserId) -> RoaringBitmap {
    match (conversation.messages(view), view.messages.senders.get(&sender)) {
        (Some(here), Some(own)) => here & own,
        (None, _) | (_, None) => RoaringBitmap::new(),
    }
}

/// Whether a sender has messages in a conversation. Does not ask the actor.
pub(crate) fn has_sent(realm: &RealmShared, conversation: ConversationKey<'_>, sender: UserId) -> bool {
    !sent_by(&realm.view.read(), conversation, sender).is_empty()
}

/// Deletes the oldest messages of a sender.
#[derive(Clone, Copy, Debug)]
pub struct DeleteSentBy {
    pub sender: UserId,
}

impl ChangeCommand for DeleteSentBy {
    /// Whether all are deleted.
    type Outcome = bool;

    fn decide(&self, context: &mut DecisionContext<'_>) -> Result<Decision<bool>, DomainError> {
        let ids = sent_by(context.view, context.conversation, self.sender);
        let mut messages = Vec::new();
        for id in ids.iter().take(BATCH_MESSAGES) {
            messages.extend(context.realm.message(MessageId(id))?);
        }
        let mut facts = releases(context.view, messages.iter().map(|message| message.id));
        facts.extend(deletions(&messages));
        Ok(Decision::Decided(ids.len() <= BATCH_MESSAGES as u64, facts))
    }
}
