//! Events of accounts that are deactivated, and of those that are in use again: what clients take away from everywhere
//! where the user stood, and put back (events.md 6, "deactivate user").

use super::access::everyone_who_sees;
use super::{Announcements, Moment, bots, channels, groups, personal, subscriptions};
use model::event::{ChannelChange, GroupChange, UserChange};
use model::{Audience, Directory, EventBody, GroupSetting, SettingValue, UserId};
use rules::permissions::group_setting::realm_group_setting;
use rules::permissions::users::sees_user;
use rules::settings::{ChannelPermission, GroupPermission, RealmPermission};
use std::sync::Arc;

/// Events besides those for groups, channels and settings that name a user; and some more, for what is decided about
/// the user at the same moment elsewhere.
const EVENTS_BESIDES: usize = 64;

/// How many events deactivating an account, or the opposite, leads to at most.
pub(crate) fn activity_events_max(directory: &Directory, user: UserId) -> u32 {
    let members = directory.groups().filter(|group| group.members.contains(&user)).count();
    let settings = directory.groups().filter(|group| !group_settings(group, user).is_empty()).count();
    let of_channels: usize = directory.channels().map(|one| channel_settings(one, user).count()).sum();
    let subscribed = directory.subscriptions_of_user(user).count();
    u32::try_from(EVENTS_BESIDES + members + settings + of_channels + subscribed).unwrap_or(u32::MAX)
}

/// An account was deactivated, or is in use again.
pub(super) fn active_set(moment: &Moment<'_>, id: UserId, is_active: bool, out: &mut Announcements) {
    let (Some(was), Some(is)) = (moment.before().user(id), moment.after.user(id)) else { return };
    // Those who come to know of the user, or must forget, are told only that.
    let knew = |viewer: &UserId| {
        let viewer = moment.before().user(*viewer);
        viewer.is_some_and(|viewer| sees_user(moment.before(), viewer, was))
    };
    let viewers: Vec<UserId> = everyone_who_sees(moment.after, is).into_iter().filter(knew).collect();
    let change = UserChange::IsActive(is_active);
    out.to(viewers.iter().copied(), EventBody::UserChanged { user: id, change });
    personal::status_shown(moment, is, viewers, out);
    if is.is_bot() {
        bots::changed(moment, was, is, out);
    }
    membership(moment, id, is_active, out);
    subscribed(moment, id, is_active, out);
    named(moment, id, out);
}

/// Members of groups are people with active accounts.
fn membership(moment: &Moment<'_>, id: UserId, is_active: bool, out: &mut Announcements) {
    for group in moment.after.groups().filter(|group| group.members.contains(&id)) {
        let (added, removed): (&[UserId], &[UserId]) = if is_active { (&[id], &[]) } else { (&[], &[id]) };
        groups::say_members(group.id, added, removed, groups::clients_of(group), out);
    }
}

/// So are subscribers, archived channels included.
fn subscribed(moment: &Moment<'_>, id: UserId, is_active: bool, out: &mut Announcements) {
    let users: Arc<[UserId]> = [id].into();
    let own = moment.after.subscriptions_of_user(id).filter(|(_, own)| own.is_active);
    for channel in own.filter_map(|(channel, _)| moment.after.channel(channel)) {
        let peers = subscriptions::peers(moment, channel, &users);
        let (channel_id, users) = (channel.id, users.clone());
        let body = match is_active {
            true => EventBody::PeersAdded { channel: channel_id, users },
            false => EventBody::PeersRemoved { channel: channel_id, users },
        };
        out.for_clients(channels::clients_of(channel), peers, body);
    }
}

/// Settings that name the user show others than before.
fn named(moment: &Moment<'_>, id: UserId, out: &mut Announcements) {
    let permissions = RealmPermission::ALL.into_iter().filter_map(|permission| {
        let value = realm_group_setting(moment.after, permission);
        names(&value, id).then(|| (permission.rule().name, SettingValue::Group(value)))
    });
    let permissions: Vec<_> = permissions.collect();
    if !permissions.is_empty() {
        out.add(EventBody::RealmChanged(permissions.into()), Audience::Everyone);
    }
    for group in moment.after.groups() {
        let permissions = group_settings(group, id);
        if !permissions.is_empty() {
            let change = Box::new(GroupChange { permissions, ..GroupChange::default() });
            let body = EventBody::GroupChanged { group: group.id, change };
            out.push(out.next, groups::clients_of(group), body, Audience::Everyone);
        }
    }
    for channel in moment.after.channels() {
        for (name, value) in channel_settings(channel, id) {
            channels::say(moment, channel.id, ChannelChange::Permission(name, value.clone()), out);
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
