//! What follows a published frame: the rows of the trees.

use super::Committer;
use crate::health::Pause;
use storage::Applied;

impl Committer {
    /// Sends rows to the trees. Frames are durable without them: missing rows are restored from the journal once the
    /// trees work again.
    pub(super) fn forward_to_projection(&self, applied: Vec<Applied>) -> Result<(), Pause> {
        let projection = self.projection.borrow();
        let Some(projection) = projection.as_ref() else { return Ok(()) };
        if applied.into_iter().try_for_each(|applied| projection.send(applied)).is_ok() {
            return Ok(());
        }
        let is_full = projection.failure().is_some_and(|failure| failure.is_full);
        Err(if is_full { Pause::DiskFull } else { Pause::TreesFailed })
    }
}
