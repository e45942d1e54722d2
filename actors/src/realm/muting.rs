//! Muting users (docs/api/users.md#mute-users): their messages, present and future, count as read
//! (docs/api/message-flags.md#unread-rules).

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedChange};
use crate::error::DomainError;
use crate::queries::{ReadScope, select_unread};
use crate::shared::FLAG_RANGES_MAX;
use model::{Fact, MessageFact, PersonalFact, UserId};
use rules::error::{PersonalError, RuleError};

/// Mutes a user, who must be visible to `user`.
pub struct MuteUser {
    pub user: UserId,
    pub muted: UserId,
}

impl SerializedChange for MuteUser {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let Self { user, muted } = self;
        let record = requester(&context.directory, user)?;
        if context.directory.muted_since(user, muted).is_some() {
            return Err(RuleError::from(PersonalError::AlreadyMuted).into());
        }
        let mut facts = vec![Fact::Personal(PersonalFact::Muted { user, muted, since: Some(context.now) })];
        let unread = select_unread(&context.realm.view.read(), record, ReadScope::Sender(muted));
        let mut messages = unread.unwrap_or_default().messages;
        // The rest does not fit into the frame and is marked right after it.
        messages.0.truncate(FLAG_RANGES_MAX);
        if !messages.is_empty() {
            facts.push(Fact::Message(MessageFact::read(user, messages)));
        }
        Ok(facts)
    }
}

/// Unmutes a user. Read messages stay read.
pub struct UnmuteUser {
    pub user: UserId,
    pub muted: UserId,
}

impl SerializedChange for UnmuteUser {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let Self { user, muted } = self;
        if context.directory.muted_since(user, muted).is_none() {
            return Err(RuleError::from(PersonalError::NotMuted).into());
        }
        Ok(vec![Fact::Personal(PersonalFact::Muted { user, muted, since: None })])
    }
}
