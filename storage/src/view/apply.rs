//! Facts become memory and rows. Values are absolute, so a frame may be applied to rows that have it already.

use super::flag_blocks::{FlagBlock, blocks_of};
use super::{MessageIndexRow, Progress, View, chunk};
use crate::codec::encode;
use crate::error::StoreError;
use crate::tables;
use model::fact::MessageRanges;
use model::{
    ChannelId, Directory, Fact, Flag, FlagOp, FolderId, Frame, GroupId, Message, MessageId, Realm, Sequence,
    Subscription, TopicKey, UserId, UserTopic, VisibilityPolicy,
};
use roaring::RoaringBitmap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A row to write, or to remove where the value is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// See `tables`.
    pub key: Vec<u8>,
    /// The record; none removes the row.
    pub value: Option<Vec<u8>>,
}

/// The rows of one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows(pub Vec<Row>);

impl Rows {
    fn put<T: serde::Serialize>(&mut self, key: tables::Key, record: &T) -> Result<(), StoreError> {
        self.0.push(Row { key: key.into_bytes(), value: Some(encode(record)?) });
        Ok(())
    }

    fn put_bytes(&mut self, key: tables::Key, bytes: &[u8]) {
        self.0.push(Row { key: key.into_bytes(), value: Some(bytes.to_vec()) });
    }

    fn remove(&mut self, key: tables::Key) {
        self.0.push(Row { key: key.into_bytes(), value: None });
    }
}

/// Every how many frames the position of their events is noted.
const EVENT_POSITION_FRAMES: u64 = 64;

/// From so many messages on, changing a flag looks for the smallest form of the set anew.
const OPTIMIZE_MESSAGES_MIN: u64 = 64;

impl View {
    /// An organization as its first frame makes it.
    ///
    /// # Errors
    /// [`StoreError::Decode`] when the frame does not begin with the creation of an organization.
    pub fn create(sequence: Sequence, frame: &Frame) -> Result<(Self, Rows), StoreError> {
        let Some(Fact::RealmCreated(realm)) = frame.facts.first() else {
            return Err(StoreError::Decode {
                what: "first frame",
                why: "it does not create an organization".into(),
            });
        };
        let mut view = Self::empty(Realm::clone(realm));
        let rows = view.apply(sequence, frame)?;
        Ok((view, rows))
    }

    /// An organization with nothing in it.
    pub(super) fn empty(realm: Realm) -> Self {
        Self {
            directory: Directory::new(realm),
            messages: Default::default(),
            queues: Default::default(),
            recent: Default::default(),
            progress: Progress::default(),
            chunks: Default::default(),
        }
    }

    /// Applies the facts of the next frame and returns the rows that make the trees say the same.
    ///
    /// # Errors
    /// [`StoreError::Encode`] when a record is too large to store.
    pub fn apply(&mut self, sequence: Sequence, frame: &Frame) -> Result<Rows, StoreError> {
        let mut rows = Rows::default();
        let mut events = 0;
        for fact in &frame.facts {
            self.apply_fact(sequence, frame, fact, &mut rows)?;
            events += fact.events_max();
        }
        self.progress.sequence = sequence;
        if events > 0 {
            self.progress.last_event = model::EventNumber(frame.first_event.0 + events - 1);
        }
        if sequence.0.is_multiple_of(EVENT_POSITION_FRAMES) {
            rows.put(tables::event_position(self.realm(), frame.first_event.0), &sequence)?;
        }
        Ok(rows)
    }

