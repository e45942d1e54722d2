//! Messages as readers see them: their own records, and what moves made of them.

use super::moves::Relocation;
use super::{Location, View};
use model::{Message, MessageId, Place, TopicKey};
use std::sync::Arc;

impl View {
    /// The moves of a message as of now; none when it was never moved, and its own record is all there is to it.
    pub fn relocation(&self, id: MessageId) -> Option<Relocation> {
        self.moves.of_message(id)
    }

    /// The message as it is now, from its own record.
    pub fn compose(&self, own: &Arc<Message>) -> Arc<Message> {
        match self.relocation(own.id) {
            Some(relocation) => Arc::new(relocation.apply(own)),
            None => own.clone(),
        }
    }

    /// The message as it is now, if its own record is in memory.
    pub fn recent_message(&self, id: MessageId) -> Option<Arc<Message>> {
        self.recent.get(id).map(|own| self.compose(own))
    }

    /// Where a message is now; none when there is no such message.
    pub fn place_of(&self, id: MessageId) -> Option<Location> {
        let Some(own) = self.recent.get(id) else { return self.messages.place_of(id) };
        let moved = self.relocation(id).map(|relocation| relocation.place(&own.place));
        Some(match moved.as_ref().unwrap_or(&own.place) {
            Place::Channel { channel, topic } => Location::Topic(*channel, TopicKey::new(topic)),
            Place::Direct => Location::Direct(own.recipient),
        })
    }
}
