//! Events of channels: created, changed, gained and lost; and of their folders.

use super::channel_visibility;
use super::context::{Announcements, EventContext, uncounted};
use model::event::{ChannelChange, ChannelSummary, Clients, FolderChange};
use model::{Audience, Channel, ChannelFact, ChannelFolder, ChannelId, Directory, EventBody, Fact, UserId};
use rules::permissions::channel::sees_channel;
use rules::posting::{channel_post_policy, is_announcement_only};
use rules::settings::ChannelPermission;

/// The events of a fact about channels or their folders.
pub(super) fn announce(
    context: &EventContext<'_>,
    position: usize,
    fact: &ChannelFact,
    out: &mut Announcements,
) {
    match fact {
        ChannelFact::Created(channel) => created(context, channel.id, out),
        ChannelFact::Changed(channel) => changed(context, position, channel, out),
        ChannelFact::ActivityChanged { channel, is_recently_active } => {
            emit(context, *channel, ChannelChange::Activity(*is_recently_active), out);
        }
        ChannelFact::DefaultsChanged(channels) => {
            out.add(EventBody::DefaultChannels(channels.clone()), Audience::NonGuests);
        }
        ChannelFact::FolderChanged(folder) => folder_changed(context, folder, out),
        ChannelFact::FoldersReordered(order) => {
            out.add(EventBody::FoldersReordered(order.clone()), Audience::Everyone);
        }
    }
}

/// Which clients have a channel at all: an archived one only those that know of archiving.
pub(super) fn clients_of(channel: &Channel) -> Clients {
    if channel.is_archived { Clients::KnowArchived } else { Clients::All }
}

/// Everybody who knows of a channel.
pub(super) fn viewers(directory: &Directory, channel: &Channel) -> Vec<UserId> {
    let users = directory.users();
    users
        .filter(|user| user.is_active && sees_channel(directory, user, channel))
        .map(|user| user.id)
        .collect()
}

/// Tells everybody who knows of a channel about a property of it.
pub(super) fn emit(
    context: &EventContext<'_>,
    channel: ChannelId,
    change: ChannelChange,
    out: &mut Announcements,
) {
    let Some(record) = context.after.channel(channel) else { return };
    let body = EventBody::ChannelChanged { channel, name: record.name.clone(), change };
    out.for_clients(clients_of(record), viewers(context.after, record), body);
}

/// A channel came to be.
fn created(context: &EventContext<'_>, channel: ChannelId, out: &mut Announcements) {
    let Some(channel) = context.after.channel(channel) else { return };
    // Empty: its first subscribers and messages are told of behind this, and counted then.
    let summary = ChannelSummary { first_message: None, ..uncounted(context, channel) };
    out.to(viewers(context.after, channel), EventBody::ChannelsCreated(vec![summary]));
}

/// A channel's record changed: those who come to know of it or are shut out learn that, all others what changed.
fn changed(context: &EventContext<'_>, position: usize, record: &Channel, out: &mut Announcements) {
    let id = record.id;
    let earlier = context.frame.facts[..position].iter().rev().find_map(|fact| {
        let Fact::Channel(ChannelFact::Created(earlier) | ChannelFact::Changed(earlier)) = fact else {
            return None;
        };
        (earlier.id == id).then_some(&**earlier)
    });
    let previous = earlier.or_else(|| context.before().channel(id).map(|channel| &**channel));
    let Some(was) = context.before().channel(id).filter(|_| !context.is_new(id)) else { return };
    let Some(is) = context.after.channel(id) else { return };
    let is_first = !matches!(earlier, Some(earlier) if earlier.id == id);
    let changes = previous.map(|previous| differences(context.after, previous, record)).unwrap_or_default();
    let name = previous.map_or_else(String::new, |previous| previous.name.clone());
    for clients in variants(was, is) {
        let exists = |channel: &&Channel| clients != Clients::IgnoreArchived || !channel.is_archived;
        let (was, now) = (Some(&**was).filter(exists), Some(&**is).filter(exists));
        let users = context.after.users().filter(|user| user.is_active);
        let diffs = users.map(|user| (user.id, is, context.visibility_diff(user.id, was, now)));
        let diffs: Vec<_> = diffs.collect();
        if is_first {
            channel_visibility::emit(context, clients, &diffs, out);
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

/// Where archived channels are concerned, clients that know of archiving are told other things than the rest.
fn variants(was: &Channel, is: &Channel) -> Vec<Clients> {
    match was.is_archived || is.is_archived {
        true => vec![Clients::KnowArchived, Clients::IgnoreArchived],
        false => vec![Clients::All],
    }
}

/// One change for each property that differs.
fn differences(directory: &Directory, was: &Channel, is: &Channel) -> Vec<ChannelChange> {
    let mut found = Vec::new();
    let privacy = |channel: &Channel| {
        (channel.invite_only, channel.is_web_public, channel.history_public_to_subscribers)
    };
    if privacy(was) != privacy(is) {
        found.push(ChannelChange::Privacy {
            invite_only: is.invite_only,
            is_web_public: is.is_web_public,
            history_public_to_subscribers: is.history_public_to_subscribers,
        });
    }
    if was.topics_policy != is.topics_policy {
        found.push(ChannelChange::TopicsPolicy(is.topics_policy));
    }
    if was.message_retention_days != is.message_retention_days {
        found.push(ChannelChange::Retention(is.message_retention_days));
    }
    if was.is_archived != is.is_archived {
        found.push(ChannelChange::Archived(is.is_archived));
    }
    if was.description != is.description || was.rendered_description != is.rendered_description {
        let (text, rendered) = (is.description.clone(), is.rendered_description.clone());
        found.push(ChannelChange::Description { text, rendered });
    }
    if was.name != is.name {
        found.push(ChannelChange::Name(is.name.clone()));
    }
    if was.folder != is.folder {
        found.push(ChannelChange::Folder(is.folder));
    }
    if was.is_recently_active != is.is_recently_active {
        found.push(ChannelChange::Activity(is.is_recently_active));
    }
    for permission in ChannelPermission::ALL {
        if permission.of(was) != permission.of(is) {
            let value = permission.of(is).clone();
            found.push(ChannelChange::Permission(permission.rule().name, value));
        }
    }
    // Older clients read the same from numbers.
    let policy = channel_post_policy(directory, is);
    if channel_post_policy(directory, was) != policy {
        found.push(ChannelChange::PostPolicy(policy));
        found.push(ChannelChange::AnnouncementOnly(is_announcement_only(directory, is)));
    }
    found
}

/// A folder is new, or something about it changed.
fn folder_changed(context: &EventContext<'_>, is: &ChannelFolder, out: &mut Announcements) {
    let is_new = context.before.new_folders.contains(&is.id);
    let Some(was) = context.before().folder(is.id).filter(|_| !is_new) else {
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
