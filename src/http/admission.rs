//! Admission control for large responses: room in the memory budget, and a place in the queues for encoding them.

use super::app::App;
use super::call::{Call, FromCall};
use super::error::ApiError;
use super::reply::UNCOUNTED_BYTES_MAX;
use crate::work_queue::QueueSlot;
use actors::budget::{Holder, Purpose, Reservation};
use std::time::Duration;

/// The memory budget and the work queues, for the requests of one caller.
#[derive(Clone)]
pub struct Admission {
    pub app: App,
    holder: Holder,
}

impl FromCall for Admission {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(Self { app: call.app.clone(), holder: call.holder() })
    }
}

impl Admission {
    /// Reserves memory for a response of about `bytes` bytes; waits up to `memory.wait_secs_max` for other responses to
    /// be read. RATE_LIMIT_HIT if this caller's responses hold too much memory, SERVER_OVERLOADED if all responses
    /// together do.
    pub async fn reserve(&self, bytes: u64) -> Result<Reservation, ApiError> {
        let budget = self.app.server.budget();
        let wait_max = Duration::from_secs(self.app.config.memory.wait_secs_max);
        Ok(budget.reserve_within(self.holder, Purpose::Answer, bytes, wait_max).await?)
    }

    /// Reserves memory for a list of `count` items of about `each` bytes, unless it is small.
    pub async fn reserve_list(&self, count: usize, each: usize) -> Result<Option<Reservation>, ApiError> {
        let bytes = count.saturating_mul(each);
        Ok(match bytes > UNCOUNTED_BYTES_MAX {
            true => Some(self.reserve(bytes as u64).await?),
            false => None,
        })
    }

    /// A place in the queue of registrations. SERVER_OVERLOADED if the queue is full.
    pub fn enter_registers(&self) -> Result<QueueSlot, ApiError> {
        Ok(self.app.registers.enter()?)
    }

    /// A place in the queue of lists and pages. SERVER_OVERLOADED if the queue is full.
    pub fn enter_pages(&self) -> Result<QueueSlot, ApiError> {
        Ok(self.app.pages.enter()?)
    }
}
