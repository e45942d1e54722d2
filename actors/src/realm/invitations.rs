//! Invitations: made, taken back, sent again, and what comes of them (endpoints.md 10, companions.md 10). Who may is for
//! `rules::invitations`.

use super::actor::RealmActor;
use super::groups::actor;
use super::settled::{Moment, SettledCommand};
use crate::Answer;
use crate::error::DomainError;
use crate::outbox::job;
use actix::prelude::*;
use model::invitation::created_invitations;
use model::job::{MailTask, Task, TaskKind};
use model::{Directory, Fact, Invitation, InvitationFact, InvitationId, User, UserId};
use rules::RuleError;
use rules::error::{InvitationError, NotInvited};
use rules::invitations::{
    InvitationPlan, InvitationRequest, access_invitation, check_invitations, check_reusable_invitation,
    invitations_of, renewed_expiry,
};
use std::sync::Arc;

pub(super) fn fact(fact: InvitationFact) -> Fact {
    Fact::Invitation(Box::new(fact))
}

/// The fact that takes invitations back; none where there are none.
pub(super) fn revoked(invitations: Vec<InvitationId>) -> Option<Fact> {
    (!invitations.is_empty()).then(|| fact(InvitationFact::Revoked(invitations)))
}

/// What ends with somebody's account: the open invitations that they sent. For the frame that deactivates it.
pub(super) fn revoke_invitations_of(directory: &Directory, inviter: &User) -> Option<Fact> {
    revoked(invitations_of(directory, inviter))
}

/// The fact that an invitation is to be mailed. Without the mail nobody is invited, so it is asked first whether there is
/// a way for it.
fn mail(moment: &Moment<'_>, invitation: InvitationId) -> Result<Fact, DomainError> {
    if !moment.realm.carries(TaskKind::Mail) {
        return Err(RuleError::from(InvitationError::NoMail).into());
    }
    moment.realm.check_outbox(TaskKind::Mail)?;
    Ok(job(moment.now, Task::Mail(MailTask::Invitation(invitation))))
}

/// Invite people by mail.
pub(crate) struct SendInvitations {
    /// Who does it.
    pub by: UserId,
    /// Their addresses, as sent.
    pub addresses: String,
    /// What to.
    pub request: InvitationRequest,
    /// Invitations of the organization in a day; 0: nothing bounds them.
    pub daily_max: usize,
}

impl SettledCommand for SendInvitations {
    /// Who was not invited, being known here. All others were.
    type Outcome = Vec<NotInvited>;

    fn decide(self, moment: &mut Moment<'_>) -> Result<(Self::Outcome, Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let by = actor(directory, self.by)?;
        let plan =
            check_invitations(directory, by, &self.addresses, self.request, moment.now, self.daily_max)?;
        let InvitationPlan { invitation, addresses, skipped } = plan;
        let mut addresses = addresses.into_iter();
        let (id, address) = (directory.next_invitation(), addresses.next());
        let first = Invitation { id, address, ..invitation };
        let others: Vec<String> = addresses.collect();
        let ids: Vec<_> = created_invitations(&first, &others).map(|invitation| invitation.id).collect();
        let mut facts = vec![fact(InvitationFact::Created { first, others })];
        for id in ids {
            facts.push(mail(moment, id)?);
        }
        Ok((skipped, facts))
    }
}

/// Make a link that anybody may use.
pub(crate) struct CreateReusableInvitation {
    /// Who does it.
    pub by: UserId,
    /// What to.
    pub request: InvitationRequest,
}

impl SettledCommand for CreateReusableInvitation {
    type Outcome = InvitationId;

    fn decide(self, moment: &mut Moment<'_>) -> Result<(InvitationId, Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let by = actor(directory, self.by)?;
        let invitation = check_reusable_invitation(directory, by, self.request, moment.now)?;
        let id = directory.next_invitation();
        let first = Invitation { id, ..invitation };
        Ok((id, vec![fact(InvitationFact::Created { first, others: Vec::new() })]))
    }
}

/// Take an invitation back.
pub(crate) struct RevokeInvitation {
    /// Who does it.
    pub by: UserId,
    /// Which.
    pub invitation: InvitationId,
    /// Of which kind it must be.
    pub is_reusable: bool,
}

impl SettledCommand for RevokeInvitation {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let by = actor(&moment.directory, self.by)?;
        access_invitation(&moment.directory, by, self.invitation, self.is_reusable)?;
        Ok(((), revoked(vec![self.invitation]).into_iter().collect()))
    }
}

/// Send the mail of an invitation once more, and give as much time as at first.
pub(crate) struct ResendInvitation {
    /// Who does it.
    pub by: UserId,
    /// Which.
    pub invitation: InvitationId,
}

impl SettledCommand for ResendInvitation {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let by = actor(&moment.directory, self.by)?;
        let found = access_invitation(&moment.directory, by, self.invitation, false)?;
        let expires = renewed_expiry(found, moment.now);
        let resent = fact(InvitationFact::Resent { invitation: self.invitation, expires });
        Ok(((), vec![resent, mail(moment, self.invitation)?]))
    }
}

/// Somebody who wants to join.
#[derive(Clone)]
pub struct Joining {
    /// With which invitation.
    pub invitation: InvitationId,
    /// With which address; that of the invitation, if it has one, counts instead.
    pub address: String,
    /// Display name, as typed.
    pub full_name: String,
    /// argon2id hash of the chosen password.
    pub password_hash: String,
}

/// Make an account of an invitation.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct AcceptInvitation {
    /// Whose.
    pub joining: Joining,
    /// Gets the record when it is durable.
    pub answer: Answer<Arc<User>>,
}

impl Handler<AcceptInvitation> for RealmActor {
    type Result = ();

    /// Of two who use one invitation, or one address, the second finds what the first left.
    fn handle(&mut self, AcceptInvitation { joining, answer }: AcceptInvitation, ctx: &mut Self::Context) {
        self.in_order(ctx, true, answer, |actor, ctx, answer| {
            let realm = actor.realm.clone();
            let decided = actor.committer.ids(realm.id).and_then(|mut ids| {
                let (directory, now) = (realm.directory(), realm.clock.now());
                let (user, facts) = actor.state.accept_invitation(&directory, joining, &mut ids, now)?;
                Ok((ids, user, facts))
            });
            actor.commit_account(ctx, decided, answer);
        });
    }
}
