//! Messages as readers see them: their stored records with moves applied.

use super::moves::Relocation;
use super::{Location, View};
use model::{Message, MessageId, Place, TopicKey};
use std::collections::HashMap;
use std::sync::Arc;

impl View {
    /// The moves of a message so far; `None` if it was never moved.
    pub fn relocation(&self, id: MessageId) -> Option<Relocation> {
        self.moves.of_message(id)
    }

    /// The moves of those of some messages (ascending) that were moved. Mostly there are none among neighbors.
    pub fn relocations(&self, ids: &[MessageId]) -> HashMap<MessageId, Relocation> {
        if !self.moves.is_any_in(ids) {
            return HashMap::new();
        }
        ids.iter().filter_map(|id| Some((*id, self.relocation(*id)?))).collect()
    }

    /// The present state of a message, from its stored record.
    pub fn compose(&self, own: &Arc<Message>) -> Arc<Message> {
        match self.relocation(own.id) {
            Some(relocation) => Arc::new(relocation.apply(own)),
            None => own.clone(),
        }
    }

    /// The present place of a message; `None` if there is no such message.
    pub fn place_of(&self, id: MessageId) -> Option<Location> {
        let Some(own) = self.recent.get(id) else { return self.messages.place_of(id) };
        let moved = self.relocation(id).map(|relocation| relocation.place(&own.place));
        Some(match moved.as_ref().unwrap_or(&own.place) {
            Place::Channel { channel, topic } => Location::Topic(*channel, TopicKey::new(topic)),
            Place::Direct => Location::Direct(own.recipient),
        })
    }
}
