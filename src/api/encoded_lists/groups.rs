//! Shared lists of groups: the same for all readers with an account.

use super::version::{UncachedBytes, Version};
use crate::api::wire::group::group;
use crate::api::wire::list::push_list;
use model::Directory;

/// The groups of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListedGroups {
    pub with_deactivated: bool,
    pub only_system: bool,
}

/// An encoded list of groups.
pub(super) struct SharedGroups {
    /// Members are shown unless they are deactivated.
    directory: Directory,
    pub json: Version,
}

impl SharedGroups {
    /// Encodes the groups of a directory.
    pub fn new(directory: &Directory, listed: ListedGroups, uncached: &UncachedBytes) -> Self {
        let groups = directory.groups().filter(|group| {
            (listed.with_deactivated || !group.is_deactivated) && (!listed.only_system || group.is_system)
        });
        let mut json = Vec::new();
        push_list(&mut json, groups.map(|record| group(directory, record)));
        Self { directory: directory.clone(), json: uncached.version(json) }
    }

    /// Whether a directory would be encoded alike.
    pub fn is_of(&self, directory: &Directory) -> bool {
        self.directory.has_same_people_as(directory)
    }
}
