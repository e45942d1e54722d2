//! What follows a published frame: the lookup of API keys.

use crate::shared::RealmShared;
use model::{Fact, Frame, UserFact};

/// A new API key is valid once it is durable; the lookup must know it before the response is sent.
pub(super) fn note_keys(realm: &RealmShared, frame: &Frame) {
    for fact in &frame.facts {
        if let Fact::User(UserFact::Created(user) | UserFact::Changed(user)) = fact {
            realm.credentials.add(realm.id, user);
        }
    }
}
