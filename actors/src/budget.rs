//! A limit for the bytes that the server holds for its clients at the same time: request bodies, answers that are being
//! sent. Events that wait in queues are limited for each account (`session::HolderBytes`).
//!
//! One [`ByteBudget`] for the process; clones are the same budget. Code that is about to hold more than a few kilobytes
//! for a client reserves them *first*, by an estimate, and keeps the [`Reservation`] beside the bytes: dropping it
//! releases them. There are two bounds: the total, and a share for each [`Holder`], so that one account or address that
//! does not read what it asked for runs into its own bound and leaves room for all others.
//!
//! ```
//! # use actors::budget::{ByteBudget, Holder, Purpose};
//! let budget = ByteBudget::new(256 << 20, 24 << 20);
//! let holder = Holder::address(Some([127, 0, 0, 1].into()));
//! let mut held = budget.reserve(holder, Purpose::Body, 64 << 10)?;
//! held.grow(64 << 10)?; // More bytes than expected; an error leaves the reservation unchanged.
//! held.shrink_to(1000); // Releases the rest.
//! drop(held);
//! assert_eq!(budget.used_bytes(), 0);
//! # Ok::<(), actors::budget::BudgetFull>(())
//! ```
//!
//! A refusal is a [`BudgetFull`], which names the limit that was reached. As a `DomainError` it is answered with 429
//! RATE_LIMIT_HIT for the share and with 503 SERVER_OVERLOADED for the total, both with `Retry-After`.
//!
//! Metrics: `millstream_memory_reserved_bytes{purpose}` (gauge), `millstream_memory_refused_total{purpose,bound}`
//! (counter) and `millstream_memory_total_max_bytes` (gauge, the bound). Make the budget after the recorder of metrics.

use metrics::{Counter, Gauge, counter, gauge};
use model::{RealmId, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Parts of the table of holders, each behind its own lock.
const PARTS: usize = 16;

/// The owner of a share of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    /// An account, with the bots that it owns.
    Account(RealmId, UserId),
    /// A client without an account, by IP address: made by [`Holder::address`].
    Network(u128),
    /// The server itself: it has no share, only the total limits it.
    Server,
}

impl Holder {
    /// The holder for a caller without an account: an IPv4 address, or the /64 network of an IPv6 one. Callers whose
    /// address is unknown share one entry.
    pub fn address(address: Option<IpAddr>) -> Self {
        Self::Network(match address.map(|address| address.to_canonical()) {
            None => 0,
            Some(IpAddr::V4(address)) => address.to_ipv6_mapped().to_bits(),
            Some(IpAddr::V6(address)) => address.to_bits() >> 64 << 64,
        })
    }
}

/// The purpose of held bytes; a label of the metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// An answer that its client has not read completely.
    Answer,
    /// A request's body.
    Body,
}

impl Purpose {
    const ALL: [Self; 2] = [Self::Answer, Self::Body];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Body => "body",
        }
    }
}

/// The limit that refused a reservation. Nothing was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetFull {
    /// The limit of all holders together.
    #[error("the memory budget of the server is exhausted")]
    Total,
    /// The limit of one holder.
    #[error("the memory budget of this client is exhausted")]
    Share,
}

/// The budget. Cheap to clone: clones share one state.
#[derive(Clone)]
pub struct ByteBudget(Arc<Inner>);

struct Inner {
    total_max: u64,
    share_max: u64,
    used: AtomicU64,
    /// Bytes by holder; a holder without bytes has no entry.
    shares: [Mutex<HashMap<Holder, u64>>; PARTS],
    hasher: RandomState,
    meters: [Meter; 2],
    /// Notified when bytes were released.
    freed: Notify,
}

/// The metrics of one purpose, registered once.
struct Meter {
    held: Gauge,
    refused_total: Counter,
    refused_share: Counter,
}

impl Meter {
    fn new(purpose: Purpose) -> Self {
        let purpose = ("purpose", purpose.as_str());
        let refused = |bound| counter!("millstream_memory_refused_total", &[purpose, ("bound", bound)]);
        Self {
            held: gauge!("millstream_memory_reserved_bytes", &[purpose]),
            refused_total: refused("total"),
            refused_share: refused("share"),
        }
    }

    fn refuse(&self, full: BudgetFull) {
        match full {
            BudgetFull::Total => self.refused_total.increment(1),
            BudgetFull::Share => self.refused_share.increment(1),
        }
    }
}

