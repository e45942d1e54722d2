//! Events of old frames, so that a queue that is rebuilt after a restart has the events that it would have had.
//!
//! The directory of that time is reconstructed: the frames since then are undone on the current directory, with the
//! pre-images that each frame stores of the records it changes, and then applied again one by one.

use super::context::EventContext;
use super::pre_images::changes_directory;
use super::{PreImages, Texts, announced};
use model::fact::DirectoryChange as Change;
use model::{
    Audience, ChannelFact, ChannelId, Directory, Event, Fact, Frame, GroupFact, RealmFact, Subscription,
    SubscriptionFact, User, UserFact, UserId,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use storage::View;

/// A part of the log that is replayed.
pub struct Replay {
    /// The directory before the next frame.
    directory: Directory,
    /// Channels that are created by later frames of this part.
    not_yet_created: BTreeSet<ChannelId>,
}

impl Replay {
    /// Goes back to before a part of the log, from the directory after it. `changes` are the facts of that part that
    /// change the directory (`Replay::needs`), oldest first.
    pub fn start<'f>(
        mut directory: Directory,
        changes: impl DoubleEndedIterator<Item = &'f Fact> + Clone,
    ) -> Self {
        changes.clone().rev().for_each(|fact| undo(&mut directory, fact));
        let created = changes.filter_map(|fact| {
            let Fact::Channel(ChannelFact::Created(channel)) = fact else { return None };
            Some(channel.id)
        });
        Self { directory, not_yet_created: created.collect() }
    }

    /// Whether going back needs a fact.
    pub fn needs(fact: &Fact) -> bool {
        changes_directory(fact) || fact.directory_change().is_some() || matches!(fact, Fact::PreImages(_))
    }

    /// The events of the next frame; a reader may receive only what they may know now. `view` is the current one, which
    /// may be newer than the replayed part. `texts` are those before the frame's edits, by the positions of the facts;
    /// none if they are deleted.
    pub fn events(
        &mut self,
        view: &View,
        texts: HashMap<usize, Texts>,
        frame: &Frame,
    ) -> Vec<(Event, Audience)> {
        let before =
            PreImages { texts, ..PreImages::replayed(view, &self.directory, &self.not_yet_created, frame) };
        for fact in &frame.facts {
            redo(&mut self.directory, fact);
            if let Fact::Channel(ChannelFact::Created(channel)) = fact {
                self.not_yet_created.remove(&channel.id);
            }
        }
        announced(&EventContext { view, before: &before, after: &self.directory, frame, listening: None })
    }
}

/// The records that these facts replace, for the frame to store; none if undoing the facts needs no more than the facts.
pub fn pre_images_fact(directory: &Directory, facts: &[Fact]) -> Option<Fact> {
    let mut found: Vec<Fact> = Vec::new();
    for fact in facts {
        if let Some(earlier) = record_before(directory, fact)
            && !found.contains(&earlier)
        {
            found.push(earlier);
        }
    }
    (!found.is_empty()).then_some(Fact::PreImages(found))
}

fn record_before(directory: &Directory, fact: &Fact) -> Option<Fact> {
    Some(match fact.directory_change()? {
        Change::Realm(_) => Fact::Realm(RealmFact::Changed(boxed(directory.realm()))),
        Change::User { user, .. } => Fact::User(UserFact::Changed(boxed(directory.user(user.id)?))),
        Change::Group { group, .. } => Fact::Group(GroupFact::Changed(boxed(directory.group(group.id)?))),
        Change::Channel { channel, .. } => {
            Fact::Channel(ChannelFact::Changed(boxed(directory.channel(channel.id)?)))
        }
        Change::Folder(folder) => {
            Fact::Channel(ChannelFact::FolderChanged(boxed(directory.folder(folder.id)?)))
        }
        Change::DefaultChannels(_) => {
            Fact::Channel(ChannelFact::DefaultsChanged(directory.realm().default_channels.clone()))
        }
        Change::Subscription { user, channel, .. } => {
            let subscription = boxed(directory.subscription(channel, user)?);
            Fact::Subscription(SubscriptionFact::Changed { user, channel, subscription })
        }
        Change::Account { .. }
        | Change::Members { .. }
        | Change::Activity { .. }
        | Change::Subscribed { .. }
        | Change::Unsubscribed { .. }
        | Change::Direct(_)
        | Change::Picture(_) => return None,
    })
}

