//! The shared list of statuses: the same for all readers who see all users.

use crate::api::wire::json::push_value;
use crate::api::wire::status::{StatusJson, statuses};
use bytes::Bytes;
use model::{Directory, UserId};
use std::collections::BTreeMap;

/// The encoded statuses of an organization.
pub(super) struct SharedStatuses {
    directory: Directory,
    pub json: Bytes,
}

impl SharedStatuses {
    /// Encodes the statuses of a directory.
    pub fn new(directory: &Directory) -> Self {
        let by_id: BTreeMap<UserId, StatusJson> =
            statuses(directory).map(|(user, status)| (user.id, status)).collect();
        let mut json = Vec::new();
        push_value(&mut json, &by_id);
        json.shrink_to_fit();
        Self { directory: directory.clone(), json: json.into() }
    }

    /// Whether a directory would be encoded alike.
    pub fn is_of(&self, directory: &Directory) -> bool {
        self.directory.has_same_statuses_as(directory)
    }
}
