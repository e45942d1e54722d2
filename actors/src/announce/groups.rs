//! Events of user groups, and of the channels that users gain and lose with them.

use super::channel_visibility;
use super::context::Announcements;
use model::event::{Clients, GroupChange};
use model::{Audience, Channel, EventBody, Fact, GroupFact, GroupId, GroupSetting, UserGroup, UserId};
use rules::settings::GroupPermission;
use std::collections::BTreeSet;

/// The events of a fact about groups.
pub(super) fn announce(fact: &GroupFact, out: &mut Announcements<'_>) {
    match fact {
        GroupFact::Created(group) => {
            if let Some(group) = out.context.after.group(group.id) {
                out.add(EventBody::GroupAdded(group.clone()), Audience::Everyone);
            }
        }
        GroupFact::Changed(group) => changed(group, out),
        GroupFact::MembersChanged { group, added, removed } => {
            members_changed(*group, added, removed, out);
        }
    }
}

/// Direct members were added and removed. Clients list active users only; others return to their groups when they are
/// reactivated.
fn members_changed(group: GroupId, added: &[UserId], removed: &[UserId], out: &mut Announcements<'_>) {
    let clients = out.context.after.group(group).map(|record| clients_of(record)).unwrap_or_default();
    let active = |users: &[UserId]| -> Vec<UserId> {
        users.iter().copied().filter(|id| out.context.after.is_active_user(*id)).collect()
    };
    members_events(group, &active(added), &active(removed), clients, out);
    channels_changed(group, out);
}

/// The clients that have a group: a deactivated one only those that know deactivated groups.
pub(super) fn clients_of(group: &UserGroup) -> Clients {
    if group.is_deactivated { Clients::KnowDeactivated } else { Clients::All }
}

pub(super) fn members_events(
    group: GroupId,
    added: &[UserId],
    removed: &[UserId],
    clients: Clients,
    out: &mut Announcements<'_>,
) {
    if !added.is_empty() {
        let body = EventBody::GroupMembersAdded { group, users: added.to_vec() };
        out.push(out.next, clients, body, Audience::Everyone);
    }
    if !removed.is_empty() {
        let body = EventBody::GroupMembersRemoved { group, users: removed.to_vec() };
        out.push(out.next, clients, body, Audience::Everyone);
    }
}

/// A group's record changed. No events if the record before is unknown.
fn changed(is: &UserGroup, out: &mut Announcements<'_>) {
    let earlier = out.context.frame.facts[..out.position].iter().rev().find_map(|fact| {
        let Fact::Group(GroupFact::Created(earlier) | GroupFact::Changed(earlier)) = fact else {
            return None;
        };
        (earlier.id == is.id).then_some(&**earlier)
    });
    let before = out.context.before().group(is.id);
    let Some(was) = earlier.or(before.map(|group| &**group)) else { return };
    let id = is.id;
    let change = differences(was, is);
    // For clients that do not know deactivated groups the group is removed, or added as it is now.
    let clients = match (was.is_deactivated, is.is_deactivated) {
        (false, true) => {
            out.push(out.next, Clients::IgnoreDeactivated, EventBody::GroupRemoved(id), Audience::Everyone);
            Clients::KnowDeactivated
        }
        (true, false) => {
            let added = EventBody::GroupAdded(is.clone().into());
            out.push(out.next, Clients::IgnoreDeactivated, added, Audience::Everyone);
            Clients::KnowDeactivated
        }
        _ => clients_of(is),
    };
    if change != GroupChange::default() {
        let body = EventBody::GroupChanged { group: id, change: Box::new(change) };
        out.push(out.next, clients, body, Audience::Everyone);
    }
    members_events(id, &is.members_not_in(was), &was.members_not_in(is), clients, out);
    subgroups_events(was, is, clients, out);
    channels_changed(id, out);
}

fn subgroups_events(was: &UserGroup, is: &UserGroup, clients: Clients, out: &mut Announcements<'_>) {
    let group = is.id;
    let added: Vec<GroupId> = is.subgroups.difference(&was.subgroups).copied().collect();
    let removed: Vec<GroupId> = was.subgroups.difference(&is.subgroups).copied().collect();
    if !added.is_empty() {
        let body = EventBody::SubgroupsAdded { group, subgroups: added };
        out.push(out.next, clients, body, Audience::Everyone);
    }
    if !removed.is_empty() {
        let body = EventBody::SubgroupsRemoved { group, subgroups: removed };
        out.push(out.next, clients, body, Audience::Everyone);
    }
}

fn differences(was: &UserGroup, is: &UserGroup) -> GroupChange {
    let permissions = GroupPermission::ALL.into_iter().filter(|one| one.of(was) != one.of(is));
    GroupChange {
        name: (was.name != is.name).then(|| is.name.clone()),
        description: (was.description != is.description).then(|| is.description.clone()),
        is_deactivated: (was.is_deactivated != is.is_deactivated).then_some(is.is_deactivated),
        permissions: permissions.map(|one| (one.rule().name, one.of(is).clone())).collect(),
    }
}

/// Users who became members of a group or left it, directly or not, may gain and lose private channels.
fn channels_changed(group: GroupId, out: &mut Announcements<'_>) {
    let context = out.context;
    let mut users = context.after.members_changed_since(context.before(), group);
    // Bots have the permissions of their owners.
    let bots = context.after.bots().filter(|bot| bot.owner().is_some_and(|owner| users.contains(&owner)));
    users.extend(bots.map(|bot| bot.id).collect::<Vec<_>>());
    // A new role changes more than groups, and a new account has its channels by other facts.
    users.retain(|user| !context.has_new_role(*user) && context.stays_active(*user));
    if users.is_empty() {
        return;
    }
    let mut above = context.before().group_and_supergroups(group);
    above.extend(context.after.group_and_supergroups(group));
    let concerns = |channel: &Channel| {
        let permissions = &channel.permissions;
        channel.invite_only
            && [&permissions.administer_channel, &permissions.add_subscribers, &permissions.subscribe]
                .into_iter()
                .any(|setting| names_any(setting, &above))
    };
    channel_visibility::users_changed(users, concerns, out);
}

fn names_any(setting: &GroupSetting, groups: &BTreeSet<GroupId>) -> bool {
    match setting {
        GroupSetting::Group(group) => groups.contains(group),
        GroupSetting::Anonymous { subgroups, .. } => subgroups.iter().any(|group| groups.contains(group)),
    }
}
