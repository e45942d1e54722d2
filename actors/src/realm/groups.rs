//! User groups: made, changed, filled and put out of use (companions.md 7). Who may is for `rules::groups`.

use super::settled::{Moment, SettledCommand};
use crate::error::DomainError;
use model::{Directory, Fact, GroupId, User, UserGroup, UserId};
use rules::groups::{
    GroupRequest, GroupUpdate, MembersChange, MembersRequest, access_group_to_deactivate, apply_group_change,
    check_group_update, check_members_change, check_new_group, check_subgroups_change,
};
use std::sync::Arc;

/// Whoever asked, as of now: the account may have gone out of use since.
pub(super) fn actor(directory: &Directory, id: UserId) -> Result<&Arc<User>, DomainError> {
    let user = directory.user(id).ok_or(DomainError::InvalidApiKey)?;
    if user.is_active { Ok(user) } else { Err(DomainError::UserDeactivated) }
}

/// Make a group.
pub(crate) struct CreateGroup {
    /// Who does it.
    pub by: UserId,
    /// What it should be.
    pub request: GroupRequest,
}

impl SettledCommand for CreateGroup {
    type Outcome = GroupId;

    fn decide(self, moment: &mut Moment<'_>) -> Result<(GroupId, Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let plan = check_new_group(directory, actor(directory, self.by)?, &self.request)?;
        let id = directory.groups().map(|group| group.id).max().unwrap_or_default().next();
        let group = UserGroup {
            creator: Some(self.by),
            created: Some(moment.now),
            members: plan.members,
            subgroups: plan.subgroups,
            ..UserGroup::new(id, plan.name, plan.description, plan.permissions)
        };
        Ok((id, vec![Fact::GroupCreated(Box::new(group))]))
    }
}

/// Change what a group is called and who may do what with it, or take it into use again.
pub(crate) struct UpdateGroup {
    /// Who does it.
    pub by: UserId,
    /// Which, as sent.
    pub group: i64,
    /// What is to change.
    pub update: GroupUpdate,
}

impl SettledCommand for UpdateGroup {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let by = actor(directory, self.by)?;
        let (group, changes) = check_group_update(directory, by, self.group, &self.update)?;
        if changes.is_empty() {
            return Ok(((), Vec::new()));
        }
        let mut after = UserGroup::clone(group);
        for change in &changes {
            apply_group_change(&mut after, change);
        }
        Ok(((), vec![Fact::GroupChanged(Box::new(after))]))
    }
}

/// Put a group out of use.
pub(crate) struct DeactivateGroup {
    /// Who does it.
    pub by: UserId,
    /// Which, as sent.
    pub group: i64,
}

impl SettledCommand for DeactivateGroup {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let group = access_group_to_deactivate(directory, actor(directory, self.by)?, self.group)?;
        let after = UserGroup { is_deactivated: true, ..UserGroup::clone(group) };
        Ok(((), vec![Fact::GroupChanged(Box::new(after))]))
    }
}

/// Let users and groups into a group, or out of it.
pub(crate) struct ChangeGroupMembers {
    /// Who does it.
    pub by: UserId,
    /// Which, as sent.
    pub group: i64,
    /// Who comes and who goes.
    pub request: MembersRequest,
}

impl SettledCommand for ChangeGroupMembers {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let by = actor(directory, self.by)?;
        let (group, change) = check_members_change(directory, by, self.group, &self.request)?;
        Ok(((), vec![members_fact(group, change)]))
    }
}

/// Let groups into a group, or out of it.
pub(crate) struct ChangeSubgroups {
    /// Who does it.
    pub by: UserId,
    /// Which, as sent.
    pub group: i64,
    /// Groups to come in.
    pub add: Vec<i64>,
    /// Groups to go.
    pub delete: Vec<i64>,
}

impl SettledCommand for ChangeSubgroups {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let by = actor(directory, self.by)?;
        let (group, change) = check_subgroups_change(directory, by, self.group, self.add, self.delete)?;
        Ok(((), vec![members_fact(group, change)]))
    }
}

/// Where only people come and go the record need not be written anew.
fn members_fact(group: &UserGroup, change: MembersChange) -> Fact {
    let MembersChange { added, removed, added_subgroups, removed_subgroups } = change;
    if added_subgroups.is_empty() && removed_subgroups.is_empty() {
        let (added, removed) = (added.into_iter().collect(), removed.into_iter().collect());
        return Fact::GroupMembersChanged { group: group.id, added, removed };
    }
    let mut after = group.clone();
    after.members.extend(added);
    after.members.retain(|user| !removed.contains(user));
    after.subgroups.extend(added_subgroups);
    after.subgroups.retain(|below| !removed_subgroups.contains(below));
    Fact::GroupChanged(Box::new(after))
}
