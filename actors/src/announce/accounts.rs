//! Events of deactivating and reactivating an account: clients remove the user from lists and settings, and add them
//! again (docs/api/events.md#order-of-events).

use super::access::users_who_see;
use super::context::Announcements;
use super::{bots, channels, groups, personal, subscriptions};
use model::event::{ChannelChange, GroupChange, UserChange};
use model::{Audience, Directory, EventBody, GroupSetting, SettingValue, UserId};
use rules::permissions::group_setting::realm_group_setting;
use rules::permissions::users::sees_user;
use rules::settings::{ChannelPermission, GroupPermission, RealmPermission};
use std::sync::Arc;

/// Events besides those for groups, channels and settings that name a user, with a margin for concurrent decisions about
/// the user.
const EVENTS_BESIDES: usize = 64;

/// An upper bound of the events of deactivating or reactivating an account.
pub(crate) fn activity_events_max(directory: &Directory, user: UserId) -> u32 {
    let members = directory.groups().filter(|group| group.members.contains(&user)).count();
    let settings = directory.groups().filter(|group| !group_settings(group, user).is_empty()).count();
    let of_channels: usize = directory.channels().map(|one| channel_settings(one, user).count()).sum();
    let subscribed = directory.subscriptions_of_user(user).count();
    u32::try_from(EVENTS_BESIDES + members + settings + of_channels + subscribed).unwrap_or(u32::MAX)
}

/// An account was deactivated or reactivated.
pub(super) fn active_set(id: UserId, is_active: bool, out: &mut Announcements<'_>) {
    let context = out.context;
    let (Some(was), Some(is)) = (context.before().user(id), context.after.user(id)) else { return };
    // Users who gain or lose sight of the user receive only that.
    let saw = |viewer: &UserId| {
        let viewer = context.before().user(*viewer);
        viewer.is_some_and(|viewer| sees_user(context.before(), viewer, was))
    };
    let viewers: Vec<UserId> = users_who_see(context.after, is).into_iter().filter(saw).collect();
    let change = UserChange::IsActive(is_active);
    if !is_active {
        subscribed(id, is_active, out);
    }
    out.to(viewers.iter().copied(), EventBody::UserChanged { user: id, change });
    match is_active {
        true => personal::status_shown(is, viewers.clone(), out),
        false => personal::status_removed(was, viewers.clone(), out),
    }
    if is.is_bot() {
        bots::changed(was, is, out);
    }
    if is_active {
        subscribed(id, is_active, out);
    }
    membership(id, is_active, &viewers, out);
    named(id, out);
}

/// Members of groups are active users. Clients that receive the deactivation remove the user from groups themselves.
fn membership(id: UserId, is_active: bool, viewers: &[UserId], out: &mut Announcements<'_>) {
    let blind: Vec<UserId> = match is_active {
        true => Vec::new(),
        false => {
            let active = out.context.after.users().filter(|user| user.is_active).map(|user| user.id);
            active.filter(|user| viewers.binary_search(user).is_err()).collect()
        }
    };
    for group in out.context.after.groups().filter(|group| group.members.contains(&id)) {
        let clients = groups::clients_of(group);
        match is_active {
            true => groups::members_events(group.id, &[id], &[], clients, out),
            false => {
                let body = EventBody::GroupMembersRemoved { group: group.id, users: vec![id] };
                out.for_clients(clients, blind.iter().copied(), body);
            }
        }
    }
}

/// Subscribers are active users, too; archived channels included.
fn subscribed(id: UserId, is_active: bool, out: &mut Announcements<'_>) {
    let context = out.context;
    let users: Arc<[UserId]> = [id].into();
    let own = context.after.subscriptions_of_user(id).filter(|(_, own)| own.is_active);
    for channel in own.filter_map(|(channel, _)| context.after.channel(channel)) {
        let peers = subscriptions::listening_peers(context, channel, &users);
        let (channel_id, users) = (channel.id, users.clone());
        let body = match is_active {
            true => EventBody::PeersAdded { channel: channel_id, users },
            false => EventBody::PeersRemoved { channel: channel_id, users },
        };
        let first = out.next;
        out.for_clients(channels::clients_of(channel), peers, body);
        // The numbers of later events may not depend on who listens.
        out.next = first.next();
    }
}

/// Group settings that name the user list other users than before.
fn named(id: UserId, out: &mut Announcements<'_>) {
    let context = out.context;
    let permissions = RealmPermission::ALL.into_iter().filter_map(|permission| {
        let value = realm_group_setting(context.after, permission);
        names(&value, id).then(|| (permission.rule().name, SettingValue::Group(value)))
    });
    let permissions: Vec<_> = permissions.collect();
    if !permissions.is_empty() {
        out.add(EventBody::RealmChanged(permissions.into()), Audience::Everyone);
    }
    for group in context.after.groups() {
        let permissions = group_settings(group, id);
        if !permissions.is_empty() {
            let change = Box::new(GroupChange { permissions, ..GroupChange::default() });
            let body = EventBody::GroupChanged { group: group.id, change };
            out.push(out.next, groups::clients_of(group), body, Audience::Everyone);
        }
    }
    for channel in context.after.channels() {
        for (name, value) in channel_settings(channel, id) {
            channels::emit(channel.id, ChannelChange::Permission(name, value.clone()), out);
        }
    }
}

fn names(setting: &GroupSetting, id: UserId) -> bool {
    matches!(setting, GroupSetting::Anonymous { members, .. } if members.binary_search(&id).is_ok())
}

fn group_settings(group: &model::UserGroup, id: UserId) -> Vec<(&'static str, GroupSetting)> {
    let all = GroupPermission::ALL.into_iter().map(|one| (one.rule().name, one.of(group)));
    all.filter(|(_, value)| names(value, id)).map(|(name, value)| (name, value.clone())).collect()
}

fn channel_settings(
    channel: &model::Channel,
    id: UserId,
) -> impl Iterator<Item = (&'static str, &GroupSetting)> {
    let all = ChannelPermission::ALL.into_iter().map(|one| (one.rule().name, one.of(channel)));
    all.filter(move |(_, value)| names(value, id))
}
