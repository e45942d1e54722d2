//! Settings of the organization and of users (docs/api/organization.md#update-the-organization,
//! docs/api/account.md#change-settings), and full members as time passes. Validation and permissions are in
//! `rules::settings`.

use super::actor::RealmActor;
use super::address::ask_for_address;
use super::drafts::forget_drafts;
use super::groups::requester;
use super::left_behind::bots_leave_with_groups;
use super::serialized::{DecisionContext, Serialized, SerializedChange};
use super::web_sessions::{EndedSessions, end_sessions};
use crate::error::DomainError;
use actix::prelude::*;
use model::{
    Directory, Fact, GroupFact, Realm, RealmFact, SettingValue, Timestamp, User, UserFact, UserId,
    WebSessionKey,
};
use rules::names::{check_full_name_free, parse_full_name};
use rules::permissions::roles::check_administrator;
use rules::settings::{
    RealmUpdate, Setting, apply_realm_change, apply_user_default, apply_user_setting, check_realm_update,
    check_user_settings, full_members_change, user_value,
};
use tokio::sync::oneshot;

/// Changes settings of the organization.
pub struct UpdateRealm {
    pub by: UserId,
    pub update: RealmUpdate,
}

impl SerializedChange for UpdateRealm {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let changes = check_realm_update(directory, requester(directory, self.by)?, &self.update)?;
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let mut after = Realm::clone(directory.realm());
        for change in &changes {
            apply_realm_change(&mut after, change);
        }
        // Full members depend on the waiting period.
        let members = full_members_fact(directory, &after, context.now);
        let mut facts = vec![Fact::Realm(RealmFact::Changed(Box::new(after)))];
        facts.extend(members);
        facts.extend(bots_leave_with_groups(context, &facts, self.by));
        Ok(facts)
    }
}

/// Changes default settings of new users.
pub struct UpdateUserDefaults {
    pub by: UserId,
    /// Settings with values of the right type.
    pub settings: Vec<(&'static Setting, SettingValue)>,
}

impl SerializedChange for UpdateUserDefaults {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        check_administrator(requester(directory, self.by)?)?;
        check_user_settings(&self.settings)?;
        let mut after = Realm::clone(directory.realm());
        for (setting, value) in self.settings {
            apply_user_default(&mut after, setting, value);
        }
        let is_same = after == **directory.realm();
        Ok(if is_same { Vec::new() } else { vec![Fact::Realm(RealmFact::Changed(Box::new(after)))] })
    }
}

fn full_members_fact(directory: &Directory, realm: &Realm, now: Timestamp) -> Option<Fact> {
    let (group, added, removed) = full_members_change(directory, realm, now)?;
    Some(Fact::Group(GroupFact::MembersChanged { group, added, removed }))
}

/// Adds members whose waiting period is over to the full members.
struct RefreshFullMembers;

impl SerializedChange for RefreshFullMembers {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        Ok(full_members_fact(directory, directory.realm(), context.now).into_iter().collect())
    }
}

impl RealmActor {
    /// Checks whether the waiting period of any member is over.
    pub(super) fn tick_full_members(&self, ctx: &mut Context<Self>) {
        let is_due = {
            let view = self.realm.view.read();
            let (directory, now) = (&view.directory, self.realm.clock.now());
            full_members_change(directory, directory.realm(), now).is_some()
        };
        if is_due {
            // The result is not needed: a failure is retried at the next tick.
            let (answer, _) = oneshot::channel();
            ctx.notify(Serialized { command: RefreshFullMembers, answer });
        }
    }
}

/// Changes of a user's own account.
#[derive(Clone, Default)]
pub struct OwnChanges {
    /// Settings with values of the right type.
    pub settings: Vec<(&'static Setting, SettingValue)>,
    pub full_name: Option<String>,
    pub password: Option<NewPassword>,
    /// A new e-mail address, to be confirmed by a link sent to it.
    pub address: Option<String>,
}

/// The argon2id hash of a new password, and of the old one, which must still be stored.
#[derive(Clone)]
pub struct NewPassword {
    pub old_hash: Option<String>,
    pub new_hash: String,
    /// The web session that the request came with: all others end.
    pub own_session: Option<WebSessionKey>,
}

/// Changes own settings, name, password and address: all or nothing.
pub struct UpdateOwnUser {
    pub user: UserId,
    pub changes: OwnChanges,
}

impl SerializedChange for UpdateOwnUser {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let before = requester(directory, self.user)?;
        let OwnChanges { settings, full_name, password, address } = self.changes;
        check_user_settings(&settings)?;
        let mut after = User::clone(before);
        let mut unchanged = Vec::new();
        for (setting, value) in settings {
            let was = user_value(&after, setting);
            apply_user_setting(&mut after, setting, value);
            if user_value(&after, setting) == was {
                unchanged.push(setting.name.to_owned());
            }
        }
        if let Some(raw) = full_name {
            let name = parse_full_name(&raw)?;
            check_full_name_free(directory, name, Some(self.user))?;
            after.full_name = name.to_owned();
        }
        let mut ended = None;
        if let Some(NewPassword { old_hash, new_hash, own_session }) = password {
            if before.password_hash != old_hash {
                return Err(DomainError::WrongPassword);
            }
            after.password_hash = Some(new_hash);
            ended = end_sessions(directory, self.user, EndedSessions::AllBut(own_session));
        }
        let forgotten = forget_drafts(directory, &after);
        let mut facts =
            if after == **before { Vec::new() } else { vec![Fact::User(UserFact::Changed(Box::new(after)))] };
        facts.extend(forgotten);
        facts.extend(ended);
        if !unchanged.is_empty() {
            facts.push(Fact::User(UserFact::SettingsRestated { user: self.user, settings: unchanged }));
        }
        if let Some(address) = address {
            facts.push(ask_for_address(context, self.user, address)?);
        }
        Ok(facts)
    }
}
