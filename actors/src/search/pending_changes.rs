//! What published frames have changed: the ids of messages, and topics that messages were moved to.

use model::fact::Movement;
use model::{Fact, MessageFact, Sequence, TopicKey};
use roaring::RoaringBitmap;
use search::Topic;
use std::collections::HashSet;
use storage::view::ids_of;

/// Topics that are noted; with more of them, all topics are read again.
const TOPICS_MAX: usize = 4096;

/// Changes since they were last taken.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    /// The newest noted frame.
    pub sequence: Sequence,
    /// Messages that were sent or edited.
    changed: RoaringBitmap,
    gone: RoaringBitmap,
    topics: HashSet<Topic>,
    /// More topics than are noted.
    pub has_lost_topics: bool,
}

impl PendingChanges {
    /// No changes after a frame.
    pub fn after(sequence: Sequence) -> Self {
        Self { sequence, ..Self::default() }
    }

    /// Records the facts of the next frame.
    pub fn add(&mut self, sequence: Sequence, facts: &[Fact]) {
        self.sequence = sequence;
        for fact in facts {
            let Fact::Message(fact) = fact else { continue };
            match fact {
                MessageFact::Sent { message, .. } => {
                    self.changed.insert(message.id.0);
                }
                MessageFact::Updated(update) => {
                    if update.edited.is_some() {
                        self.changed.insert(update.target.0);
                    }
                    update.movement.iter().for_each(|movement| self.add_topic(movement));
                }
                MessageFact::Deleted { messages, .. } => self.gone |= ids_of(messages),
                MessageFact::FlagsChanged { .. }
                | MessageFact::ReactionAdded { .. }
                | MessageFact::ReactionRemoved { .. }
                | MessageFact::SubmessageAdded { .. }
                | MessageFact::HistoryErased { .. }
                | MessageFact::ConversationCreated(_) => {}
            }
        }
    }

    fn add_topic(&mut self, movement: &Movement) {
        if self.topics.len() >= TOPICS_MAX {
            self.has_lost_topics = true;
            return;
        }
        let channel = movement.new_channel.as_ref().map_or(movement.channel, |new| new.channel);
        let name = movement.new_topic.as_ref().map_or(&movement.topic, |new| &new.name);
        self.topics.insert((channel, TopicKey::new(name)));
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.gone.is_empty() && self.topics.is_empty()
    }

    /// Messages that changed, messages that were deleted, and topics.
    pub fn take(&mut self) -> (RoaringBitmap, RoaringBitmap, HashSet<Topic>) {
        (std::mem::take(&mut self.changed), std::mem::take(&mut self.gone), std::mem::take(&mut self.topics))
    }
}
