//! Deleted messages leave everything that is kept in memory, and their bodies leave the trees. The journal, which
//! is the audit trail, keeps them.

use super::arrivals::ids_of;
use super::flag_blocks::{FlagBlock, blocks_of};
use super::{Rows, View};
use crate::error::StoreError;
use crate::tables::{self, Table};
use model::{MessageId, MessageRanges};
use roaring::RoaringBitmap;

impl View {
    pub(super) fn apply_deleted(
        &mut self,
        messages: &MessageRanges,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let gone = ids_of(messages) & &self.messages.all;
        self.messages.remove(&gone);
        self.arrivals.forget(&gone);
        self.moves.forget(&gone);
        for id in &gone {
            self.recent.remove(MessageId(id));
        }
        let realm = self.realm();
        for id in (&self.changed & &gone).iter().map(MessageId) {
            rows.remove(tables::changed_message(realm, id));
            rows.remove(tables::changed_index(realm, id));
        }
        self.changed -= &gone;
        self.erase_entries(&gone, rows)?;
        self.deleted |= &gone;
        for block in blocks_of(&gone) {
            let block_now = FlagBlock::of(&self.deleted, block, self.messages.last);
            rows.put(tables::deleted(realm, block), &block_now)?;
        }
        Ok(())
    }

    fn erase_entries(&mut self, gone: &RoaringBitmap, rows: &mut Rows) -> Result<(), StoreError> {
        let realm = self.realm();
        let chunks = &mut self.chunks;
        for (table, open) in
            [(Table::Messages, &mut chunks.bodies), (Table::MessageIndex, &mut chunks.index_rows)]
        {
            let mut closed = gone.clone();
            closed.remove_range(open.first().0..);
            rows.erase(realm, table, closed);
            if open.erase(|id| gone.contains(id.0))? {
                rows.put_bytes(tables::chunk(realm, table, open.first()), open.bytes());
            }
        }
        Ok(())
    }

    /// Whether there was such a message and it was deleted.
    pub fn is_deleted(&self, id: MessageId) -> bool {
        self.deleted.contains(id.0)
    }
}
