//! What a development server offers to those who test clients with it: faults on demand, a record of the calls, and a
//! clock that can be moved. Other servers have none of it.

use super::calls::CallLog;
use super::faults::Faults;
use super::leftovers::Leftovers;
use super::seed::SeedDocument;
use super::seed_store::SeedStore;
use actors::ShiftedClock;
use model::RealmId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// The tools of a development server.
pub struct DevTools {
    pub clock: Arc<ShiftedClock>,
    pub faults: Faults,
    pub calls: CallLog,
    pub leftovers: Leftovers,
    /// What new organizations get, unless they are given a seed of their own.
    pub seed: Arc<SeedDocument>,
    pub seed_store: SeedStore,
    /// The number in the newest subdomain `test-{number}`. Held while an organization is made.
    pub last_number: tokio::sync::Mutex<u32>,
    /// The seeds of organizations that have one of their own.
    own_seeds: Mutex<HashMap<RealmId, Arc<SeedDocument>>>,
}

impl DevTools {
    /// Tools without faults and calls, and a clock that shows the right time. Without a seed that was asked for it is the one
    /// that the data folder was made from, and for a new one the sample.
    pub fn new(clock: Arc<ShiftedClock>, seed: Option<Arc<SeedDocument>>, seed_store: SeedStore) -> Self {
        let begun = || seed_store.read(None).unwrap_or_else(SeedDocument::sample);
        Self {
            clock,
            faults: Faults::default(),
            calls: CallLog::default(),
            leftovers: Leftovers::default(),
            seed: seed.unwrap_or_else(|| Arc::new(begun())),
            seed_store,
            last_number: tokio::sync::Mutex::default(),
            own_seeds: Mutex::default(),
        }
    }

    /// Remembers the seed of an organization.
    ///
    /// # Errors
    /// Those of the file system, if the data is kept.
    pub fn set_seed(&self, realm: RealmId, seed: Arc<SeedDocument>) -> io::Result<()> {
        if Arc::ptr_eq(&seed, &self.seed) {
            // A call that failed may have left one for the same number.
            self.seed_store.remove(realm)?;
            self.own_seeds.lock().remove(&realm);
        } else {
            self.seed_store.write(Some(realm), &seed)?;
            self.own_seeds.lock().insert(realm, seed);
        }
        Ok(())
    }

    /// The seed of an organization.
    pub fn seed_of(&self, realm: RealmId) -> Arc<SeedDocument> {
        let known = self.own_seeds.lock().get(&realm).cloned();
        known.or_else(|| self.read_seed(realm)).unwrap_or_else(|| self.seed.clone())
    }

    /// The seed of an organization that an earlier run of the server made.
    fn read_seed(&self, realm: RealmId) -> Option<Arc<SeedDocument>> {
        let seed = Arc::new(self.seed_store.read(Some(realm))?);
        self.own_seeds.lock().insert(realm, seed.clone());
        Some(seed)
    }
}
