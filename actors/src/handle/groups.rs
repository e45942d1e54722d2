//! Commands about user groups.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{ChangeGroupMembers, ChangeSubgroups, CreateGroup, DeactivateGroup, UpdateGroup};
use model::{GroupId, UserId};
use rules::groups::{GroupRequest, GroupUpdate, MembersRequest};

impl RealmHandle {
    /// Makes a user group; its id.
    ///
    /// # Errors
    /// As `rules::groups::check_new_group`.
    pub async fn create_group(&self, by: UserId, request: GroupRequest) -> Result<GroupId, DomainError> {
        self.settle(CreateGroup { by, request }).await
    }

    /// Changes a user group's name, description and permissions, or takes it into use again.
    ///
    /// # Errors
    /// As `rules::groups::check_group_update`.
    pub async fn update_group(
        &self,
        by: UserId,
        group: GroupId,
        update: GroupUpdate,
    ) -> Result<(), DomainError> {
        self.settle(UpdateGroup { by, group: group.0.into(), update }).await
    }

    /// Puts a user group out of use.
    ///
    /// # Errors
    /// As `rules::groups::access_group_to_deactivate`.
    pub async fn deactivate_group(&self, by: UserId, group: GroupId) -> Result<(), DomainError> {
        self.settle(DeactivateGroup { by, group: group.0.into() }).await
    }

    /// Changes who is in a user group: people and groups.
    ///
    /// # Errors
    /// As `rules::groups::check_members_change`.
    pub async fn change_group_members(
        &self,
        by: UserId,
        group: GroupId,
        request: MembersRequest,
    ) -> Result<(), DomainError> {
        self.settle(ChangeGroupMembers { by, group: group.0.into(), request }).await
    }

    /// Changes which groups are in a user group.
    ///
    /// # Errors
    /// As `rules::groups::check_subgroups_change`.
    pub async fn change_subgroups(
        &self,
        by: UserId,
        group: GroupId,
        add: Vec<i64>,
        delete: Vec<i64>,
    ) -> Result<(), DomainError> {
        self.settle(ChangeSubgroups { by, group: group.0.into(), add, delete }).await
    }
}
