//! The frames of a seed in the journal: where they begin and end.

use crate::error::DomainError;
use model::push::PushFact;
use model::{Fact, RealmFact, RealmId, Timestamp};
use storage::StoreError;
use storage::log::RealmLog;

/// The facts that reset an organization to its seed, frame by frame. What an interrupted start has left before the seed is not of it.
/// Links of e-mails that were requested before `now` have expired then.
pub(crate) fn reset_frames(
    log: &dyn RealmLog,
    realm: RealmId,
    now: Timestamp,
) -> Result<Vec<Vec<Fact>>, DomainError> {
    let mut frames = Vec::new();
    read_seed(log, realm, |facts| {
        if begins_organization(&facts) {
            frames.clear();
        }
        frames.push(facts);
    })?;
    let records = frames.iter_mut().flatten().filter_map(|fact| match fact {
        Fact::Realm(RealmFact::Created(record) | RealmFact::Changed(record)) => Some(record),
        _ => None,
    });
    if let Some(record) = records.last() {
        // One millisecond less: a link may be requested in the millisecond of a reset, after it.
        record.links_expired_until = Timestamp(now.0.saturating_sub(1));
    }
    Ok(frames)
}

/// Reads the frames with which an organization was created: those up to the one that ends its seed.
pub(crate) fn read_seed(
    log: &dyn RealmLog,
    realm: RealmId,
    mut read: impl FnMut(Vec<Fact>),
) -> Result<(), DomainError> {
    for frame in log.read(realm.0, 1).map_err(StoreError::from)? {
        let stored = frame.map_err(StoreError::from)?;
        let facts = storage::decode_frame(&stored.payload)?.facts;
        // Every other way to make an organization is recorded in the audit log.
        if facts.iter().any(|fact| matches!(fact, Fact::Audit(_))) {
            break;
        }
        let is_last = is_last_of_seed(&facts);
        read(facts);
        if is_last {
            return Ok(());
        }
    }
    Err(DomainError::NotSeeded)
}

/// Whether these are the last facts of a seed.
pub(crate) fn is_last_of_seed(facts: &[Fact]) -> bool {
    let is_end = |fact: &PushFact| matches!(fact, PushFact::NotificationCursorMoved(_));
    matches!(facts.last(), Some(Fact::Push(fact)) if is_end(fact))
}

/// Whether facts create an organization, also one that is there.
pub(crate) fn begins_organization(facts: &[Fact]) -> bool {
    matches!(facts.first(), Some(Fact::Realm(RealmFact::Created(_))))
}
