//! The lease of a node.

use super::identity::Identity;
use crate::connect::{Database, Session};
use crate::error::PgError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// How often it is renewed.
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// How long others respect it. The statement has the same number.
const TTL: Duration = Duration::from_secs(6);
/// How much earlier it ends for its owner.
const MARGIN: Duration = Duration::from_secs(1);
/// How long one renewal may take.
const RENEW_TIMEOUT: Duration = Duration::from_secs(3);
const RETRY: Duration = Duration::from_millis(200);

/// Unless the cluster was upgraded while the node had no lease, to records that it cannot read.
const RENEW: &str = "
UPDATE millstream.node SET lease_until = clock_timestamp() + interval '6 seconds'
WHERE name = $1 AND incarnation = $2 AND records >= (SELECT c.records FROM millstream.cluster c) RETURNING name";

/// Whether this node may answer for what it owns.
#[derive(Debug)]
pub struct Lease {
    start: Instant,
    /// Milliseconds after `start` at which it ends.
    until: AtomicU64,
    /// Since when it was valid without interruption, likewise.
    since: AtomicU64,
    is_replaced: AtomicBool,
    is_ended: AtomicBool,
}

impl Default for Lease {
    fn default() -> Self {
        Self {
            start: Instant::now(),
            until: AtomicU64::new(0),
            since: AtomicU64::new(0),
            is_replaced: AtomicBool::new(false),
            is_ended: AtomicBool::new(false),
        }
    }
}

impl Lease {
    fn now(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    /// Whether it is valid now.
    pub fn is_valid(&self) -> bool {
        self.now() < self.until.load(Ordering::Acquire)
    }

    /// How much longer it is valid.
    pub fn remaining(&self) -> Duration {
        Duration::from_millis(self.until.load(Ordering::Acquire).saturating_sub(self.now()))
    }

    /// For how long it has been valid without interruption. After an outage of the database all leases have expired: no node takes
    /// over before the others had the time to renew theirs.
    pub fn valid_for(&self) -> Duration {
        match self.is_valid() {
            true => Duration::from_millis(self.now().saturating_sub(self.since.load(Ordering::Acquire))),
            false => Duration::ZERO,
        }
    }

    /// Since when it has been valid without interruption. What is known of owners from before may be wrong.
    pub fn valid_since(&self) -> Option<Instant> {
        self.is_valid().then(|| self.start + Duration::from_millis(self.since.load(Ordering::Acquire)))
    }

    /// For how long it has not been valid; none while it is, and if it never was or never will be again.
    pub fn lapsed_for(&self) -> Option<Duration> {
        let until = self.until.load(Ordering::Acquire);
        (until > 0 && !self.is_valid()).then(|| Duration::from_millis(self.now().saturating_sub(until)))
    }

    /// It is not renewed any more.
    pub fn end(&self) {
        self.is_ended.store(true, Ordering::Release);
    }

    /// Whether another process has taken the name of this node, or this one is too old. It can never be valid again.
    pub fn is_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Acquire)
    }

    /// Records a renewal that was sent at `sent`.
    fn renewed(&self, sent: u64) {
        if !self.is_valid() {
            self.since.store(self.now(), Ordering::Release);
        }
        self.until.store(sent + (TTL - MARGIN).as_millis() as u64, Ordering::Release);
    }

    fn replaced(&self) {
        self.is_replaced.store(true, Ordering::Release);
        self.until.store(0, Ordering::Release);
    }
}

/// Renews the lease until the runtime ends or another process takes the name.
pub(super) async fn keep(
    database: Arc<Database>,
    identity: Identity,
    lease: Arc<Lease>,
    refresh: Arc<Notify>,
) {
    let mut session = None;
    while !lease.is_ended.load(Ordering::Acquire) {
        let sent = lease.now();
        // Slots may be lost to others after it has ended: the tables are read again.
        let was_valid = lease.is_valid();
        let wait = match renew(&database, &identity, &mut session).await {
            Ok(true) => {
                if !was_valid {
                    refresh.notify_one();
                }
                lease.renewed(sent);
                RENEW_EVERY
            }
            Ok(false) => {
                lease.replaced();
                tracing::error!(
                    node = identity.name,
                    "another process runs as this node, or the cluster has records that this one cannot read; it answers nothing \
                     more"
                );
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "the lease could not be renewed");
                session = None;
                RETRY
            }
        };
        metrics::gauge!("millstream_cluster_lease_seconds").set(lease.remaining().as_secs_f64());
        sleep(wait).await;
    }
}

async fn renew(
    database: &Database,
    identity: &Identity,
    kept: &mut Option<Session>,
) -> Result<bool, PgError> {
    let renewing = async {
        if kept.as_ref().is_none_or(|session| session.client.is_closed()) {
            *kept = Some(database.connect(None).await?);
        }
        let session = kept.as_ref().ok_or(PgError::Closed)?;
        Ok(session.client.execute(RENEW, &[&identity.name, &identity.incarnation]).await? > 0)
    };
    timeout(RENEW_TIMEOUT, renewing).await.unwrap_or(Err(PgError::Timeout(RENEW_TIMEOUT.as_secs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lease_counts_from_before_the_renewal_was_sent() {
        let lease = Lease::default();
        assert!(!lease.is_valid());
        lease.renewed(0);
        assert!(lease.is_valid() && lease.remaining() <= TTL - MARGIN);
        // An answer that took as long as the lease is worth nothing.
        let late = Lease { start: Instant::now() - TTL, ..Lease::default() };
        late.renewed(0);
        assert!(!late.is_valid());
        assert_eq!(late.valid_for(), Duration::ZERO);
        lease.replaced();
        assert!(!lease.is_valid() && lease.is_replaced());
    }
}
