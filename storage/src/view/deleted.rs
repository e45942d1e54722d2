//! Deleted messages are removed from memory and from the trees. The journal has them until they are erased (`erase`).

use super::arrivals::ids_of;
use super::chunk::OpenChunk;
use super::flag_blocks::{FlagBlock, blocks_of};
use super::key::Block;
use super::record::Record;
use super::{Rows, View, records};
use crate::error::StoreError;
use model::fact::DeletedFrom;
use model::{MessageId, MessageRanges, RealmId, UserId};
use roaring::RoaringBitmap;
use std::collections::BTreeSet;

impl View {
    /// The ids of all deleted messages.
    pub fn deleted_messages(&self) -> &RoaringBitmap {
        &self.deleted
    }

    /// The messages whose content was edited.
    pub fn edited_messages(&self) -> &RoaringBitmap {
        &self.edited
    }

    pub(super) fn apply_deleted(
        &mut self,
        from: &DeletedFrom,
        messages: &MessageRanges,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let gone = ids_of(messages) & &self.messages.all;
        self.remove_changes(&gone, rows);
        let in_memory = gone.iter().filter_map(|id| self.recent.get(MessageId(id)));
        let senders: BTreeSet<UserId> = in_memory.map(|message| message.sender).collect();
        let in_others = self.messages.remove(&gone, from, &senders);
        if let DeletedFrom::Topic { channel, .. } = from {
            self.arrivals.leave(*channel, &gone);
        }
        if !in_others.is_empty() {
            self.arrivals.forget(&in_others);
        }
        self.moves.forget(&gone);
        for id in &gone {
            self.recent.remove(MessageId(id));
        }
        let realm = self.realm();
        erase_entries::<records::Messages>(realm, &mut self.chunks.bodies, &gone, rows)?;
        erase_entries::<records::MessageIndex>(realm, &mut self.chunks.index_rows, &gone, rows)?;
        self.deleted |= &gone;
        for block in blocks_of(&gone) {
            let block_now = FlagBlock::of(&self.deleted, block, self.messages.last);
            rows.put::<records::DeletedMessages>(realm, &Block(block), &block_now)?;
        }
        Ok(())
    }
}

/// Removes messages from a table of chunks: here from the newest chunk, and by the writer of the trees from the others.
fn erase_entries<R: Record<Key = MessageId>>(
    realm: RealmId,
    newest: &mut OpenChunk,
    gone: &RoaringBitmap,
    rows: &mut Rows,
) -> Result<(), StoreError> {
    let mut others = gone.clone();
    others.remove_range(newest.first().0..);
    rows.erase::<R>(realm, others);
    if newest.erase(|id| gone.contains(id.0))? {
        rows.put_bytes::<R>(realm, &newest.first(), newest.bytes().to_vec());
    }
    Ok(())
}