    fn apply_fact(
        &mut self,
        sequence: Sequence,
        frame: &Frame,
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
            Fact::ChannelCreated(channel) | Fact::ChannelChanged(channel) => {
                self.directory.put_channel(model::Channel::clone(channel));
                rows.put(tables::channel(realm, channel.id), channel)
            }
            Fact::ChannelActivityChanged { channel, is_recently_active } => {
                self.apply_activity(*channel, *is_recently_active, rows)
            }
            Fact::Subscribed { channel, subscribers, .. } => {
                self.apply_subscribed(*channel, subscribers, rows)
            }
            Fact::Unsubscribed { channel, last, users, .. } => {
                self.apply_unsubscribed(*channel, *last, users, rows)
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
            Fact::MessageSent { message, .. } => self.apply_message(sequence, message, rows),
            Fact::FlagsChanged { user, flag, op, messages } => {
                self.apply_flags(*user, *flag, *op, messages, rows)
            }
            Fact::TopicPolicySet { user, channel, topic, policy } => {
                let record = UserTopic { name: topic.clone(), policy: *policy, updated: frame.at };
                self.apply_topic(*user, *channel, record, rows)
            }
            Fact::QueueRegistered(record) => {
                self.queues.insert(record.id.clone(), Arc::new(model::QueueRecord::clone(record)));
                rows.put(tables::queue(realm, &record.id), record)
            }
            Fact::QueueEnded(queue) => {
                self.queues.remove(queue);
                rows.remove(tables::queue(realm, queue));
                Ok(())
            }
            Fact::EventNumbersReserved(number) => {
                self.progress.reserved_events = *number;
                Ok(())
            }
            Fact::TopicPoliciesSet { channel, topic, policy, users } => {
                let record = UserTopic { name: topic.clone(), policy: *policy, updated: frame.at };
                users.iter().try_for_each(|user| self.apply_topic(*user, *channel, record.clone(), rows))
            }
            Fact::SubscriptionChanged { user, channel, subscription } => {
                rows.put(tables::subscription(realm, *channel, *user), subscription)?;
                self.directory.put_subscription(*channel, *user, Subscription::clone(subscription));
                Ok(())
            }
            Fact::FolderChanged(folder) => {
                self.directory.put_folder(model::ChannelFolder::clone(folder));
                rows.put(tables::folder(realm, folder.id), folder)
            }
            Fact::FoldersReordered(folders) => self.apply_folder_order(folders, rows),
            Fact::AlertWordsSet { user, words } => {
                self.directory.put_alert_words(*user, words.clone());
                let key = tables::alert_words(realm, *user);
                if words.is_empty() {
                    rows.remove(key)
                } else {
                    rows.put(key, words)?
                }
                Ok(())
            }
            Fact::MessageUpdated(_)
            | Fact::MessagesDeleted { .. }
            | Fact::ReactionAdded { .. }
            | Fact::ReactionRemoved { .. }
            | Fact::SubmessageAdded { .. } => Ok(()),
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

    fn apply_activity(
        &mut self,
        channel: ChannelId,
        active: bool,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let Some(before) = self.directory.channel(channel) else { return Ok(()) };
        let mut record = model::Channel::clone(before);
        record.is_recently_active = active;
        rows.put(tables::channel(self.realm(), channel), &record)?;
        self.directory.put_channel(record);
        Ok(())
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

    fn apply_message(
        &mut self,
        sequence: Sequence,
        message: &Arc<Message>,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let realm = self.realm();
        let row = MessageIndexRow::from(&**message);
        self.messages.add(message.id, &row);
        let chunks = &mut self.chunks;
        chunks.bodies.add(chunk::BODIES, message.id, &encode(message)?);
        rows.put_bytes(tables::message_chunk(realm, chunks.bodies.first()), chunks.bodies.bytes());
        chunks.index_rows.add(chunk::INDEX_ROWS, message.id, &encode(&row)?);
        rows.put_bytes(tables::index_chunk(realm, chunks.index_rows.first()), chunks.index_rows.bytes());
        self.recent.put(sequence, message.clone());
        Ok(())
    }

    fn apply_flags(
        &mut self,
        user: UserId,
        flag: Flag,
        op: FlagOp,
        messages: &MessageRanges,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        // Ranges may reach over ids that nobody has; nothing is ever said about those.
        let ids = ids_of(messages) & &self.messages.all;
        if ids.is_empty() {
            return Ok(());
        }
        let delivered = self.delivered_among(user, &ids);
        let mine = self.messages.users.entry(user).or_default();
        // A flag on a message that was never delivered makes it historical; it counts as read
        // unless being unread is what was asked for.
        let historical = &(&ids - &delivered) - &mine.historical;
        let mut touched: BTreeSet<(Flag, u32)> = BTreeSet::new();
        for block in blocks_of(&historical) {
            touched.extend([(Flag::Historical, block), (Flag::Read, block)]);
        }
        mine.read |= &historical;
        mine.historical |= &historical;
        if let Some(set) = mine.set_mut(flag) {
            match op {
                FlagOp::Add => *set |= &ids,
                FlagOp::Remove => *set -= &ids,
            }
            if ids.len() >= OPTIMIZE_MESSAGES_MIN {
                set.optimize();
            }
            touched.extend(blocks_of(&ids).into_iter().map(|block| (flag, block)));
        }
        let through = self.messages.last;
        let realm = self.realm();
        let Some(mine) = self.messages.users.get(&user) else { return Ok(()) };
        for (flag, block) in touched {
            let Some(set) = mine.set(flag) else { continue };
            rows.put(tables::flags(realm, user, flag, block), &FlagBlock::of(set, block, through))?;
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

fn ids_of(messages: &MessageRanges) -> RoaringBitmap {
    let mut ids = RoaringBitmap::new();
    for (first, last) in &messages.0 {
        if first <= last {
            ids.insert_range(first.0..=last.0);
        }
    }
    ids
}
