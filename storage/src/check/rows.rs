//! The rows of an organization against each other: each can be read, and none speaks of what is not there.

use super::Comparison;
use crate::codec::{decode, encode};
use crate::error::StoreError;
use crate::projection::Trees;
use crate::tables::{self, Table};
use crate::view::chunk::entries;
use crate::view::{FlagBlock, MessageIndexRow, Progress};
use model::{
    Channel, ChannelFolder, DirectConversation, Flag, Message, MessageId, QueueRecord, Realm, RealmId,
    Sequence, Subscription, User, UserGroup, UserTopic,
};
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
        let value = row.value.as_deref().unwrap_or_default();
        match known.check(&row.key, value) {
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
            Table::Messages => {
                each_entry(number(0), value, |id, record| same_id(parse::<Message>(record)?.id.0, id.0))
            }
            Table::MessageIndex => each_entry(number(0), value, |_, record| {
                let row = parse::<MessageIndexRow>(record)?;
                self.check_user(row.sender.0)?;
                row.place.channel().map_or(Ok(()), |channel| self.check_channel(channel.0))
            }),
            Table::Flags => {
                self.check_user(number(0))?;
                if !Flag::ALL.iter().any(|flag| Some(&(*flag as u8)) == key.get(9)) {
                    return Err("there is no such flag".into());
                }
                parse::<FlagBlock>(value).map(drop)
            }
            Table::EventPositions => parse::<Sequence>(value).map(drop),
            Table::Folders => same_id(parse::<ChannelFolder>(value)?.id.0, number(0)),
            Table::AlertWords => {
                self.check_user(number(0))?;
                parse::<Vec<String>>(value).map(drop)
            }
        }
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

/// Checks the entries of a chunk, which begins with the id of its key and ascends.
fn each_entry(
    first: u32,
    chunk: &[u8],
    mut check: impl FnMut(MessageId, &[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let mut before = None;
    for entry in entries(chunk) {
        let (id, record) = entry.map_err(|error| error.to_string())?;
        if before.is_none() && id.0 != first || before.is_some_and(|before| before >= id) {
            return Err(format!("has message {id} where it does not belong"));
        }
        before = Some(id);
        check(id, record)?;
    }
    Ok(())
}

fn same_id(found: u32, key: u32) -> Result<(), String> {
    if found == key { Ok(()) } else { Err(format!("holds the record with id {found}")) }
}

/// Whether a key is as long as its table's keys are.
fn has_form(table: Table, key: &[u8]) -> bool {
    let fields = key.len().saturating_sub(5);
    match table {
        Table::Progress | Table::Realm => fields == 0,
        Table::Users | Table::Groups | Table::Channels | Table::Directs => fields == 4,
        Table::Messages | Table::MessageIndex | Table::Folders | Table::AlertWords => fields == 4,
        Table::Subscriptions | Table::EventPositions => fields == 8,
        Table::Flags => fields == 9,
        Table::UserTopics => fields >= 8,
        Table::Queues => fields > 0,
    }
}

/// Bodies and index entries side by side: both tables have the same messages and agree on them.
fn check_messages(trees: &Trees, realm: RealmId, found: &mut Comparison) -> Result<(), StoreError> {
    let (bodies, entries) =
        (records(trees, realm, Table::Messages)?, records(trees, realm, Table::MessageIndex)?);
    for (id, body) in &bodies {
        let key = tables::message_chunk(realm, *id);
        match entries.get(id) {
            None => found.add(key.as_bytes(), &format!("message {id} has no index entry")),
            Some(entry) if body != entry => {
                found.add(key.as_bytes(), &format!("message {id} does not agree with its index entry"));
            }
            Some(_) => {}
        }
    }
    for id in entries.keys().filter(|id| !bodies.contains_key(id)) {
        let key = tables::index_chunk(realm, *id);
        found.add(key.as_bytes(), &format!("index entry {id} belongs to no message"));
    }
    Ok(())
}

/// A fingerprint of what each message's index entry is, or should be by its body. Entries that cannot be
/// read were found already.
fn records(trees: &Trees, realm: RealmId, table: Table) -> Result<BTreeMap<MessageId, u64>, StoreError> {
    let mut found = BTreeMap::new();
    for row in trees.table(realm, table) {
        for (id, record) in entries(&row?.value.unwrap_or_default()).flatten() {
            let entry = match table {
                Table::Messages => parse::<Message>(record).map(|message| MessageIndexRow::from(&message)),
                _ => parse::<MessageIndexRow>(record),
            };
            if let Ok(entry) = entry {
                found.insert(id, xxhash_rust::xxh3::xxh3_64(&encode(&entry)?));
            }
        }
    }
    Ok(found)
}
