//! What accounts store under keys (docs/api/bots.md#storage).

use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Fact, PersonalFact, UserId};
use rules::bot_state::{check_storage_change, check_storage_keys};

/// Set entries of an account's storage.
pub struct SetBotStorage {
    /// The account that the entries belong to.
    pub user: UserId,
    /// Keys, each once, with their values.
    pub entries: Vec<(String, String)>,
}

impl SerializedCommand for SetBotStorage {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let set = check_storage_change(&context.directory, self.user, self.entries)?;
        Ok(((), facts(self.user, set, Vec::new())))
    }
}

/// Remove entries of an account's storage.
pub struct RemoveBotStorage {
    /// The account that the entries belong to.
    pub user: UserId,
    /// The keys; none: all of them.
    pub keys: Option<Vec<String>>,
}

impl SerializedCommand for RemoveBotStorage {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let removed = match self.keys {
            Some(mut keys) => {
                check_storage_keys(directory, self.user, &keys)?;
                keys.sort_unstable();
                keys.dedup();
                keys
            }
            None => directory.bot_storage(self.user).map(|(key, _)| key.to_owned()).collect(),
        };
        Ok(((), facts(self.user, Vec::new(), removed)))
    }
}

fn facts(user: UserId, set: Vec<(String, String)>, removed: Vec<String>) -> Vec<Fact> {
    if set.is_empty() && removed.is_empty() {
        return Vec::new();
    }
    vec![Fact::Personal(PersonalFact::BotStorageChanged { user, set, removed })]
}
