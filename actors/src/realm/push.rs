//! Phones that people register for notifications (endpoints.md 15 and 20).

use super::settled::{Moment, SettledCommand};
use crate::error::DomainError;
use crate::outbox::job;
use model::job::{PushTask, Task, TaskKind};
use model::push::{Hidden, PushDevice, PushFact, PushStatus, PushToken, PushTokenKind};
use model::{Fact, UserId};
use rules::error::{PushError, RuleError};
use rules::push::{PHONES_MAX, is_same_token};

fn tokens_set(user: UserId, tokens: Vec<PushToken>) -> Fact {
    Fact::Push(Box::new(PushFact::TokensSet { user, tokens }))
}

fn devices_set(user: UserId, devices: Vec<PushDevice>, changed: Vec<i64>) -> Fact {
    Fact::Push(Box::new(PushFact::DevicesSet { user, devices, changed }))
}

/// Register a phone of the older way; nothing happens if it is registered already.
pub(crate) struct AddPushToken {
    /// Whose.
    pub user: UserId,
    /// Who delivers.
    pub kind: PushTokenKind,
    /// Its address.
    pub token: String,
    /// Which app it is.
    pub app: Option<String>,
}

impl SettledCommand for AddPushToken {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let Self { user, kind, token, app } = self;
        let mut tokens = moment.directory.push_tokens(user).to_vec();
        if tokens.iter().any(|known| known.kind == kind && is_same_token(&known.token.0, &token)) {
            return Ok(((), Vec::new()));
        }
        tokens.push(PushToken { kind, token: Hidden(token), app, added: moment.now });
        if tokens.len() > PHONES_MAX {
            tokens.remove(0);
        }
        let mut facts = vec![tokens_set(user, tokens)];
        // Without a service there is nobody to tell; the token waits for one to be configured.
        if moment.realm.carries(TaskKind::Push) {
            let task = PushTask::RegisterToken { user, kind, added: moment.now };
            facts.push(job(moment.now, Task::Push(task)));
        }
        Ok(((), facts))
    }
}

/// Forget a phone of the older way.
pub(crate) struct RemovePushToken {
    /// Whose.
    pub user: UserId,
    /// Who delivers.
    pub kind: PushTokenKind,
    /// Its address.
    pub token: String,
}

impl SettledCommand for RemovePushToken {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let before = moment.directory.push_tokens(self.user);
        let is_other =
            |known: &&PushToken| known.kind != self.kind || !is_same_token(&known.token.0, &self.token);
        let tokens: Vec<PushToken> = before.iter().filter(is_other).cloned().collect();
        if tokens.len() == before.len() {
            return Err(RuleError::from(PushError::TokenMissing).into());
        }
        Ok(((), vec![tokens_set(self.user, tokens)]))
    }
}

/// What a phone says of itself.
#[derive(Clone, Debug)]
pub struct NewPushDevice {
    /// The number that it gave to this account of its.
    pub account: i64,
    /// Who delivers.
    pub kind: PushTokenKind,
    /// What its notifications are to be encrypted with.
    pub key: Hidden<[u8; 32]>,
    /// Which of the push service's keys the registration is encrypted with.
    pub bouncer_public_key: String,
    /// Its address, for the service alone.
    pub registration: Hidden<String>,
}

/// Register a phone. Nothing happens if it is registered, or about to be.
pub(crate) struct RegisterPushDevice {
    /// Whose.
    pub user: UserId,
    /// Which.
    pub new: NewPushDevice,
}

impl SettledCommand for RegisterPushDevice {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let Self { user, new } = self;
        let mut devices = moment.directory.push_devices(user).to_vec();
        let is_this = |known: &PushDevice| known.account == new.account;
        if devices.iter().any(|known| is_this(known) && known.error_code().is_none()) {
            return Ok(((), Vec::new()));
        }
        devices.retain(|known| !is_this(known));
        if devices.len() >= PHONES_MAX {
            devices.remove(0);
        }
        moment.realm.check_outbox(TaskKind::Push)?;
        let account = new.account;
        devices.push(PushDevice {
            account,
            kind: new.kind,
            key: new.key,
            bouncer_public_key: new.bouncer_public_key,
            registration: new.registration,
            added: moment.now,
            status: PushStatus::Pending,
        });
        let task = Task::Push(PushTask::RegisterDevice { user, account });
        Ok(((), vec![devices_set(user, devices, vec![account]), job(moment.now, task)]))
    }
}

/// The push service said what has become of a phone.
pub(crate) struct SettlePushDevices {
    /// Whose.
    pub user: UserId,
    /// Which, by account number, and when they were registered: one that was registered anew meanwhile is another one.
    pub devices: Vec<(i64, model::Timestamp)>,
    /// What it said.
    pub status: PushStatus,
}

impl SettledCommand for SettlePushDevices {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let mut devices = moment.directory.push_devices(self.user).to_vec();
        let mut changed = Vec::new();
        for device in &mut devices {
            if !self.devices.contains(&(device.account, device.added)) || device.status == self.status {
                continue;
            }
            device.status = self.status.clone();
            // Only the service could read it, and that has answered.
            device.registration = Hidden::default();
            changed.push(device.account);
        }
        let facts = if changed.is_empty() { vec![] } else { vec![devices_set(self.user, devices, changed)] };
        Ok(((), facts))
    }
}

/// The push service no longer knows phones of the older way.
pub(crate) struct ForgetPushTokens {
    /// Whose.
    pub user: UserId,
    /// Their addresses.
    pub tokens: Vec<(PushTokenKind, Hidden<String>)>,
}

impl SettledCommand for ForgetPushTokens {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let before = moment.directory.push_tokens(self.user);
        let mut after = before.to_vec();
        after.retain(|known| {
            !self.tokens.iter().any(|(kind, token)| *kind == known.kind && *token == known.token)
        });
        let facts = if after.len() == before.len() { vec![] } else { vec![tokens_set(self.user, after)] };
        Ok(((), facts))
    }
}
