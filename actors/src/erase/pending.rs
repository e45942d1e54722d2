//! What is to be erased: what is deleted and was not erased before.

use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::server::Server;
use model::User;
use rules::settings::realm_text;
use std::collections::BTreeMap;
use storage::erase::{AccountErasure, EraseRecord, ErasureTargets, RealmRecord};

/// The number of deleted messages whose contents are not erased.
pub(super) fn messages(server: &Server, record: &EraseRecord) -> u64 {
    let of = |realm: &RealmHandle| {
        let known = record.realms.get(&realm.id().0);
        realm.read(|view| match known {
            Some(known) => (view.deleted_messages() - &known.messages).len(),
            None => view.deleted_messages().len(),
        })
    };
    server.realms().iter().map(of).sum()
}

/// What is to be erased of an organization.
pub(super) fn targets(
    server: &Server,
    realm: &RealmHandle,
    known: &RealmRecord,
) -> Result<ErasureTargets, DomainError> {
    Ok(ErasureTargets {
        messages: realm.read(|view| view.deleted_messages() - &known.messages),
        histories: histories(server, realm, known)?,
        accounts: accounts(realm, known),
        kept_until: server.seed_end(realm)?,
    })
}

/// The messages of which old versions are to be erased, with the oldest version that stays, if the organization shows them to
/// none.
fn histories(
    server: &Server,
    realm: &RealmHandle,
    known: &RealmRecord,
) -> Result<BTreeMap<u32, u32>, DomainError> {
    let is_erased = realm
        .read(|view| realm_text(view.directory.realm(), "message_edit_history_visibility_policy") != "all");
    if !is_erased || realm.read(|view| view.edited_messages().is_empty()) {
        return Ok(BTreeMap::new());
    }
    let mut found = BTreeMap::new();
    for row in server.trees.edited_versions(realm.id()) {
        let (id, newest) = row?;
        if known.histories.get(&id.0).is_none_or(|kept| *kept < newest) {
            found.insert(id.0, newest);
        }
    }
    Ok(found)
}

/// Deleted accounts whose data is to be erased.
fn accounts(realm: &RealmHandle, known: &RealmRecord) -> Vec<AccountErasure> {
    let directory = realm.directory();
    let deleted = directory.users().filter(|user| user.is_deleted() && !known.users.contains(user.id.0));
    deleted.map(|user| AccountErasure::new(User::clone(user), &directory)).collect()
}
