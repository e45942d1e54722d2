//! Keys, tokens and identifiers that are derived from the server's secret, so that none of them is stored.

use super::RealmHandle;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::{InvitationId, UserId};
use subtle::ConstantTimeEq;

/// Separates keys of invitations from those of other links.
const INVITATION: &str = "invitation";

/// Bytes of the key in an e-mail address, whose part before the `@` is short.
const ADDRESS_KEY_BYTES: usize = 10;

impl RealmHandle {
    /// A key for a link: derived from the server's secret, the organization, the purpose (any word) and `parts`, which
    /// must identify the link.
    pub fn link_key(&self, purpose: &str, parts: &[&str]) -> String {
        self.shared.credentials.link_key(self.id(), purpose, parts)
    }

    /// Whether a key is that of a link, in constant time.
    pub fn is_link_key(&self, key: &str, purpose: &str, parts: &[&str]) -> bool {
        self.shared.credentials.is_link_key(key, self.id(), purpose, parts)
    }

    /// A key for an e-mail address, where the case of letters is not kept: 80 bits of a link's key, as hexadecimal digits.
    pub fn address_key(&self, purpose: &str, parts: &[String]) -> String {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let key = URL_SAFE_NO_PAD.decode(self.link_key(purpose, &parts)).unwrap_or_default();
        key.iter().take(ADDRESS_KEY_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether a key is that of an address, in constant time.
    pub fn is_address_key(&self, key: &str, purpose: &str, parts: &[String]) -> bool {
        self.address_key(purpose, parts).as_bytes().ct_eq(key.as_bytes()).into()
    }

    /// The key in the link of an invitation: the id, by which it is found, and a secret.
    pub fn invitation_key(&self, invitation: InvitationId) -> String {
        let id = invitation.to_string();
        let secret = self.link_key(INVITATION, &[&id]);
        format!("{id}-{secret}")
    }

    /// The invitation of a key, in whatever state it is; none for an invalid key.
    pub fn invitation_of_key(&self, key: &str) -> Option<InvitationId> {
        let (id, secret) = key.split_once('-')?;
        let is_valid = self.is_link_key(secret, INVITATION, &[id]);
        is_valid.then(|| id.parse().ok().map(InvitationId))?
    }

    /// The token by which the service of an outgoing webhook recognizes the server.
    pub fn webhook_token(&self, bot: UserId) -> String {
        self.shared.credentials.webhook_token(self.shared.id, bot)
    }

    /// The identifier of the organization, or of one of its users, at a push service: a UUID that never changes and reveals
    /// nothing.
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
