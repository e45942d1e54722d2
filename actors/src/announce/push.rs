//! Events of phones that people register for notifications.

use super::Announcements;
use model::EventBody;
use model::push::PushFact;

/// The owner's clients are told how far the registration of each phone has come.
pub(super) fn changed(fact: &PushFact, out: &mut Announcements) {
    let PushFact::DevicesSet { user, devices, changed } = fact else { return };
    for device in devices.iter().filter(|device| changed.contains(&device.account)) {
        let body = EventBody::PushDeviceChanged { account: device.account, status: device.status.clone() };
        out.to([*user], body);
    }
}
