//! In which organizations of a server the accounts with an e-mail address are, so that a login with the address of another
//! organization need not ask each of them.

use model::{Directory, RealmId};
use parking_lot::RwLock;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

/// The addresses of all accounts by hash, with their organizations: 16 bytes for each. What it finds has to be compared, because
/// different addresses may have one hash. Artificial addresses are not in it: they are those of one organization.
#[derive(Debug, Default)]
pub struct AddressIndex {
    hasher: RandomState,
    known: RwLock<BTreeSet<(u64, RealmId)>>,
}

impl AddressIndex {
    /// Adds all accounts of an organization.
    pub fn add_all(&self, directory: &Directory) {
        let realm = directory.realm().id;
        let hashes: Vec<u64> = directory.users().map(|user| self.hash(&user.delivery_email)).collect();
        self.known.write().extend(hashes.into_iter().map(|hash| (hash, realm)));
    }

    /// Removes all accounts of an organization, which is on another machine now.
    #[cfg(any(feature = "cluster", test))]
    pub fn remove_all(&self, realm: RealmId) {
        self.known.write().retain(|(_, known)| *known != realm);
    }

    /// Adds the address of an account.
    pub fn add(&self, realm: RealmId, address: &str) {
        let entry = (self.hash(address), realm);
        self.known.write().insert(entry);
    }

    /// Removes the address of an account, which has another one now.
    pub fn remove(&self, realm: RealmId, address: &str) {
        let entry = (self.hash(address), realm);
        self.known.write().remove(&entry);
    }

    /// The organizations that may have an account with an address, by id.
    pub fn realms_of(&self, address: &str) -> Vec<RealmId> {
        let hash = self.hash(address);
        let known = self.known.read();
        known.range((hash, RealmId(0))..=(hash, RealmId(u32::MAX))).map(|(_, realm)| *realm).collect()
    }

    /// Upper and lower case are the same.
    fn hash(&self, address: &str) -> u64 {
        self.hasher.hash_one(address.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn addresses_are_found_in_their_organizations_only() {
        let index = AddressIndex::default();
        index.add(RealmId(2), "Olga@x.org");
        index.add(RealmId(1), "olga@x.org");
        index.add(RealmId(1), "olga@x.org");
        index.add(RealmId(3), "ida@x.org");
        assert_eq!(index.realms_of("OLGA@X.ORG"), [RealmId(1), RealmId(2)]);
        assert!(index.realms_of("nora@x.org").is_empty());
        index.remove(RealmId(1), "olga@x.org");
        assert_eq!(index.realms_of("olga@x.org"), [RealmId(2)]);
        index.remove_all(RealmId(2));
        assert_eq!((index.realms_of("olga@x.org"), index.realms_of("ida@x.org")), (vec![], vec![RealmId(3)]));
    }

    #[test]
    fn all_accounts_of_an_organization_are_added() {
        let (index, view) = (AddressIndex::default(), fixture::view());
        index.add_all(&view.directory);
        for user in view.directory.users() {
            assert_eq!(index.realms_of(&user.delivery_email), [view.directory.realm().id], "{user:?}");
        }
    }
}
