//! Adding submessages of widgets: votes, questions, tasks (docs/api/messages.md#widgets).

use super::reactions::follow;
use super::{ChangeCommand, Decision, DecisionContext, Lookup, MessageCommand};
use crate::error::DomainError;
use crate::shard::Sequencer;
use model::{Fact, MessageFact, MessageId, Spot, Submessage, UserId};
use rules::RuleError;
use rules::permissions::edit::check_may_modify;
use rules::widgets::{WIDGET, check_submessage, widget_content};

/// Add a part to a widget.
#[derive(Clone, Debug)]
pub struct AddSubmessage {
    /// The acting user.
    pub user: UserId,
    /// To which message.
    pub message: MessageId,
    /// `widget`
    pub msg_type: String,
    /// The content of the submessage, as JSON text.
    pub content: String,
}

impl ChangeCommand for AddSubmessage {
    type Outcome = ();

    fn decide(&self, context: &mut DecisionContext<'_>) -> Result<Decision<()>, DomainError> {
        let target = match context.find(self.message)? {
            Lookup::Here(target) => target,
            Lookup::Moved => return Ok(Decision::Retry),
            Lookup::Gone => return Err(self.gone().into()),
        };
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
        let (message, spot) = (self.message, Spot::of(&target.message));
        let mut facts = vec![Fact::Message(MessageFact::SubmessageAdded { message, spot, submessage })];
        facts.extend(is_vote.then(|| follow(context, user, &target)).flatten());
        Ok(Decision::Decided((), facts))
    }
}

impl MessageCommand for AddSubmessage {
    fn message(&self) -> MessageId {
        self.message
    }
}

/// The part that makes a new message a widget, if it is one.
///
/// # Errors
/// `Overloaded` when there are no ids any more.
pub(crate) fn first_submessage(
    sender: UserId,
    content: &str,
    ids: &Sequencer,
) -> Result<Option<Submessage>, DomainError> {
    let Some(content) = widget_content(content) else { return Ok(None) };
    let (id, msg_type) = (submessage_id(ids)?, WIDGET.to_owned());
    Ok(Some(Submessage { id, msg_type, content, sender }))
}

/// No frame has more than one part of a widget, so the frame's number is the part's.
fn submessage_id(ids: &Sequencer) -> Result<u32, DomainError> {
    u32::try_from(ids.sequence.0).map_err(|_| DomainError::Overloaded)
}
