//! Loading an organization that this node does not have, or not far enough, from a checkpoint.

use super::SharedStore;
use crate::base::first_of;
use crate::error::StoreError;
use crate::log::RealmLog;
use crate::projection::Trees;
use crate::replay::replay_frames;
use crate::view::View;
use model::RealmId;

/// Whether the log has the frame after those that a view reflects, or ends with them.
///
/// # Errors
/// Those of the log.
pub fn is_continued(log: &dyn RealmLog, view: &View) -> Result<bool, StoreError> {
    Ok(view.progress.sequence.0 + 1 >= first_of(log, view.realm())?)
}

impl SharedStore {
    /// Brings an organization to a frame that the log continues: `view` is what the trees have; without one, or if the log does
    /// not have the frames after it any more, it comes from the newest checkpoint that is whole, else from the archived
    /// frames. `None`: the log has its first frame, and everything is read from there.
    ///
    /// # Errors
    /// [`StoreError::BaseMissing`] when the log does not have the first frames, and neither checkpoint nor archive is whole.
    pub fn load(
        &self,
        log: &dyn RealmLog,
        trees: &Trees,
        realm: RealmId,
        view: Option<View>,
    ) -> Result<Option<View>, StoreError> {
        let first = first_of(log, realm)?;
        if let Some(view) = view {
            if is_continued(log, &view)? {
                return Ok(Some(view));
            }
            trees.clear(realm)?;
        }
        if let Some(view) = self.load_checkpoint(log, trees, realm, first)? {
            return Ok(Some(view));
        }
        if first == 1 {
            return Ok(None);
        }
        tracing::warn!(%realm, first, "no checkpoint can be used; the organization is read from its first frame on");
        match self.load_archived(trees, realm, first - 1) {
            Err(error) if !trees.is_stopping() => {
                trees.clear(realm)?;
                Err(StoreError::BaseMissing { realm: realm.0, first, why: error.to_string() })
            }
            loaded => loaded,
        }
    }

    fn load_checkpoint(
        &self,
        log: &dyn RealmLog,
        trees: &Trees,
        realm: RealmId,
        first: u64,
    ) -> Result<Option<View>, StoreError> {
        let known = match self.checkpoints(realm) {
            Err(error) => {
                tracing::warn!(%realm, %error, "the checkpoints cannot be listed");
                Vec::new()
            }
            known => known?,
        };
        let bases = self.local(realm);
        let usable = known.into_iter().filter(|sequence| *sequence + 1 >= first);
        // A copy may be damaged where the original is whole: then it is copied again.
        let tries = usable.flat_map(|sequence| {
            std::iter::repeat_n(sequence, 1 + usize::from(bases.path(sequence).exists()))
        });
        for sequence in tries {
            let loaded = self
                .fetch(realm, sequence)
                .and_then(|()| bases.load(log, trees, (sequence, first)))
                .and_then(|()| trees.load(realm));
            match loaded {
                Ok(view) => return Ok(view),
                Err(error) => {
                    metrics::counter!("millstream_cluster_checkpoints_unusable_total").increment(1);
                    tracing::warn!(%realm, sequence, %error, "a checkpoint cannot be used");
                    trees.clear(realm)?;
                    if bases.path(sequence).exists() {
                        bases.remove(sequence)?;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Applies all archived frames up to `upto` to empty trees.
    fn load_archived(&self, trees: &Trees, realm: RealmId, upto: u64) -> Result<Option<View>, StoreError> {
        let frames = self.archived(realm, (1, upto))?;
        let goes_on = |_| Ok(!trees.is_stopping());
        replay_frames(frames, trees, (realm, upto), None, &goes_on)?.ok_or(StoreError::TreesClosed)
    }

    /// Removes copies of checkpoints that this node does not need after loading.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn forget_copies(&self, realm: RealmId) -> Result<(), StoreError> {
        let bases = self.local(realm);
        bases.sequences().into_iter().try_for_each(|sequence| bases.remove(sequence))
    }
}
