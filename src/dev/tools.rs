//! What a development server offers to those who test clients with it: faults on demand, a record of the calls, and a
//! clock that can be moved. Other servers have none of it.

use super::calls::CallLog;
use super::faults::Faults;
use super::seed::SeedDocument;
use actors::ShiftedClock;
use model::RealmId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The tools of a development server.
pub struct DevTools {
    pub clock: Arc<ShiftedClock>,
    pub faults: Faults,
    pub calls: CallLog,
    /// What new organizations get, unless they are given a seed of their own.
    pub seed: Arc<SeedDocument>,
    /// The seeds of organizations that have one of their own.
    own_seeds: Mutex<HashMap<RealmId, Arc<SeedDocument>>>,
}

impl DevTools {
    /// Tools without faults and calls, and a clock that shows the right time.
    pub fn new(clock: Arc<ShiftedClock>, seed: Arc<SeedDocument>) -> Self {
        Self {
            clock,
            faults: Faults::default(),
            calls: CallLog::default(),
            seed,
            own_seeds: Mutex::default(),
        }
    }

    /// Remembers the seed of an organization.
    pub fn set_seed(&self, realm: RealmId, seed: Arc<SeedDocument>) {
        if !Arc::ptr_eq(&seed, &self.seed) {
            self.own_seeds.lock().insert(realm, seed);
        }
    }

    /// The seed of an organization.
    pub fn seed_of(&self, realm: RealmId) -> Arc<SeedDocument> {
        self.own_seeds.lock().get(&realm).unwrap_or(&self.seed).clone()
    }
}
