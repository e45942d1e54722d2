//! Submessages of widgets: votes, questions, tasks (docs/api/messages.md#widgets).

use super::reactions::follow;
use super::{Decision, DecisionContext, MessageCommand, Target};
use crate::draft::Draft;
use crate::error::DomainError;
use crate::shard::Sequencer;
use model::{ConversationId, Fact, MessageFact, MessageId, Submessage, UserId};
use rules::RuleError;
use rules::permissions::edit::check_may_modify;
use rules::widgets::{WIDGET, check_submessage, widget_content};

/// Adds a submessage (JSON text) to a widget.
#[derive(Clone, Debug)]
pub struct AddSubmessage {
    pub user: UserId,
    pub message: MessageId,
    pub msg_type: String,
    pub content: String,
}

impl MessageCommand for AddSubmessage {
    type Outcome = ();

    fn message(&self) -> MessageId {
        self.message
    }

    fn decide_on(
        &self,
        context: &mut DecisionContext<'_>,
        target: &Target,
    ) -> Result<Decision<()>, DomainError> {
        let (directory, user) = (&context.view.directory, context.user(self.user)?);
        let received = || context.view.has(user.id, &target.message);
        check_may_modify(directory, user, &target.message, received)?;
        let is_vote = check_submessage(&target.own, user.id, &self.content).map_err(RuleError::from)?;
        let submessage = Submessage {
            id: submessage_id(&context.ids)?,
            msg_type: self.msg_type.clone(),
            content: self.content.clone(),
            sender: user.id,
        };
        let (message, conversation) = (self.message, ConversationId::of(&target.message));
        let mut facts =
            vec![Fact::Message(MessageFact::SubmessageAdded { message, conversation, submessage })];
        facts.extend(is_vote.then(|| follow(context, user, target)).flatten());
        Ok(Decision::Decided((), facts))
    }
}

/// The submessage that makes a new message a widget, if it is one: the given one, or that of a command. Fails with
/// `Overloaded` when there are no ids left.
pub(crate) fn first_submessage(draft: &Draft, ids: &Sequencer) -> Result<Option<Submessage>, DomainError> {
    let given = draft.widget.clone();
    let Some(content) = given.or_else(|| widget_content(&draft.content)) else { return Ok(None) };
    let (id, msg_type) = (submessage_id(ids)?, WIDGET.to_owned());
    Ok(Some(Submessage { id, msg_type, content, sender: draft.sender.id }))
}

/// No frame has more than one submessage, so the frame's number identifies it.
fn submessage_id(ids: &Sequencer) -> Result<u32, DomainError> {
    u32::try_from(ids.sequence.0).map_err(|_| DomainError::Overloaded)
}
