//! One PATCH of a message: new content, another place, or both (docs/api/messages.md#edit-or-move-messages).

use super::content::{claims_after, next_version};
use super::move_notices::announce_move;
use super::movement::{Relocation, move_messages};
use super::request::{EditCommand, Edited};
use super::{Decision, DecisionContext, MessageCommand, Target};
use crate::error::DomainError;
use crate::uploads::claims_of_edit;
use model::fact::MessageUpdate;
use model::{ChannelId, ConversationId, Fact, ListedAttachment, MessageFact, MessageId};
use rules::RuleError;
use rules::permissions::edit::check_edit;

impl MessageCommand for EditCommand {
    type Outcome = Edited;

    fn message(&self) -> MessageId {
        self.message
    }

    fn decide_on(
        &self,
        context: &mut DecisionContext<'_>,
        target: &Target,
    ) -> Result<Decision<Edited>, DomainError> {
        let goal = self.request.channel.and_then(|id| u32::try_from(id).ok()).map(ChannelId);
        if goal.is_some_and(|goal| (context.is_changing)(goal)) {
            return Ok(Decision::Retry);
        }
        let (edit, relocation) = self.plan(context, target)?;
        if edit.edited.is_none() && edit.movement.is_none() {
            return Ok(Decision::Decided(Edited::default(), Vec::new()));
        }
        let moved = edit.movement.as_ref().map_or(0, |movement| movement.messages.len());
        // Clients receive the policy and the files before the changed messages.
        let mut facts = relocation.as_ref().map(Relocation::policy_facts).unwrap_or_default();
        let (claims, detached) = self.claims(context, target, edit.edited.is_some());
        facts.extend(claims);
        facts.push(Fact::Message(MessageFact::Updated(Box::new(edit))));
        if let Some(relocation) = relocation {
            facts.extend(announce_move(context, self, target, &relocation)?);
        }
        Ok(Decision::Decided(Edited { moved, detached }, facts))
    }
}

impl EditCommand {
    /// The change of the message's claims by new content, and the files that no message names then.
    fn claims(
        &self,
        context: &DecisionContext<'_>,
        target: &Target,
        is_edited: bool,
    ) -> (Option<Fact>, Vec<ListedAttachment>) {
        let (view, own) = (context.view, &target.own);
        match (is_edited, &self.rendered, view.directory.user(self.user)) {
            (true, Some(rendered), Some(user)) => {
                claims_of_edit(view, (own.id, own.sent), &claims_after(view, user, own.id, rendered))
            }
            _ => (None, Vec::new()),
        }
    }

    fn plan(
        &self,
        context: &DecisionContext<'_>,
        target: &Target,
    ) -> Result<(MessageUpdate, Option<Relocation>), DomainError> {
        let (view, user) = (context.view, context.user(self.user)?);
        let received = || view.has(user.id, &target.message);
        let request = self.request.as_request();
        let plan = check_edit(&view.directory, user, &target.message, received, &request, context.now)?;
        let edited = match (&plan.content, &self.rendered) {
            (Some(content), Some(rendered)) => Some(next_version(context, user, target, content, rendered)?),
            // A request with content always has it rendered.
            (Some(_), None) => return Err(RuleError::InvalidMessage.into()),
            (None, _) => None,
        };
        let relocation = plan.movement.map(|plan| move_messages(context, user, target, plan)).transpose()?;
        let movement = relocation.as_ref().map(|relocation| relocation.movement(&self.topic_links));
        let (by, at, conversation) = (user.id, context.now, ConversationId::of(&target.message));
        Ok((MessageUpdate { target: self.message, by, at, conversation, edited, movement }, relocation))
    }
}
