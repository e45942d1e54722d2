//! Fair queues: permits for work that takes long, a few at a time for each client and for each organization, so that one with
//! much work does not delay the others.

use actors::budget::Holder;
use model::RealmId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Too many requests of a client wait for a permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many requests of this account wait for the same kind of work")]
pub struct TooManyWaiting;

/// The limits of one client, and of one organization.
#[derive(Clone, Copy, Debug)]
pub struct FairQueueLimits {
    /// Permits of a client: an account with its bots.
    pub client_max: usize,
    /// Requests of a client that have a permit or wait for one. Beyond it: refused.
    pub client_waiting_max: usize,
    /// Permits of an organization.
    pub organization_max: usize,
}

/// A fair queue for one kind of work. Cheap to clone; clients without requests take no memory.
#[derive(Clone, Debug)]
pub struct FairQueue {
    limits: FairQueueLimits,
    entries: Arc<Mutex<HashMap<Key, Entry>>>,
}

/// A request in the queue, until it is dropped. It may get several permits, one after the other.
#[derive(Debug)]
pub struct QueuedRequest {
    client: Holder,
    queue: FairQueue,
    counted: Arc<Counted>,
}

/// A permit for one piece of work, released when it is dropped.
#[derive(Debug)]
pub struct FairPermit {
    _organization: Option<(Option<OwnedSemaphorePermit>, Counted)>,
    _client: Option<OwnedSemaphorePermit>,
    /// Dropped last: the permits are of the semaphores that it keeps.
    _counted: Arc<Counted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Client(Holder),
    Organization(RealmId),
}

/// The requests of a client or an organization.
#[derive(Debug)]
struct Entry {
    requests: usize,
    permits: Arc<Semaphore>,
}

/// A request that is counted for a client or for its organization.
#[derive(Debug)]
struct Counted {
    key: Key,
    entries: Arc<Mutex<HashMap<Key, Entry>>>,
    permits: Arc<Semaphore>,
}

impl FairQueue {
    /// A queue with these limits.
    pub fn new(limits: FairQueueLimits) -> Self {
        Self { limits, entries: Arc::default() }
    }

    /// Counts a request of a client, which may then wait for permits.
    ///
    /// # Errors
    /// If too many of its requests wait already.
    pub fn enter(&self, client: Holder) -> Result<QueuedRequest, TooManyWaiting> {
        let FairQueueLimits { client_max, client_waiting_max, .. } = self.limits;
        let counted = self.count_below(client_waiting_max, Key::Client(client), client_max);
        let counted = counted.ok_or(TooManyWaiting)?;
        Ok(QueuedRequest { client, queue: self.clone(), counted: Arc::new(counted) })
    }

    /// Waits for the only permit of a request.
    ///
    /// # Errors
    /// If too many requests of the client wait already.
    pub async fn acquire(&self, client: Holder) -> Result<FairPermit, TooManyWaiting> {
        Ok(self.enter(client)?.permit().await)
    }

    /// Counts a request, unless there are so many already.
    fn count_below(&self, requests_max: usize, key: Key, permits_max: usize) -> Option<Counted> {
        let mut entries = self.entries.lock();
        let requests = entries.get(&key).map_or(0, |entry| entry.requests);
        (requests < requests_max).then(|| self.count_in(&mut entries, key, permits_max))
    }

    fn count_in(&self, entries: &mut HashMap<Key, Entry>, key: Key, permits_max: usize) -> Counted {
        let entry = entries
            .entry(key)
            .or_insert_with(|| Entry { requests: 0, permits: Arc::new(Semaphore::new(permits_max)) });
        entry.requests += 1;
        Counted { key, entries: self.entries.clone(), permits: entry.permits.clone() }
    }
}

impl QueuedRequest {
    /// Waits for a permit. The request that has waited longest is next, in the client and in its organization.
    pub async fn permit(&self) -> FairPermit {
        let client = self.counted.permit().await;
        // At most `client_max` requests of each client wait here, and organizations may have any number.
        let organization = match self.client {
            Holder::Account(realm, _) => {
                let FairQueue { limits, entries } = &self.queue;
                let (key, max) = (Key::Organization(realm), limits.organization_max);
                let counted = self.queue.count_in(&mut entries.lock(), key, max);
                Some((counted.permit().await, counted))
            }
            Holder::Network(_) | Holder::Server => None,
        };
        FairPermit { _organization: organization, _client: client, _counted: self.counted.clone() }
    }
}

impl Counted {
    /// Waits for a permit; it is none only of a semaphore that was closed, and these are never closed.
    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        self.permits.clone().acquire_owned().await.ok()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut entries = self.entries.lock();
        let left = entries.get_mut(&self.key).map(|entry| {
            entry.requests -= 1;
            entry.requests
        });
        if left == Some(0) {
            entries.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use model::UserId;

    fn account(realm: u32, user: u32) -> Holder {
        Holder::Account(RealmId(realm), UserId(user))
    }

    #[tokio::test]
    async fn permits_are_limited_by_client_and_by_organization() {
        let limits = FairQueueLimits { client_max: 1, client_waiting_max: 2, organization_max: 2 };
        let queue = FairQueue::new(limits);
        let first = queue.acquire(account(1, 1)).await.unwrap();
        let mut second = Box::pin(queue.acquire(account(1, 1)));
        assert!(second.as_mut().now_or_never().is_none(), "it waits for the first one");
        assert_eq!(queue.acquire(account(1, 1)).await.err(), Some(TooManyWaiting));
        let other = queue.acquire(account(1, 2)).await.unwrap();
        let mut third = Box::pin(queue.acquire(account(1, 3)));
        assert!(third.as_mut().now_or_never().is_none(), "the organization has two permits");
        assert!(queue.acquire(account(2, 1)).now_or_never().is_some_and(|permit| permit.is_ok()));
        assert!(queue.acquire(Holder::address(None)).now_or_never().is_some_and(|permit| permit.is_ok()));
        drop(other);
        let third = third.await.unwrap();
        drop(second);
        drop((first, third));
        assert!(queue.entries.lock().is_empty(), "nothing is left");
    }

    #[tokio::test]
    async fn a_request_with_much_work_lets_others_between() {
        let limits = FairQueueLimits { client_max: 1, client_waiting_max: 1, organization_max: 1 };
        let queue = FairQueue::new(limits);
        let long = queue.enter(account(1, 1)).unwrap();
        let first = long.permit().await;
        let mut other = Box::pin(queue.acquire(account(1, 2)));
        assert!(other.as_mut().now_or_never().is_none(), "the organization has one permit");
        drop(first);
        let mut second = Box::pin(long.permit());
        assert!(second.as_mut().now_or_never().is_none(), "the other client has waited longer");
        let other = other.await.unwrap();
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(
            queue.enter(account(1, 1)).err(),
            Some(TooManyWaiting),
            "it waits between its permits, too"
        );
        drop(other);
        let second = second.await;
        drop((long, second));
        assert!(queue.entries.lock().is_empty(), "nothing is left");
    }
}
