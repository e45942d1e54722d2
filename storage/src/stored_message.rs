//! Reading a message from the trees: the message as it was sent, and the rows of its later changes.

use crate::error::StoreError;
use crate::projection::Trees;
use crate::view::key::{Key, Number};
use crate::view::packed::read_bodies;
use crate::view::record::{Record, StoredValue, decode_key};
use crate::view::records::{EditedMessages, MessageVersions, Messages, Reactions, Submessages};
use crate::view::{Changes, EditedRow, ReactionRow, Row};
use model::{HistoryBound, Message, MessageId, MessageVersion, RealmId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Versions of a message that may not be in the trees yet, by number.
pub type PendingVersions = BTreeMap<u32, Arc<MessageVersion>>;

impl Trees {
    /// Those of some messages (ascending) that were not deleted, as they were sent. See `complete` for later changes of them.
    ///
    /// One look-up for each chunk, of which only the blocks with wanted messages are decompressed: pages of messages that are
    /// far from each other have as many chunks as messages.
    ///
    /// # Errors
    /// [`StoreError::Trees`], [`StoreError::TreesClosed`], [`StoreError::TreesRebuilding`], and [`StoreError::Decode`] for a
    /// damaged row.
    pub fn messages_as_sent(&self, realm: RealmId, ids: &[MessageId]) -> Result<Vec<Message>, StoreError> {
        if ids.is_empty() {
            // Pages of messages that are in memory are read while the trees are closed, too.
            return Ok(Vec::new());
        }
        let tree = self.readable()?;
        let table = Key::table(realm, Messages::ID);
        let (mut found, mut left) = (Vec::with_capacity(ids.len()), ids);
        while let Some(first) = left.first() {
            // The chunk that has it, if it is stored: the last one that begins at or before it.
            let key = Key::new(realm, Messages::ID, first);
            let chunk = tree.range(table.as_bytes()..=key.as_bytes()).next_back().transpose()?;
            let last = match chunk {
                Some((_, chunk)) => read_bodies(&chunk, left, &mut found)?.max(*first),
                None => *first,
            };
            left = &left[left.partition_point(|id| *id <= last)..];
        }
        Ok(found)
    }

    /// A message as it was sent; `None` if it was deleted.
    ///
    /// # Errors
    /// Those of [`Self::messages_as_sent`].
    pub fn message_as_sent(&self, realm: RealmId, id: MessageId) -> Result<Option<Message>, StoreError> {
        Ok(self.messages_as_sent(realm, &[id])?.pop())
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;
    use crate::view::compression::counted;
    use crate::view::packed::{packed, plain};
    use model::UserId;

    const MESSAGES: u32 = 960;

    /// Trees with messages of one person, but for each 40th, which is of another.
    fn filled(folder: &std::path::Path) -> Trees {
        let (trees, mut run) = (trees(folder), Run::new(memory_log()));
        run.frame(first_facts());
        for id in 1..=MESSAGES {
            let content = noise_of(id, 80);
            let rendered = format!("<p>{content}</p>");
            run.frame(vec![sent(Message {
                content,
                rendered,
                ..channel_message(id, 1 + u32::from(id % 40 == 7), 1, "tea")
            })]);
        }
        run.write_all(&trees);
        trees
    }

    #[test]
    fn a_page_of_one_sender_decompresses_a_block_for_each_message() {
        let temp = tempfile::tempdir().unwrap();
        let trees = filled(temp.path());
        let chunks = trees.table::<Messages>(REALM).map(|row| plain(&row.unwrap().value).unwrap().len());
        let bytes_of_chunks: usize = chunks.sum();

        let page: Vec<MessageId> = (7..=MESSAGES).step_by(40).map(MessageId).collect();
        let (bytes, found) = counted::during(|| trees.messages_as_sent(REALM, &page).unwrap());
        assert_eq!(found.iter().map(|message| message.id).collect::<Vec<_>>(), page);
        assert!(found.iter().all(|message| message.sender == UserId(2)));
        // Each is in a chunk of its own, which has four blocks and less in them than before it was stored.
        assert!(bytes > 0 && bytes * 6 < bytes_of_chunks, "{bytes} of {bytes_of_chunks} bytes");

        let neighbors: Vec<MessageId> = (1..=MESSAGES).map(MessageId).collect();
        let (bytes, found) = counted::during(|| trees.messages_as_sent(REALM, &neighbors).unwrap());
        assert_eq!(found.len(), neighbors.len());
        assert!(bytes < bytes_of_chunks, "no block twice: {bytes} of {bytes_of_chunks} bytes");
    }

    /// How many chunks of bodies have each version that is stored.
    fn versions(trees: &Trees) -> BTreeMap<u8, usize> {
        let mut found = BTreeMap::new();
        for row in trees.table::<Messages>(REALM) {
            *found.entry(row.unwrap().value[0]).or_default() += 1;
        }
        found
    }

    #[test]
    fn chunks_of_the_version_before_are_read_and_become_blocks_when_rows_are_copied() {
        let temp = tempfile::tempdir().unwrap();
        let trees = filled(&temp.path().join("state"));
        let all: Vec<MessageId> = (1..=MESSAGES).map(MessageId).collect();
        let before = (trees.messages_as_sent(REALM, &all).unwrap(), versions(&trees)[&3]);
        let (rows, mut plain_bytes): (Vec<Row>, _) =
            (trees.table::<Messages>(REALM).collect::<Result<_, _>>().unwrap(), 0);
        for row in rows {
            let chunk = plain(&row.value).unwrap().into_owned();
            plain_bytes += chunk.len();
            trees.state().unwrap().insert(row.key, packed(chunk).unwrap()).unwrap();
        }
        assert_eq!(versions(&trees), [(2, before.1)].into());
        let (bytes, found) = counted::during(|| trees.messages_as_sent(REALM, &all).unwrap());
        assert_eq!((bytes, &found), (plain_bytes, &before.0), "each chunk once");

        assert!(trees.renew(&mut |_| true).unwrap());
        assert_eq!(versions(&trees), [(3, before.1)].into());
        assert_eq!(trees.messages_as_sent(REALM, &all).unwrap(), before.0);
    }

    #[test]
    fn messages_that_are_not_stored_are_left_out() {
        let temp = tempfile::tempdir().unwrap();
        let trees = filled(temp.path());
        let page = [0, 1, MESSAGES, MESSAGES + 1, u32::MAX].map(MessageId);
        let found = trees.messages_as_sent(REALM, &page).unwrap();
        assert_eq!(found.iter().map(|message| message.id.0).collect::<Vec<_>>(), [1, MESSAGES]);
        assert_eq!(trees.messages_as_sent(REALM, &[]).unwrap(), []);
        assert_eq!(trees.message_as_sent(REALM, MessageId(MESSAGES + 1)).unwrap(), None);
    }
}
