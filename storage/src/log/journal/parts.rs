//! The sealed parts of an open journal, for erasing.

use std::sync::atomic::Ordering;

use super::Journal;
use crate::log::erase::{self, ErasedPart, Eraser, LogParts, SealedPart, Visitor};
use crate::log::{LogError, RealmLog};

impl LogParts for Journal {
    fn seal(&self, realm: u32) -> Result<(), LogError> {
        let before = self.shared.durable.lock().seals;
        self.shared.is_seal_wanted.store(true, Ordering::Relaxed);
        // A group is written, but nothing is trimmed.
        let (first, _) = self.shared.durable.lock().index.bounds(realm);
        self.trim(realm, first)?;
        let mut durable = self.shared.durable.lock();
        durable.waiters += 1;
        while durable.seals == before && !durable.is_stopped {
            self.shared.durable_changed.wait(&mut durable);
        }
        durable.waiters -= 1;
        let is_sealed = durable.seals > before;
        drop(durable);
        if is_sealed { Ok(()) } else { Err(self.shared.appends.lock().unavailable()) }
    }

    fn sealed(&self) -> Result<Vec<SealedPart>, LogError> {
        erase::sealed(&self.folder)
    }

    fn visit(
        &self,
        number: u64,
        visit: &mut Visitor<'_>,
        pace: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, LogError> {
        erase::visit(&self.folder, number, visit, pace)
    }

    fn erase(
        &self,
        number: u64,
        eraser: &mut Eraser<'_>,
        pace: &mut dyn FnMut(u64) -> bool,
    ) -> Result<ErasedPart, LogError> {
        let _one = self.compacting.lock();
        self.compaction().erase(number, eraser, pace)
    }

    fn remove_originals(&self, at_once: bool) -> Result<Vec<u64>, LogError> {
        let _one = self.compacting.lock();
        self.compaction().remove_originals(at_once)
    }
}
