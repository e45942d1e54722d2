//! The rows of an organization against each other: each can be read, and none speaks of what is not there.

use super::Comparison;
use crate::codec::{decode, encode};
use crate::error::StoreError;
use crate::projection::Trees;
use crate::tables::{self, Table};
use crate::view::chunk::entries;
use crate::view::{FlagBlock, MessageIndexRow, MoveRecord, Progress};
use model::job::Job;
use model::{
    Channel, ChannelFolder, DirectConversation, Flag, Message, MessageId, NavigationView, ProfileFields,
    QueueRecord, Realm, RealmId, Sequence, Subscription, Timestamp, User, UserGroup, UserStatus, UserTopic,
};
use roaring::RoaringBitmap;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};

/// Reads every row of an organization and compares it with the others.
///
/// # Errors
/// [`StoreError::Trees`] when the trees cannot be read at all.
pub(super) fn check_rows(trees: &Trees, realm: RealmId) -> Result<Comparison, StoreError> {
    let mut found = Comparison::default();
    let mut known = Known::default();
    for row in trees.rows(realm) {
        let row = row?;
        match known.check(&row.key, &row.value) {
            Ok(()) => found.rows += 1,
            Err(why) => found.add(&row.key, &why),
        }
    }
    check_messages(trees, realm, &mut found)?;
    Ok(found)
}

/// What rows further on in key order may refer to.
#[derive(Default)]
struct Known {
    users: BTreeSet<u32>,
    channels: BTreeSet<u32>,
}

impl Known {
    /// Whether a row can be read, belongs under its key and refers to what is there; if not, why not.
    fn check(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let table = tables::table_of(key).ok_or("it is of no known table")?;
        if !has_form(table, key) {
            return Err("its key has the wrong length".into());
        }
        let number = |position| tables::number_at(key, position).unwrap_or_default();
        match table {
            Table::Progress => parse::<Progress>(value).map(drop),
            Table::Realm => parse::<Realm>(value).map(drop),
            Table::Users => {
                self.users.insert(number(0));
                same_id(parse::<User>(value)?.id.0, number(0))
            }
            Table::Groups => same_id(parse::<UserGroup>(value)?.id.0, number(0)),
            Table::Channels => {
                self.channels.insert(number(0));
                same_id(parse::<Channel>(value)?.id.0, number(0))
            }
            Table::Subscriptions | Table::Directs | Table::UserTopics | Table::Queues | Table::Flags => {
                self.check_reading_row(table, key, value)
            }
            Table::EventPositions => parse::<Sequence>(value).map(drop),
            Table::Jobs => check_job(key, value),
            Table::RealmLists => parse::<model::RealmLists>(value).map(drop),
            Table::Invitations => {
                let invitation = parse::<model::Invitation>(value)?;
                self.check_user(invitation.inviter.0)?;
                same_id(invitation.id.0, number(0))
            }
            Table::BotConfigs => {
                self.check_user(number(0))?;
                parse::<model::BotConfig>(value).map(drop)
            }
            Table::Folders => same_id(parse::<ChannelFolder>(value)?.id.0, number(0)),
            Table::AlertWords => {
                self.check_user(number(0))?;
                parse::<Vec<String>>(value).map(drop)
            }
            Table::UserStatuses | Table::MutedUsers | Table::NavigationViews | Table::ProfileFields => {
                self.check_personal_row(table, key, value)
            }
            Table::Avatars => {
                self.check_user(number(0))?;
                parse::<String>(value).map(drop)
            }
            Table::RealmPictures => parse::<model::picture::RealmPictures>(value).map(drop),
            Table::RealmEmoji => same_id(parse::<model::picture::RealmEmoji>(value)?.id, number(0)),
            Table::PushTokens | Table::PushDevices | Table::PushShown => {
                self.check_user(number(0))?;
                check_push_row(table, value)
            }
            Table::NoticedUpTo => parse::<MessageId>(value).map(drop),
            about_messages => self.check_message_row(about_messages, number(0), value),
        }
    }

    /// A row of who reads what: subscriptions, conversations, topics, queues and flags.
    fn check_reading_row(&self, table: Table, key: &[u8], value: &[u8]) -> Result<(), String> {
        let number = |position| tables::number_at(key, position).unwrap_or_default();
        match table {
            Table::Subscriptions => {
                self.check_channel(number(0))?;
                self.check_user(number(4))?;
                parse::<Subscription>(value).map(drop)
            }
            Table::Directs => {
                let direct = parse::<DirectConversation>(value)?;
                direct.users.iter().try_for_each(|user| self.check_user(user.0))?;
                same_id(direct.recipient.0, number(0))
            }
            Table::UserTopics => {
                self.check_user(number(0))?;
                self.check_channel(number(4))?;
                parse::<UserTopic>(value).map(drop)
            }
            Table::Queues => self.check_user(parse::<QueueRecord>(value)?.user.0),
            _ => {
                self.check_user(number(0))?;
                if !Flag::ALL.iter().any(|flag| Some(&(*flag as u8)) == key.get(9)) {
                    return Err("there is no such flag".into());
                }
                parse::<FlagBlock>(value).map(drop)
            }
        }
    }

