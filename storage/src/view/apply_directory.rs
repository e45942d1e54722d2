//! Facts about everything but messages become the directory's records and their rows.

use super::{Rows, View};
use crate::error::StoreError;
use crate::tables;
use model::{
    ChannelId, Fact, FolderId, GroupId, MessageId, Realm, Subscription, Timestamp, TopicKey, UserId,
    UserTopic, VisibilityPolicy,
};

impl View {
    /// The organization, its people, groups, channels and folders.
    pub(super) fn apply_directory_fact(
        &mut self,
        at: Timestamp,
        fact: &Fact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let realm = self.realm();
        match fact {
            Fact::RealmCreated(record) | Fact::RealmChanged(record) => self.apply_realm(record, rows),
            Fact::UserCreated(user) | Fact::UserChanged(user) => {
                self.directory.put_user(model::User::clone(user));
                rows.put(tables::user(realm, user.id), user)
            }
            Fact::GroupCreated(group) | Fact::GroupChanged(group) => {
                self.directory.put_group(model::UserGroup::clone(group));
                rows.put(tables::group(realm, group.id), group)
            }
            Fact::GroupMembersChanged { group, added, removed } => {
                self.apply_members(*group, added, removed, rows)
            }
            Fact::ChannelCreated(channel) => self.apply_channel(model::Channel::clone(channel), rows),
            Fact::ChannelChanged(channel) => {
                // Whether somebody wrote recently is decided elsewhere, perhaps at the same time.
                let mut record = model::Channel::clone(channel);
                if let Some(before) = self.directory.channel(channel.id) {
                    record.is_recently_active = before.is_recently_active;
                }
                self.apply_channel(record, rows)
            }
            Fact::ChannelActivityChanged { channel, is_recently_active } => {
                self.apply_activity(*channel, *is_recently_active, rows)
            }
            Fact::DefaultChannelsChanged(channels) => {
                let mut record = Realm::clone(self.directory.realm());
                record.default_channels.clone_from(channels);
                self.apply_realm(&record, rows)
            }
            Fact::DirectConversationCreated(direct) => {
                self.directory.put_direct(direct.clone());
                rows.put(tables::direct(realm, direct.recipient), direct)
            }
            Fact::FolderChanged(folder) => {
                self.directory.put_folder(model::ChannelFolder::clone(folder));
                rows.put(tables::folder(realm, folder.id), folder)
            }
            Fact::FoldersReordered(folders) => self.apply_folder_order(folders, rows),
            personal => self.apply_personal_fact(at, personal, rows),
        }
    }

    /// What users have set for channels, topics and themselves.
    fn apply_personal_fact(&mut self, at: Timestamp, fact: &Fact, rows: &mut Rows) -> Result<(), StoreError> {
        let realm = self.realm();
        match fact {
            Fact::Subscribed { channel, subscribers, .. } => {
                self.apply_subscribed(*channel, subscribers, rows)
            }
            Fact::Unsubscribed { channel, last, users, .. } => {
                self.apply_unsubscribed(*channel, *last, users, rows)
            }
            Fact::SubscriptionChanged { user, channel, subscription } => {
                rows.put(tables::subscription(realm, *channel, *user), subscription)?;
                self.directory.put_subscription(*channel, *user, Subscription::clone(subscription));
                Ok(())
            }
            Fact::TopicPolicySet { user, channel, topic, policy } => {
                let record = UserTopic { name: topic.clone(), policy: *policy, updated: at };
                self.apply_topic(*user, *channel, record, rows)
            }
            Fact::TopicPoliciesSet { channel, topic, policy, users } => {
                let record = UserTopic { name: topic.clone(), policy: *policy, updated: at };
                users.iter().try_for_each(|user| self.apply_topic(*user, *channel, record.clone(), rows))
            }
            Fact::AlertWordsSet { user, words } => {
                self.directory.put_alert_words(*user, words.clone());
                let key = tables::alert_words(realm, *user);
                if words.is_empty() {
                    rows.remove(key);
                    return Ok(());
                }
                rows.put(key, words)
            }
            Fact::Invitation(fact) => self.apply_invitation_fact(at, fact, rows),
            personal => self.apply_profile_fact(personal, rows),
        }
    }

    fn apply_realm(&mut self, record: &Realm, rows: &mut Rows) -> Result<(), StoreError> {
        self.directory.put_realm(record.clone());
        rows.put(tables::Key::table(record.id, tables::Table::Realm), record)
    }

    fn apply_folder_order(&mut self, folders: &[FolderId], rows: &mut Rows) -> Result<(), StoreError> {
        for (order, id) in (0..).zip(folders) {
            let Some(before) = self.directory.folder(*id) else { continue };
            let folder = model::ChannelFolder { order, ..model::ChannelFolder::clone(before) };
            rows.put(tables::folder(self.realm(), *id), &folder)?;
            self.directory.put_folder(folder);
        }
        Ok(())
    }

    fn apply_members(
        &mut self,
        group: GroupId,
        added: &[UserId],
        removed: &[UserId],
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        self.directory.change_members(group, added, removed);
        match self.directory.group(group) {
            Some(record) => rows.put(tables::group(self.realm(), group), record),
            None => Ok(()),
        }
    }

    fn apply_channel(&mut self, record: model::Channel, rows: &mut Rows) -> Result<(), StoreError> {
        rows.put(tables::channel(self.realm(), record.id), &record)?;
        self.directory.put_channel(record);
        Ok(())
    }

    fn apply_activity(
        &mut self,
        channel: ChannelId,
        active: bool,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let Some(before) = self.directory.channel(channel) else { return Ok(()) };
        let mut record = model::Channel::clone(before);
        record.is_recently_active = active;
        self.apply_channel(record, rows)
    }

    fn apply_subscribed(
        &mut self,
        channel: ChannelId,
        subscribers: &[(UserId, Subscription)],
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        for (user, subscription) in subscribers {
            rows.put(tables::subscription(self.realm(), channel, *user), subscription)?;
            self.directory.put_subscription(channel, *user, subscription.clone());
        }
        Ok(())
    }

    fn apply_unsubscribed(
        &mut self,
        channel: ChannelId,
        last: MessageId,
        users: &[UserId],
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        for user in users {
            let Some(before) = self.directory.subscription(channel, *user) else { continue };
            let mut record = Subscription::clone(before);
            record.end(last);
            rows.put(tables::subscription(self.realm(), channel, *user), &record)?;
            self.directory.put_subscription(channel, *user, record);
        }
        Ok(())
    }

    fn apply_topic(
        &mut self,
        user: UserId,
        channel: ChannelId,
        record: UserTopic,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let key = tables::user_topic(self.realm(), user, channel, &TopicKey::new(&record.name));
        if record.policy == VisibilityPolicy::Inherit {
            rows.remove(key);
        } else {
            rows.put(key, &record)?;
        }
        self.directory.put_topic(user, channel, record);
        Ok(())
    }
}
