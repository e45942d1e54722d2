//! Devices registered for notifications (docs/api/push.md).

use super::serialized::{DecisionContext, SerializedChange};
use crate::error::DomainError;
use crate::outbox::job;
use model::job::{PushTask, Task, TaskKind};
use model::push::{PushDevice, PushFact, PushStatus, PushToken, PushTokenKind};
use model::redacted::Redacted;
use model::{Fact, UserId};
use rules::error::{PushError, RuleError};
use rules::push::{PHONES_MAX, check_app, check_registration, check_token, is_same_token};

fn tokens_set(user: UserId, tokens: Vec<PushToken>) -> Fact {
    Fact::Push(Box::new(PushFact::TokensSet { user, tokens }))
}

fn devices_set(user: UserId, devices: Vec<PushDevice>, changed: Vec<i64>) -> Fact {
    Fact::Push(Box::new(PushFact::DevicesSet { user, devices, changed }))
}

/// Registers a legacy push token; does nothing if it is registered already.
pub struct AddPushToken {
    pub user: UserId,
    pub kind: PushTokenKind,
    pub token: String,
    pub app: Option<String>,
}

impl SerializedChange for AddPushToken {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let Self { user, kind, token, app } = self;
        if let Some(app) = &app {
            check_app(app)?;
        }
        check_token(kind, &token)?;
        let mut tokens = context.directory.push_tokens(user).to_vec();
        if tokens.iter().any(|known| known.kind == kind && is_same_token(&known.token.0, &token)) {
            return Ok(Vec::new());
        }
        tokens.push(PushToken { kind, token: Redacted(token), app, added: context.now });
        if tokens.len() > PHONES_MAX {
            tokens.remove(0);
        }
        let mut facts = vec![tokens_set(user, tokens)];
        // Without a push service the token is only stored until one is configured.
        if context.realm.supports(TaskKind::Push) {
            let task = PushTask::RegisterToken { user, kind, added: context.now };
            facts.push(job(context.now, Task::Push(task)));
        }
        Ok(facts)
    }
}

/// Removes a legacy push token.
pub struct RemovePushToken {
    pub user: UserId,
    pub kind: PushTokenKind,
    pub token: String,
}

impl SerializedChange for RemovePushToken {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        check_token(self.kind, &self.token)?;
        let before = context.directory.push_tokens(self.user);
        let is_other =
            |known: &&PushToken| known.kind != self.kind || !is_same_token(&known.token.0, &self.token);
        let tokens: Vec<PushToken> = before.iter().filter(is_other).cloned().collect();
        if tokens.len() == before.len() {
            return Err(RuleError::from(PushError::TokenMissing).into());
        }
        Ok(vec![tokens_set(self.user, tokens)])
    }
}

/// A device to register, as sent by it.
#[derive(Clone, Debug)]
pub struct NewPushDevice {
    /// The device's own id for the account.
    pub account: i64,
    pub kind: PushTokenKind,
    /// The key with which its notifications are encrypted.
    pub key: Redacted<[u8; 32]>,
    /// The key of the push service with which the registration is encrypted.
    pub bouncer_public_key: String,
    /// Its encrypted address, for the push service.
    pub registration: Redacted<String>,
}

/// Registers a device; does nothing if it is registered already or the registration is pending.
pub struct RegisterPushDevice {
    pub user: UserId,
    pub new: NewPushDevice,
}

impl SerializedChange for RegisterPushDevice {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let Self { user, new } = self;
        check_registration("bouncer_public_key", &new.bouncer_public_key)?;
        check_registration("encrypted_push_registration", &new.registration.0)?;
        let mut devices = context.directory.push_devices(user).to_vec();
        let is_this = |known: &PushDevice| known.account == new.account;
        if devices.iter().any(|known| is_this(known) && known.status.error_code().is_none()) {
            return Ok(Vec::new());
        }
        devices.retain(|known| !is_this(known));
        if devices.len() >= PHONES_MAX {
            devices.remove(0);
        }
        context.realm.check_outbox(TaskKind::Push)?;
        let account = new.account;
        devices.push(PushDevice {
            account,
            kind: new.kind,
            key: new.key,
            bouncer_public_key: new.bouncer_public_key,
            registration: new.registration,
            added: context.now,
            status: PushStatus::Pending,
        });
        let task = Task::Push(PushTask::RegisterDevice { user, account });
        Ok(vec![devices_set(user, devices, vec![account]), job(context.now, task)])
    }
}

/// Records the push service's answer to registrations.
pub struct SetPushDeviceStatus {
    pub user: UserId,
    /// Account ids with times of registration: a device that was registered again since is skipped.
    pub devices: Vec<(i64, model::Timestamp)>,
    pub status: PushStatus,
}

impl SerializedChange for SetPushDeviceStatus {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let mut devices = context.directory.push_devices(self.user).to_vec();
        let mut changed = Vec::new();
        for device in &mut devices {
            if !self.devices.contains(&(device.account, device.added)) || device.status == self.status {
                continue;
            }
            device.status = self.status.clone();
            // Only the push service needs it, and has answered.
            device.registration = Redacted::default();
            changed.push(device.account);
        }
        let facts = if changed.is_empty() { vec![] } else { vec![devices_set(self.user, devices, changed)] };
        Ok(facts)
    }
}

/// Removes legacy push tokens that the push service no longer knows.
pub struct ForgetPushTokens {
    pub user: UserId,
    /// The device tokens, by push service.
    pub tokens: Vec<(PushTokenKind, Redacted<String>)>,
}

impl SerializedChange for ForgetPushTokens {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let before = context.directory.push_tokens(self.user);
        let mut after = before.to_vec();
        after.retain(|known| {
            !self.tokens.iter().any(|(kind, token)| *kind == known.kind && *token == known.token)
        });
        let facts = if after.len() == before.len() { vec![] } else { vec![tokens_set(self.user, after)] };
        Ok(facts)
    }
}
