//! Alert words: adding and removing, each from what the list is at that moment, so that no two changes lose each other.

use super::settled::{Moment, SettledCommand};
use crate::error::DomainError;
use model::{Fact, UserId};
use rules::alert_words::{add_alert_words, remove_alert_words};

/// Add words to somebody's list, or take some away.
pub(crate) struct ChangeAlertWords {
    /// Whose.
    pub user: UserId,
    /// Which, as sent.
    pub words: Vec<String>,
    /// Add them, or take them away.
    pub is_add: bool,
}

impl SettledCommand for ChangeAlertWords {
    type Outcome = Vec<String>;

    fn decide(self, moment: &mut Moment<'_>) -> Result<(Vec<String>, Vec<Fact>), DomainError> {
        let before = moment.directory.alert_words(self.user);
        let after = match self.is_add {
            true => add_alert_words(before, &self.words)?,
            false => remove_alert_words(before, &self.words),
        };
        let mut facts = Vec::new();
        if after != before {
            facts.push(Fact::AlertWordsSet { user: self.user, words: after.clone() });
        }
        Ok((after, facts))
    }
}