impl ByteBudget {
    /// A budget of `total_max` bytes for all and `share_max` bytes for each holder.
    pub fn new(total_max: u64, share_max: u64) -> Self {
        gauge!("millstream_memory_total_max_bytes").set(total_max as f64);
        Self(Arc::new(Inner {
            total_max,
            share_max,
            used: AtomicU64::new(0),
            shares: Default::default(),
            hasher: RandomState::new(),
            meters: Purpose::ALL.map(Meter::new),
            freed: Notify::new(),
        }))
    }

    /// A budget without bounds, for tools that work on a data folder without serving clients.
    pub fn unbounded() -> Self {
        Self::new(u64::MAX, u64::MAX)
    }

    /// Reserves bytes for a holder until the reservation is dropped. Never waits.
    ///
    /// # Errors
    /// [`BudgetFull`]: nothing was reserved.
    pub fn reserve(&self, holder: Holder, purpose: Purpose, bytes: u64) -> Result<Reservation, BudgetFull> {
        self.try_reserve(holder, purpose, bytes).inspect_err(|full| self.0.meter(purpose).refuse(*full))
    }

    fn try_reserve(&self, holder: Holder, purpose: Purpose, bytes: u64) -> Result<Reservation, BudgetFull> {
        self.0.take(holder, purpose, bytes)?;
        Ok(Reservation { budget: self.0.clone(), holder, purpose, bytes })
    }

    /// As [`ByteBudget::reserve`], but waits up to `wait_max` for room. The caller must limit what waits.
    ///
    /// # Errors
    /// [`BudgetFull`]: there was no room in that time.
    pub async fn reserve_within(
        &self,
        holder: Holder,
        purpose: Purpose,
        bytes: u64,
        wait_max: Duration,
    ) -> Result<Reservation, BudgetFull> {
        let deadline = Instant::now() + wait_max;
        loop {
            // Before the attempt, so that no release after it is missed.
            let freed = self.0.freed.notified();
            let full = match self.try_reserve(holder, purpose, bytes) {
                Ok(reservation) => return Ok(reservation),
                Err(full) => full,
            };
            if timeout_at(deadline, freed).await.is_err() {
                self.0.meter(purpose).refuse(full);
                return Err(full);
            }
        }
    }

    /// Bytes reserved now, by all holders.
    pub fn used_bytes(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Bytes reserved now by one holder; 0 for [`Holder::Server`], which has no share.
    pub fn share_bytes(&self, holder: Holder) -> u64 {
        self.0.part(holder).lock().get(&holder).copied().unwrap_or(0)
    }
}

impl std::fmt::Debug for ByteBudget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ByteBudget({} of {} bytes)", self.used_bytes(), self.0.total_max)
    }
}

impl Inner {
    fn part(&self, holder: Holder) -> &Mutex<HashMap<Holder, u64>> {
        &self.shares[self.hasher.hash_one(holder) as usize % PARTS]
    }

    fn meter(&self, purpose: Purpose) -> &Meter {
        &self.meters[purpose as usize]
    }

    fn take(&self, holder: Holder, purpose: Purpose, bytes: u64) -> Result<(), BudgetFull> {
        self.take_share(holder, bytes)?;
        let within = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.total_max);
        if self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).is_err() {
            self.give_share(holder, bytes);
            return Err(BudgetFull::Total);
        }
        self.meter(purpose).held.increment(bytes as f64);
        Ok(())
    }

    fn give(&self, holder: Holder, purpose: Purpose, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.give_share(holder, bytes);
        self.meter(purpose).held.decrement(bytes as f64);
        if bytes > 0 {
            self.freed.notify_waiters();
        }
    }

    fn take_share(&self, holder: Holder, bytes: u64) -> Result<(), BudgetFull> {
        if holder == Holder::Server || bytes == 0 {
            return Ok(());
        }
        let mut shares = self.part(holder).lock();
        let held = shares.get(&holder).copied().unwrap_or(0);
        let sum = held.checked_add(bytes).filter(|sum| *sum <= self.share_max).ok_or(BudgetFull::Share)?;
        shares.insert(holder, sum);
        Ok(())
    }

    fn give_share(&self, holder: Holder, bytes: u64) {
        if holder == Holder::Server || bytes == 0 {
            return;
        }
        let mut shares = self.part(holder).lock();
        if let Some(held) = shares.get_mut(&holder) {
            *held = held.saturating_sub(bytes);
            if *held == 0 {
                shares.remove(&holder);
            }
        }
    }
}

/// Bytes that are held for a client; dropping it releases them.
pub struct Reservation {
    budget: Arc<Inner>,
    holder: Holder,
    purpose: Purpose,
    bytes: u64,
}

