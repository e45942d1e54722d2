//! Parts of widgets: votes, questions, tasks (endpoints.md 24).

use super::reactions::follow;
use super::{ChangeCommand, Found, MessageCommand, Moment, Verdict};
use crate::error::DomainError;
use crate::shard::Sequencer;
use model::{Fact, Message, MessageId, Submessage, UserId};
use rules::RuleError;
use rules::permissions::edit::check_may_modify;
use rules::widgets::{WIDGET, check_submessage, widget_content};
use std::sync::Arc;

/// Add a part to a widget.
#[derive(Clone, Debug)]
pub(crate) struct AddSubmessage {
    /// Who.
    pub user: UserId,
    /// To which message.
    pub message: MessageId,
    /// `widget`
    pub msg_type: String,
    /// JSON text.
    pub content: String,
}

impl ChangeCommand for AddSubmessage {
    type Outcome = ();

    fn decide(&self, moment: &mut Moment<'_>) -> Result<Verdict<()>, DomainError> {
        let target = match moment.find(self.message)? {
            Found::Here(target) => target,
            Found::Elsewhere => return Ok(Verdict::Elsewhere),
            Found::Gone => return Err(self.gone().into()),
        };
        let (directory, user) = (&moment.view.directory, moment.user(self.user)?);
        let received = || moment.view.has(user.id, &target.message);
        check_may_modify(directory, user, &target.message, received)?;
        let is_vote = check_submessage(&target.own, user.id, &self.content).map_err(RuleError::from)?;
        let submessage = Submessage {
            id: submessage_id(&moment.ids)?,
            msg_type: self.msg_type.clone(),
            content: self.content.clone(),
            sender: user.id,
        };
        let mut message = Message::clone(&target.own);
        message.submessages.push(submessage.clone());
        let mut facts = vec![Fact::SubmessageAdded { message: Arc::new(message), submessage }];
        facts.extend(is_vote.then(|| follow(moment, user, &target)).flatten());
        Ok(Verdict::Decided((), facts))
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
