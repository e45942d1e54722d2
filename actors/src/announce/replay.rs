//! Events of old frames, so that a queue that is rebuilt after a restart says what it would have said.
//!
//! The state of those days is gone. It is found again by undoing, on the state of now, what the frames since then
//! changed, with the help of what each noted of the records that it changed; then they are done again, one by one.

use super::context::EventContext;
use super::pre_images::changes_directory;
use super::{PreImages, Texts, announced};
use model::{
    Audience, Channel, ChannelFact, ChannelFolder, ChannelId, Directory, Event, Fact, Frame, GroupFact,
    MessageId, Realm, RealmFact, Subscription, SubscriptionFact, User, UserFact, UserGroup, UserId,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use storage::View;

/// A stretch of the log that is gone through again.
pub struct Replay {
    /// Everything but the messages, as it was before the next frame.
    directory: Directory,
    /// Channels that come to be later in the stretch.
    not_yet_created: BTreeSet<ChannelId>,
}

impl Replay {
    /// Goes back to before a stretch, from the directory as it is behind it. `changes` are the stretch's facts that change
    /// the directory (`Replay::keeps`), oldest first.
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
    pub fn keeps(fact: &Fact) -> bool {
        changes_directory(fact) || matches!(fact, Fact::PreImages(_))
    }

    /// The events of the next frame. For one reader: of what is said, only what the reader may know now must be told.
    /// `view` is that of now: it may be newer than the stretch. `texts` are those before the frame's edits, by the
    /// positions of the facts; none where they are gone.
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
        announced(&EventContext { view, before: &before, after: &self.directory, frame })
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
    (!found.is_empty()).then_some(Fact::PreImages(found))
}

fn record_before(directory: &Directory, fact: &Fact) -> Option<Fact> {
    Some(match fact {
        Fact::Realm(RealmFact::Changed(_)) => Fact::Realm(RealmFact::Changed(boxed(directory.realm()))),
        Fact::User(UserFact::Changed(user)) => Fact::User(UserFact::Changed(boxed(directory.user(user.id)?))),
        Fact::Group(GroupFact::Changed(group)) => {
            Fact::Group(GroupFact::Changed(boxed(directory.group(group.id)?)))
        }
        Fact::Channel(ChannelFact::Changed(channel)) => {
            Fact::Channel(ChannelFact::Changed(boxed(directory.channel(channel.id)?)))
        }
        Fact::Channel(ChannelFact::FolderChanged(folder)) => {
            Fact::Channel(ChannelFact::FolderChanged(boxed(directory.folder(folder.id)?)))
        }
        Fact::Subscription(SubscriptionFact::Changed { user, channel, .. }) => {
            let subscription = boxed(directory.subscription(*channel, *user)?);
            Fact::Subscription(SubscriptionFact::Changed { user: *user, channel: *channel, subscription })
        }
        Fact::Realm(
            RealmFact::Created(_)
            | RealmFact::ProfileFieldsChanged(_)
            | RealmFact::DomainSet { .. }
            | RealmFact::LinkifiersChanged(_)
            | RealmFact::PlaygroundsChanged(_),
        )
        | Fact::User(
            UserFact::Created(_)
            | UserFact::ActiveSet { .. }
            | UserFact::VisibilityChanged { .. }
            | UserFact::ProfileValuesSet { .. }
            | UserFact::SettingsRestated { .. }
            | UserFact::BotConfigured { .. },
        )
        | Fact::Group(GroupFact::Created(_) | GroupFact::MembersChanged { .. })
        | Fact::Channel(
            ChannelFact::Created(_)
            | ChannelFact::ActivityChanged { .. }
            | ChannelFact::DefaultsChanged(_)
            | ChannelFact::FoldersReordered(_),
        )
        | Fact::Subscription(
            SubscriptionFact::Added { .. }
            | SubscriptionFact::Removed { .. }
            | SubscriptionFact::Restated { .. }
            | SubscriptionFact::TopicPolicySet { .. },
        )
        | Fact::Message(_)
        | Fact::Personal(_)
        | Fact::Queue(_)
        | Fact::Job(_)
        | Fact::Push(_)
        | Fact::Invitation(_)
        | Fact::Picture(_)
        | Fact::PreImages(_) => return None,
    })
}

fn boxed<T: Clone>(record: &Arc<T>) -> Box<T> {
    Box::new(T::clone(record))
}

/// Makes records what a fact says.
fn redo(directory: &mut Directory, fact: &Fact) {
    match fact {
        Fact::Realm(RealmFact::Changed(realm)) => directory.put_realm(Realm::clone(realm)),
        Fact::User(UserFact::Changed(user)) => directory.put_user(User::clone(user)),
        Fact::User(UserFact::ActiveSet { user, is_active, .. }) => set_active(directory, *user, *is_active),
        Fact::Group(GroupFact::Created(group) | GroupFact::Changed(group)) => {
            directory.put_group(UserGroup::clone(group));
        }
        Fact::Group(GroupFact::MembersChanged { group, added, removed }) => {
            directory.change_members(*group, added, removed);
        }
        Fact::Channel(ChannelFact::Created(channel) | ChannelFact::Changed(channel)) => {
            directory.put_channel(Channel::clone(channel));
        }
        Fact::Channel(ChannelFact::FolderChanged(folder)) => {
            directory.put_folder(ChannelFolder::clone(folder))
        }
        Fact::Subscription(SubscriptionFact::Changed { user, channel, subscription }) => {
            directory.put_subscription(*channel, *user, Subscription::clone(subscription));
        }
        Fact::Subscription(SubscriptionFact::Added { channel, subscribers, .. }) => {
            for (user, subscription) in subscribers {
                directory.put_subscription(*channel, *user, subscription.clone());
            }
        }
        Fact::Subscription(SubscriptionFact::Removed { channel, last, users, .. }) => {
            for user in users {
                end_subscription(directory, *channel, *user, *last);
            }
        }
        Fact::Picture(fact) => directory.put_picture(fact),
        Fact::Realm(
            RealmFact::Created(_)
            | RealmFact::ProfileFieldsChanged(_)
            | RealmFact::DomainSet { .. }
            | RealmFact::LinkifiersChanged(_)
            | RealmFact::PlaygroundsChanged(_),
        )
        | Fact::User(
            UserFact::Created(_)
            | UserFact::VisibilityChanged { .. }
            | UserFact::ProfileValuesSet { .. }
            | UserFact::SettingsRestated { .. }
            | UserFact::BotConfigured { .. },
        )
        | Fact::Channel(
            ChannelFact::ActivityChanged { .. }
            | ChannelFact::DefaultsChanged(_)
            | ChannelFact::FoldersReordered(_),
        )
        | Fact::Subscription(SubscriptionFact::Restated { .. } | SubscriptionFact::TopicPolicySet { .. })
        | Fact::Message(_)
        | Fact::Personal(_)
        | Fact::Queue(_)
        | Fact::Job(_)
        | Fact::Push(_)
        | Fact::Invitation(_)
        | Fact::PreImages(_) => {}
    }
}

/// Makes records what they were before a fact.
fn undo(directory: &mut Directory, fact: &Fact) {
    match fact {
        Fact::PreImages(noted) => noted.iter().for_each(|earlier| redo(directory, earlier)),
        Fact::Group(GroupFact::MembersChanged { group, added, removed }) => {
            directory.change_members(*group, removed, added);
        }
        Fact::User(UserFact::ActiveSet { user, is_active, .. }) => set_active(directory, *user, !is_active),
        Fact::Subscription(SubscriptionFact::Added { channel, subscribers, .. }) => {
            subscribers.iter().for_each(|(user, _)| set_subscribed(directory, *channel, *user, false));
        }
        Fact::Subscription(SubscriptionFact::Removed { channel, users, .. }) => {
            users.iter().for_each(|user| set_subscribed(directory, *channel, *user, true));
        }
        Fact::Picture(fact) => directory.undo_picture(fact),
        Fact::User(
            UserFact::Created(_)
            | UserFact::Changed(_)
            | UserFact::VisibilityChanged { .. }
            | UserFact::ProfileValuesSet { .. }
            | UserFact::SettingsRestated { .. }
            | UserFact::BotConfigured { .. },
        )
        | Fact::Group(GroupFact::Created(_) | GroupFact::Changed(_))
        | Fact::Subscription(
            SubscriptionFact::Changed { .. }
            | SubscriptionFact::Restated { .. }
            | SubscriptionFact::TopicPolicySet { .. },
        )
        | Fact::Realm(_)
        | Fact::Channel(_)
        | Fact::Message(_)
        | Fact::Personal(_)
        | Fact::Queue(_)
        | Fact::Job(_)
        | Fact::Push(_)
        | Fact::Invitation(_) => {}
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

fn end_subscription(directory: &mut Directory, channel: ChannelId, user: UserId, last: MessageId) {
    if let Some(subscription) = directory.subscription(channel, user) {
        let mut subscription = Subscription::clone(subscription);
        subscription.end(last);
        directory.put_subscription(channel, user, subscription);
    }
}
