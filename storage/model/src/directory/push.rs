//! Whose phones get notifications, and of what they were told.

use super::Directory;
use crate::ids::{MessageId, UserId};
use crate::push::{PushDevice, PushFact, PushToken};
use imbl::OrdMap;
use std::sync::Arc;

/// Everything about notifications in one organization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PushRecords {
    tokens: OrdMap<UserId, Arc<[PushToken]>>,
    devices: OrdMap<UserId, Arc<[PushDevice]>>,
    shown: OrdMap<UserId, Arc<[MessageId]>>,
    noticed: Option<MessageId>,
}

impl Directory {
    /// A user's phones of the older way, oldest first.
    pub fn push_tokens(&self, user: UserId) -> &[PushToken] {
        self.push.tokens.get(&user).map(|tokens| &**tokens).unwrap_or_default()
    }

    /// A user's phones, oldest first.
    pub fn push_devices(&self, user: UserId) -> &[PushDevice] {
        self.push.devices.get(&user).map(|devices| &**devices).unwrap_or_default()
    }

    /// Whether a user has a phone that the push service knows.
    pub fn has_phone(&self, user: UserId) -> bool {
        !self.push_tokens(user).is_empty()
            || self.push_devices(user).iter().any(|device| device.service_id().is_some())
    }

    /// Everybody who ever registered a phone that is still there.
    pub fn phone_owners(&self) -> impl Iterator<Item = UserId> {
        let (tokens, devices) = (&self.push.tokens, &self.push.devices);
        let only = devices.keys().filter(|user| !tokens.contains_key(*user));
        tokens.keys().chain(only).copied()
    }

    /// Whether anybody has registered a phone.
    pub fn has_phones(&self) -> bool {
        !self.push.tokens.is_empty() || !self.push.devices.is_empty()
    }

    /// Messages that a user's phones show, ascending.
    pub fn push_shown(&self, user: UserId) -> &[MessageId] {
        self.push.shown.get(&user).map(|messages| &**messages).unwrap_or_default()
    }

    /// Everybody whose phones show something.
    pub fn push_shown_to(&self) -> impl Iterator<Item = UserId> {
        self.push.shown.keys().copied()
    }

    /// Up to which message it has been decided who is notified; none if it never was.
    pub fn noticed_up_to(&self) -> Option<MessageId> {
        self.push.noticed
    }

    /// Makes the records what a fact says.
    pub fn put_push(&mut self, fact: PushFact) {
        match fact {
            PushFact::TokensSet { user, tokens } if tokens.is_empty() => {
                self.push.tokens.remove(&user);
            }
            PushFact::TokensSet { user, tokens } => {
                self.push.tokens.insert(user, tokens.into());
            }
            PushFact::DevicesSet { user, devices, .. } if devices.is_empty() => {
                self.push.devices.remove(&user);
            }
            PushFact::DevicesSet { user, devices, .. } => {
                self.push.devices.insert(user, devices.into());
            }
            PushFact::ShownSet { user, messages } if messages.is_empty() => {
                self.push.shown.remove(&user);
            }
            PushFact::ShownSet { user, messages } => {
                self.push.shown.insert(user, messages.into());
            }
            PushFact::NoticedUpTo(message) => self.push.noticed = Some(message),
        }
    }
}
