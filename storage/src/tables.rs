//! The database on one page: every table of the one tree `state`, with key and value.
//!
//! A key is `realm (u32 BE) ‖ table (u8) ‖ fields`, all fields big-endian and of fixed width except a
//! last one, so that byte order is id order and one prefix scan is one table of one organization.
//! Everything here can be rebuilt from the journal (`millstream check` compares the two).

use model::{
    ChannelId, Flag, FolderId, GroupId, InvitationId, JobId, MessageId, QueueId, RealmId, RecipientId,
    Sequence, TopicKey, UserId,
};

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident = $byte:literal,)*) => {
        /// A table; the byte is stored and never reused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Table { $($(#[$doc])* $name = $byte,)* }

        impl Table {
            /// All tables.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

tables! {
    /// () → `Progress`: which frame the other rows reflect. Written with every batch.
    Progress = 1,
    /// () → `Realm`
    Realm = 2,
    /// user → `User`
    Users = 3,
    /// group → `UserGroup`
    Groups = 4,
    /// channel → `Channel`
    Channels = 5,
    /// channel ‖ user → `Subscription`
    Subscriptions = 6,
    /// recipient → `DirectConversation`
    Directs = 7,
    /// user ‖ channel ‖ topic in lower case → `UserTopic`
    UserTopics = 8,
    /// queue → `QueueRecord`
    Queues = 9,
    /// first message → chunk of `Message` (see `view::chunk`)
    Messages = 10,
    /// first message → chunk of `MessageIndexRow`: what the in-memory index needs, small enough to read all of
    /// it on open.
    MessageIndex = 11,
    /// user ‖ flag ‖ block of 4096 messages → `FlagBlock`
    Flags = 12,
    /// first event number of every 64th frame → its sequence: where to read on from an event id.
    EventPositions = 13,
    /// folder → `ChannelFolder`
    Folders = 14,
    /// user → alert words
    AlertWords = 15,
    /// message → its own `Message` after the last change, read instead of its entry in `Messages`
    ChangedMessages = 16,
    /// message → its `MessageIndexRow` after the last change
    ChangedIndex = 17,
    /// frame ‖ position of the fact in it (u16) → `MoveRecord`: moves change no message's own record
    Moves = 18,
    /// block of 4096 messages → `FlagBlock` of those that were deleted: other blocks may still have them
    Deleted = 19,
    /// day since 1970 → the first message that was sent on it
    Days = 20,
    /// user → `UserStatus`
    UserStatuses = 21,
    /// who mutes ‖ whom → since when
    MutedUsers = 22,
    /// user ‖ fragment → `NavigationView`
    NavigationViews = 23,
    /// () → `ProfileFields`
    ProfileFields = 24,
    /// bot → `BotConfig`
    BotConfigs = 30,
    /// () → `RealmLists`
    RealmLists = 25,
    /// user → list of `PushToken`
    PushTokens = 40,
    /// user → list of `PushDevice`
    PushDevices = 41,
    /// user → messages that their phones show
    PushShown = 42,
    /// () → the newest message of which it has been decided who is notified
    NoticedUpTo = 43,
    /// invitation → `Invitation`
    Invitations = 50,
    /// job → `Job`: those that wait, and the newest that were given up
    Jobs = 60,
    /// user → file of the picture that was uploaded
    Avatars = 70,
    /// () → `RealmPictures`
    RealmPictures = 71,
    /// emoji → `RealmEmoji`
    RealmEmoji = 72,
}

/// The row of one table, or the start of a scan over it.
#[derive(Clone, Debug)]
pub struct Key(Vec<u8>);

impl Key {
    /// The prefix of a whole table.
    pub fn table(realm: RealmId, table: Table) -> Self {
        let mut bytes = Vec::with_capacity(24);
        bytes.extend_from_slice(&realm.0.to_be_bytes());
        bytes.push(table as u8);
        Self(bytes)
    }

    fn then(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, owned.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Key of [`Table::Users`].
pub fn user(realm: RealmId, user: UserId) -> Key {
    Key::table(realm, Table::Users).then(&user.0.to_be_bytes())
}

/// Key of [`Table::Groups`].
pub fn group(realm: RealmId, group: GroupId) -> Key {
    Key::table(realm, Table::Groups).then(&group.0.to_be_bytes())
}

/// Key of [`Table::Channels`].
pub fn channel(realm: RealmId, channel: ChannelId) -> Key {
    Key::table(realm, Table::Channels).then(&channel.0.to_be_bytes())
}

/// Key of [`Table::Subscriptions`].
pub fn subscription(realm: RealmId, channel: ChannelId, user: UserId) -> Key {
    Key::table(realm, Table::Subscriptions).then(&channel.0.to_be_bytes()).then(&user.0.to_be_bytes())
}

/// Key of [`Table::Directs`].
pub fn direct(realm: RealmId, recipient: RecipientId) -> Key {
    Key::table(realm, Table::Directs).then(&recipient.0.to_be_bytes())
}

/// Key of [`Table::UserTopics`].
pub fn user_topic(realm: RealmId, user: UserId, channel: ChannelId, topic: &TopicKey) -> Key {
    Key::table(realm, Table::UserTopics)
        .then(&user.0.to_be_bytes())
        .then(&channel.0.to_be_bytes())
        .then(topic.as_str().as_bytes())
}

/// Key of [`Table::Queues`].
pub fn queue(realm: RealmId, queue: &QueueId) -> Key {
    Key::table(realm, Table::Queues).then(queue.0.as_bytes())
}

/// Key of [`Table::Invitations`].
pub fn invitation(realm: RealmId, invitation: InvitationId) -> Key {
    Key::table(realm, Table::Invitations).then(&invitation.0.to_be_bytes())
}

/// Key of [`Table::Avatars`].
pub fn avatar(realm: RealmId, user: UserId) -> Key {
    Key::table(realm, Table::Avatars).then(&user.0.to_be_bytes())
}

/// Key of [`Table::RealmEmoji`].
pub fn realm_emoji(realm: RealmId, emoji: u32) -> Key {
    Key::table(realm, Table::RealmEmoji).then(&emoji.to_be_bytes())
}

/// Key of [`Table::Folders`].
pub fn folder(realm: RealmId, folder: FolderId) -> Key {
    Key::table(realm, Table::Folders).then(&folder.0.to_be_bytes())
}

/// Key of [`Table::AlertWords`].
pub fn alert_words(realm: RealmId, user: UserId) -> Key {
    Key::table(realm, Table::AlertWords).then(&user.0.to_be_bytes())
}

/// Key of [`Table::UserStatuses`].
pub fn user_status(realm: RealmId, user: UserId) -> Key {
    Key::table(realm, Table::UserStatuses).then(&user.0.to_be_bytes())
}

/// Key of [`Table::MutedUsers`].
pub fn muted_user(realm: RealmId, user: UserId, muted: UserId) -> Key {
    Key::table(realm, Table::MutedUsers).then(&user.0.to_be_bytes()).then(&muted.0.to_be_bytes())
}

/// Key of [`Table::BotConfigs`].
pub fn bot_config(realm: RealmId, bot: UserId) -> Key {
    Key::table(realm, Table::BotConfigs).then(&bot.0.to_be_bytes())
}

/// Key of [`Table::NavigationViews`].
pub fn navigation_view(realm: RealmId, user: UserId, fragment: &str) -> Key {
    Key::table(realm, Table::NavigationViews).then(&user.0.to_be_bytes()).then(fragment.as_bytes())
}

/// Key of the tables about the phones of a user.
pub fn push(realm: RealmId, table: Table, user: UserId) -> Key {
    Key::table(realm, table).then(&user.0.to_be_bytes())
}

/// Key of a table of chunks, by the first message of the chunk.
pub fn chunk(realm: RealmId, table: Table, message: MessageId) -> Key {
    Key::table(realm, table).then(&message.0.to_be_bytes())
}

/// Key of [`Table::Messages`], by the first message of the chunk.
pub fn message_chunk(realm: RealmId, message: MessageId) -> Key {
    chunk(realm, Table::Messages, message)
}

/// Key of [`Table::MessageIndex`], by the first message of the chunk.
pub fn index_chunk(realm: RealmId, message: MessageId) -> Key {
    chunk(realm, Table::MessageIndex, message)
}

/// Key of [`Table::ChangedMessages`].
pub fn changed_message(realm: RealmId, message: MessageId) -> Key {
    Key::table(realm, Table::ChangedMessages).then(&message.0.to_be_bytes())
}

/// Key of [`Table::ChangedIndex`].
pub fn changed_index(realm: RealmId, message: MessageId) -> Key {
    Key::table(realm, Table::ChangedIndex).then(&message.0.to_be_bytes())
}

/// Key of [`Table::Moves`].
pub fn movement(realm: RealmId, sequence: Sequence, position: u16) -> Key {
    Key::table(realm, Table::Moves).then(&sequence.0.to_be_bytes()).then(&position.to_be_bytes())
}

/// Key of [`Table::Deleted`].
pub fn deleted(realm: RealmId, block: u32) -> Key {
    Key::table(realm, Table::Deleted).then(&block.to_be_bytes())
}

/// Key of [`Table::Days`].
pub fn day(realm: RealmId, day: u32) -> Key {
    Key::table(realm, Table::Days).then(&day.to_be_bytes())
}

/// Key of [`Table::Jobs`].
pub fn job(realm: RealmId, job: JobId) -> Key {
    Key::table(realm, Table::Jobs).then(&job.0.to_be_bytes())
}

/// Key of [`Table::Flags`].
pub fn flags(realm: RealmId, user: UserId, flag: Flag, block: u32) -> Key {
    Key::table(realm, Table::Flags).then(&user.0.to_be_bytes()).then(&[flag as u8]).then(&block.to_be_bytes())
}

/// Key of [`Table::EventPositions`].
pub fn event_position(realm: RealmId, event: u64) -> Key {
    Key::table(realm, Table::EventPositions).then(&event.to_be_bytes())
}

/// The organization in a key; none when the key is too short to have one.
pub fn realm_of(key: &[u8]) -> Option<RealmId> {
    Some(RealmId(u32::from_be_bytes(key.get(..4)?.try_into().ok()?)))
}

/// The table in a key.
pub fn table_of(key: &[u8]) -> Option<Table> {
    let byte = *key.get(4)?;
    Table::ALL.iter().copied().find(|table| *table as u8 == byte)
}

/// Big-endian numbers of a key's fields, from a byte position behind the table byte.
pub fn number_at(key: &[u8], position: usize) -> Option<u32> {
    let start = 5 + position;
    Some(u32::from_be_bytes(key.get(start..start + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_is_id_order() {
        let realm = RealmId(1);
        for (small, large) in [(1, 2), (255, 256), (65_535, 65_536), (u32::MAX - 1, u32::MAX)] {
            let (a, b) = (message_chunk(realm, MessageId(small)), message_chunk(realm, MessageId(large)));
            assert!(a.as_bytes() < b.as_bytes());
            assert_eq!(number_at(a.as_bytes(), 0), Some(small));
        }
    }

    #[test]
    fn keys_name_their_realm_and_table() {
        for table in Table::ALL {
            let key = Key::table(RealmId(7), *table);
            assert_eq!(realm_of(key.as_bytes()), Some(RealmId(7)));
            assert_eq!(table_of(key.as_bytes()), Some(*table));
        }
        assert_eq!(realm_of(&[1, 2]), None);
    }

    #[test]
    fn table_bytes_are_unique() {
        let mut bytes: Vec<u8> = Table::ALL.iter().map(|table| *table as u8).collect();
        bytes.sort_unstable();
        bytes.dedup();
        assert_eq!(bytes.len(), Table::ALL.len());
    }
}
