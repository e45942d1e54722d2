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

/// A permit for one piece of work, released when it is dropped.
#[derive(Debug)]
pub struct FairPermit {
    _organization: Option<Permit>,
    _client: Permit,
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

/// A permit of a client, or of its organization; while `permit` is none, a request that waits for one.
#[derive(Debug)]
struct Permit {
    key: Key,
    entries: Arc<Mutex<HashMap<Key, Entry>>>,
    permit: Option<OwnedSemaphorePermit>,
}

impl FairQueue {
    /// A queue with these limits.
    pub fn new(limits: FairQueueLimits) -> Self {
        Self { limits, entries: Arc::default() }
    }

    /// Waits for a permit.
    ///
    /// # Errors
    /// If too many requests of the client wait already.
    pub async fn acquire(&self, client: Holder) -> Result<FairPermit, TooManyWaiting> {
        let FairQueueLimits { client_max, client_waiting_max, organization_max } = self.limits;
        let of_client = self.acquire_by(Key::Client(client), client_max, client_waiting_max).await?;
        // At most `client_max` requests of each client wait here.
        let of_organization = match client {
            Holder::Account(realm, _) => {
                Some(self.acquire_by(Key::Organization(realm), organization_max, usize::MAX).await?)
            }
            Holder::Network(_) | Holder::Server => None,
        };
        Ok(FairPermit { _organization: of_organization, _client: of_client })
    }

    async fn acquire_by(
        &self,
        key: Key,
        permits_max: usize,
        requests_max: usize,
    ) -> Result<Permit, TooManyWaiting> {
        let (mut permit, permits) = {
            let mut entries = self.entries.lock();
            let entry = entries
                .entry(key)
                .or_insert_with(|| Entry { requests: 0, permits: Arc::new(Semaphore::new(permits_max)) });
            if entry.requests >= requests_max {
                return Err(TooManyWaiting);
            }
            entry.requests += 1;
            (Permit { key, entries: self.entries.clone(), permit: None }, entry.permits.clone())
        };
        // The semaphore is never closed.
        permit.permit = permits.acquire_owned().await.ok();
        Ok(permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.permit = None;
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
}
