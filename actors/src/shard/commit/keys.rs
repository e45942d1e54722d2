//! Applying a durable frame to memory, with what follows it there: the lookup of API keys.

use crate::error::DomainError;
use crate::shared::RealmShared;
use model::{Fact, Frame, UserFact};
use storage::{Applied, View};

/// Applies a frame; returns its changes of the trees.
pub(super) fn apply_frame(
    realm: &RealmShared,
    view: &mut View,
    frame: &Frame,
) -> Result<Applied, DomainError> {
    let rows = view.apply(view.progress.sequence.next(), frame)?;
    note_keys(realm, frame);
    let (progress, stored) = (view.progress, view.recent.stored());
    Ok(Applied { realm: realm.id, progress, rows, stored })
}

/// A new API key is valid once it is durable; the lookup must know it before the response is sent.
fn note_keys(realm: &RealmShared, frame: &Frame) {
    for fact in &frame.facts {
        if let Fact::User(UserFact::Created(user) | UserFact::Changed(user)) = fact {
            realm.credentials.add(realm.id, user);
        }
    }
}
