//! Erasing old versions of messages, where the organization hides the edit history.

use super::serialized::{DecisionContext, SerializedChange};
use crate::error::DomainError;
use model::{Fact, MessageFact, MessageId};

/// Erases the texts of versions: of each message those before a number.
pub struct EraseHistories {
    pub versions: Vec<(MessageId, u32)>,
}

impl SerializedChange for EraseHistories {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let view = context.realm.view.read();
        let mut versions = self.versions;
        versions.retain(|(id, _)| view.edited_messages().contains(id.0));
        if versions.is_empty() {
            return Ok(Vec::new());
        }
        let fact = Fact::Message(MessageFact::HistoryErased { versions });
        Ok(vec![fact])
    }
}
