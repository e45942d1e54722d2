//! Commands about alert words.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::ChangeAlertWords;
use model::UserId;

impl RealmHandle {
    /// Adds alert words to somebody's list, or takes some away; gives the whole list as it is then.
    ///
    /// # Errors
    /// `TooManyAlertWords`, besides those of every command.
    pub async fn change_alert_words(
        &self,
        user: UserId,
        words: Vec<String>,
        is_add: bool,
    ) -> Result<Vec<String>, DomainError> {
        self.settle(ChangeAlertWords { user, words, is_add }).await
    }
}
