//! `/dev/…`: tools for testing clients, on development servers only (docs/dev-server.md). Other servers do not have these
//! paths. No credentials are needed; each call is for the organization of its `Host` header, but for the clock.

pub mod clock;
pub mod faults;
pub mod queues;
pub mod realms;
pub mod requests;
pub mod reset;

use crate::dev::tools::DevTools;
use crate::http::{ApiError, App};

/// The tools. A server without them does not route here.
fn tools(app: &App) -> Result<&DevTools, ApiError> {
    app.tools.as_ref().ok_or_else(ApiError::not_found)
}
