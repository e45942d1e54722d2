//! Changes of accounts by others: name, role, profile, deactivation; and login keys (docs/api/users.md#update-a-user).
//! Permissions are in `rules::accounts`.

use super::actor::RealmActor;
use super::address_changed;
use super::groups::requester;
use super::invitations::{revoke_invitations_of, revoke_overreaching};
use super::joining::system_group_facts;
use super::left_behind::{bots_leave, leave_channels, with_groups};
use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use super::web_sessions::{EndedSessions, end_sessions};
use crate::announce::activity_events_max;
use crate::error::DomainError;
use crate::outbox::job;
use actix::prelude::*;
use model::job::{MailTask, Task, TaskKind};
use model::{Fact, User, UserFact, UserId};
use rules::accounts::{
    AccountUpdate, accounts_to_deactivate, check_account_update, check_deactivation, check_own_deactivation,
    check_reactivation,
};
use rules::bots::{demoted_bots, with_new_owner};
use std::sync::Arc;

/// Changes an account: all or nothing.
pub struct UpdateAccount {
    pub by: UserId,
    pub user: UserId,
    pub update: AccountUpdate,
}

impl SerializedChange for UpdateAccount {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let after = check_account_update(directory, by, self.user, self.update)?;
        let Some(before) = directory.user(self.user).filter(|before| ***before != after) else {
            return Ok(Vec::new());
        };
        let groups = match before.role == after.role {
            true => Vec::new(),
            false => role_facts(context, &after, self.by),
        };
        let changed = match before.delivery_email == after.delivery_email {
            true => vec![Fact::User(UserFact::Changed(Box::new(after)))],
            false => address_changed(context.realm, directory, before, after, context.now),
        };
        Ok(changed.into_iter().chain(groups).collect())
    }
}

/// The consequences of a new role besides the record: system groups; for a demotion also the roles of the user's bots, the
/// channels that they leave, and the invitations that the account could no longer send. `after` is the record with the new
/// role.
pub(super) fn role_facts(context: &DecisionContext<'_>, after: &User, by: UserId) -> Vec<Fact> {
    let (directory, now) = (&context.directory, context.now);
    let mut facts = system_group_facts(directory, after, now);
    for bot in demoted_bots(directory, after) {
        let groups = system_group_facts(directory, &bot, now);
        facts.push(Fact::User(UserFact::Changed(Box::new(bot))));
        facts.extend(groups);
    }
    let mut then = with_groups(directory, &facts);
    then.put_user(after.clone());
    facts.extend(bots_leave(context, &then, |owner| owner == after.id, by));
    facts.extend(revoke_overreaching(&then, after.id));
    facts
}

/// Deactivates an account and its bots, and revokes its open invitations.
pub struct DeactivateAccount {
    pub by: UserId,
    /// None: the own account.
    pub user: Option<UserId>,
    /// The text of the e-mail to its owner; none: no e-mail is sent.
    pub comment: Option<String>,
}

impl SerializedChange for DeactivateAccount {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        match self.user {
            Some(user) => drop(check_deactivation(directory, by, user)?),
            None => check_own_deactivation(directory, by)?,
        }
        let accounts = accounts_to_deactivate(directory, self.user.unwrap_or(self.by));
        let mut facts: Vec<Fact> = accounts.iter().map(|user| active_set(context, *user, false)).collect();
        facts.extend(accounts.iter().filter_map(|user| end_sessions(directory, *user, EndedSessions::All)));
        let inviters = accounts.iter().filter_map(|user| directory.user(*user));
        facts.extend(inviters.filter_map(|user| revoke_invitations_of(directory, user)));
        if let (Some(user), Some(comment)) = (self.user, self.comment)
            && context.realm.supports(TaskKind::Mail)
        {
            facts.push(job(context.now, Task::Mail(MailTask::Deactivated { user, comment })));
        }
        Ok(facts)
    }
}

/// The fact that deactivates or reactivates an account.
pub(super) fn active_set(context: &DecisionContext<'_>, user: UserId, is_active: bool) -> Fact {
    let events = activity_events_max(&context.directory, user);
    Fact::User(UserFact::ActiveSet { user, is_active, last: context.ids.last_message(), events })
}

/// A bot's record with a new owner, and the facts that unsubscribe it from channels that the new owner cannot read. The
/// permission was checked before.
fn transfer_bot(context: &DecisionContext<'_>, bot: &User, owner: &User, by: UserId) -> (User, Vec<Fact>) {
    (with_new_owner(bot, owner), leave_channels(context, bot, owner.id, by))
}

/// Reactivates an account.
pub struct ReactivateAccount {
    pub by: UserId,
    pub user: UserId,
}

impl SerializedChange for ReactivateAccount {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let about = check_reactivation(directory, by, self.user)?;
        let mut facts = Vec::new();
        if about.is_active {
            return Ok(facts);
        }
        let mut record = User::clone(about);
        let mut left = Vec::new();
        // A bot must have an active owner.
        if about.is_bot() && !about.owner().is_some_and(|owner| directory.is_active_user(owner)) {
            (record, left) = transfer_bot(context, about, by, self.by);
            facts.push(Fact::User(UserFact::Changed(Box::new(record.clone()))));
        }
        facts.push(active_set(context, self.user, true));
        facts.extend(left);
        // The groups of the role may have changed since, for example because a waiting period ended.
        facts.extend(system_group_facts(directory, &record, context.now));
        Ok(facts)
    }
}

/// Replaces the own API key: the old one is invalid at once, event queues stay.
pub struct RegenerateKey {
    pub user: UserId,
}

impl SerializedCommand for RegenerateKey {
    type Outcome = Arc<User>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let mut record = User::clone(requester(&context.directory, self.user)?);
        record.api_key_rotation = record.api_key_rotation.wrapping_add(1);
        let fact = Fact::User(UserFact::Changed(Box::new(record.clone())));
        Ok((Arc::new(record), vec![fact]))
    }
}

impl RealmActor {
    /// Ends the event queues of deactivated accounts. Waiting polls get the reason.
    pub(super) fn dismiss(&mut self, ctx: &Context<Self>, facts: &[Fact]) {
        for fact in facts {
            if let Fact::User(UserFact::ActiveSet { user, is_active: false, .. }) = fact {
                self.dismiss_user(ctx, *user);
            }
        }
    }

    fn dismiss_user(&mut self, ctx: &Context<Self>, user: UserId) {
        // The frame may also have been refused.
        if self.realm.view.read().directory.user(user).is_none_or(|user| user.is_active) {
            return;
        }
        let queues: Vec<_> =
            self.event_queues.queues_of(user).iter().map(|queue| (user, queue.clone())).collect();
        // If this cannot be stored, they expire later.
        self.end_queues(ctx, queues, |_| DomainError::UserDeactivated);
    }
}
