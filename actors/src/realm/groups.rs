//! Creating, changing and deactivating user groups (docs/api/groups.md). Permissions are in `rules::groups`.

use super::left_behind::bots_leave_with_groups;
use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use crate::error::DomainError;
use model::{Directory, Fact, GroupFact, GroupId, User, UserGroup, UserId};
use rules::groups::{
    GroupRequest, GroupUpdate, MembersChange, MembersRequest, access_group_to_deactivate, apply_group_change,
    check_group_update, check_members_change, check_new_group, check_subgroups_change,
};
use rules::new_ids::id_after;
use std::sync::Arc;

/// The requester's current record: the account may have been deactivated since the request arrived.
pub(super) fn requester(directory: &Directory, id: UserId) -> Result<&Arc<User>, DomainError> {
    let user = directory.user(id).ok_or(DomainError::InvalidApiKey)?;
    if user.is_active { Ok(user) } else { Err(DomainError::UserDeactivated) }
}

/// Creates a group.
pub struct CreateGroup {
    pub by: UserId,
    pub request: GroupRequest,
}

impl SerializedCommand for CreateGroup {
    type Outcome = GroupId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(GroupId, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let plan = check_new_group(directory, requester(directory, self.by)?, &self.request)?;
        let last = directory.groups().map(|group| group.id).max().unwrap_or_default();
        let id = GroupId(id_after(last.0, "user groups")?);
        let group = UserGroup {
            creator: Some(self.by),
            created: Some(context.now),
            members: plan.members.into(),
            subgroups: plan.subgroups,
            ..UserGroup::new(id, plan.name, plan.description, plan.permissions)
        };
        Ok((id, vec![Fact::Group(GroupFact::Created(Box::new(group)))]))
    }
}

/// Changes name, description or permissions of a group, or reactivates it.
pub struct UpdateGroup {
    pub by: UserId,
    pub group: i64,
    pub update: GroupUpdate,
}

impl SerializedChange for UpdateGroup {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let (group, changes) = check_group_update(directory, by, self.group, &self.update)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let mut after = UserGroup::clone(group);
        for change in &changes {
            apply_group_change(&mut after, change);
        }
        Ok(vec![Fact::Group(GroupFact::Changed(Box::new(after)))])
    }
}

/// Deactivates a group.
pub struct DeactivateGroup {
    pub by: UserId,
    pub group: i64,
}

impl SerializedChange for DeactivateGroup {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let group = access_group_to_deactivate(directory, requester(directory, self.by)?, self.group)?;
        let after = UserGroup { is_deactivated: true, ..UserGroup::clone(group) };
        Ok(vec![Fact::Group(GroupFact::Changed(Box::new(after)))])
    }
}

/// Adds users and subgroups to a group, or removes them.
pub struct ChangeGroupMembers {
    pub by: UserId,
    pub group: i64,
    pub request: MembersRequest,
}

impl SerializedChange for ChangeGroupMembers {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let (group, change) = check_members_change(directory, by, self.group, &self.request)?;
        Ok(with_bots(context, members_fact(group, change), self.by))
    }
}

/// Adds subgroups to a group, or removes them.
pub struct ChangeSubgroups {
    pub by: UserId,
    pub group: i64,
    pub add: Vec<i64>,
    pub delete: Vec<i64>,
}

impl SerializedChange for ChangeSubgroups {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let (group, change) = check_subgroups_change(directory, by, self.group, self.add, self.delete)?;
        Ok(with_bots(context, members_fact(group, change), self.by))
    }
}

/// A change of members, and the bots that leave channels because their owners lose them by it.
fn with_bots(context: &DecisionContext<'_>, change: Fact, by: UserId) -> Vec<Fact> {
    let mut facts = vec![change];
    facts.extend(bots_leave_with_groups(context, &facts, by));
    facts
}

/// The smaller fact if only direct members change, otherwise the whole record.
fn members_fact(group: &UserGroup, change: MembersChange) -> Fact {
    let MembersChange { added, removed, added_subgroups, removed_subgroups } = change;
    if added_subgroups.is_empty() && removed_subgroups.is_empty() {
        let (added, removed) = (added.into_iter().collect(), removed.into_iter().collect());
        return Fact::Group(GroupFact::MembersChanged { group: group.id, added, removed });
    }
    let mut after = group.clone();
    after.members.extend(added);
    for user in removed {
        after.members.remove(&user);
    }
    after.subgroups.extend(added_subgroups);
    after.subgroups.retain(|below| !removed_subgroups.contains(below));
    Fact::Group(GroupFact::Changed(Box::new(after)))
}
