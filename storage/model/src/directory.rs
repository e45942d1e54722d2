//! The directory of an organization: all of its records except messages.
//!
//! Built on persistent maps: a clone is a snapshot that costs one reference count, and a change
//! copies the roots, once for each snapshot, and the path to what changed. `put_*` set absolute values, so applying twice is
//! harmless.

mod attachments;
mod bots;
mod comparison;
mod groups;
mod invitations;
mod missed;
mod personal;
mod pictures;
mod push;
mod records;
mod storage;
mod texts;
mod web_sessions;

pub use comparison::UserIdentity;
pub use personal::alert_word_key;
pub use records::StorageUsage;

use crate::bot::BotConfig;
use crate::channel::{Channel, ChannelFolder};
use crate::direct::DirectConversation;
use crate::export::RealmExport;
use crate::group::UserGroup;
use crate::ids::{ChannelId, FolderId, GroupId, RecipientId, UserId};
use crate::lists::{DefaultChannelGroup, Listed, RealmLists};
use crate::profile_field::ProfileFields;
use crate::realm::Realm;
use crate::subscription::Subscription;
use crate::topic::{TopicKey, UserTopic, VisibilityPolicy};
use crate::user::User;
use imbl::{HashMap, OrdMap, OrdSet};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Steps over accounts that cost as much as finding one.
const STEPS_OF_LOOKUP: usize = 8;

/// The subscriptions of one channel by user.
pub type Subscribers = OrdMap<UserId, Arc<Subscription>>;

/// The policies for one topic by user.
pub type TopicPolicies = OrdMap<UserId, VisibilityPolicy>;

/// A snapshot of an organization without its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory(Arc<Roots>);

/// The roots of all maps. Most requests take a snapshot, and counting a reference to each of the roots would cost more than
/// the request reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    realm: Arc<Realm>,
    users: OrdMap<UserId, Arc<User>>,
    users_by_email: HashMap<String, UserId>,
    users_by_name: HashMap<String, OrdSet<UserId>>,
    bots: OrdSet<UserId>,
    guests: OrdSet<UserId>,
    deactivated_users: OrdSet<UserId>,
    channels: OrdMap<ChannelId, Arc<Channel>>,
    channels_by_name: HashMap<String, ChannelId>,
    groups: OrdMap<GroupId, Arc<UserGroup>>,
    groups_by_name: HashMap<String, GroupId>,
    /// All direct and indirect members by group: a permission check is one lookup.
    group_members: OrdMap<GroupId, OrdSet<UserId>>,
    /// The lengths of all these sets together.
    membership_count: usize,
    /// Number of users and groups that the permissions of all channels and groups list.
    listed_count: usize,
    /// The groups that directly contain a group: what a change of its members reaches.
    supergroups: OrdMap<GroupId, OrdSet<GroupId>>,
    subscribers: OrdMap<ChannelId, Subscribers>,
    subscriber_counts: OrdMap<ChannelId, u32>,
    user_channels: OrdMap<UserId, OrdSet<ChannelId>>,
    directs: OrdMap<RecipientId, Arc<DirectConversation>>,
    directs_by_users: HashMap<Vec<UserId>, RecipientId>,
    user_directs: OrdMap<UserId, OrdSet<RecipientId>>,
    user_topics: OrdMap<(UserId, ChannelId, TopicKey), Arc<UserTopic>>,
    /// The number of topics for which each user has a policy.
    user_topic_counts: OrdMap<UserId, usize>,
    folders: OrdMap<FolderId, Arc<ChannelFolder>>,
    personal: records::PersonalRecords,
    profile_fields: Arc<ProfileFields>,
    bot_configs: OrdMap<UserId, Arc<BotConfig>>,
    bot_integrations: records::IntegrationRecords,
    push: records::PushRecords,
    pictures: records::PictureRecords,
    attachments: records::AttachmentRecords,
    lists: Arc<RealmLists>,
    default_groups: Arc<Listed<DefaultChannelGroup>>,
    exports: Arc<Listed<RealmExport>>,
    invitations: records::InvitationRecords,
}

impl Deref for Directory {
    type Target = Roots;

    fn deref(&self) -> &Roots {
        &self.0
    }
}

impl DerefMut for Directory {
    /// Copies the roots if a snapshot shares them.
    fn deref_mut(&mut self) -> &mut Roots {
        Arc::make_mut(&mut self.0)
    }
}

impl Directory {
    /// An organization without users.
    pub fn new(realm: Realm) -> Self {
        Self(Arc::new(Roots { realm: Arc::new(realm), ..Roots::default() }))
    }

    /// The organization's record.
    pub fn realm(&self) -> &Arc<Realm> {
        &self.realm
    }

    /// Replaces the organization's record.
    pub fn put_realm(&mut self, realm: Realm) {
        self.realm = Arc::new(realm);
    }

