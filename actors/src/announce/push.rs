//! Events of devices registered for push notifications.

use super::context::Announcements;
use model::EventBody;
use model::push::PushFact;

/// The owner's clients receive the registration status of each changed device.
pub(super) fn announce(fact: &PushFact, out: &mut Announcements<'_>) {
    match fact {
        PushFact::DevicesSet { user, devices, changed } => {
            for device in devices.iter().filter(|device| changed.contains(&device.account)) {
                let (account, status) = (device.account, device.status.clone());
                out.to([*user], EventBody::PushDeviceChanged { account, status });
            }
        }
        PushFact::TokensSet { .. }
        | PushFact::Shown { .. }
        | PushFact::Unshown { .. }
        | PushFact::NotificationCursorMoved(_)
        | PushFact::MissedNoted { .. }
        | PushFact::MissedDecided { .. }
        | PushFact::MissedNotedByMany { .. } => {}
    }
}
