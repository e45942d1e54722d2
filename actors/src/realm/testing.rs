//! Deciding commands of the organization in tests, without its actor.

use super::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use crate::shard::Sequencer;
use crate::shared::RealmShared;
use model::{Fact, RecipientId, UserId};
use std::sync::Arc;

/// Decides a command from the durable state.
pub(crate) fn decide<C: SerializedCommand>(
    realm: &Arc<RealmShared>,
    command: C,
) -> Result<(C::Outcome, Vec<Fact>), DomainError> {
    decide_with(realm, command, &|_| None)
}

/// Decides a command from the durable state and direct conversations that are not durable yet.
pub(crate) fn decide_with<C: SerializedCommand>(
    realm: &Arc<RealmShared>,
    command: C,
    uncommitted_direct: &dyn Fn(&[UserId]) -> Option<RecipientId>,
) -> Result<(C::Outcome, Vec<Fact>), DomainError> {
    let (directory, now) = (realm.directory(), realm.clock.now());
    let ids = Sequencer::after(&realm.view.read());
    let mut context = DecisionContext { realm, directory, now, ids, uncommitted_direct };
    command.decide(&mut context)
}
