//! Events of phones that people register for notifications.

use super::context::Announcements;
use model::EventBody;
use model::push::PushFact;

/// The owner's clients are told how far the registration of each phone has come.
pub(super) fn announce(fact: &PushFact, out: &mut Announcements) {
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
        | PushFact::MissedDecided { .. } => {}
    }
}
