//! Events of old frames, so that a queue that is rebuilt after a restart says what it would have said.
//!
//! The state of those days is gone. It is found again by undoing, on the state of now, what the frames since then
//! changed, with the help of what each noted of the records that it changed; then they are done again, one by one.

use super::before::changes_directory;
use super::{Before, Moment, announced};
use model::{
    Audience, Channel, ChannelFolder, ChannelId, Directory, Event, Fact, Frame, Realm, Subscription, User,
    UserGroup, UserId,
};
use std::collections::BTreeSet;
use storage::View;

/// A stretch of the log that is gone through again.
pub struct Replay<'v> {
    view: &'v View,
    /// Everything but the messages, as it was before the next frame.
    directory: Directory,
    /// Channels that come to be later in the stretch.
    unborn: BTreeSet<ChannelId>,
}

impl<'v> Replay<'v> {
    /// Goes back to before a stretch. `changes` are its facts that change the directory (`Replay::keeps`), oldest first.
    pub fn start(view: &'v View, changes: &[Fact]) -> Self {
        let mut directory = view.directory.clone();
        changes.iter().rev().for_each(|fact| undo(&mut directory, fact));
        let created = changes.iter().filter_map(|fact| match fact {
            Fact::ChannelCreated(channel) => Some(channel.id),
            _ => None,
        });
        Self { view, directory, unborn: created.collect() }
    }

    /// Whether going back needs a fact.
    pub fn keeps(fact: &Fact) -> bool {
        changes_directory(fact) || matches!(fact, Fact::Before(_))
    }

    /// The events of the next frame. For one reader: of what is said, only what the reader may know now must be told.
    pub fn events(&mut self, frame: &Frame) -> Vec<(Event, Audience)> {
        let before = Before::replayed(self.view, &self.directory, &self.unborn, frame);
        for fact in &frame.facts {
            redo(&mut self.directory, fact);
            if let Fact::ChannelCreated(channel) = fact {
                self.unborn.remove(&channel.id);
            }
        }
        announced(&Moment { view: self.view, before: &before, after: &self.directory, frame })
    }
}

/// What records were before these facts change them, for the frame to keep. Nothing for facts that say all themselves.
pub fn note(directory: &Directory, facts: &[Fact]) -> Option<Fact> {
    let mut found: Vec<Fact> = Vec::new();
    for fact in facts {
        if let Some(earlier) = record_before(directory, fact)
            && !found.contains(&earlier)
        {
            found.push(earlier);
        }
    }
    (!found.is_empty()).then_some(Fact::Before(found))
}

fn record_before(directory: &Directory, fact: &Fact) -> Option<Fact> {
    Some(match fact {
        Fact::RealmChanged(_) => Fact::RealmChanged(Box::new(Realm::clone(directory.realm()))),
        Fact::UserChanged(user) => Fact::UserChanged(Box::new(User::clone(directory.user(user.id)?))),
        Fact::GroupChanged(group) => {
            Fact::GroupChanged(Box::new(UserGroup::clone(directory.group(group.id)?)))
        }
        Fact::ChannelChanged(channel) => {
            Fact::ChannelChanged(Box::new(Channel::clone(directory.channel(channel.id)?)))
        }
        Fact::FolderChanged(folder) => {
            Fact::FolderChanged(Box::new(ChannelFolder::clone(directory.folder(folder.id)?)))
        }
        Fact::SubscriptionChanged { user, channel, .. } => {
            let subscription = Subscription::clone(directory.subscription(*channel, *user)?);
            Fact::SubscriptionChanged { user: *user, channel: *channel, subscription: Box::new(subscription) }
        }
        _ => return None,
    })
}

/// Makes records what a fact says.
fn redo(directory: &mut Directory, fact: &Fact) {
    match fact {
        Fact::RealmChanged(realm) => directory.put_realm(Realm::clone(realm)),
        Fact::UserChanged(user) => directory.put_user(User::clone(user)),
        Fact::UserActiveSet { user, is_active, .. } => set_active(directory, *user, *is_active),
        Fact::GroupCreated(group) | Fact::GroupChanged(group) => {
            directory.put_group(UserGroup::clone(group));
        }
        Fact::GroupMembersChanged { group, added, removed } => {
            directory.change_members(*group, added, removed);
        }
        Fact::ChannelCreated(channel) | Fact::ChannelChanged(channel) => {
            directory.put_channel(Channel::clone(channel));
        }
        Fact::FolderChanged(folder) => directory.put_folder(ChannelFolder::clone(folder)),
        Fact::SubscriptionChanged { user, channel, subscription } => {
            directory.put_subscription(*channel, *user, Subscription::clone(subscription));
        }
        Fact::Subscribed { channel, subscribers, .. } => {
            for (user, subscription) in subscribers {
                directory.put_subscription(*channel, *user, subscription.clone());
            }
        }
        Fact::Unsubscribed { channel, last, users, .. } => {
            for user in users {
                let Some(subscription) = directory.subscription(*channel, *user) else { continue };
                let mut subscription = Subscription::clone(subscription);
                subscription.end(*last);
                directory.put_subscription(*channel, *user, subscription);
            }
        }
        Fact::Picture(fact) => directory.put_picture(fact),
        _ => {}
    }
}

/// Makes records what they were before a fact.
fn undo(directory: &mut Directory, fact: &Fact) {
    match fact {
        Fact::Before(noted) => noted.iter().for_each(|earlier| redo(directory, earlier)),
        Fact::GroupMembersChanged { group, added, removed } => {
            directory.change_members(*group, removed, added);
        }
        Fact::UserActiveSet { user, is_active, .. } => set_active(directory, *user, !is_active),
        Fact::Subscribed { channel, subscribers, .. } => {
            subscribers.iter().for_each(|(user, _)| set_subscribed(directory, *channel, *user, false));
        }
        Fact::Unsubscribed { channel, users, .. } => {
            users.iter().for_each(|user| set_subscribed(directory, *channel, *user, true));
        }
        Fact::Picture(fact) => directory.undo_picture(fact),
        _ => {}
    }
}

fn set_active(directory: &mut Directory, user: UserId, is_active: bool) {
    if let Some(user) = directory.user(user) {
        let user = User { is_active, ..User::clone(user) };
        directory.put_user(user);
    }
}

fn set_subscribed(directory: &mut Directory, channel: ChannelId, user: UserId, is_active: bool) {
    if let Some(subscription) = directory.subscription(channel, user) {
        let subscription = Subscription { is_active, ..Subscription::clone(subscription) };
        directory.put_subscription(channel, user, subscription);
    }
}