    /// A row of what people have for themselves, or of what profiles ask for.
    fn check_personal_row(&self, table: Table, key: &[u8], value: &[u8]) -> Result<(), String> {
        let user = |position| self.check_user(tables::number_at(key, position).unwrap_or_default());
        match table {
            Table::UserStatuses => {
                user(0)?;
                parse::<UserStatus>(value).map(drop)
            }
            Table::MutedUsers => {
                user(0)?;
                user(4)?;
                parse::<Timestamp>(value).map(drop)
            }
            Table::NavigationViews => {
                user(0)?;
                parse::<NavigationView>(value).map(drop)
            }
            _ => parse::<ProfileFields>(value).map(drop),
        }
    }

    /// A row of bodies, index entries, or what was done to messages; `first` is the first number of its key.
    fn check_message_row(&self, table: Table, first: u32, value: &[u8]) -> Result<(), String> {
        match table {
            Table::Messages => {
                each_entry(first, value, |id, record| same_id(parse::<Message>(record)?.id.0, id.0))
            }
            Table::MessageIndex => {
                each_entry(first, value, |_, record| self.check_index_row(&parse::<MessageIndexRow>(record)?))
            }
            Table::ChangedMessages => same_id(parse::<Message>(value)?.id.0, first),
            Table::ChangedIndex => self.check_index_row(&parse::<MessageIndexRow>(value)?),
            Table::Moves => {
                let record = parse::<MoveRecord>(value)?;
                self.check_user(record.by.0)?;
                self.check_channel(record.movement.channel.0)?;
                record.movement.new_channel.map_or(Ok(()), |arrival| self.check_channel(arrival.channel.0))
            }
            Table::Deleted => parse::<FlagBlock>(value).map(drop),
            Table::Days => parse::<MessageId>(value).map(drop),
            _ => Err("it is of no table of messages".into()),
        }
    }

    fn check_index_row(&self, row: &MessageIndexRow) -> Result<(), String> {
        self.check_user(row.sender.0)?;
        row.place.channel().map_or(Ok(()), |channel| self.check_channel(channel.0))
    }

    fn check_user(&self, user: u32) -> Result<(), String> {
        if self.users.contains(&user) { Ok(()) } else { Err(format!("user {user} does not exist")) }
    }

    fn check_channel(&self, channel: u32) -> Result<(), String> {
        if self.channels.contains(&channel) {
            Ok(())
        } else {
            Err(format!("channel {channel} does not exist"))
        }
    }
}

fn parse<T: DeserializeOwned>(value: &[u8]) -> Result<T, String> {
    decode(value, "row").map_err(|error| match error {
        StoreError::Decode { why, .. } => format!("cannot be read: {why}"),
        error => error.to_string(),
    })
}

