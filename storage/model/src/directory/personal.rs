//! Personal records: alert words, statuses, muted users, navigation views. And the custom profile fields.

use super::Directory;
use super::records::put_list;
use crate::ids::UserId;
use crate::personal::{NavigationView, UserStatus};
use crate::profile_field::ProfileFields;
use crate::time::Timestamp;
use imbl::OrdSet;
use std::collections::BTreeSet;
use std::sync::Arc;

/// An alert word as texts are searched for it; empty for one that no text contains.
pub fn alert_word_key(word: &str) -> String {
    word.trim().to_lowercase()
}

fn alert_word_keys(words: &[String]) -> BTreeSet<String> {
    words.iter().map(|word| alert_word_key(word)).filter(|word| !word.is_empty()).collect()
}

impl Directory {
    /// A user's alert words, as typed.
    pub fn alert_words(&self, user: UserId) -> &[String] {
        self.personal.alert_words.get(&user).map(|words| &**words).unwrap_or_default()
    }

    /// Whether any user has alert words.
    pub fn has_alert_words(&self) -> bool {
        !self.personal.alert_word_users.is_empty()
    }

    /// The last of the alert words of all users, in the order of their letters, that is not after a text; with its users.
    /// The words are as [`alert_word_key`] makes them.
    pub fn last_alert_word_until(&self, text: &str) -> Option<(&str, &OrdSet<UserId>)> {
        let (word, users) = self.personal.alert_word_users.get_prev(text)?;
        Some((word, users))
    }

    /// Sets a user's alert words; an empty list removes the record.
    pub fn put_alert_words(&mut self, user: UserId, words: Vec<String>) {
        let (before, after) = (alert_word_keys(self.alert_words(user)), alert_word_keys(&words));
        let index = &mut self.personal.alert_word_users;
        for word in before.difference(&after) {
            let Some(users) = index.get_mut(&**word) else { continue };
            users.remove(&user);
            // No empty set, as in a directory that was loaded.
            if users.is_empty() {
                index.remove(&**word);
            }
        }
        for word in after.difference(&before) {
            index.entry(Arc::from(&**word)).or_default().insert(user);
        }
        put_list(&mut self.personal.alert_words, user, words);
    }

    /// A user's status.
    pub fn status(&self, user: UserId) -> Option<&Arc<UserStatus>> {
        self.personal.statuses.get(&user)
    }

    /// All statuses, by user.
    pub fn statuses(&self) -> impl Iterator<Item = (UserId, &Arc<UserStatus>)> {
        self.personal.statuses.iter().map(|(user, status)| (*user, status))
    }

    /// Sets a user's status; `None` removes the record.
    pub fn put_status(&mut self, user: UserId, status: Option<UserStatus>) {
        match status {
            Some(status) => self.personal.statuses.insert(user, Arc::new(status)),
            None => self.personal.statuses.remove(&user),
        };
    }

    /// Since when a user mutes another one.
    pub fn muted_since(&self, user: UserId, muted: UserId) -> Option<Timestamp> {
        self.personal.muted_users.get(&(user, muted)).copied()
    }

    /// The users whom a user mutes, by id, and since when.
    pub fn muted_by(&self, user: UserId) -> impl Iterator<Item = (UserId, Timestamp)> {
        let from = (user, UserId(0));
        let rows = self.personal.muted_users.range(from..).take_while(move |((muter, _), _)| *muter == user);
        rows.map(|((_, muted), since)| (*muted, *since))
    }

    /// The users who mute a user, by id.
    pub fn muters_of(&self, muted: UserId) -> impl Iterator<Item = UserId> {
        self.personal.muters.get(&muted).into_iter().flatten().copied()
    }

    /// Mutes a user since a time, or unmutes them.
    pub fn put_muted(&mut self, user: UserId, muted: UserId, since: Option<Timestamp>) {
        if let Some(since) = since {
            self.personal.muted_users.insert((user, muted), since);
            self.personal.muters.entry(muted).or_default().insert(user);
            return;
        }
        self.personal.muted_users.remove(&(user, muted));
        if let Some(muters) = self.personal.muters.get_mut(&muted) {
            muters.remove(&user);
            // No empty set, as in a directory that was loaded.
            if muters.is_empty() {
                self.personal.muters.remove(&muted);
            }
        }
    }

    /// A user's navigation view by its URL fragment.
    pub fn navigation_view(&self, user: UserId, fragment: &str) -> Option<&Arc<NavigationView>> {
        self.personal.navigation_views.get(&(user, fragment.to_owned()))
    }

    /// All navigation views of a user, by fragment.
    pub fn navigation_views(&self, user: UserId) -> impl Iterator<Item = (&str, &Arc<NavigationView>)> {
        let from = (user, String::new());
        let rows =
            self.personal.navigation_views.range(from..).take_while(move |((owner, _), _)| *owner == user);
        rows.map(|((_, fragment), view)| (fragment.as_str(), view))
    }

    /// Sets a user's navigation view; `None` removes it.
    pub fn put_navigation_view(&mut self, user: UserId, fragment: &str, view: Option<NavigationView>) {
        let key = (user, fragment.to_owned());
        match view {
            Some(view) => self.personal.navigation_views.insert(key, Arc::new(view)),
            None => self.personal.navigation_views.remove(&key),
        };
    }

    /// The custom profile fields.
    pub fn profile_fields(&self) -> &Arc<ProfileFields> {
        &self.profile_fields
    }

    /// Sets the custom profile fields.
    pub fn put_profile_fields(&mut self, fields: ProfileFields) {
        self.profile_fields = Arc::new(fields);
    }
}
