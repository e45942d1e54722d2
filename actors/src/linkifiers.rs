//! The organization's linkifiers, compiled once for all messages until they change.

use model::RealmLists;
use parking_lot::Mutex;
use rules::linkifiers::compile_linkifiers;
use rules::markdown::Linkifier;
use std::sync::Arc;

/// The compiled linkifiers of one organization.
#[derive(Default)]
pub struct LinkifierCache(Mutex<Option<Compiled>>);

struct Compiled {
    from: Arc<RealmLists>,
    all: Arc<[Linkifier]>,
}

impl LinkifierCache {
    /// The linkifiers of a snapshot, in the order in which they apply.
    pub fn of(&self, lists: &Arc<RealmLists>) -> Arc<[Linkifier]> {
        let mut cached = self.0.lock();
        if let Some(known) = cached.as_mut().filter(|known| known.from.linkifiers == lists.linkifiers) {
            return known.all.clone();
        }
        let all: Arc<[Linkifier]> = compile_linkifiers(&lists.linkifiers).into();
        *cached = Some(Compiled { from: lists.clone(), all: all.clone() });
        all
    }
}