    /// Replaces the channels that new users are subscribed to.
    pub fn put_default_channels(&mut self, channels: &[ChannelId]) {
        let realm = Realm::clone(&self.realm);
        self.put_realm(Realm { default_channels: channels.to_vec(), ..realm });
    }

    /// Domains, linkifiers and code playgrounds.
    pub fn lists(&self) -> &Arc<RealmLists> {
        &self.lists
    }

    /// The exports that administrators requested, the oldest first.
    pub fn exports(&self) -> &Arc<Listed<RealmExport>> {
        &self.exports
    }

    /// Replaces the list of exports.
    pub fn put_exports(&mut self, exports: Listed<RealmExport>) {
        self.exports = Arc::new(exports);
    }

    /// Replaces domains, linkifiers and code playgrounds.
    pub fn put_lists(&mut self, lists: RealmLists) {
        self.lists = Arc::new(lists);
    }

    /// The groups of default channels, by name.
    pub fn default_groups(&self) -> &Arc<Listed<DefaultChannelGroup>> {
        &self.default_groups
    }

    /// Replaces the groups of default channels.
    pub fn put_default_groups(&mut self, groups: Listed<DefaultChannelGroup>) {
        self.default_groups = Arc::new(groups);
    }

    // --- users ---

    /// A user by id, deactivated ones included.
    pub fn user(&self, id: UserId) -> Option<&Arc<User>> {
        self.users.get(&id)
    }

    /// Whether there is a user with an id who is not deactivated.
    pub fn is_active_user(&self, id: UserId) -> bool {
        self.user(id).is_some_and(|user| user.is_active)
    }

    /// A user by real e-mail address alone, ignoring case.
    pub fn user_by_delivery_email(&self, email: &str) -> Option<&Arc<User>> {
        let found = self.user_by_email(email);
        found.filter(|user| user.delivery_email.to_lowercase() == email.to_lowercase())
    }

    /// A user by real or artificial e-mail address, ignoring case.
    pub fn user_by_email(&self, email: &str) -> Option<&Arc<User>> {
        let id = self.users_by_email.get(&email.to_lowercase())?;
        self.users.get(id)
    }

    /// All users with a full name, ignoring case.
    pub fn users_by_name(&self, name: &str) -> impl Iterator<Item = &Arc<User>> {
        let ids = self.users_by_name.get(&name.to_lowercase());
        ids.into_iter().flatten().filter_map(|id| self.users.get(id))
    }

    /// All users by id.
    pub fn users(&self) -> impl Iterator<Item = &Arc<User>> {
        self.users.values()
    }

    /// All bots by id, deactivated ones and system bots included.
    pub fn bots(&self) -> impl Iterator<Item = &Arc<User>> {
        self.bots.iter().filter_map(|id| self.users.get(id))
    }

    /// All guests by id, deactivated ones included.
    pub fn guests(&self) -> impl Iterator<Item = &Arc<User>> {
        self.guests.iter().filter_map(|id| self.users.get(id))
    }

    /// Number of users, deactivated ones and bots included.
    pub fn user_count(&self) -> usize {
        self.users.len()
    }

    /// The artificial e-mail address that replaces a hidden one.
    pub fn made_up_email(&self, id: UserId) -> String {
        format!("user{id}@{}", self.realm.email_domain)
    }

    /// The address of a deleted account.
    pub fn deleted_email(&self, id: UserId) -> String {
        format!("deleteduser{id}@{}", self.realm.email_domain)
    }

    /// Sets a user's record.
    pub fn put_user(&mut self, user: User) {
        let id = user.id;
        if let Some(before) = self.users.get(&id).cloned() {
            self.users_by_email.remove(&before.delivery_email.to_lowercase());
            let name = before.full_name.to_lowercase();
            if let Some(ids) = self.users_by_name.get_mut(&name) {
                ids.remove(&id);
                // A directory loaded from storage has no entry for the name either.
                if ids.is_empty() {
                    self.users_by_name.remove(&name);
                }
            }
            if before.is_active != user.is_active {
                self.count_everywhere(id, user.is_active);
            }
        }
        let made_up = self.made_up_email(id).to_lowercase();
        self.users_by_email.insert(made_up, id);
        self.users_by_email.insert(user.delivery_email.to_lowercase(), id);
        self.users_by_name.entry(user.full_name.to_lowercase()).or_default().insert(id);
        self.push.note_user(&user);
        list(&mut self.bots, id, user.is_bot());
        list(&mut self.guests, id, user.is_guest());
        list(&mut self.deactivated_users, id, !user.is_active);
        self.users.insert(id, Arc::new(user));
    }

