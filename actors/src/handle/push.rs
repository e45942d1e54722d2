//! The identifiers by which a push service knows organizations and users.

use super::RealmHandle;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::UserId;

impl RealmHandle {
    /// The name by which a push service knows the organization, or one of its users: a UUID derived from the server's
    /// secret, so that it is the same for ever and says nothing.
    pub fn push_uuid(&self, user: Option<UserId>) -> String {
        let user = user.map_or_else(String::new, |user| user.to_string());
        let key = self.link_key("push service", &[&user]);
        let derived = URL_SAFE_NO_PAD.decode(key).unwrap_or_default();
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(derived).for_each(|(byte, derived)| *byte = derived);
        // Version 4, variant 1.
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex = |range: std::ops::Range<usize>| -> String {
            bytes[range].iter().map(|byte| format!("{byte:02x}")).collect()
        };
        [hex(0..4), hex(4..6), hex(6..8), hex(8..10), hex(10..16)].join("-")
    }
}
