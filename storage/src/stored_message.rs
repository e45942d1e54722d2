//! Reading a message from the trees: the message as it was sent, and the rows of its later changes.

use crate::error::StoreError;
use crate::projection::Trees;
use crate::view::key::{Key, Number};
use crate::view::record::{Record, StoredValue, decode_key};
use crate::view::records::{EditedMessages, MessageVersions, Reactions, Submessages};
use crate::view::{Changes, EditedRow, ReactionRow, Row};
use model::{HistoryBound, Message, MessageId, MessageVersion, RealmId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Versions of a message that may not be in the trees yet, by number.
pub type PendingVersions = BTreeMap<u32, Arc<MessageVersion>>;

impl Trees {
    /// A message with its edits, reactions and submessages, but without moves, which are not part of its record; `None` if
    /// it was deleted meanwhile.
    pub fn message(
        &self,
        realm: RealmId,
        id: MessageId,
        changes: Changes,
    ) -> Result<Option<Message>, StoreError> {
        let Some(mut message) = self.message_as_sent(realm, id)? else { return Ok(None) };
        let mut bound = HistoryBound::CARRIED;
        self.complete(realm, &mut message, changes, &mut bound)?;
        Ok(Some(message))
    }

    /// Adds later changes to a message as it was sent, with as much of its history as `bound` allows.
    pub fn complete(
        &self,
        realm: RealmId,
        message: &mut Message,
        changes: Changes,
        bound: &mut HistoryBound,
    ) -> Result<(), StoreError> {
        let id = message.id;
        if changes.is_edited {
            self.add_versions(realm, message, &PendingVersions::new(), bound)?;
            message.blank_history(changes.erased_before);
        }
        if changes.has_reactions {
            let mut rows: Vec<ReactionRow> = self.of_message::<Reactions>(realm, id)?;
            rows.sort_unstable_by_key(|row| row.added);
            message.reactions = rows.into_iter().map(|row| row.reaction).collect();
        }
        if changes.has_submessages {
            message.submessages.extend(self.of_message::<Submessages>(realm, id)?);
        }
        Ok(())
    }

    /// Replaces the content of a message as it was sent with its newest version and adds the newest steps of its history,
    /// reading one version after the other until `bound` is reached.
    pub fn add_versions(
        &self,
        realm: RealmId,
        message: &mut Message,
        unstored: &PendingVersions,
        bound: &mut HistoryBound,
    ) -> Result<(), StoreError> {
        let newest = match unstored.last_key_value() {
            Some((_, version)) => version.clone(),
            None => match self.newest_version(realm, message.id)? {
                Some(version) => Arc::new(version),
                None => return Ok(()),
            },
        };
        let mut current = newest.clone();
        while bound.is_open() && current.number > 0 {
            let before = match unstored.get(&(current.number - 1)) {
                Some(version) => version.clone(),
                None if current.number == 1 => Arc::new(MessageVersion::of(message)),
                None => match self.version(realm, message.id, current.number - 1)? {
                    Some(version) => Arc::new(version),
                    None => break,
                },
            };
            let step = current.step(&before.content, &before.rendered);
            if !bound.takes(&step) {
                break;
            }
            message.edits.push(step);
            current = before;
        }
        message.show(&newest);
        Ok(())
    }

    /// The edited messages, with the number of the newest version of each.
    pub fn edited_versions(
        &self,
        realm: RealmId,
    ) -> impl Iterator<Item = Result<(MessageId, u32), StoreError>> + use<> {
        self.table::<EditedMessages>(realm).map(|row| {
            let Row { key, value } = row?;
            let row: EditedRow = StoredValue::decode(&value, EditedMessages::NAME)?;
            Ok((decode_key::<EditedMessages>(&key)?, row.version))
        })
    }

    /// The content of a message after one of its edits.
    pub fn version(
        &self,
        realm: RealmId,
        id: MessageId,
        number: u32,
    ) -> Result<Option<MessageVersion>, StoreError> {
        let key = Key::new(realm, MessageVersions::ID, &(id, Number(number)));
        let row = self.readable()?.get(key.as_bytes())?;
        row.map(|bytes| StoredValue::decode(&bytes, MessageVersions::NAME)).transpose()
    }

    fn newest_version(&self, realm: RealmId, id: MessageId) -> Result<Option<MessageVersion>, StoreError> {
        let prefix = Key::new(realm, MessageVersions::ID, &id);
        let row = self.readable()?.scan_prefix(prefix.as_bytes()).next_back().transpose()?;
        row.map(|(_, bytes)| StoredValue::decode(&bytes, MessageVersions::NAME)).transpose()
    }

    /// The rows of a message in a table whose keys begin with the message, in key order.
    fn of_message<R: Record>(&self, realm: RealmId, id: MessageId) -> Result<Vec<R::Value>, StoreError> {
        let prefix = Key::new(realm, R::ID, &id);
        let rows = self.readable()?.scan_prefix(prefix.as_bytes());
        rows.map(|row| R::Value::decode(&row?.1, R::NAME)).collect()
    }
}
