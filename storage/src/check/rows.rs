//! The rows of an organization against each other: each can be decoded, and all references exist.

use super::Comparison;
use crate::codec::encode;
use crate::error::StoreError;
use crate::projection::Trees;
use crate::view::key::{Block, Key, Number, References, fields_of, first_field_of};
use crate::view::packed::plain;
use crate::view::record::{Record, StoredValue};
use crate::view::records::{
    self, AttachmentClaims, Attachments, Channels, DeletedMessages, EditedMessages, MessageVersions,
    Messages, Reactions, Submessages, Users,
};
use crate::view::{EditedRow, MessageIndexRow, chunk};
use model::{AttachmentId, ChannelId, Message, MessageId, RealmId, UserId};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, BTreeSet};

/// Reads every row of an organization and compares it with the others.
pub(super) fn check_rows(trees: &Trees, realm: RealmId) -> Result<Comparison, StoreError> {
    let mut found = Comparison::default();
    let mut known = References::default();
    for row in trees.table::<Users>(realm) {
        known.users.extend(fields_of::<UserId>(&row?.key));
    }
    for row in trees.table::<Channels>(realm) {
        known.channels.extend(fields_of::<ChannelId>(&row?.key));
    }
    for row in trees.table::<Attachments>(realm) {
        known.attachments.extend(fields_of::<AttachmentId>(&row?.key));
    }
    for row in trees.rows(realm) {
        let row = row?;
        let checked = match records::table_with(&row.key) {
            Some(table) => (table.check)(&known, &row.key, &row.value),
            None => Err("it is of no known table".into()),
        };
        match checked {
            Ok(()) => found.rows += 1,
            Err(why) => found.add(&row.key, &why),
        }
    }
    check_messages(trees, realm, &mut found)?;
    Ok(found)
}

/// Messages that name files exist; a file counts as unclaimed if and only if no message names it; no two files have one path.
fn check_claims(
    trees: &Trees,
    realm: RealmId,
    sent: &BTreeMap<MessageId, u64>,
    found: &mut Comparison,
) -> Result<(), StoreError> {
    let mut claimed: BTreeSet<AttachmentId> = BTreeSet::new();
    for row in readable::<AttachmentClaims>(trees, realm) {
        let (key, (file, message), _) = row?;
        claimed.insert(file);
        if !sent.contains_key(&message) {
            found.add(&key, &format!("message {message} names a file, but is not there"));
        }
    }
    let mut paths = BTreeSet::new();
    for row in readable::<Attachments>(trees, realm) {
        let (key, id, file) = row?;
        if claimed.contains(&id) == file.unclaimed_since.is_some() {
            found.add(&key, "does not agree with the messages that name it");
        }
        if !paths.insert(file.path_id) {
            found.add(&key, "has the path of another file");
        }
    }
    Ok(())
}

/// A row's encoded key, its key and its value.
type ReadableRow<R> = (Vec<u8>, <R as Record>::Key, <R as Record>::Value);

/// The rows of a table that can be decoded; the others are already in the report.
fn readable<R: Record>(
    trees: &Trees,
    realm: RealmId,
) -> impl Iterator<Item = Result<ReadableRow<R>, StoreError>> {
    trees.table::<R>(realm).filter_map(|row| match row {
        Ok(row) => {
            let (key, value) = (fields_of(&row.key)?, R::Value::decode(&row.value, R::NAME).ok()?);
            Some(Ok((row.key, key, value)))
        }
        Err(error) => Some(Err(error)),
    })
}

