//! What a fact about an administrative act changes.

use super::acts::ACTS_BYTES_MAX;
use super::{Rows, View, records};
use crate::error::StoreError;
use model::{Act, RecordedAct, Sequence, Timestamp};

impl View {
    pub(super) fn apply_act(
        &mut self,
        sequence: Sequence,
        at: Timestamp,
        act: &Act,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        self.put::<records::Acts>(rows, sequence, RecordedAct { at, act: act.clone() })?;
        while let Some(oldest) = self.acts.surplus(ACTS_BYTES_MAX) {
            self.remove::<records::Acts>(rows, &oldest);
        }
        Ok(())
    }
}
