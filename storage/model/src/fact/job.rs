//! Facts about jobs: e-mails and calls of webhooks that are to be delivered.

use crate::ids::JobId;
use crate::job::{JobOutcome, Task};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A change of the outbox. Clients receive no event of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobFact {
    /// A job is pending. Its id is `JobId::of` this fact's place.
    Added {
        /// Not to be done before this.
        due: Timestamp,
        task: Box<Task>,
    },
    /// A job ended: done, failed or given up.
    Ended { job: JobId, outcome: JobOutcome },
}