/// Checks the entries of a chunk, which ascend from the id of its key. The first ones may have been deleted.
fn each_entry(
    first: u32,
    chunk: &[u8],
    mut check: impl FnMut(MessageId, &[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let mut before = None;
    for entry in entries(chunk) {
        let (id, record) = entry.map_err(|error| error.to_string())?;
        if id.0 < first || before.is_some_and(|before| before >= id) {
            return Err(format!("has message {id} where it does not belong"));
        }
        before = Some(id);
        check(id, record)?;
    }
    Ok(())
}

/// A row about somebody's phones.
fn check_push_row(table: Table, value: &[u8]) -> Result<(), String> {
    match table {
        Table::PushTokens => parse::<Vec<model::push::PushToken>>(value).map(drop),
        Table::PushDevices => parse::<Vec<model::push::PushDevice>>(value).map(drop),
        _ => parse::<Vec<MessageId>>(value).map(drop),
    }
}

fn check_job(key: &[u8], value: &[u8]) -> Result<(), String> {
    let job = parse::<Job>(value)?;
    if key.ends_with(&job.id.0.to_be_bytes()) {
        Ok(())
    } else {
        Err(format!("holds the job with id {}", job.id))
    }
}

fn same_id(found: u32, key: u32) -> Result<(), String> {
    if found == key { Ok(()) } else { Err(format!("holds the record with id {found}")) }
}

/// Whether a key is as long as its table's keys are.
fn has_form(table: Table, key: &[u8]) -> bool {
    let fields = key.len().saturating_sub(5);
    match table {
        Table::Progress | Table::Realm | Table::RealmLists | Table::ProfileFields => fields == 0,
        Table::Users | Table::Groups | Table::Channels | Table::Directs => fields == 4,
        Table::Messages | Table::MessageIndex | Table::Folders | Table::AlertWords => fields == 4,
        Table::ChangedMessages | Table::ChangedIndex | Table::Deleted | Table::Days => fields == 4,
        Table::Moves => fields == 10,
        Table::BotConfigs => fields == 4,
        Table::Avatars | Table::RealmEmoji => fields == 4,
        Table::RealmPictures => fields == 0,
        Table::PushTokens | Table::PushDevices | Table::PushShown => fields == 4,
        Table::NoticedUpTo => fields == 0,
        Table::UserStatuses | Table::Invitations => fields == 4,
        Table::Subscriptions | Table::EventPositions | Table::MutedUsers | Table::Jobs => fields == 8,
        Table::Flags => fields == 9,
        Table::UserTopics => fields >= 8,
        Table::NavigationViews => fields > 4,
        Table::Queues => fields > 0,
    }
}

/// Bodies and index entries side by side, as sent and as changed: both tables have the same messages and agree on
/// them. Only what is there was changed, and what was deleted is not there.
fn check_messages(trees: &Trees, realm: RealmId, found: &mut Comparison) -> Result<(), StoreError> {
    let sent = check_pair(trees, realm, (Table::Messages, Table::MessageIndex), found)?;
    let changed = check_pair(trees, realm, (Table::ChangedMessages, Table::ChangedIndex), found)?;
    for id in changed.keys().filter(|id| !sent.contains_key(id)) {
        let key = tables::changed_message(realm, *id);
        found.add(key.as_bytes(), &format!("message {id} was changed, but is not there"));
    }
    for row in trees.table(realm, Table::Deleted) {
        let row = row?;
        let Ok(block) = parse::<FlagBlock>(&row.value) else { continue };
        let mut deleted = RoaringBitmap::new();
        block.restore(&mut deleted, tables::number_at(&row.key, 0).unwrap_or_default());
        for id in deleted.iter().filter(|id| sent.contains_key(&MessageId(*id))) {
            found.add(&row.key, &format!("message {id} was deleted, but is there"));
        }
    }
    Ok(())
}

fn check_pair(
    trees: &Trees,
    realm: RealmId,
    (bodies, entries): (Table, Table),
    found: &mut Comparison,
) -> Result<BTreeMap<MessageId, u64>, StoreError> {
    let (of_bodies, of_entries) = (records(trees, realm, bodies)?, records(trees, realm, entries)?);
    for (id, body) in &of_bodies {
        let key = tables::chunk(realm, bodies, *id);
        match of_entries.get(id) {
            None => found.add(key.as_bytes(), &format!("message {id} has no index entry")),
            Some(entry) if body != entry => {
                found.add(key.as_bytes(), &format!("message {id} does not agree with its index entry"));
            }
            Some(_) => {}
        }
    }
    for id in of_entries.keys().filter(|id| !of_bodies.contains_key(id)) {
        let key = tables::chunk(realm, entries, *id);
        found.add(key.as_bytes(), &format!("index entry {id} belongs to no message"));
    }
    Ok(of_bodies)
}

/// A fingerprint of what each message's index entry is, or should be by its body. Entries that cannot be
/// read were found already.
fn records(trees: &Trees, realm: RealmId, table: Table) -> Result<BTreeMap<MessageId, u64>, StoreError> {
    let mut found = BTreeMap::new();
    for row in trees.table(realm, table) {
        let row = row?;
        let one = || tables::number_at(&row.key, 0).map(|id| (MessageId(id), row.value.as_slice()));
        let in_row: Vec<_> = match table {
            Table::Messages | Table::MessageIndex => entries(&row.value).flatten().collect(),
            _ => one().into_iter().collect(),
        };
        for (id, record) in in_row {
            let entry = match table {
                Table::Messages | Table::ChangedMessages => {
                    parse::<Message>(record).map(|message| MessageIndexRow::from(&message))
                }
                _ => parse::<MessageIndexRow>(record),
            };
            if let Ok(entry) = entry {
                found.insert(id, xxhash_rust::xxh3::xxh3_64(&encode(&entry)?));
            }
        }
    }
    Ok(found)
}
