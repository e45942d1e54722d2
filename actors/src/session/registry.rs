//! The running sessions of an organization.

use super::running::Session;
use model::QueueId;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;

/// The sessions of all running queues of an organization.
pub type Queues = Arc<RwLock<HashMap<QueueId, Arc<Session>>>>;
