//! New accounts without an invitation, where the organization lets people in. The owner of the address confirms it with
//! a link; the messages that welcome the user are decided with the account.

use super::commands::NewUser;
use super::frame_draft::FrameDraft;
use super::invitations::revoked;
use super::joining::{account, first_channels, welcome};
use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use crate::error::DomainError;
use crate::outbox::job;
use model::job::{MailTask, Task, TaskKind};
use model::{ChannelId, Directory, Fact, Role, User};
use rules::RuleError;
use rules::error::{AddressProblem, InvitationError};
use rules::invitations::{check_new_address, superseded_invitations};
use rules::names::{check_full_name_free, parse_full_name};
use rules::settings::realm_bool;
use std::sync::Arc;

/// Sends a link to an address with which an account can be made; or a note about the account that the address has.
pub struct RequestSignUp {
    pub address: String,
}

impl SerializedChange for RequestSignUp {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        check_open(directory)?;
        let task = match check_new_address(directory, &self.address) {
            Ok(()) => MailTask::SignUp { address: self.address, asked: context.now },
            Err(AddressProblem::Taken | AddressProblem::Deactivated) => {
                let known = directory.user_by_email(&self.address).filter(|user| !user.is_bot());
                let Some(user) = known else { return Ok(Vec::new()) };
                MailTask::SignUpKnown { user: user.id }
            }
            Err(AddressProblem::Reserved) => return Ok(Vec::new()),
            Err(problem @ (AddressProblem::Invalid | AddressProblem::Refused(_))) => {
                return Err(RuleError::from(InvitationError::from(problem)).into());
            }
        };
        context.realm.check_outbox(TaskKind::Mail)?;
        Ok(vec![job(context.now, Task::Mail(task))])
    }
}

/// Creates the account of a confirmed address. Of two requests with the same address, the second is refused.
pub struct SignUp {
    pub address: String,
    pub full_name: String,
    /// The argon2id hash of the chosen password.
    pub password_hash: String,
    /// Ids of the chosen groups of default channels; unknown ones are ignored.
    pub default_groups: Vec<u32>,
}

impl SerializedCommand for SignUp {
    type Outcome = Arc<User>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Arc<User>, Vec<Fact>), DomainError> {
        let now = context.now;
        let mut frame = FrameDraft::new(context);
        check_open(&frame.directory)?;
        let refused = |problem| DomainError::from(RuleError::from(InvitationError::from(problem)));
        check_new_address(&frame.directory, &self.address).map_err(refused)?;
        let full_name = parse_full_name(&self.full_name)?;
        check_full_name_free(&frame.directory, full_name, None)?;
        let new = NewUser {
            password_hash: Some(self.password_hash),
            ..NewUser::new(self.address, full_name, Role::Member)
        };
        let groups = frame.directory.default_groups().items.iter();
        let chosen = groups.filter(|group| self.default_groups.contains(&group.id));
        let chosen: Vec<ChannelId> = chosen.flat_map(|group| group.channels.iter().copied()).collect();
        let channels = first_channels(&frame.directory, &chosen, true);
        let (user, facts) = account(&frame.directory, &new, &channels, &mut frame.context.ids, now)?;
        frame.extend(facts);
        let superseded = superseded_invitations(&frame.context.directory, &new.email, None);
        frame.extend(revoked(superseded));
        welcome(&mut frame, &user, None);
        Ok((Arc::new(user), frame.facts))
    }
}

/// Refuses if the organization lets no one in without an invitation (any more).
fn check_open(directory: &Directory) -> Result<(), DomainError> {
    if !directory.realm().is_active {
        return Err(DomainError::RealmDeactivated);
    }
    if realm_bool(directory.realm(), "invite_required") { Err(DomainError::LinkUsed) } else { Ok(()) }
}
