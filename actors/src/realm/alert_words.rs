//! Alert words: each change is decided from the current list, so that concurrent changes are not lost.

use super::frame_draft::requester;
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Fact, PersonalFact, UserId};
use rules::alert_words::{add_alert_words, remove_alert_words, words_of_others};

/// Adds alert words to a user's list, or removes some.
pub struct ChangeAlertWords {
    pub user: UserId,
    pub words: Vec<String>,
    pub is_add: bool,
}

impl SerializedCommand for ChangeAlertWords {
    type Outcome = Vec<String>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Vec<String>, Vec<Fact>), DomainError> {
        let before = context.directory.alert_words(self.user);
        let after = match self.is_add {
            true => {
                let user = requester(&context.directory, self.user)?;
                add_alert_words(before, &self.words, words_of_others(&context.directory, &user))?
            }
            false => remove_alert_words(before, &self.words),
        };
        let mut facts = Vec::new();
        if after != before {
            facts.push(Fact::Personal(PersonalFact::AlertWordsSet { user: self.user, words: after.clone() }));
        }
        Ok((after, facts))
    }
}
