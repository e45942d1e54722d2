//! The shared list of statuses: the same for all readers who see all users.

use super::version::{UncachedBytes, Version};
use crate::api::wire::json::push_value;
use crate::api::wire::status::{StatusJson, statuses};
use model::{Directory, UserId};
use std::collections::BTreeMap;

/// The encoded statuses of an organization.
pub(super) struct SharedStatuses {
    directory: Directory,
    pub json: Version,
}

impl SharedStatuses {
    /// Encodes the statuses of a directory.
    pub fn new(directory: &Directory, uncached: &UncachedBytes) -> Self {
        let by_id: BTreeMap<UserId, StatusJson> =
            statuses(directory).map(|(user, status)| (user.id, status)).collect();
        let mut json = Vec::new();
        push_value(&mut json, &by_id);
        Self { directory: directory.clone(), json: uncached.version(json) }
    }

    /// Whether a directory would be encoded alike.
    pub fn is_of(&self, directory: &Directory) -> bool {
        self.directory.has_same_statuses_as(directory)
    }
}
