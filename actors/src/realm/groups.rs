//! Creating, changing and deactivating user groups (docs/api/groups.md). Permissions are in `rules::groups`.

use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Directory, Fact, GroupFact, GroupId, User, UserGroup, UserId};
use rules::groups::{
    GroupRequest, GroupUpdate, MembersChange, MembersRequest, access_group_to_deactivate, apply_group_change,
    check_group_update, check_members_change, check_new_group, check_subgroups_change,
};
use std::sync::Arc;

/// The acting user's current record: the account may have been deactivated since the request arrived.
pub(super) fn requester(directory: &Directory, id: UserId) -> Result<&Arc<User>, DomainError> {
    let user = directory.user(id).ok_or(DomainError::InvalidApiKey)?;
    if user.is_active { Ok(user) } else { Err(DomainError::UserDeactivated) }
}

/// Make a group.
pub struct CreateGroup {
    /// The acting user.
    pub by: UserId,
    /// What it should be.
    pub request: GroupRequest,
}

impl SerializedCommand for CreateGroup {
    type Outcome = GroupId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(GroupId, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let plan = check_new_group(directory, requester(directory, self.by)?, &self.request)?;
        let id = directory.groups().map(|group| group.id).max().unwrap_or_default().next();
        let group = UserGroup {
            creator: Some(self.by),
            created: Some(context.now),
            members: plan.members,
            subgroups: plan.subgroups,
            ..UserGroup::new(id, plan.name, plan.description, plan.permissions)
        };
        Ok((id, vec![Fact::Group(GroupFact::Created(Box::new(group)))]))
    }
}

/// Change what a group is called and who may do what with it, or take it into use again.
pub struct UpdateGroup {
    /// The acting user.
    pub by: UserId,
    /// Which, as sent.
    pub group: i64,
    /// What is to change.
    pub update: GroupUpdate,
}

impl SerializedCommand for UpdateGroup {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let (group, changes) = check_group_update(directory, by, self.group, &self.update)?;
        if changes.is_empty() {
            return Ok(((), Vec::new()));
        }
        let mut after = UserGroup::clone(group);
        for change in &changes {
            apply_group_change(&mut after, change);
        }
        Ok(((), vec![Fact::Group(GroupFact::Changed(Box::new(after)))]))
    }
}

/// Deactivates a group.
pub struct DeactivateGroup {
    /// The acting user.
    pub by: UserId,
    /// Which, as sent.
    pub group: i64,
}

impl SerializedCommand for DeactivateGroup {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let group = access_group_to_deactivate(directory, requester(directory, self.by)?, self.group)?;
        let after = UserGroup { is_deactivated: true, ..UserGroup::clone(group) };
        Ok(((), vec![Fact::Group(GroupFact::Changed(Box::new(after)))]))
    }
}

/// Let users and groups into a group, or out of it.
pub struct ChangeGroupMembers {
    /// The acting user.
    pub by: UserId,
    /// Which, as sent.
    pub group: i64,
    /// Who comes and who goes.
    pub request: MembersRequest,
}

impl SerializedCommand for ChangeGroupMembers {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let (group, change) = check_members_change(directory, by, self.group, &self.request)?;
        Ok(((), vec![members_fact(group, change)]))
    }
}

/// Let groups into a group, or out of it.
pub struct ChangeSubgroups {
    /// The acting user.
    pub by: UserId,
    /// Which, as sent.
    pub group: i64,
    /// Groups to come in.
    pub add: Vec<i64>,
    /// Groups to go.
    pub delete: Vec<i64>,
}

impl SerializedCommand for ChangeSubgroups {
    type Outcome = ();

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let (group, change) = check_subgroups_change(directory, by, self.group, self.add, self.delete)?;
        Ok(((), vec![members_fact(group, change)]))
    }
}

/// Where only people come and go the record need not be written anew.
fn members_fact(group: &UserGroup, change: MembersChange) -> Fact {
    let MembersChange { added, removed, added_subgroups, removed_subgroups } = change;
    if added_subgroups.is_empty() && removed_subgroups.is_empty() {
        let (added, removed) = (added.into_iter().collect(), removed.into_iter().collect());
        return Fact::Group(GroupFact::MembersChanged { group: group.id, added, removed });
    }
    let mut after = group.clone();
    after.members.extend(added);
    after.members.retain(|user| !removed.contains(user));
    after.subgroups.extend(added_subgroups);
    after.subgroups.retain(|below| !removed_subgroups.contains(below));
    Fact::Group(GroupFact::Changed(Box::new(after)))
}