    /// Includes a user in the subscriber counts of all their channels, or excludes them.
    fn count_everywhere(&mut self, user: UserId, is_counted: bool) {
        let own = self.subscriptions_of_user(user).filter(|(_, own)| own.is_active);
        let channels: Vec<ChannelId> = own.map(|(channel, _)| channel).collect();
        for channel in channels {
            let count = self.subscriber_counts.entry(channel).or_insert(0);
            *count = if is_counted { *count + 1 } else { count.saturating_sub(1) };
        }
    }

    // --- channels ---

    /// A channel by id, archived ones included.
    pub fn channel(&self, id: ChannelId) -> Option<&Arc<Channel>> {
        self.channels.get(&id)
    }

    /// A channel by name, ignoring case.
    pub fn channel_by_name(&self, name: &str) -> Option<&Arc<Channel>> {
        let id = self.channels_by_name.get(&name.to_lowercase())?;
        self.channels.get(id)
    }

    /// All channels by id.
    pub fn channels(&self) -> impl Iterator<Item = &Arc<Channel>> {
        self.channels.values()
    }

    /// Number of channels, archived ones included.
    pub fn channel_count(&self) -> usize {
        self.channels.len()
    }

    /// Sets a channel's record.
    pub fn put_channel(&mut self, channel: Channel) {
        if let Some(before) = self.channels.get(&channel.id).cloned() {
            self.channels_by_name.remove(&before.name.to_lowercase());
            self.listed_count -= before.permissions.listed_count();
        }
        self.listed_count += channel.permissions.listed_count();
        self.channels_by_name.insert(channel.name.to_lowercase(), channel.id);
        self.channels.insert(channel.id, Arc::new(channel));
    }

    /// A folder by id, archived ones included.
    pub fn folder(&self, id: FolderId) -> Option<&Arc<ChannelFolder>> {
        self.folders.get(&id)
    }

    /// All folders by id.
    pub fn folders(&self) -> impl Iterator<Item = &Arc<ChannelFolder>> {
        self.folders.values()
    }

    /// Sets a folder's record.
    pub fn put_folder(&mut self, folder: ChannelFolder) {
        self.folders.insert(folder.id, Arc::new(folder));
    }

    // --- subscriptions ---

    /// All current and former subscriptions of a channel.
    pub fn subscriptions_of(&self, channel: ChannelId) -> Subscribers {
        self.subscribers.get(&channel).cloned().unwrap_or_default()
    }

    /// A user's subscription to a channel, ended ones included.
    pub fn subscription(&self, channel: ChannelId, user: UserId) -> Option<&Arc<Subscription>> {
        self.subscribers.get(&channel)?.get(&user)
    }

    /// Whether a user is subscribed to a channel now.
    pub fn is_subscribed(&self, channel: ChannelId, user: UserId) -> bool {
        self.subscription(channel, user).is_some_and(|subscription| subscription.is_active)
    }

    /// Current subscribers with active accounts, by id.
    pub fn subscriber_ids(&self, channel: ChannelId) -> impl Iterator<Item = UserId> {
        self.active_subscribers(channel).map(|(user, _)| user.id)
    }

    /// Current subscribers with active accounts and their subscriptions, by id.
    pub fn active_subscribers(
        &self,
        channel: ChannelId,
    ) -> impl Iterator<Item = (&Arc<User>, &Arc<Subscription>)> {
        let subscribers = self.subscribers.get(&channel);
        let is_large = subscribers.is_some_and(|all| all.len() * STEPS_OF_LOOKUP >= self.users.len());
        // Both are in the order of ids: of many subscribers, the accounts are found in one pass.
        let mut users = self.users.iter().peekable();
        let current = subscribers.into_iter().flatten().filter(|(_, subscription)| subscription.is_active);
        let found = current.filter_map(move |(id, subscription)| {
            let user = if is_large {
                while users.next_if(|(other, _)| *other < id).is_some() {}
                users.next_if(|(other, _)| *other == id).map(|(_, user)| user)
            } else {
                self.users.get(id)
            };
            Some((user?, subscription))
        });
        found.filter(|(user, _)| user.is_active)
    }

    /// Number of current subscribers with active accounts, bots included.
    pub fn subscriber_count(&self, channel: ChannelId) -> u32 {
        self.subscriber_counts.get(&channel).copied().unwrap_or(0)
    }

    /// Channels that a user is or was subscribed to, by id.
    pub fn channels_of_user(&self, user: UserId) -> impl Iterator<Item = ChannelId> {
        self.user_channels.get(&user).into_iter().flatten().copied()
    }

    /// Channels that a user is or was subscribed to, with the subscription.
    pub fn subscriptions_of_user(
        &self,
        user: UserId,
    ) -> impl Iterator<Item = (ChannelId, &Arc<Subscription>)> {
        let channels = self.channels_of_user(user);
        channels.filter_map(move |channel| Some((channel, self.subscription(channel, user)?)))
    }