impl Reservation {
    /// The number of reserved bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves `bytes` more.
    ///
    /// # Errors
    /// [`BudgetFull`]: it keeps what it had.
    pub fn grow(&mut self, bytes: u64) -> Result<(), BudgetFull> {
        let taken = self.budget.take(self.holder, self.purpose, bytes);
        taken.inspect_err(|full| self.budget.meter(self.purpose).refuse(*full))?;
        self.bytes += bytes;
        Ok(())
    }

    /// Releases all but `bytes`.
    pub fn shrink_to(&mut self, bytes: u64) {
        let surplus = self.bytes.saturating_sub(bytes);
        self.bytes -= surplus;
        self.budget.give(self.holder, self.purpose, surplus);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

impl std::fmt::Debug for Reservation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes of {:?} for {:?}", self.bytes, self.purpose, self.holder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn account(id: u32) -> Holder {
        Holder::Account(RealmId(1), UserId(id))
    }

    #[test]
    fn share_limit_applies_before_total() {
        let budget = ByteBudget::new(100, 60);
        let first = budget.reserve(account(1), Purpose::Answer, 60).unwrap();
        assert_eq!(budget.reserve(account(1), Purpose::Body, 1).unwrap_err(), BudgetFull::Share);
        let mut second = budget.reserve(account(2), Purpose::Answer, 40).unwrap();
        assert_eq!(second.grow(1).unwrap_err(), BudgetFull::Total);
        assert_eq!((second.bytes(), budget.used_bytes()), (40, 100));
        drop(first);
        second.grow(20).unwrap();
        assert_eq!((budget.share_bytes(account(1)), budget.share_bytes(account(2))), (0, 60));
        second.shrink_to(5);
        assert_eq!(budget.used_bytes(), 5);
        drop(second);
        assert_eq!(budget.used_bytes(), 0);
        assert!(budget.0.shares.iter().all(|part| part.lock().is_empty()), "no entry is left behind");
    }

    #[test]
    fn server_holder_has_no_share_limit() {
        let budget = ByteBudget::new(100, 10);
        let held = budget.reserve(Holder::Server, Purpose::Body, 90).unwrap();
        assert_eq!(budget.reserve(Holder::Server, Purpose::Body, 11).unwrap_err(), BudgetFull::Total);
        drop(held);
    }

    #[actix::test]
    async fn released_bytes_go_to_waiting_reservations() {
        let budget = ByteBudget::new(100, 60);
        let first = budget.reserve(account(1), Purpose::Answer, 60).unwrap();
        let wait = |secs| budget.reserve_within(account(1), Purpose::Answer, 50, Duration::from_secs(secs));
        assert_eq!(wait(0).await.unwrap_err(), BudgetFull::Share);
        let second = async { wait(600).await.unwrap() };
        let (second, ()) = tokio::join!(second, async { drop(first) });
        assert_eq!((second.bytes(), budget.used_bytes()), (50, 50));
    }

    #[test]
    fn ip_addresses_are_grouped_by_network() {
        let holder = |text: &str| Holder::address(Some(text.parse().unwrap()));
        assert_eq!(holder("2001:db8::1"), holder("2001:db8::ffff:2"));
        assert_ne!(holder("2001:db8::1"), holder("2001:db8:0:1::1"));
        assert_eq!(holder("::ffff:10.0.0.1"), holder("10.0.0.1"));
        assert_ne!(holder("10.0.0.1"), holder("10.0.0.2"));
        assert_ne!(Holder::address(None), holder("10.0.0.1"));
    }

    proptest! {
        #[test]
        fn reserved_bytes_add_up(steps in prop::collection::vec((0u32..3, 0u64..80, 0usize..6), 1..60)) {
            let budget = ByteBudget::new(150, 90);
            let mut held: Vec<Reservation> = Vec::new();
            for (user, bytes, action) in steps {
                match (action, held.pop()) {
                    (0, last) => drop(last),
                    (1, Some(mut last)) => {
                        last.shrink_to(bytes);
                        held.push(last);
                    }
                    (2, Some(mut last)) => {
                        let before = last.bytes();
                        let grown = last.grow(bytes).is_ok();
                        prop_assert_eq!(last.bytes(), if grown { before + bytes } else { before });
                        held.push(last);
                    }
                    (_, last) => {
                        held.extend(last);
                        held.extend(budget.reserve(account(user), Purpose::Answer, bytes));
                    }
                }
                let sum = held.iter().map(Reservation::bytes).sum::<u64>();
                prop_assert_eq!(budget.used_bytes(), sum);
                prop_assert!(sum <= 150);
                for user in 0..3 {
                    let own = held.iter().filter(|one| one.holder == account(user));
                    let own = own.map(Reservation::bytes).sum::<u64>();
                    prop_assert_eq!(budget.share_bytes(account(user)), own);
                    prop_assert!(own <= 90);
                }
            }
        }
    }
}
