//! `/tus/`: uploads that can be resumed, by the protocol tus 1.0 (docs/api/resumable-uploads.md).

pub mod append;
pub mod create;
mod errors;
mod finish;
mod headers;
mod own;
mod protocol;
pub mod status;
pub mod terminate;

pub use protocol::PROTOCOL;