/// Compares bodies and index entries: both tables have the same messages and agree on them. Changed messages exist, and
/// deleted ones do not.
fn check_messages(trees: &Trees, realm: RealmId, found: &mut Comparison) -> Result<(), StoreError> {
    let sent = check_pair(trees, realm, found)?;
    check_are_sent::<MessageVersions>(trees, realm, &sent, found)?;
    check_are_sent::<EditedMessages>(trees, realm, &sent, found)?;
    check_are_sent::<Reactions>(trees, realm, &sent, found)?;
    check_are_sent::<Submessages>(trees, realm, &sent, found)?;
    check_versions(trees, realm, found)?;
    check_claims(trees, realm, &sent, found)?;
    for row in readable::<DeletedMessages>(trees, realm) {
        let (key, Block(number), block) = row?;
        let mut deleted = RoaringBitmap::new();
        block.restore(&mut deleted, number);
        for id in deleted.iter().filter(|id| sent.contains_key(&MessageId(*id))) {
            found.add(&key, &format!("message {id} was deleted, but is there"));
        }
    }
    Ok(())
}

/// Whether the messages that the keys of a table begin with exist.
fn check_are_sent<R: Record>(
    trees: &Trees,
    realm: RealmId,
    sent: &BTreeMap<MessageId, u64>,
    found: &mut Comparison,
) -> Result<(), StoreError> {
    for row in trees.table::<R>(realm) {
        let key = row?.key;
        let id: MessageId = first_field_of(&key).unwrap_or_default();
        if !sent.contains_key(&id) {
            found.add(&key, &format!("message {id} was changed, but is not there"));
        }
    }
    Ok(())
}

/// Each edited message has all of its versions, and its index entry agrees with the newest.
fn check_versions(trees: &Trees, realm: RealmId, found: &mut Comparison) -> Result<(), StoreError> {
    let mut newest: BTreeMap<MessageId, EditedRow> = BTreeMap::new();
    for row in readable::<MessageVersions>(trees, realm) {
        let (key, (id, _), version) = row?;
        let entry = EditedRow { version: version.number, traits: version.traits };
        let before = newest.insert(id, entry);
        if before.map_or(0, |before| before.version) + 1 != version.number {
            found.add(&key, "has no version before it");
        }
    }
    for row in readable::<EditedMessages>(trees, realm) {
        let (key, id, entry) = row?;
        if newest.remove(&id) != Some(entry) {
            found.add(&key, "does not agree with the newest version");
        }
    }
    for (id, row) in newest {
        let key = Key::new(realm, MessageVersions::ID, &(id, Number(row.version)));
        found.add(key.as_bytes(), &format!("message {id} has no index entry of its edits"));
    }
    Ok(())
}

fn check_pair(
    trees: &Trees,
    realm: RealmId,
    found: &mut Comparison,
) -> Result<BTreeMap<MessageId, u64>, StoreError> {
    let of_bodies = entries::<Messages, Message>(trees, realm, |message| MessageIndexRow::from(&message))?;
    let of_entries = entries::<records::MessageIndex, MessageIndexRow>(trees, realm, |entry| entry)?;
    for (id, body) in &of_bodies {
        let key = Key::new(realm, Messages::ID, id);
        match of_entries.get(id) {
            None => found.add(key.as_bytes(), &format!("message {id} has no index entry")),
            Some(entry) if body != entry => {
                found.add(key.as_bytes(), &format!("message {id} does not agree with its index entry"));
            }
            Some(_) => {}
        }
    }
    for id in of_entries.keys().filter(|id| !of_bodies.contains_key(id)) {
        let key = Key::new(realm, records::MessageIndex::ID, id);
        found.add(key.as_bytes(), &format!("index entry {id} belongs to no message"));
    }
    Ok(of_bodies)
}

/// A fingerprint of each message's index entry, stored or derived from its body. Entries that cannot be decoded are
/// already in the report.
fn entries<R: Record, T: StoredValue>(
    trees: &Trees,
    realm: RealmId,
    index_row: fn(T) -> MessageIndexRow,
) -> Result<BTreeMap<MessageId, u64>, StoreError> {
    let mut found = BTreeMap::new();
    for row in trees.table::<R>(realm) {
        let row = row?;
        let Ok(row) = plain(&row.value) else { continue };
        for (id, record) in chunk::entries(&row).flatten() {
            if let Ok(record) = T::decode(record, R::NAME) {
                found.insert(id, xxhash_rust::xxh3::xxh3_64(&encode(&index_row(record))?));
            }
        }
    }
    Ok(found)
}
