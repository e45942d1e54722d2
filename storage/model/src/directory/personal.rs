//! What people say about themselves, whom they mute, their views of the sidebar, and what profiles ask for.

use super::Directory;
use crate::ids::UserId;
use crate::personal::{NavigationView, UserStatus};
use crate::profile_field::ProfileFields;
use crate::time::Timestamp;
use std::sync::Arc;

impl Directory {
    /// What a user says about themselves.
    pub fn status(&self, user: UserId) -> Option<&Arc<UserStatus>> {
        self.statuses.get(&user)
    }

    /// Everybody who says something, by id.
    pub fn statuses(&self) -> impl Iterator<Item = (UserId, &Arc<UserStatus>)> {
        self.statuses.iter().map(|(user, status)| (*user, status))
    }

    /// Sets what a user says; none removes the record.
    pub fn put_status(&mut self, user: UserId, status: Option<UserStatus>) {
        match status {
            Some(status) => self.statuses.insert(user, Arc::new(status)),
            None => self.statuses.remove(&user),
        };
    }

    /// Since when a user mutes somebody.
    pub fn muted_since(&self, user: UserId, muted: UserId) -> Option<Timestamp> {
        self.muted_users.get(&(user, muted)).copied()
    }

    /// Whom a user mutes, by id, and since when.
    pub fn muted_by(&self, user: UserId) -> impl Iterator<Item = (UserId, Timestamp)> {
        let from = (user, UserId(0));
        let rows = self.muted_users.range(from..).take_while(move |((muter, _), _)| *muter == user);
        rows.map(|((_, muted), since)| (*muted, *since))
    }

    /// Who mutes somebody, by id.
    pub fn muters_of(&self, muted: UserId) -> impl Iterator<Item = UserId> {
        self.muters.get(&muted).into_iter().flatten().copied()
    }

    /// Mutes somebody, or no longer.
    pub fn put_muted(&mut self, user: UserId, muted: UserId, since: Option<Timestamp>) {
        if let Some(since) = since {
            self.muted_users.insert((user, muted), since);
            self.muters.entry(muted).or_default().insert(user);
            return;
        }
        self.muted_users.remove(&(user, muted));
        if let Some(muters) = self.muters.get_mut(&muted) {
            muters.remove(&user);
            // Nobody left: a directory read back from its rows does not know of it either.
            if muters.is_empty() {
                self.muters.remove(&muted);
            }
        }
    }

    /// A view in a user's sidebar.
    pub fn navigation_view(&self, user: UserId, fragment: &str) -> Option<&Arc<NavigationView>> {
        self.navigation_views.get(&(user, fragment.to_owned()))
    }

    /// All views of a user, by fragment.
    pub fn navigation_views(&self, user: UserId) -> impl Iterator<Item = (&str, &Arc<NavigationView>)> {
        let from = (user, String::new());
        let rows = self.navigation_views.range(from..).take_while(move |((owner, _), _)| *owner == user);
        rows.map(|((_, fragment), view)| (fragment.as_str(), view))
    }

    /// Sets a view in a user's sidebar; none removes it.
    pub fn put_navigation_view(&mut self, user: UserId, fragment: &str, view: Option<NavigationView>) {
        let key = (user, fragment.to_owned());
        match view {
            Some(view) => self.navigation_views.insert(key, Arc::new(view)),
            None => self.navigation_views.remove(&key),
        };
    }

    /// What profiles ask for.
    pub fn profile_fields(&self) -> &Arc<ProfileFields> {
        &self.profile_fields
    }

    /// Sets what profiles ask for.
    pub fn put_profile_fields(&mut self, fields: ProfileFields) {
        self.profile_fields = Arc::new(fields);
    }
}
