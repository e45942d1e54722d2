//! Requests in progress by organization: an organization is moved between requests, not below them.

use crate::handle::RealmHandle;
use model::RealmId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Notify;

#[derive(Default)]
struct Entry {
    count: usize,
    /// No request may begin.
    is_closed: bool,
}

#[derive(Default)]
pub(super) struct InFlightRequests {
    entries: Mutex<HashMap<RealmId, Entry>>,
    ended: Notify,
}

/// A request in progress.
pub struct RequestGuard {
    in_flight: Arc<InFlightRequests>,
    handle: RealmHandle,
}

impl RequestGuard {
    /// The organization that the request is for.
    pub fn realm(&self) -> RealmId {
        self.handle.id()
    }

    /// Whether the organization, as it runs here now, is that of when the request began.
    pub fn is_of(&self, now: Option<&RealmHandle>) -> bool {
        now.is_some_and(|now| Arc::ptr_eq(&now.shared, &self.handle.shared))
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.in_flight.leave(self.handle.id());
    }
}

impl InFlightRequests {
    /// Begins a request, unless the organization is about to be moved.
    pub fn enter(self: &Arc<Self>, handle: RealmHandle) -> Option<RequestGuard> {
        self.begin(handle.id()).then(|| RequestGuard { in_flight: self.clone(), handle })
    }

    fn begin(&self, realm: RealmId) -> bool {
        let mut entries = self.entries.lock();
        let entry = entries.entry(realm).or_default();
        entry.count += usize::from(!entry.is_closed);
        !entry.is_closed
    }

    fn leave(&self, realm: RealmId) {
        let mut entries = self.entries.lock();
        let Some(entry) = entries.get_mut(&realm) else { return };
        entry.count -= 1;
        if entry.count == 0 {
            if !entry.is_closed {
                entries.remove(&realm);
            }
            drop(entries);
            self.ended.notify_waiters();
        }
    }

    /// No request begins from here on.
    pub fn close(&self, realm: RealmId) {
        self.entries.lock().entry(realm).or_default().is_closed = true;
    }

    /// Requests may begin again.
    pub fn open(&self, realm: RealmId) {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.get_mut(&realm) {
            entry.is_closed = false;
            if entry.count == 0 {
                entries.remove(&realm);
            }
        }
    }

    /// Waits until no request is in progress.
    pub async fn ended(&self, realms: &[RealmId]) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            let is_any = realms
                .iter()
                .any(|realm| self.entries.lock().get(realm).is_some_and(|entry| entry.count > 0));
            if !is_any {
                return;
            }
            ended.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix::test]
    async fn closing_waits_for_requests_and_lets_none_begin() {
        let (in_flight, realm) = (Arc::new(InFlightRequests::default()), RealmId(1));
        assert!(in_flight.begin(realm) && in_flight.begin(realm));
        in_flight.close(realm);
        assert!(!in_flight.begin(realm));
        assert!(in_flight.begin(RealmId(2)));
        let waiting = in_flight.clone();
        let ended = actix::spawn(async move { waiting.ended(&[realm]).await });
        tokio::task::yield_now().await;
        in_flight.leave(realm);
        tokio::task::yield_now().await;
        assert!(!ended.is_finished());
        in_flight.leave(realm);
        ended.await.unwrap();
        in_flight.open(realm);
        assert!(in_flight.begin(realm));
    }
}
