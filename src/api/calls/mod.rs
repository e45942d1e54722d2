//! Video calls by other services (docs/api/server-additions.md#video-calls). None can be configured here, so both
//! endpoints answer the error of a server without one.

pub mod bigbluebutton;
pub mod zoom;
