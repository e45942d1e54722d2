//! Events of channels: created, changed, gained and lost; and of their folders.

use super::channel_visibility;
use super::context::{Announcements, uncounted};
use model::event::{ChannelChange, ChannelSummary, Clients, FolderChange};
use model::{
    Audience, Channel, ChannelFact, ChannelFolder, ChannelId, Directory, EventBody, Fact, Listed, UserId,
};
use rules::permissions::channel::sees_channel;
use rules::posting::{channel_post_policy, is_announcement_only};
use rules::settings::ChannelPermission;
use std::sync::Arc;

/// The events of a fact about channels or their folders.
pub(super) fn announce(fact: &ChannelFact, out: &mut Announcements<'_>) {
    match fact {
        ChannelFact::Created(channel) => created(channel.id, out),
        ChannelFact::Changed(channel) => changed(channel, out),
        ChannelFact::ActivityChanged { channel, is_recently_active } => {
            emit(*channel, ChannelChange::Activity(*is_recently_active), out);
        }
        ChannelFact::DefaultsChanged(channels) => {
            out.add(EventBody::DefaultChannels(channels.clone()), Audience::NonGuests);
        }
        ChannelFact::FolderChanged(folder) => folder_changed(folder, out),
        ChannelFact::FoldersReordered(order) => {
            out.add(EventBody::FoldersReordered(order.clone()), Audience::Everyone);
        }
        ChannelFact::DefaultGroupsChanged(groups) => {
            let body = EventBody::DefaultChannelGroups(Arc::new(Listed::clone(groups)));
            out.add(body, Audience::NonGuests);
        }
        ChannelFact::ReadingPending { .. } => {}
    }
}

/// The clients that have a channel: an archived one only those that know archived channels.
pub(super) fn clients_of(channel: &Channel) -> Clients {
    if channel.is_archived { Clients::KnowArchived } else { Clients::All }
}

/// Users who may see a channel.
pub(super) fn viewers(directory: &Directory, channel: &Channel) -> Vec<UserId> {
    let users = directory.users();
    users
        .filter(|user| user.is_active && sees_channel(directory, user, channel))
        .map(|user| user.id)
        .collect()
}

/// Announces a property of a channel to all users who may see it.
pub(super) fn emit(channel: ChannelId, change: ChannelChange, out: &mut Announcements<'_>) {
    let Some(record) = out.context.after.channel(channel) else { return };
    let body = EventBody::ChannelChanged { channel, name: record.name.clone(), change };
    out.for_clients(clients_of(record), viewers(out.context.after, record), body);
}

fn created(channel: ChannelId, out: &mut Announcements<'_>) {
    let context = out.context;
    let Some(channel) = context.after.channel(channel) else { return };
    // Without counts: its first subscribers and messages have later events, with which clients count them.
    let summary = ChannelSummary { first_message: None, ..uncounted(context, channel) };
    out.to(viewers(context.after, channel), EventBody::ChannelsCreated(vec![summary]));
}

/// A channel's record changed: users who gain or lose it receive that, all others what changed.
fn changed(record: &Channel, out: &mut Announcements<'_>) {
    let context = out.context;
    let id = record.id;
    let earlier = context.frame.facts[..out.position].iter().rev().find_map(|fact| {
        let Fact::Channel(ChannelFact::Created(earlier) | ChannelFact::Changed(earlier)) = fact else {
            return None;
        };
        (earlier.id == id).then_some(&**earlier)
    });
    let previous = earlier.or_else(|| context.before().channel(id).map(|channel| &**channel));
    let Some(was) = context.before().channel(id).filter(|_| !context.is_new(id)) else { return };
    let Some(is) = context.after.channel(id) else { return };
    let changes = previous.map(|previous| differences(context.after, previous, record)).unwrap_or_default();
    let name = previous.map_or_else(String::new, |previous| previous.name.clone());
    for clients in variants(was, is) {
        let exists = |channel: &&Channel| clients != Clients::IgnoreArchived || !channel.is_archived;
        let (was, now) = (Some(&**was).filter(exists), Some(&**is).filter(exists));
        let users = context.after.users().filter(|user| user.is_active);
        let diffs = users.map(|user| (user.id, is, context.visibility_diff(user.id, was, now)));
        let diffs: Vec<_> = diffs.collect();
        if earlier.is_none() {
            // Those who leave it in the same frame receive that with the fact about it.
            let stay = diffs.iter().filter(|(user, ..)| !context.unsubscribes(*user, id));
            channel_visibility::emit(clients, &stay.copied().collect::<Vec<_>>(), out);
        }
        let kept = diffs.iter().filter(|(_, _, diff)| diff.is_kept()).map(|(user, ..)| *user);
        for change in &changes {
            let has_name = if matches!(change, ChannelChange::Name(_)) { &name } else { &record.name };
            let body =
                EventBody::ChannelChanged { channel: id, name: has_name.clone(), change: change.clone() };
            out.for_clients(clients, kept.clone(), body);
        }
    }
}