    /// Sets a user's subscription to a channel.
    pub fn put_subscription(&mut self, channel: ChannelId, user: UserId, subscription: Subscription) {
        self.push.note_subscription(channel, user, &subscription);
        // Deactivated accounts are counted again when they are reactivated.
        let counts = self.users.get(&user).is_none_or(|user| user.is_active);
        let was_active = self.is_subscribed(channel, user) && counts;
        let count = self.subscriber_counts.entry(channel).or_insert(0);
        match (was_active, subscription.is_active && counts) {
            (false, true) => *count += 1,
            (true, false) => *count -= 1,
            _ => {}
        }
        self.subscribers.entry(channel).or_default().insert(user, Arc::new(subscription));
        self.user_channels.entry(user).or_default().insert(channel);
    }

    // --- direct conversations ---

    /// A direct conversation by its recipient id.
    pub fn direct(&self, recipient: RecipientId) -> Option<&Arc<DirectConversation>> {
        self.directs.get(&recipient)
    }

    /// The direct conversation of exactly these users (sorted), if there is one.
    pub fn direct_by_users(&self, users: &[UserId]) -> Option<&Arc<DirectConversation>> {
        let recipient = self.directs_by_users.get(users)?;
        self.directs.get(recipient)
    }

    /// All direct conversations of a user, the one that began first before the others.
    pub fn directs_of(&self, user: UserId) -> impl DoubleEndedIterator<Item = &Arc<DirectConversation>> {
        let ids = self.user_directs.get(&user).into_iter().flatten();
        ids.filter_map(|recipient| self.directs.get(recipient))
    }

    /// All direct conversations of the organization.
    pub fn directs(&self) -> impl Iterator<Item = &Arc<DirectConversation>> {
        self.directs.values()
    }

    /// Adds a direct conversation.
    pub fn put_direct(&mut self, direct: DirectConversation) {
        for user in &direct.users {
            self.user_directs.entry(*user).or_default().insert(direct.recipient);
        }
        self.directs_by_users.insert(direct.users.clone(), direct.recipient);
        self.directs.insert(direct.recipient, Arc::new(direct));
    }

    /// Removes a direct conversation, when its creation is undone.
    pub fn remove_direct(&mut self, recipient: RecipientId) {
        let Some(direct) = self.directs.remove(&recipient) else { return };
        for user in &direct.users {
            if let Some(own) = self.user_directs.get_mut(user) {
                own.remove(&recipient);
            }
        }
        self.directs_by_users.remove(&direct.users);
    }

    // --- topics ---

    /// A user's policy for a topic.
    pub fn topic_policy(&self, user: UserId, channel: ChannelId, topic: &TopicKey) -> VisibilityPolicy {
        self.user_topics.get(&(user, channel, topic.clone())).map(|topic| topic.policy).unwrap_or_default()
    }

    /// All topics for which a user has a policy.
    pub fn topics_of_user(
        &self,
        user: UserId,
    ) -> impl Iterator<Item = (ChannelId, &TopicKey, &Arc<UserTopic>)> {
        let from = (user, ChannelId(0), TopicKey::new(""));
        self.user_topics
            .range(from..)
            .take_while(move |((owner, ..), _)| *owner == user)
            .map(|((_, channel, key), topic)| (*channel, key, topic))
    }

    /// The number of topics for which a user has a policy.
    pub fn topic_count_of_user(&self, user: UserId) -> usize {
        self.user_topic_counts.get(&user).copied().unwrap_or(0)
    }

    /// Sets a user's policy for a topic; `Inherit` removes it.
    pub fn put_topic(&mut self, user: UserId, channel: ChannelId, topic: UserTopic) {
        let key = (user, channel, TopicKey::new(&topic.name));
        self.push.note_policy(user, (channel, key.2.clone()), topic.policy);
        let count = self.topic_count_of_user(user);
        let count = if topic.policy == VisibilityPolicy::Inherit {
            count - usize::from(self.user_topics.remove(&key).is_some())
        } else {
            count + usize::from(self.user_topics.insert(key, Arc::new(topic)).is_none())
        };
        match count {
            0 => self.user_topic_counts.remove(&user),
            _ => self.user_topic_counts.insert(user, count),
        };
    }

    /// All stored policies by (user, channel, topic).
    pub fn topics(&self) -> impl Iterator<Item = (&(UserId, ChannelId, TopicKey), &Arc<UserTopic>)> {
        self.user_topics.iter()
    }
}

/// Adds an id to an index or removes it; the index stays shared with snapshots if nothing changes.
fn list<I: Copy + Ord>(index: &mut OrdSet<I>, id: I, is_listed: bool) {
    if is_listed != index.contains(&id) {
        match is_listed {
            true => index.insert(id),
            false => index.remove(&id),
        };
    }
}

#[cfg(test)]
mod tests;
