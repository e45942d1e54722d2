//! What is true after a restart.
//!
//! Frames of facts go to the log (`log`), which alone decides what is durable. `view` applies them to
//! memory and gives rows; `projection` writes the rows to sled behind the answers. `open` brings all of
//! it together, `check` compares it. `sled::` appears in this package only.

mod batch;
pub mod check;
pub mod codec;
pub mod error;
pub mod folder;
pub mod log;
pub mod open;
pub mod projection;
pub mod tables;
pub mod view;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod open_tests;

pub use check::{CheckProgress, CheckReport, check_folder};
pub use error::StoreError;
pub use folder::DataFolder;
pub use open::{OpenedRealm, decode_frame, encode_frame, open_realm, replay};
pub use projection::{Applied, Projection, ProjectionSender, Trees};
pub use view::View;
