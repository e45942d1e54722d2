//! Whether the files can be stored and read: for `GET /health`, and for the metric that an alert counts.

use super::error::BlobError;
use metrics::counter;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// Requests that failed, with their retries, in the metrics.
const FAILURES: &str = "millstream_file_failures_total";
/// How long a failure counts that no success follows: a server may be without uploads for hours.
const FAILURE_VALID: Duration = Duration::from_secs(300);

/// What a request does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Read,
    Change,
}

/// The times of failures that no success of the same operation followed.
#[derive(Debug, Default)]
pub(super) struct FilesHealth {
    failed: Mutex<[Option<Instant>; 2]>,
}

impl FilesHealth {
    /// No failure so far; the metric begins with zero.
    pub fn new() -> Self {
        counter!(FAILURES).increment(0);
        Self::default()
    }

    /// Records a success, or when a request failed.
    pub fn set(&self, operation: Operation, failed: Option<Instant>) {
        let place = match operation {
            Operation::Read => 0,
            Operation::Change => 1,
        };
        self.failed.lock()[place] = failed;
    }

    /// Records how a request failed.
    pub fn add_failure(&self, operation: Operation, error: &BlobError, now: Instant) {
        match error {
            // The store has answered.
            BlobError::Missing => self.set(operation, None),
            BlobError::Store(_) | BlobError::Full(_) | BlobError::Owned => {
                counter!(FAILURES).increment(1);
                self.set(operation, Some(now));
            }
        }
    }

    /// Whether the newest read or the newest change failed, less than five minutes ago.
    pub fn is_failing(&self, now: Instant) -> bool {
        let failed = *self.failed.lock();
        failed.iter().flatten().any(|failed| now.saturating_duration_since(*failed) < FAILURE_VALID)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_count_until_a_success_or_for_five_minutes() {
        let (health, now) = (FilesHealth::new(), Instant::now());
        let failure = BlobError::Store("x".to_owned());
        assert!(!health.is_failing(now));
        health.add_failure(Operation::Change, &BlobError::Missing, now);
        assert!(!health.is_failing(now), "the store has answered");
        health.add_failure(Operation::Change, &failure, now);
        health.set(Operation::Read, None);
        assert!(health.is_failing(now), "reads work, changes do not");
        assert!(health.is_failing(now + FAILURE_VALID - Duration::from_secs(1)));
        assert!(!health.is_failing(now + FAILURE_VALID));
        health.set(Operation::Change, None);
        assert!(!health.is_failing(now));
    }
}
