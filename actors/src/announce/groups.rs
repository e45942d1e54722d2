//! Events of user groups, and of the channels that people gain and lose with them.

use super::{Announcements, Moment, new_summary};
use model::event::{Clients, GroupChange};
use model::{Audience, Channel, ChannelId, EventBody, Fact, GroupId, GroupSetting, User, UserGroup, UserId};
use rules::permissions::channel::sees_channel;
use rules::settings::GroupPermission;
use std::collections::{BTreeMap, BTreeSet};

/// Direct members came and went. Clients list active people alone: nobody is told of others, who come back with their
/// groups.
pub(super) fn members_changed(
    moment: &Moment<'_>,
    group: GroupId,
    added: &[UserId],
    removed: &[UserId],
    out: &mut Announcements,
) {
    let clients = moment.after.group(group).map(|record| clients_of(record)).unwrap_or_default();
    let active = |users: &[UserId]| -> Vec<UserId> {
        users.iter().copied().filter(|id| moment.after.is_active_user(*id)).collect()
    };
    say_members(group, &active(added), &active(removed), clients, out);
    members_reach(moment, group, out);
}

/// Which clients have a group at all: a deactivated one only those that know of deactivation.
pub(super) fn clients_of(group: &UserGroup) -> Clients {
    if group.is_deactivated { Clients::KnowDeactivated } else { Clients::All }
}

pub(super) fn say_members(
    group: GroupId,
    added: &[UserId],
    removed: &[UserId],
    clients: Clients,
    out: &mut Announcements,
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

/// A group's record changed. Without the one from before nothing can be said.
pub(super) fn changed(moment: &Moment<'_>, position: usize, is: &UserGroup, out: &mut Announcements) {
    let earlier = moment.frame.facts[..position].iter().rev().find_map(|fact| match fact {
        Fact::GroupCreated(earlier) | Fact::GroupChanged(earlier) if earlier.id == is.id => Some(&**earlier),
        _ => None,
    });
    let before = moment.before().group(is.id);
    let Some(was) = earlier.or(before.map(|group| &**group)) else { return };
    let id = is.id;
    let change = differences(was, is);
    // For clients that know nothing of deactivation the group goes away, or comes back as it is now.
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
    let added: Vec<UserId> = is.members.difference(&was.members).copied().collect();
    let removed: Vec<UserId> = was.members.difference(&is.members).copied().collect();
    say_members(id, &added, &removed, clients, out);
    say_subgroups(was, is, clients, out);
    members_reach(moment, id, out);
}

fn say_subgroups(was: &UserGroup, is: &UserGroup, clients: Clients, out: &mut Announcements) {
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

/// Whoever came into a group or left it, directly or not, may gain and lose private channels.
fn members_reach(moment: &Moment<'_>, group: GroupId, out: &mut Announcements) {
    let was = moment.before().members_of(group);
    let is = moment.after.members_of(group);
    let mut users: BTreeSet<UserId> = was.iter().copied().filter(|user| !is.contains(user)).collect();
    users.extend(is.iter().copied().filter(|user| !was.contains(user)));
    // A role is more than its groups; those are told once, of everything.
    users.retain(|user| !moment.has_new_role(*user));
    if users.is_empty() {
        return;
    }
    let above = groups_above(moment, group);
    let concerns = |channel: &Channel| {
        let permissions = &channel.permissions;
        channel.invite_only
            && [&permissions.administer_channel, &permissions.add_subscribers, &permissions.subscribe]
                .into_iter()
                .any(|setting| names_any(setting, &above))
    };
    let channels: Vec<ChannelId> =
        moment.after.channels().filter(|channel| concerns(channel)).map(|channel| channel.id).collect();
    reach_changed(moment, &users, &channels, out);
}

fn names_any(setting: &GroupSetting, groups: &BTreeSet<GroupId>) -> bool {
    match setting {
        GroupSetting::Group(group) => groups.contains(group),
        GroupSetting::Anonymous { subgroups, .. } => subgroups.iter().any(|group| groups.contains(group)),
    }
}

/// A group and all that contain it, before or after.
fn groups_above(moment: &Moment<'_>, group: GroupId) -> BTreeSet<GroupId> {
    let mut found = BTreeSet::from([group]);
    let mut open = vec![group];
    while let Some(below) = open.pop() {
        for directory in [moment.before(), moment.after] {
            for above in directory.groups().filter(|above| above.subgroups.contains(&below)) {
                if found.insert(above.id) {
                    open.push(above.id);
                }
            }
        }
    }
    found
}

/// What a user gained (true) or lost; all of them archived or none.
type Difference = (bool, bool, Vec<ChannelId>);

/// Tells people of the channels among these that they know of from now on, and of those that they no longer do.
fn reach_changed(
    moment: &Moment<'_>,
    users: &BTreeSet<UserId>,
    channels: &[ChannelId],
    out: &mut Announcements,
) {
    let mut by_difference: BTreeMap<Difference, Vec<UserId>> = BTreeMap::new();
    for id in users {
        let before = moment.before().user(*id).filter(|user| user.is_active);
        let (Some(before), Some(after)) = (before, moment.after.user(*id).filter(|user| user.is_active))
        else {
            continue;
        };
        for difference in differences_of(moment, before, after, channels, out) {
            by_difference.entry(difference).or_default().push(*id);
        }
    }
    for (clients, is_archived) in [(Clients::All, false), (Clients::KnowArchived, true)] {
        for is_gained in [false, true] {
            let of_kind = by_difference
                .iter()
                .filter(|((gained, archived, _), _)| (*gained, *archived) == (is_gained, is_archived));
            let bodies = of_kind.map(|((.., channels), users)| {
                let body = match is_gained {
                    true => {
                        let found = channels.iter().filter_map(|channel| moment.after.channel(*channel));
                        EventBody::ChannelsCreated(
                            found.map(|channel| new_summary(moment, channel)).collect(),
                        )
                    }
                    false => EventBody::ChannelsLost(channels.clone()),
                };
                (users.clone(), body)
            });
            out.each_for(clients, bodies.collect::<Vec<_>>());
        }
    }
}

fn differences_of(
    moment: &Moment<'_>,
    before: &User,
    after: &User,
    channels: &[ChannelId],
    out: &mut Announcements,
) -> Vec<Difference> {
    let mut found: BTreeMap<(bool, bool), Vec<ChannelId>> = BTreeMap::new();
    for id in channels.iter().filter(|id| !moment.before.unborn.contains(id)) {
        // A channel that changed itself in this frame is told of there.
        let (Some(was), Some(is)) = (moment.before().channel(*id), moment.after.channel(*id)) else {
            continue;
        };
        let knew = sees_channel(moment.before(), before, was);
        let knows = sees_channel(moment.after, after, is);
        if knew != knows && was == is && out.told.insert((after.id, *id)) {
            found.entry((knows, is.is_archived)).or_default().push(*id);
        }
    }
    found.into_iter().map(|((gained, archived), channels)| (gained, archived, channels)).collect()
}
