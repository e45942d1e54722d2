//! The running sessions of an organization.

use super::actor::SessionActor;
use super::status::QueueStatus;
use actix::Addr;
use model::{QueueId, UserId};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

/// The session of a running queue.
#[derive(Clone, Debug)]
pub struct RunningQueue {
    pub user: UserId,
    pub session: Arc<Addr<SessionActor>>,
    /// The state that can be read without asking the actor.
    pub status: Arc<QueueStatus>,
}

/// All running queues of an organization.
pub type Queues = Arc<RwLock<HashMap<QueueId, RunningQueue>>>;
