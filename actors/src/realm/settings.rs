//! Settings of the organization and of its people (companions.md 10, endpoints.md 5), and who is a full member as
//! time passes. Which values there are and who may change them is for `rules::settings`.

use super::actor::RealmActor;
use super::address::ask_for_address;
use super::groups::actor;
use super::settled::{Moment, Settle, SettledCommand};
use crate::error::DomainError;
use actix::prelude::*;
use model::{Directory, Fact, Realm, SettingValue, Timestamp, User, UserId};
use rules::names::{check_full_name_free, parse_full_name};
use rules::permissions::roles::check_administrator;
use rules::settings::{
    RealmUpdate, Setting, apply_realm_change, apply_user_default, apply_user_setting, check_realm_update,
    check_user_settings, full_members_change,
};
use tokio::sync::oneshot;

/// Change settings of the organization.
pub(crate) struct UpdateRealm {
    /// Who does it.
    pub by: UserId,
    /// What is to change.
    pub update: RealmUpdate,
}

impl SettledCommand for UpdateRealm {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let changes = check_realm_update(directory, actor(directory, self.by)?, &self.update)?;
        if changes.is_empty() {
            return Ok(((), Vec::new()));
        }
        let mut after = Realm::clone(directory.realm());
        for change in &changes {
            apply_realm_change(&mut after, change);
        }
        // The waiting period says who is a full member.
        let members = full_members_fact(directory, &after, moment.now);
        let facts = std::iter::once(Fact::RealmChanged(Box::new(after))).chain(members).collect();
        Ok(((), facts))
    }
}

/// Change what new people start with.
pub(crate) struct UpdateUserDefaults {
    /// Who does it.
    pub by: UserId,
    /// Settings with values of the right type.
    pub settings: Vec<(&'static Setting, SettingValue)>,
}

impl SettledCommand for UpdateUserDefaults {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        check_administrator(actor(directory, self.by)?)?;
        check_user_settings(&self.settings)?;
        let mut after = Realm::clone(directory.realm());
        for (setting, value) in self.settings {
            apply_user_default(&mut after, setting, value);
        }
        let is_same = after == **directory.realm();
        Ok(((), if is_same { Vec::new() } else { vec![Fact::RealmChanged(Box::new(after))] }))
    }
}

fn full_members_fact(directory: &Directory, realm: &Realm, now: Timestamp) -> Option<Fact> {
    let (group, added, removed) = full_members_change(directory, realm, now)?;
    Some(Fact::GroupMembersChanged { group, added, removed })
}

/// Make full members of those whose waiting period is over.
struct RefreshFullMembers;

impl SettledCommand for RefreshFullMembers {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        Ok(((), full_members_fact(directory, directory.realm(), moment.now).into_iter().collect()))
    }
}

impl RealmActor {
    /// Looks whether somebody's waiting period is over.
    pub(super) fn tick_full_members(&self, ctx: &mut Context<Self>) {
        let is_due = {
            let view = self.realm.view.read();
            let (directory, now) = (&view.directory, self.realm.clock.now());
            full_members_change(directory, directory.realm(), now).is_some()
        };
        if is_due {
            // Nobody waits for the answer; what fails now is tried again at the next tick.
            let (answer, _) = oneshot::channel();
            ctx.notify(Settle { command: RefreshFullMembers, answer });
        }
    }
}

/// What somebody changes about themselves.
#[derive(Clone, Default)]
pub struct OwnChanges {
    /// Settings with values of the right type.
    pub settings: Vec<(&'static Setting, SettingValue)>,
    /// Display name, as sent.
    pub full_name: Option<String>,
    /// argon2id hash of a new password, with that of the old one, which must still be stored.
    pub password: Option<NewPassword>,
    /// Another address, to be confirmed by whoever reads it.
    pub address: Option<String>,
}

/// A new password in place of another.
#[derive(Clone)]
pub struct NewPassword {
    /// Hash of the one that was checked.
    pub old_hash: Option<String>,
    /// Hash of the new one.
    pub new_hash: String,
}

/// Change one's own settings, name and password: all or nothing.
pub(crate) struct UpdateOwnUser {
    /// Who.
    pub user: UserId,
    /// What is to change.
    pub changes: OwnChanges,
}

impl SettledCommand for UpdateOwnUser {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let before = actor(directory, self.user)?;
        let OwnChanges { settings, full_name, password, address } = self.changes;
        check_user_settings(&settings)?;
        let mut after = User::clone(before);
        for (setting, value) in settings {
            apply_user_setting(&mut after, setting, value);
        }
        if let Some(raw) = full_name {
            let name = parse_full_name(&raw)?;
            check_full_name_free(directory, name, Some(self.user))?;
            after.full_name = name.to_owned();
        }
        if let Some(NewPassword { old_hash, new_hash }) = password {
            if before.password_hash != old_hash {
                return Err(DomainError::WrongPassword);
            }
            after.password_hash = Some(new_hash);
        }
        let mut facts = if after == **before { Vec::new() } else { vec![Fact::UserChanged(Box::new(after))] };
        if let Some(address) = address {
            facts.push(ask_for_address(moment, self.user, address)?);
        }
        Ok(((), facts))
    }
}
