//! What accounts store under keys, and the onboarding steps that users have seen.

use super::Directory;
use super::records::StorageUsage;
use crate::ids::UserId;
use std::sync::Arc;

impl Directory {
    /// Names of the onboarding steps that a user has seen.
    pub fn onboarding_steps(&self, user: UserId) -> &[String] {
        self.personal.onboarding_steps.get(&user).map(|steps| &**steps).unwrap_or_default()
    }

    /// Sets the onboarding steps that a user has seen.
    pub fn put_onboarding_steps(&mut self, user: UserId, steps: Vec<String>) {
        self.personal.onboarding_steps.insert(user, steps.into());
    }

    /// What an account stores, by key.
    pub fn bot_storage(&self, user: UserId) -> impl Iterator<Item = (&str, &str)> {
        let rows = self.personal.bot_storage.entries.range((user, String::new())..);
        let own = rows.take_while(move |((owner, _), _)| *owner == user);
        own.map(|((_, key), value)| (key.as_str(), &**value))
    }

    /// What an account stores under a key.
    pub fn bot_storage_entry(&self, user: UserId, key: &str) -> Option<&str> {
        self.personal.bot_storage.entries.get(&(user, key.to_owned())).map(|value| &**value)
    }

    /// The size of what an account stores.
    pub fn bot_storage_usage(&self, user: UserId) -> StorageUsage {
        self.personal.bot_storage.usage.get(&user).copied().unwrap_or_default()
    }

    /// Bytes that all accounts store.
    pub fn bot_storage_bytes(&self) -> usize {
        self.personal.bot_storage.bytes
    }

    /// Sets what an account stores under a key; `None` removes it.
    pub fn put_bot_storage(&mut self, user: UserId, key: &str, value: Option<&str>) {
        let chars = |value: &str| key.chars().count() + value.chars().count();
        let storage = &mut self.personal.bot_storage;
        let entry = (user, key.to_owned());
        let mut usage = storage.usage.get(&user).copied().unwrap_or_default();
        let before = match value {
            Some(value) => storage.entries.insert(entry, Arc::from(value)),
            None => storage.entries.remove(&entry),
        };
        if let Some(before) = before {
            usage.chars -= chars(&before);
            usage.entries -= 1;
            storage.bytes -= key.len() + before.len();
        }
        if let Some(value) = value {
            usage.chars += chars(value);
            usage.entries += 1;
            storage.bytes += key.len() + value.len();
        }
        // As in a directory that was loaded.
        match usage.entries {
            0 => storage.usage.remove(&user),
            _ => storage.usage.insert(user, usage),
        };
    }
}
