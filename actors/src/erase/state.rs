//! What is known of erasing while the server runs.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What was erased from a data folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Deleted messages, messages with old versions, and deleted accounts whose contents were erased.
    pub messages: u64,
    pub histories: u64,
    pub accounts: u64,
    /// Frames of the journal that lost content, and parts of the journal that were written again.
    pub frames: u64,
    pub parts: u64,
}

/// How far erasing is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EraseStatus {
    /// Nothing was asked for since the server started.
    #[default]
    None,
    Running {
        /// What is being done.
        step: &'static str,
        done: u64,
        all: u64,
    },
    Done(Erased),
    Failed(String),
}

/// The state of erasing.
#[derive(Debug, Default)]
pub(crate) struct Erasing {
    /// The operator asks for it: at once, and without keeping files for copies that are being made.
    pub is_wanted: AtomicBool,
    /// Of what the operator asked for last.
    pub status: Mutex<EraseStatus>,
}

impl Erasing {
    /// Whether the operator asks for it meanwhile.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::SeqCst)
    }
}
