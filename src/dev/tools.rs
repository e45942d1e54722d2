//! What a development server offers to those who test clients with it: faults on demand, a record of the calls, and a
//! clock that can be moved. Other servers have none of it.

use super::calls::CallLog;
use super::faults::Faults;
use actors::ShiftedClock;
use std::sync::Arc;

/// The tools of a development server.
pub struct DevTools {
    pub clock: Arc<ShiftedClock>,
    pub faults: Faults,
    pub calls: CallLog,
}

impl DevTools {
    /// Tools without faults and calls, and a clock that shows the right time.
    pub fn new(clock: Arc<ShiftedClock>) -> Self {
        Self { clock, faults: Faults::default(), calls: CallLog::default() }
    }
}
