//! Commands about phones that people register for notifications.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{
    AddPushToken, ForgetPushTokens, NewPushDevice, RegisterPushDevice, RemovePushToken, SettlePushDevices,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::push::{Hidden, PushStatus, PushTokenKind};
use model::{Timestamp, UserId};

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

    /// Registers a phone of the older way; nothing happens if it is registered already.
    ///
    /// # Errors
    /// As `rules::push::check_token` and `check_app`.
    pub async fn add_push_token(
        &self,
        user: UserId,
        kind: PushTokenKind,
        token: String,
        app: Option<String>,
    ) -> Result<(), DomainError> {
        if let Some(app) = &app {
            rules::push::check_app(app)?;
        }
        rules::push::check_token(kind, &token)?;
        self.settle(AddPushToken { user, kind, token, app }).await
    }

    /// Forgets a phone of the older way.
    ///
    /// # Errors
    /// As `rules::push::check_token`; `TokenMissing`.
    pub async fn remove_push_token(
        &self,
        user: UserId,
        kind: PushTokenKind,
        token: String,
    ) -> Result<(), DomainError> {
        rules::push::check_token(kind, &token)?;
        self.settle(RemovePushToken { user, kind, token }).await
    }

    /// Registers a phone; what the push service says of it is an event later. Nothing happens if it is registered, or
    /// about to be.
    ///
    /// # Errors
    /// As `rules::push::check_registration`.
    pub async fn register_push_device(&self, user: UserId, new: NewPushDevice) -> Result<(), DomainError> {
        rules::push::check_registration("bouncer_public_key", &new.bouncer_public_key)?;
        rules::push::check_registration("encrypted_push_registration", &new.registration.0)?;
        self.settle(RegisterPushDevice { user, new }).await
    }

    /// Notes what the push service said of a user's phones: account numbers, each with when it was registered.
    ///
    /// # Errors
    /// Those of every command.
    pub async fn settle_push_devices(
        &self,
        user: UserId,
        devices: Vec<(i64, Timestamp)>,
        status: PushStatus,
    ) -> Result<(), DomainError> {
        self.settle(SettlePushDevices { user, devices, status }).await
    }

    /// Forgets phones of the older way that the push service no longer knows.
    ///
    /// # Errors
    /// Those of every command.
    pub async fn forget_push_tokens(
        &self,
        user: UserId,
        tokens: Vec<(PushTokenKind, Hidden<String>)>,
    ) -> Result<(), DomainError> {
        self.settle(ForgetPushTokens { user, tokens }).await
    }
}
