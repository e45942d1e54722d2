//! Facts about event queues and the numbers of events.

use crate::ids::{EventNumber, QueueId};
use crate::queue::QueueRecord;
use serde::{Deserialize, Serialize};

/// A change of the event queues. Clients receive no event of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueFact {
    Registered(Box<QueueRecord>),
    Ended(QueueId),
    /// Numbers up to this one may be used for events that are not in the log (typing, presence).
    EventNumbersReserved(EventNumber),
}
