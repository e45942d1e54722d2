//! Muting people (companions.md 5): what they wrote counts as read, and so does what they will write (endpoints.md 22).

use super::groups::actor;
use super::settled::{Moment, SettledCommand};
use crate::error::DomainError;
use crate::handle::FLAG_RANGES_MAX;
use crate::queries::{ReadScope, select_unread};
use model::{Fact, Flag, FlagOp, UserId};
use rules::error::{PersonalError, RuleError};

/// Mute somebody.
pub(crate) struct MuteUser {
    /// Who mutes.
    pub user: UserId,
    /// Whom; somebody whom the user may know of.
    pub muted: UserId,
}

impl SettledCommand for MuteUser {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let Self { user, muted } = self;
        let record = actor(&moment.directory, user)?;
        if moment.directory.muted_since(user, muted).is_some() {
            return Err(RuleError::from(PersonalError::AlreadyMuted).into());
        }
        let mut facts = vec![Fact::UserMuted { user, muted, since: Some(moment.now) }];
        let unread = select_unread(&moment.realm.view.read(), record, ReadScope::Sender(muted));
        let mut messages = unread.unwrap_or_default().messages;
        // What one frame cannot hold is marked right after it.
        messages.0.truncate(FLAG_RANGES_MAX);
        if !messages.is_empty() {
            facts.push(Fact::FlagsChanged { user, flag: Flag::Read, op: FlagOp::Add, messages });
        }
        Ok(((), facts))
    }
}

/// No longer mute somebody. What is read stays read.
pub(crate) struct UnmuteUser {
    /// Who mutes.
    pub user: UserId,
    /// Whom.
    pub muted: UserId,
}

impl SettledCommand for UnmuteUser {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let Self { user, muted } = self;
        if moment.directory.muted_since(user, muted).is_none() {
            return Err(RuleError::from(PersonalError::NotMuted).into());
        }
        Ok(((), vec![Fact::UserMuted { user, muted, since: None }]))
    }
}
