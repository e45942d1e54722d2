//! Limits of the lists of alert words (docs/api/users.md#alert-words). Matching is `markdown::AlertText`.

use crate::error::RuleError;
use crate::shares::Account;
use crate::text;
use model::{Directory, User};
use std::collections::HashSet;

/// Longest word, in code points.
pub const ALERT_WORD_LENGTH_MAX: usize = 100;

/// Words of one person with their bots.
const ALERT_WORDS_MAX: usize = 1000;

/// The number of words that the others of an account have: the owner of a bot and the owner's bots.
pub fn words_of_others(directory: &Directory, user: &User) -> usize {
    let account = Account::of(directory, user);
    account.users().filter(|other| *other != user.id).map(|other| directory.alert_words(other).len()).sum()
}

/// Appends words. Words are equal ignoring case and surrounding white space; the first spelling is stored. `others` is the
/// number of words with which the list shares the limit. `TooManyAlertWords`.
pub fn add_alert_words(words: &[String], more: &[String], others: usize) -> Result<Vec<String>, RuleError> {
    let mut known: HashSet<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let mut all = words.to_vec();
    for word in more.iter().map(|word| text::strip(word)).filter(|word| !word.is_empty()) {
        if known.insert(word.to_lowercase()) {
            all.push(word.to_owned());
        }
    }
    if all.len() > words.len() && all.len().saturating_add(others) > ALERT_WORDS_MAX {
        return Err(RuleError::TooManyAlertWords { limit: ALERT_WORDS_MAX });
    }
    Ok(all)
}

/// The words except for `removed`.
pub fn remove_alert_words(words: &[String], removed: &[String]) -> Vec<String> {
    let removed: HashSet<String> = removed.iter().map(|word| text::strip(word).to_lowercase()).collect();
    words.iter().filter(|word| !removed.contains(&word.to_lowercase())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_are_equal_ignoring_case() {
        let known = words(&["Deploy", "on call"]);
        let more = words(&[" deploy ", "", "  ", "Pizza", "PIZZA", "On Call!"]);
        assert_eq!(add_alert_words(&known, &more, 0), Ok(words(&["Deploy", "on call", "Pizza", "On Call!"])));
        assert_eq!(remove_alert_words(&known, &words(&["DEPLOY", " ON CALL", "x"])), words(&[]));
        assert_eq!(remove_alert_words(&known, &[]), known);
    }

    #[test]
    fn the_number_of_words_is_limited() {
        let many: Vec<String> = (0..ALERT_WORDS_MAX).map(|number| format!("w{number}")).collect();
        let add = add_alert_words;
        assert_eq!(add(&[], &many, 0).as_ref(), Ok(&many));
        assert_eq!(add(&many, &words(&["W0"]), 0).as_ref(), Ok(&many));
        let refused = RuleError::TooManyAlertWords { limit: ALERT_WORDS_MAX };
        assert_eq!(add(&many, &words(&["one more"]), 0), Err(refused.clone()));
        assert_eq!(add(&many[..900], &many[900..], 1), Err(refused));
        assert_eq!(add(&many[..900], &many[900..999], 1).map(|all| all.len()), Ok(999));
        assert_eq!(add(&many, &words(&["W0"]), 1).as_ref(), Ok(&many), "nothing is added");
    }
}
