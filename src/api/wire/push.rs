//! Devices registered for push notifications, as clients read them (docs/api/push.md#encrypted-devices).

use model::push::PushDevice;
use serde::Serialize;

/// An entry of `push_devices`.
#[derive(Clone, Debug, Serialize)]
pub struct PushDeviceJson<'a> {
    status: &'static str,
    error_code: Option<&'a str>,
}

/// The state of a device's registration.
pub fn device(device: &PushDevice) -> PushDeviceJson<'_> {
    PushDeviceJson { status: device.status.as_str(), error_code: device.status.error_code() }
}