fn boxed<T: Clone>(record: &Arc<T>) -> Box<T> {
    Box::new(T::clone(record))
}

/// Applies a fact to the directory.
fn redo(directory: &mut Directory, fact: &Fact) {
    let Some(change) = fact.directory_change() else { return };
    match change {
        Change::Realm(realm) => directory.put_realm(realm.clone()),
        Change::User { user, is_new: false } => directory.put_user(user.clone()),
        Change::Account { user, is_active, .. } => set_active(directory, user, is_active),
        Change::Group { group, .. } => directory.put_group(group.clone()),
        Change::Members { group, added, removed } => directory.change_members(group, added, removed),
        Change::Channel { channel, .. } => directory.put_channel(channel.clone()),
        Change::Folder(folder) => directory.put_folder(folder.clone()),
        Change::Subscription { user, channel, subscription } => {
            directory.put_subscription(channel, user, subscription.clone());
        }
        Change::Subscribed { channel, subscribers } => {
            for (user, subscription) in subscribers {
                directory.put_subscription(channel, *user, subscription.clone());
            }
        }
        Change::Unsubscribed { channel, last, users } => {
            let end = |subscription: &mut Subscription| subscription.end(last);
            users.iter().for_each(|user| change_subscription(directory, channel, *user, end));
        }
        Change::Picture(fact) => directory.put_picture(fact),
        Change::DefaultChannels(channels) => directory.put_default_channels(channels),
        Change::Direct(direct) => directory.put_direct(direct.clone()),
        Change::User { is_new: true, .. } | Change::Activity { .. } => {}
    }
}

/// Reverts a fact in the directory; records that were replaced come from the frame's pre-images.
fn undo(directory: &mut Directory, fact: &Fact) {
    if let Fact::PreImages(records) = fact {
        records.iter().for_each(|record| redo(directory, record));
    }
    let Some(change) = fact.directory_change() else { return };
    match change {
        Change::Account { user, is_active, .. } => set_active(directory, user, !is_active),
        Change::Members { group, added, removed } => directory.change_members(group, removed, added),
        Change::Subscribed { channel, subscribers } => {
            let end = |subscription: &mut Subscription| subscription.is_active = false;
            subscribers.iter().for_each(|(user, _)| change_subscription(directory, channel, *user, end));
        }
        Change::Unsubscribed { channel, users, .. } => {
            let resume = |subscription: &mut Subscription| subscription.is_active = true;
            users.iter().for_each(|user| change_subscription(directory, channel, *user, resume));
        }
        Change::Picture(fact) => directory.undo_picture(fact),
        Change::Direct(direct) => directory.remove_direct(direct.recipient),
        Change::Realm(_)
        | Change::User { .. }
        | Change::Group { .. }
        | Change::Channel { .. }
        | Change::Activity { .. }
        | Change::DefaultChannels(_)
        | Change::Folder(_)
        | Change::Subscription { .. } => {}
    }
}

fn set_active(directory: &mut Directory, user: UserId, is_active: bool) {
    if let Some(user) = directory.user(user) {
        let user = User { is_active, ..User::clone(user) };
        directory.put_user(user);
    }
}

fn change_subscription(
    directory: &mut Directory,
    channel: ChannelId,
    user: UserId,
    change: impl FnOnce(&mut Subscription),
) {
    if let Some(subscription) = directory.subscription(channel, user) {
        let mut subscription = Subscription::clone(subscription);
        change(&mut subscription);
        directory.put_subscription(channel, user, subscription);
    }
}