/// For archived channels, clients that know archived channels receive other events than the rest.
fn variants(was: &Channel, is: &Channel) -> Vec<Clients> {
    match was.is_archived || is.is_archived {
        true => vec![Clients::KnowArchived, Clients::IgnoreArchived],
        false => vec![Clients::All],
    }
}

/// One change for each property that differs.
fn differences(directory: &Directory, was: &Channel, is: &Channel) -> Vec<ChannelChange> {
    let privacy = |channel: &Channel| {
        (channel.invite_only, channel.is_web_public, channel.history_public_to_subscribers)
    };
    let described = |channel: &Channel| (channel.description.clone(), channel.rendered_description.clone());
    let (text, rendered) = described(is);
    let changes = [
        (privacy(was) != privacy(is)).then_some(ChannelChange::Privacy {
            invite_only: is.invite_only,
            is_web_public: is.is_web_public,
            history_public_to_subscribers: is.history_public_to_subscribers,
        }),
        (was.topics_policy != is.topics_policy).then_some(ChannelChange::TopicsPolicy(is.topics_policy)),
        (was.message_retention_days != is.message_retention_days)
            .then_some(ChannelChange::Retention(is.message_retention_days)),
        (was.is_archived != is.is_archived).then_some(ChannelChange::Archived(is.is_archived)),
        (described(was) != described(is)).then_some(ChannelChange::Description { text, rendered }),
        (was.name != is.name).then(|| ChannelChange::Name(is.name.clone())),
        (was.folder != is.folder).then_some(ChannelChange::Folder(is.folder)),
        (was.is_recently_active != is.is_recently_active)
            .then_some(ChannelChange::Activity(is.is_recently_active)),
    ];
    let permissions =
        ChannelPermission::ALL.into_iter().filter(|permission| permission.of(was) != permission.of(is));
    let permissions = permissions.map(|one| ChannelChange::Permission(one.rule().name, one.of(is).clone()));
    // Older clients read the same from numbers.
    let policy = channel_post_policy(directory, is);
    let legacy = (channel_post_policy(directory, was) != policy).then(|| {
        [
            ChannelChange::PostPolicy(policy),
            ChannelChange::AnnouncementOnly(is_announcement_only(directory, is)),
        ]
    });
    changes.into_iter().flatten().chain(permissions).chain(legacy.into_iter().flatten()).collect()
}

/// A folder was created or changed.
fn folder_changed(is: &ChannelFolder, out: &mut Announcements<'_>) {
    let is_new = out.context.before.new_folders.contains(&is.id);
    let Some(was) = out.context.before().folder(is.id).filter(|_| !is_new) else {
        return out.add(EventBody::FolderAdded(is.clone().into()), Audience::Everyone);
    };
    let description = (is.description.clone(), is.rendered_description.clone());
    let change = FolderChange {
        name: (was.name != is.name).then(|| is.name.clone()),
        description: (was.description != is.description).then_some(description),
        is_archived: (was.is_archived != is.is_archived).then_some(is.is_archived),
    };
    if change != FolderChange::default() {
        out.add(EventBody::FolderChanged { folder: is.id, change }, Audience::Everyone);
    }
}
