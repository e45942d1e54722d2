//! Facts about what people say of themselves, whom they mute and what they keep in their sidebar become the directory's
//! records and their rows.

use super::{Rows, View};
use crate::error::StoreError;
use crate::tables::{self, Key, Table};
use model::{Fact, ProfileFieldId, ProfileValue, RealmLists, User, UserId};

impl View {
    /// Statuses, muted users, views of the sidebar, profile fields and their values.
    #[expect(clippy::too_many_lines, reason = "one arm for each fact, so that the compiler misses a new one")]
    pub(super) fn apply_profile_fact(&mut self, fact: &Fact, rows: &mut Rows) -> Result<(), StoreError> {
        let realm = self.realm();
        match fact {
            Fact::UserStatusSet { user, status, .. } => {
                self.directory.put_status(*user, status.clone());
                put_or_remove(rows, tables::user_status(realm, *user), status.as_ref())
            }
            Fact::UserMuted { user, muted, since } => {
                self.directory.put_muted(*user, *muted, *since);
                put_or_remove(rows, tables::muted_user(realm, *user, *muted), since.as_ref())
            }
            Fact::NavigationViewSet { user, fragment, view, .. } => {
                self.directory.put_navigation_view(*user, fragment, view.clone());
                put_or_remove(rows, tables::navigation_view(realm, *user, fragment), view.as_ref())
            }
            Fact::BotConfigured { bot, config, .. } => {
                self.directory.put_bot_config(*bot, model::BotConfig::clone(config));
                rows.put(tables::bot_config(realm, *bot), config)
            }
            Fact::ProfileFieldsChanged(fields) => {
                self.directory.put_profile_fields(model::ProfileFields::clone(fields));
                rows.put(Key::table(realm, Table::ProfileFields), fields)
            }
            Fact::DomainSet { domain, op } => {
                self.change_lists(rows, |lists| lists.apply_domain(domain, *op))
            }
            Fact::LinkifiersChanged(all) => {
                self.change_lists(rows, |lists| lists.linkifiers = model::Listed::clone(all))
            }
            Fact::PlaygroundsChanged(all) => {
                self.change_lists(rows, |lists| lists.playgrounds = model::Listed::clone(all))
            }
            Fact::ProfileValuesSet { user, values } => self.apply_profile_values(*user, values, rows),
            Fact::Push(fact) => self.apply_push_fact(fact, rows),
            Fact::Picture(fact) => self.apply_picture_fact(fact, rows),
            Fact::UserActiveSet { user, is_active, last, .. } => {
                self.apply_user_active(*user, *is_active, *last, rows)
            }
            // What the callers see to. Named one by one, so that the compiler misses a new fact.
            Fact::RealmCreated(_)
            | Fact::RealmChanged(_)
            | Fact::UserCreated(_)
            | Fact::UserChanged(_)
            | Fact::GroupCreated(_)
            | Fact::GroupChanged(_)
            | Fact::GroupMembersChanged { .. }
            | Fact::ChannelCreated(_)
            | Fact::ChannelChanged(_)
            | Fact::ChannelActivityChanged { .. }
            | Fact::DefaultChannelsChanged(_)
            | Fact::DirectConversationCreated(_)
            | Fact::FolderChanged(_)
            | Fact::FoldersReordered(_)
            | Fact::MessageSent { .. }
            | Fact::MessageUpdated(_)
            | Fact::MessagesDeleted { .. }
            | Fact::ReactionAdded { .. }
            | Fact::ReactionRemoved { .. }
            | Fact::SubmessageAdded { .. }
            | Fact::Subscribed { .. }
            | Fact::Unsubscribed { .. }
            | Fact::SubscriptionChanged { .. }
            | Fact::TopicPolicySet { .. }
            | Fact::TopicPoliciesSet { .. }
            | Fact::AlertWordsSet { .. }
            | Fact::Invitation(_)
            | Fact::FlagsChanged { .. }
            | Fact::QueueRegistered(_)
            | Fact::QueueEnded(_)
            | Fact::EventNumbersReserved(_)
            | Fact::JobAdded { .. }
            | Fact::JobEnded { .. }
            | Fact::KnownPeopleChanged { .. }
            | Fact::Before(_) => Ok(()),
        }
    }

    fn change_lists(
        &mut self,
        rows: &mut Rows,
        change: impl FnOnce(&mut RealmLists),
    ) -> Result<(), StoreError> {
        let mut lists = RealmLists::clone(self.directory.lists());
        change(&mut lists);
        rows.put(Key::table(self.realm(), Table::RealmLists), &lists)?;
        self.directory.put_lists(lists);
        Ok(())
    }

    fn apply_profile_values(
        &mut self,
        user: UserId,
        values: &[(ProfileFieldId, Option<ProfileValue>)],
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let Some(before) = self.directory.user(user) else { return Ok(()) };
        let mut record = User::clone(before);
        for (field, value) in values {
            match value {
                Some(value) => record.profile_data.insert(*field, value.clone()),
                None => record.profile_data.remove(field),
            };
        }
        rows.put(tables::user(self.realm(), user), &record)?;
        self.directory.put_user(record);
        Ok(())
    }
}

fn put_or_remove<T: serde::Serialize>(
    rows: &mut Rows,
    key: Key,
    record: Option<&T>,
) -> Result<(), StoreError> {
    match record {
        Some(record) => rows.put(key, record),
        None => {
            rows.remove(key);
            Ok(())
        }
    }
}
