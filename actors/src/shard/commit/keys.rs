//! Applying a durable frame to memory, with what follows it there: the lookups of API keys and e-mail addresses.

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
    let left = left_addresses(view, frame);
    let rows = view.apply(view.progress.sequence.next(), frame)?;
    left.iter().for_each(|address| realm.addresses.remove(realm.id, address));
    note_accounts(realm, frame);
    let (progress, stored) = (view.progress, view.recent.stored());
    Ok(Applied { realm: realm.id, progress, rows, stored })
}

/// The addresses that accounts have no longer after a frame.
fn left_addresses(view: &View, frame: &Frame) -> Vec<String> {
    let left = |fact: &Fact| {
        let Fact::User(UserFact::Changed(user)) = fact else { return None };
        let before = &view.directory.user(user.id)?.delivery_email;
        (*before != user.delivery_email).then(|| before.clone())
    };
    frame.facts.iter().filter_map(left).collect()
}

/// A new API key is valid once it is durable; the lookup must know it before the response is sent.
fn note_accounts(realm: &RealmShared, frame: &Frame) {
    for fact in &frame.facts {
        if let Fact::User(UserFact::Created(user) | UserFact::Changed(user)) = fact {
            realm.credentials.add(realm.id, user);
            realm.addresses.add(realm.id, &user.delivery_email);
        }
    }
}
