//! Durable storage of organizations.
//!
//! Frames of facts are appended to the log (`log`), which alone decides what is durable. `view` applies them to
//! memory and derives rows; `projection` writes the rows to sled asynchronously. `open` loads and replays an
//! organization, `check` compares the parts with each other. `sled::` appears in this package only.

pub mod backup;
pub mod base;
mod batch;
pub mod check;
pub mod checkpoint;
pub mod codec;
pub mod disk;
pub mod erase;
pub mod error;
pub mod folder;
pub mod folder_access;
mod instance;
pub mod log;
pub mod open;
mod owner;
mod private_files;
pub mod projection;
pub mod projector;
pub mod relocations;
mod replay;
mod restoring;
mod secret;
pub mod shared_files;
mod stored_message;
pub mod unfinished;
pub mod view;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod open_tests;

pub use batch::Applied;
pub use check::{CheckProgress, CheckReport, check_folder};
pub use checkpoint::Checkpoints;
pub use error::StoreError;
pub use folder::DataFolder;
pub use instance::BUCKET_OWNER;
pub use open::{
    FollowedRealm, OpenedRealm, decode_frame, encode_frame, follow, frame_bytes, open_realm,
    open_realm_in_memory, replay,
};
pub use projection::{StallWatch, Trees};
pub use projector::{Projection, ProjectionFailure, ProjectionSender};
pub use relocations::{Relocation, RelocationState};
pub use stored_message::PendingVersions;
pub use unfinished::{Unfinished, UnfinishedState};
pub use view::View;
