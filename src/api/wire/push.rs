//! Phones that are registered for notifications, as clients read them (companions.md 2).

use model::push::{PushDevice, PushStatus};
use serde::Serialize;

/// A phone in a registration's `push_devices`.
#[derive(Clone, Debug, Serialize)]
pub struct PushDeviceJson<'a> {
    status: &'static str,
    error_code: Option<&'a str>,
}

/// How far a phone's registration has come.
pub fn device(device: &PushDevice) -> PushDeviceJson<'_> {
    PushDeviceJson { status: status_word(&device.status), error_code: error_code(&device.status) }
}

/// The word on the wire.
pub fn status_word(status: &PushStatus) -> &'static str {
    match status {
        PushStatus::Pending => "pending",
        PushStatus::Active(_) => "active",
        PushStatus::Failed(_) => "failed",
    }
}

/// The push service's error code, if it refused.
pub fn error_code(status: &PushStatus) -> Option<&str> {
    match status {
        PushStatus::Failed(code) => Some(code),
        PushStatus::Pending | PushStatus::Active(_) => None,
    }
}
