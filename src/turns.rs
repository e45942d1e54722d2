//! Turns in a line of work: each client has a few pieces of work in the line at a time, and so does each organization. Its other
//! requests wait beside the line, so that one with much work does not hold up the others.

use actors::budget::Holder;
use model::RealmId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use thiserror::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Too many requests of a client wait for their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("too many requests of this account wait for the same kind of work")]
pub struct TooManyWaiting;

/// What one client, or one organization, may have at a time.
#[derive(Clone, Copy, Debug)]
pub struct TurnLimits {
    /// Requests of a client, an account with its bots, that are in the line.
    pub client_max: usize,
    /// Requests of a client that are in the line or wait for it. Beyond it: refused.
    pub client_waiting_max: usize,
    /// Requests of an organization that are in the line.
    pub organization_max: usize,
}

/// The turns in one line of work. Cheap to clone; those without requests take no memory.
#[derive(Clone, Debug)]
pub struct Turns {
    limits: TurnLimits,
    waiting: Arc<Mutex<HashMap<Key, Waiting>>>,
}

/// Whose turn it is, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _organization: Option<Part>,
    _client: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    Client(Holder),
    Organization(RealmId),
}

#[derive(Debug)]
struct Waiting {
    requests: usize,
    permits: Arc<Semaphore>,
}

/// The turn of a client, or of its organization.
#[derive(Debug)]
struct Part {
    key: Key,
    waiting: Arc<Mutex<HashMap<Key, Waiting>>>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// Turns with these limits.
    pub fn new(limits: TurnLimits) -> Self {
        Self { limits, waiting: Arc::default() }
    }

    /// Waits until a client may enter the line.
    ///
    /// # Errors
    /// If too many of its requests wait already.
    pub async fn wait(&self, client: Holder) -> Result<Turn, TooManyWaiting> {
        let TurnLimits { client_max, client_waiting_max, organization_max } = self.limits;
        let of_client = self.part(Key::Client(client), client_max, client_waiting_max).await?;
        // No more than one request of each client in the line waits here.
        let of_organization = match client {
            Holder::Account(realm, _) => {
                Some(self.part(Key::Organization(realm), organization_max, usize::MAX).await?)
            }
            Holder::Network(_) | Holder::Server => None,
        };
        Ok(Turn { _organization: of_organization, _client: of_client })
    }

    async fn part(&self, key: Key, at_once: usize, waiting_max: usize) -> Result<Part, TooManyWaiting> {
        let (mut part, permits) = {
            let mut waiting = self.waiting.lock();
            let entry = waiting
                .entry(key)
                .or_insert_with(|| Waiting { requests: 0, permits: Arc::new(Semaphore::new(at_once)) });
            if entry.requests >= waiting_max {
                return Err(TooManyWaiting);
            }
            entry.requests += 1;
            (Part { key, waiting: self.waiting.clone(), permit: None }, entry.permits.clone())
        };
        // The semaphore is never closed.
        part.permit = permits.acquire_owned().await.ok();
        Ok(part)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.permit = None;
        let mut waiting = self.waiting.lock();
        let left = waiting.get_mut(&self.key).map(|entry| {
            entry.requests -= 1;
            entry.requests
        });
        if left == Some(0) {
            waiting.remove(&self.key);
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
    async fn clients_and_organizations_wait_for_their_own() {
        let limits = TurnLimits { client_max: 1, client_waiting_max: 2, organization_max: 2 };
        let turns = Turns::new(limits);
        let first = turns.wait(account(1, 1)).await.unwrap();
        let mut second = Box::pin(turns.wait(account(1, 1)));
        assert!(second.as_mut().now_or_never().is_none(), "it waits for the first one");
        assert_eq!(turns.wait(account(1, 1)).await.err(), Some(TooManyWaiting));
        let other = turns.wait(account(1, 2)).await.unwrap();
        let mut third = Box::pin(turns.wait(account(1, 3)));
        assert!(third.as_mut().now_or_never().is_none(), "the organization has two in the line");
        assert!(turns.wait(account(2, 1)).now_or_never().is_some_and(|turn| turn.is_ok()));
        assert!(turns.wait(Holder::address(None)).now_or_never().is_some_and(|turn| turn.is_ok()));
        drop(other);
        let third = third.await.unwrap();
        drop(second);
        drop((first, third));
        assert!(turns.waiting.lock().is_empty(), "nothing is left");
    }
}
