//! Creating, revoking, resending and accepting invitations (docs/api/invitations.md). Permissions are in
//! `rules::invitations`.

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use crate::error::DomainError;
use crate::outbox::{UNREQUESTED_MAILS_MAX, job, unrequested_mail_room};
use model::invitation::created_invitations;
use model::job::{MailTask, Task, TaskKind};
use model::{Directory, Fact, Invitation, InvitationFact, InvitationId, User, UserId};
use rules::RuleError;
use rules::error::{InvitationError, NotInvited};
use rules::invitations::{
    InvitationLimits, InvitationPlan, InvitationRequest, SentInvitations, access_invitation,
    check_invitations, check_resend, check_reusable_invitation, invitations_of, overreaching_invitations,
    renewed_expiry,
};

pub(super) fn fact(fact: InvitationFact) -> Fact {
    Fact::Invitation(Box::new(fact))
}

/// The fact that revokes invitations; none for an empty list.
pub(super) fn revoked(invitations: Vec<InvitationId>) -> Option<Fact> {
    (!invitations.is_empty()).then(|| fact(InvitationFact::Revoked(invitations)))
}

/// Revokes the open invitations of a deactivated account, in the same frame.
pub(super) fn revoke_invitations_of(directory: &Directory, inviter: &User) -> Option<Fact> {
    revoked(invitations_of(directory, inviter))
}

/// Revokes the open invitations that a user could no longer send, in the frame that removes the permissions; `then` is the
/// directory after it.
pub(super) fn revoke_overreaching(then: &Directory, inviter: UserId) -> Option<Fact> {
    revoked(overreaching_invitations(then, inviter))
}

/// Whether this many invitations can be sent by e-mail now: `NoMail`, `TooManyAtOnce`, `NoRoom`.
fn check_mails(context: &DecisionContext<'_>, count: usize) -> Result<(), RuleError> {
    if !context.realm.supports(TaskKind::Mail) {
        return Err(InvitationError::NoMail.into());
    }
    if count > UNREQUESTED_MAILS_MAX {
        return Err(InvitationError::TooManyAtOnce { limit: UNREQUESTED_MAILS_MAX }.into());
    }
    if count > unrequested_mail_room(&context.realm.view.read().jobs) {
        return Err(InvitationError::NoRoom.into());
    }
    Ok(())
}

/// The job that sends an invitation by e-mail.
fn mail(context: &DecisionContext<'_>, invitation: InvitationId) -> Fact {
    job(context.now, Task::Mail(MailTask::Invitation(invitation)))
}

/// Sends invitations by e-mail.
pub struct SendInvitations {
    pub by: UserId,
    pub addresses: String,
    /// The role, channels and groups of the invitation, and when it expires.
    pub request: InvitationRequest,
    pub limits: InvitationLimits,
}

impl SerializedCommand for SendInvitations {
    /// The addresses that were not invited; all others were.
    type Outcome = Vec<NotInvited>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Self::Outcome, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let plan = {
            let resent = context.realm.outbox.resent_invitations.lock();
            let sent = SentInvitations { limits: self.limits, resent: &resent };
            check_invitations(directory, by, &self.addresses, self.request, context.now, sent)?
        };
        let InvitationPlan { invitation, addresses, skipped } = plan;
        check_mails(context, addresses.len())?;
        let mut addresses = addresses.into_iter();
        let (id, address) = (directory.next_invitation(), addresses.next());
        let first = Invitation { id, address, ..invitation };
        let others: Vec<String> = addresses.collect();
        let ids: Vec<_> = created_invitations(&first, &others).map(|invitation| invitation.id).collect();
        let mut facts = vec![fact(InvitationFact::Created { first, others })];
        facts.extend(ids.into_iter().map(|id| mail(context, id)));
        Ok((skipped, facts))
    }
}

/// Creates a reusable invitation link.
pub struct CreateReusableInvitation {
    pub by: UserId,
    /// The role, channels and groups of the invitation, and when it expires.
    pub request: InvitationRequest,
}

impl SerializedCommand for CreateReusableInvitation {
    type Outcome = InvitationId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(InvitationId, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let invitation = check_reusable_invitation(directory, by, self.request, context.now)?;
        let id = directory.next_invitation();
        let first = Invitation { id, ..invitation };
        Ok((id, vec![fact(InvitationFact::Created { first, others: Vec::new() })]))
    }
}

/// Revokes an invitation.
pub struct RevokeInvitation {
    pub by: UserId,
    pub invitation: InvitationId,
    /// The kind that the invitation must have.
    pub is_reusable: bool,
}

impl SerializedChange for RevokeInvitation {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let by = requester(&context.directory, self.by)?;
        access_invitation(&context.directory, by, self.invitation, self.is_reusable)?;
        Ok(revoked(vec![self.invitation]).into_iter().collect())
    }
}

/// Sends the e-mail of an invitation again, with as much time as at first.
pub struct ResendInvitation {
    pub by: UserId,
    pub invitation: InvitationId,
    pub limits: InvitationLimits,
}

impl SerializedChange for ResendInvitation {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let (directory, now) = (&context.directory, context.now);
        let by = requester(directory, self.by)?;
        let found = access_invitation(directory, by, self.invitation, false)?;
        check_mails(context, 1)?;
        let mut resent = context.realm.outbox.resent_invitations.lock();
        resent.forget_old(now);
        let sent = SentInvitations { limits: self.limits, resent: &resent };
        check_resend(directory, by, found, now, sent).map_err(RuleError::from)?;
        resent.note(found, now);
        let again =
            InvitationFact::Resent { invitation: self.invitation, expires: renewed_expiry(found, now) };
        Ok(vec![fact(again), mail(context, self.invitation)])
    }
}
