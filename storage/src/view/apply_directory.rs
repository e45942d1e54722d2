//! Applies facts about the organization, its groups and channels, and users' subscriptions, to the directory and its rows.

use super::{Rows, View, records};
use crate::error::StoreError;
use model::{
    Channel, ChannelFact, ChannelFolder, ChannelId, FolderId, GroupFact, Listed, ProfileFields, Realm,
    RealmFact, RealmLists, Subscription, SubscriptionFact, Timestamp, TopicKey, UserGroup, UserId, UserTopic,
    VisibilityPolicy,
};

impl View {
    /// The organization's record, its lists and its profile fields.
    pub(super) fn apply_realm_fact(&mut self, fact: &RealmFact, rows: &mut Rows) -> Result<(), StoreError> {
        match fact {
            RealmFact::Created(record) | RealmFact::Changed(record) => {
                self.put::<records::Realm>(rows, (), Realm::clone(record))
            }
            RealmFact::ProfileFieldsChanged(fields) => {
                self.put::<records::ProfileFields>(rows, (), ProfileFields::clone(fields))
            }
            RealmFact::DomainSet { domain, op } => {
                self.change_lists(rows, |lists| lists.apply_domain(domain, *op))
            }
            RealmFact::LinkifiersChanged(all) => {
                self.change_lists(rows, |lists| lists.linkifiers = Listed::clone(all))
            }
            RealmFact::PlaygroundsChanged(all) => {
                self.change_lists(rows, |lists| lists.playgrounds = Listed::clone(all))
            }
            RealmFact::ExportsChanged(all) => self.put::<records::Exports>(rows, (), Listed::clone(all)),
        }
    }

    /// User groups and their members.
    pub(super) fn apply_group_fact(&mut self, fact: &GroupFact, rows: &mut Rows) -> Result<(), StoreError> {
        match fact {
            GroupFact::Created(group) | GroupFact::Changed(group) => {
                self.put::<records::UserGroups>(rows, group.id, UserGroup::clone(group))
            }
            GroupFact::MembersChanged { group, added, removed } => {
                self.directory.change_members(*group, added, removed);
                if let Some(record) = self.directory.group(*group) {
                    rows.put_group(self.realm(), record.clone());
                }
                Ok(())
            }
        }
    }

    /// Channels and their folders.
    pub(super) fn apply_channel_fact(
        &mut self,
        fact: &ChannelFact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        match fact {
            ChannelFact::Created(channel) => {
                self.put::<records::Channels>(rows, channel.id, Channel::clone(channel))
            }
            ChannelFact::Changed(channel) => {
                // Activity is decided by the channel's own actor, perhaps concurrently.
                let mut record = Channel::clone(channel);
                if let Some(before) = self.directory.channel(channel.id) {
                    record.is_recently_active = before.is_recently_active;
                }
                self.put::<records::Channels>(rows, channel.id, record)
            }
            ChannelFact::ActivityChanged { channel, is_recently_active } => {
                let Some(before) = self.directory.channel(*channel) else { return Ok(()) };
                let record = Channel { is_recently_active: *is_recently_active, ..Channel::clone(before) };
                self.put::<records::Channels>(rows, *channel, record)
            }
            ChannelFact::DefaultsChanged(channels) => {
                let mut record = Realm::clone(self.directory.realm());
                record.default_channels.clone_from(channels);
                self.put::<records::Realm>(rows, (), record)
            }
            ChannelFact::FolderChanged(folder) => {
                self.put::<records::ChannelFolders>(rows, folder.id, ChannelFolder::clone(folder))
            }
            ChannelFact::FoldersReordered(folders) => self.apply_folder_order(folders, rows),
            ChannelFact::DefaultGroupsChanged(groups) => {
                self.put::<records::DefaultChannelGroups>(rows, (), Listed::clone(groups))
            }
            ChannelFact::ReadingPending { channel, is_pending } => {
                self.put_or_remove::<records::PendingReads>(rows, *channel, is_pending.then_some(()))
            }
        }
    }

    /// Subscriptions and policies for topics; `at` is the time of the frame.
    pub(super) fn apply_subscription_fact(
        &mut self,
        at: Timestamp,
        fact: &SubscriptionFact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        match fact {
            SubscriptionFact::Added { channel, subscribers, .. } => {
                subscribers.iter().try_for_each(|(user, subscription)| {
                    self.put::<records::Subscriptions>(rows, (*channel, *user), subscription.clone())
                })
            }
            SubscriptionFact::Removed { channel, last, users, .. } => users.iter().try_for_each(|user| {
                let Some(before) = self.directory.subscription(*channel, *user) else { return Ok(()) };
                let mut record = Subscription::clone(before);
                record.end(*last);
                self.put::<records::Subscriptions>(rows, (*channel, *user), record)
            }),
            SubscriptionFact::Changed { user, channel, subscription } => {
                self.put::<records::Subscriptions>(rows, (*channel, *user), Subscription::clone(subscription))
            }
            SubscriptionFact::TopicPolicySet { channel, topic, policy, users } => {
                let record = UserTopic { name: topic.clone(), policy: *policy, updated: at };
                users.iter().try_for_each(|user| self.apply_topic(*user, *channel, record.clone(), rows))
            }
            SubscriptionFact::TopicPoliciesImported { user, topics } => topics
                .iter()
                .try_for_each(|(channel, record)| self.apply_topic(*user, *channel, record.clone(), rows)),
            SubscriptionFact::Restated { .. } => Ok(()),
        }
    }

    fn change_lists(
        &mut self,
        rows: &mut Rows,
        change: impl FnOnce(&mut RealmLists),
    ) -> Result<(), StoreError> {
        let mut lists = RealmLists::clone(self.directory.lists());
        change(&mut lists);
        self.put::<records::RealmLists>(rows, (), lists)
    }

    fn apply_folder_order(&mut self, folders: &[FolderId], rows: &mut Rows) -> Result<(), StoreError> {
        for (order, id) in (0..).zip(folders) {
            let Some(before) = self.directory.folder(*id) else { continue };
            let folder = ChannelFolder { order, ..ChannelFolder::clone(before) };
            self.put::<records::ChannelFolders>(rows, *id, folder)?;
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
        let key = (user, channel, TopicKey::new(&record.name));
        let stored = Some(&record).filter(|record| record.policy != VisibilityPolicy::Inherit);
        self.put_row::<records::UserTopics>(rows, key, stored)?;
        self.directory.put_topic(user, channel, record);
        Ok(())
    }
}
