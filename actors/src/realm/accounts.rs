//! People's accounts as others change them: name, role, profile, being in use; and the keys they log in with
//! (companions.md 5). Who may is for `rules::accounts`.

use super::actor::RealmActor;
use super::address_changed;
use super::groups::actor;
use super::invitations::revoke_invitations_of;
use super::settled::{Moment, SettledCommand};
use super::state::system_group_facts;
use crate::announce::activity_events_max;
use crate::error::DomainError;
use crate::outbox::job;
use crate::session::Dismiss;
use actix::prelude::*;
use model::job::{MailTask, Task, TaskKind};
use model::{Fact, QueueId, User, UserId};
use rules::accounts::{
    AccountUpdate, accounts_that_go, check_account_update, check_deactivation, check_own_deactivation,
    check_reactivation,
};
use std::sync::Arc;

/// Change somebody's account: all or nothing.
pub(crate) struct UpdateAccount {
    /// Who does it.
    pub by: UserId,
    /// Whose account.
    pub user: UserId,
    /// What is to change.
    pub update: AccountUpdate,
}

impl SettledCommand for UpdateAccount {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let by = actor(directory, self.by)?;
        let after = check_account_update(directory, by, self.user, self.update)?;
        let Some(before) = directory.user(self.user).filter(|before| ***before != after) else {
            return Ok(((), Vec::new()));
        };
        let groups = match before.role == after.role {
            true => Vec::new(),
            false => system_group_facts(directory, &after, moment.now),
        };
        let changed = match before.delivery_email == after.delivery_email {
            true => vec![Fact::UserChanged(Box::new(after))],
            false => address_changed(moment.realm, directory, before, after, moment.now),
        };
        Ok(((), changed.into_iter().chain(groups).collect()))
    }
}

/// Take an account out of use, with its bots and its open invitations. Somebody else's, or one's own.
pub(crate) struct DeactivateAccount {
    /// Who does it.
    pub by: UserId,
    /// Whose account; none: one's own.
    pub user: Option<UserId>,
    /// What its owner is told by mail; none: no mail is sent.
    pub comment: Option<String>,
}

impl SettledCommand for DeactivateAccount {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let by = actor(directory, self.by)?;
        match self.user {
            Some(user) => drop(check_deactivation(directory, by, user)?),
            None => check_own_deactivation(directory, by)?,
        }
        let gone = accounts_that_go(directory, self.user.unwrap_or(self.by));
        let mut facts: Vec<Fact> = gone.iter().map(|user| active_set(moment, *user, false)).collect();
        let inviters = gone.iter().filter_map(|user| directory.user(*user));
        facts.extend(inviters.filter_map(|user| revoke_invitations_of(directory, user)));
        if let (Some(user), Some(comment)) = (self.user, self.comment)
            && moment.realm.carries(TaskKind::Mail)
        {
            facts.push(job(moment.now, Task::Mail(MailTask::Deactivated { user, comment })));
        }
        Ok(((), facts))
    }
}

/// The fact that an account goes out of use, or into it again.
pub(super) fn active_set(moment: &Moment<'_>, user: UserId, is_active: bool) -> Fact {
    let events = activity_events_max(&moment.directory, user);
    Fact::UserActiveSet { user, is_active, last: moment.ids.last_message(), events }
}

/// Take an account back into use.
pub(crate) struct ReactivateAccount {
    /// Who does it.
    pub by: UserId,
    /// Whose account.
    pub user: UserId,
}

impl SettledCommand for ReactivateAccount {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let about = check_reactivation(directory, actor(directory, self.by)?, self.user)?;
        let mut facts = Vec::new();
        // Somebody has to answer for a bot.
        let mut record = User::clone(about);
        if let Some(bot) = &mut record.bot
            && !bot.owner.and_then(|owner| directory.user(owner)).is_some_and(|owner| owner.is_active)
        {
            bot.owner = Some(self.by);
            facts.push(Fact::UserChanged(Box::new(record.clone())));
        }
        facts.push(active_set(moment, self.user, true));
        // What the role means may have changed meanwhile: a waiting period went by, say.
        facts.extend(system_group_facts(directory, &record, moment.now));
        Ok(((), facts))
    }
}

/// Take a new API key; the one before stops at once, event queues go on.
pub(crate) struct RegenerateKey {
    /// Whose.
    pub user: UserId,
}

impl SettledCommand for RegenerateKey {
    type Outcome = Arc<User>;

    fn decide(self, moment: &mut Moment<'_>) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let mut record = User::clone(actor(&moment.directory, self.user)?);
        record.api_key_rotation = record.api_key_rotation.wrapping_add(1);
        let fact = Fact::UserChanged(Box::new(record.clone()));
        Ok((Arc::new(record), vec![fact]))
    }
}

impl RealmActor {
    /// Ends the event queues of those whose accounts went out of use. Polls that wait are told why.
    pub(super) fn dismiss(&mut self, ctx: &Context<Self>, facts: &[Fact]) {
        for fact in facts {
            if let Fact::UserActiveSet { user, is_active: false, .. } = fact {
                self.dismiss_user(ctx, *user);
            }
        }
    }

    fn dismiss_user(&mut self, ctx: &Context<Self>, user: UserId) {
        let queues: Vec<QueueId> = {
            let view = self.realm.view.read();
            // The frame may also have been refused.
            if view.directory.user(user).is_none_or(|user| user.is_active) {
                return;
            }
            let own = view.queues.values().filter(|record| record.user == user);
            own.map(|record| record.id.clone()).filter(|queue| !self.state.has_ended(queue)).collect()
        };
        for queue in &queues {
            let running = self.realm.queues.write().remove(queue);
            self.fanout.remove(user, queue);
            if let Some(running) = running {
                running.session.do_send(Dismiss);
            }
        }
        match self.committer.ids(self.realm.id) {
            Ok(ids) if !queues.is_empty() => {
                let facts = queues.into_iter().map(Fact::QueueEnded).collect();
                self.commit(ctx, ids, facts, Box::new(|_| {}));
            }
            // They end as forgotten ones later.
            _ => {}
        }
    }
}
