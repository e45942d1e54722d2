//! Shares of what an organization may have: one account, with its bots, cannot use up the room of all.

use model::{Directory, User, UserId};
use std::collections::HashSet;

/// A person with their bots, of any of them.
pub struct Account(HashSet<UserId>);

impl Account {
    /// The account of a user.
    pub fn of(directory: &Directory, user: &User) -> Self {
        let person = user.owner().unwrap_or(user.id);
        Self(directory.bots_of(person).map(|bot| bot.id).chain([person]).collect())
    }

    /// The users that it consists of.
    pub fn users(&self) -> impl Iterator<Item = UserId> {
        self.0.iter().copied()
    }

    /// Whether it created something.
    pub fn created(&self, creator: Option<UserId>) -> bool {
        creator.is_some_and(|creator| self.0.contains(&creator))
    }
}
