//! Limits of what accounts store under keys (docs/api/bots.md#storage).

use crate::error::{PersonalError, RuleError};
use model::{Directory, UserId};

/// Characters of keys and values that one account may store.
const STORAGE_LENGTH_MAX: usize = 1_000_000;
/// Entries that one account may store.
const STORAGE_ENTRIES_MAX: usize = 10_000;
/// Maximum length of a key, in code points.
const STORAGE_KEY_LENGTH_MAX: usize = 1000;
/// Bytes that all accounts of an organization may store.
const REALM_STORAGE_BYTES_MAX: usize = 64 << 20;

/// The entries that differ from what the account has stored.
///
/// # Errors
/// `TooLong` for a key, `StorageFull`, `RealmStorageFull`.
pub fn check_storage_change(
    dir: &Directory,
    user: UserId,
    entries: Vec<(String, String)>,
) -> Result<Vec<(String, String)>, RuleError> {
    if entries.iter().any(|(key, _)| key.chars().count() > STORAGE_KEY_LENGTH_MAX) {
        return Err(RuleError::TooLong { field: "key", limit: STORAGE_KEY_LENGTH_MAX });
    }
    let usage = dir.bot_storage_usage(user);
    let (mut chars, mut bytes) = (usage.chars, dir.bot_storage_bytes());
    let mut count = usage.entries;
    for (key, value) in &entries {
        match dir.bot_storage_entry(user, key) {
            Some(before) => {
                chars -= key.chars().count() + before.chars().count();
                bytes -= key.len() + before.len();
            }
            None => count += 1,
        }
        chars += key.chars().count() + value.chars().count();
        bytes += key.len() + value.len();
    }
    if chars > STORAGE_LENGTH_MAX {
        let excess = chars - STORAGE_LENGTH_MAX;
        return Err(PersonalError::StorageFull { excess, limit: STORAGE_LENGTH_MAX }.into());
    }
    if count > STORAGE_ENTRIES_MAX {
        return Err(PersonalError::TooManyStorageEntries { limit: STORAGE_ENTRIES_MAX }.into());
    }
    if bytes > REALM_STORAGE_BYTES_MAX {
        return Err(PersonalError::RealmStorageFull { limit: REALM_STORAGE_BYTES_MAX }.into());
    }
    let is_new = |(key, value): &(String, String)| dir.bot_storage_entry(user, key) != Some(value.as_str());
    Ok(entries.into_iter().filter(is_new).collect())
}

/// Refuses keys under which the account stores nothing: `StorageKeyMissing`.
pub fn check_storage_keys(dir: &Directory, user: UserId, keys: &[String]) -> Result<(), RuleError> {
    match keys.iter().all(|key| dir.bot_storage_entry(user, key).is_some()) {
        true => Ok(()),
        false => Err(PersonalError::StorageKeyMissing.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn entry(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    #[test]
    fn replaced_values_are_not_counted_twice() {
        let mut dir = fixture::directory();
        let half = "é".repeat(STORAGE_LENGTH_MAX - 1);
        assert!(check_storage_change(&dir, fixture::BOT, vec![entry("a", &half)]).is_ok());
        dir.put_bot_storage(fixture::BOT, "a", Some(&half));
        assert_eq!(check_storage_change(&dir, fixture::BOT, vec![entry("a", &half)]), Ok(Vec::new()));
        assert!(check_storage_change(&dir, fixture::BOT, vec![entry("a", "short"), entry("b", "")]).is_ok());
        let full = PersonalError::StorageFull { excess: 3, limit: STORAGE_LENGTH_MAX };
        assert_eq!(check_storage_change(&dir, fixture::BOT, vec![entry("b", "xy")]), Err(full.into()));
        // Entries that other accounts store do not count.
        assert!(check_storage_change(&dir, fixture::MEMBER, vec![entry("b", "xy")]).is_ok());
        let long = "k".repeat(STORAGE_KEY_LENGTH_MAX + 1);
        assert!(check_storage_change(&dir, fixture::MEMBER, vec![entry(&long, "")]).is_err());
        assert_eq!(check_storage_keys(&dir, fixture::BOT, &["a".to_owned()]), Ok(()));
        let missing = Err(PersonalError::StorageKeyMissing.into());
        assert_eq!(check_storage_keys(&dir, fixture::MEMBER, &["a".to_owned()]), missing);
    }

    #[test]
    fn entries_are_counted() {
        let dir = fixture::directory();
        let many = |count: usize| (0..count).map(|number| entry(&number.to_string(), "")).collect::<Vec<_>>();
        assert!(check_storage_change(&dir, fixture::BOT, many(STORAGE_ENTRIES_MAX)).is_ok());
        let refused = PersonalError::TooManyStorageEntries { limit: STORAGE_ENTRIES_MAX };
        assert_eq!(
            check_storage_change(&dir, fixture::BOT, many(STORAGE_ENTRIES_MAX + 1)),
            Err(refused.into())
        );
    }
}
