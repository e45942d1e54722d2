//! The view in checkpoints: small tables as their rows, everything that grows with the number of messages as sets.

use super::key::Key;
use super::record::{Record, StoredValue};
use super::records::{self, TABLES};
use super::{OpenChunks, View};
use crate::checkpoint::SmallRows;
use crate::checkpoint::codec::{Input, Output, Saved, saved};
use crate::codec;
use crate::error::StoreError;
use model::RealmId;
use std::io;

saved!(OpenChunks { bodies, index_rows });

impl View {
    /// A view with what the rows of small tables hold; `None` if the organization's own record or the progress is missing.
    pub(crate) fn from_small_rows(realm: RealmId, rows: &SmallRows) -> Result<Option<Self>, StoreError> {
        let own = rows.get(Key::table(realm, records::Realm::ID).as_bytes());
        let progress = rows.get(Key::table(realm, records::Progress::ID).as_bytes());
        let (Some(own), Some(_)) = (own, progress) else { return Ok(None) };
        let mut view = Self::empty(StoredValue::decode(own, records::Realm::NAME)?);
        for table in TABLES.iter().filter(|table| !table.is_in_sets) {
            let Some(load) = table.load else { continue };
            let prefix = Key::table(realm, table.id).into_bytes();
            for (key, value) in rows.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix)) {
                load(&mut view, key, value)?;
            }
        }
        Ok(Some(view))
    }

    /// Updates the row of the progress, which is not among the changes of a frame.
    pub(crate) fn put_progress(&self, rows: &mut SmallRows) -> Result<(), StoreError> {
        let key = Key::table(self.realm(), records::Progress::ID).into_bytes();
        rows.insert(key, codec::encode(&self.progress)?);
        Ok(())
    }

    /// Writes everything that is not in the rows of small tables. A field that is not named here does not compile.
    pub(crate) fn save_sets(&self, out: &mut Output<'_>) -> io::Result<()> {
        let Self {
            // In rows.
            directory: _,
            queues: _,
            pending_reads: _,
            jobs: _,
            claims: _,
            audit_log: _,
            progress: _,
            // In the trees, which have all frames of a checkpoint.
            recent: _,
            versions: _,
            messages,
            chunks,
            edited,
            with_submessage,
            deleted,
            moves,
            arrivals,
        } = self;
        messages.save(out)?;
        chunks.save(out)?;
        edited.save(out)?;
        with_submessage.save(out)?;
        deleted.save(out)?;
        moves.save(out)?;
        arrivals.save(out)
    }

    /// Reads back what `save_sets` has written; `None` when it is something else.
    pub(crate) fn load_sets(&mut self, input: &mut Input<'_>) -> Option<()> {
        self.messages = Saved::load(input)?;
        self.chunks = Saved::load(input)?;
        self.edited = Saved::load(input)?;
        self.with_submessage = Saved::load(input)?;
        self.deleted = Saved::load(input)?;
        self.moves = Saved::load(input)?;
        self.arrivals = Saved::load(input)?;
        Some(())
    }

    /// Brings the sets into their smallest form.
    pub(crate) fn optimize(&mut self) {
        self.messages.optimize();
    }
}
