//! The running sessions of an organization.

use super::running::Session;
use super::status::QueueStatus;
use model::QueueId;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

/// The session of a running queue.
#[derive(Clone, Debug)]
pub struct RunningQueue {
    pub session: Arc<Session>,
    /// The state that can be read without its lock.
    pub status: Arc<QueueStatus>,
}

/// All running queues of an organization.
pub type Queues = Arc<RwLock<HashMap<QueueId, RunningQueue>>>;
