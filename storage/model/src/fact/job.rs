//! Facts about jobs: pending deliveries to other systems.

use crate::ids::JobId;
use crate::job::{JobOutcome, Task};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A change of the outbox. Clients receive no event of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum JobFact {
    /// A job was added. Its id is `JobId::of` the position of this fact.
    Added {
        /// The earliest time of delivery.
        due: Timestamp,
        task: Box<Task>,
    },
    /// A job ended: delivered, dropped or abandoned.
    Ended { job: JobId, outcome: JobOutcome },
}
