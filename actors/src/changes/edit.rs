//! One PATCH of a message: new content, or another place, or both (endpoints.md 2).

use super::content::edited_record;
use super::movement::{Relocation, move_messages};
use super::notices::announce_move;
use super::{ChangeCommand, Found, MessageCommand, Moment, Target, Verdict};
use crate::error::DomainError;
use model::fact::MessageUpdate;
use model::{ChannelId, Fact, MessageId, PropagateMode, TopicLink, UserId};
use rules::RuleError;
use rules::markdown::Rendered;
use rules::permissions::edit::{EditRequest, check_edit};

/// What a client asks for, as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedEdit {
    /// New Markdown source.
    pub content: Option<String>,
    /// New topic.
    pub topic: Option<String>,
    /// New channel.
    pub channel: Option<i64>,
    /// Which messages move.
    pub mode: PropagateMode,
    /// What the client believes the content to be.
    pub prev_content_sha256: Option<String>,
}

impl RequestedEdit {
    /// For the rules.
    pub fn as_request(&self) -> EditRequest<'_> {
        EditRequest {
            content: self.content.as_deref(),
            topic: self.topic.as_deref(),
            channel: self.channel,
            mode: self.mode,
            prev_content_sha256: self.prev_content_sha256.as_deref(),
        }
    }
}

/// Edit or move, with everything prepared that needs no decision.
#[derive(Clone, Debug)]
pub struct EditCommand {
    /// Who does it.
    pub user: UserId,
    /// The message.
    pub message: MessageId,
    /// What is asked for.
    pub request: RequestedEdit,
    /// The new content, rendered; needed where content is asked for.
    pub rendered: Option<Rendered>,
    /// Links in the new topic.
    pub topic_links: Vec<TopicLink>,
    /// Whether a notice is wanted in the old topic.
    pub tells_old: bool,
    /// Whether a notice is wanted in the new topic.
    pub tells_new: bool,
    /// The organization's own address without a slash at the end, for links in notices.
    pub realm_url: String,
}

/// What an edit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// How many messages moved.
    pub moved: u64,
}

impl ChangeCommand for EditCommand {
    type Outcome = Edited;

    fn decide(&self, moment: &mut Moment<'_>) -> Result<Verdict<Edited>, DomainError> {
        let target = match moment.find(self.message)? {
            Found::Here(target) => target,
            Found::Elsewhere => return Ok(Verdict::Elsewhere),
            Found::Gone => return Err(self.gone().into()),
        };
        let goal = self.request.channel.and_then(|id| u32::try_from(id).ok()).map(ChannelId);
        if goal.is_some_and(|goal| (moment.is_changing)(goal)) {
            return Ok(Verdict::Elsewhere);
        }
        let (edit, relocation) = self.plan(moment, &target)?;
        let moved = edit.movement.as_ref().map_or(0, |movement| movement.messages.len());
        let mut facts = vec![Fact::MessageUpdated(Box::new(edit))];
        if let Some(relocation) = relocation {
            facts.extend(relocation.policy_facts());
            facts.extend(announce_move(moment, self, &target, &relocation)?);
        }
        Ok(Verdict::Decided(Edited { moved }, facts))
    }
}

impl EditCommand {
    fn plan(
        &self,
        moment: &Moment<'_>,
        target: &Target,
    ) -> Result<(MessageUpdate, Option<Relocation>), DomainError> {
        let (view, user) = (moment.view, moment.user(self.user)?);
        let received = || view.has(user.id, &target.message);
        let request = self.request.as_request();
        let plan = check_edit(&view.directory, user, &target.message, received, &request, moment.now)?;
        let edited = match (&plan.content, &self.rendered) {
            (Some(content), Some(rendered)) => Some(edited_record(moment, user, target, content, rendered)?),
            // Whoever asks for content has it rendered.
            (Some(_), None) => return Err(RuleError::InvalidMessage.into()),
            (None, _) => None,
        };
        let relocation = plan.movement.map(|plan| move_messages(moment, user, target, plan)).transpose()?;
        let movement = relocation.as_ref().map(|relocation| relocation.movement(&self.topic_links));
        let (by, at) = (user.id, moment.now);
        Ok((MessageUpdate { target: self.message, by, at, edited, movement }, relocation))
    }
}

impl MessageCommand for EditCommand {
    fn message(&self) -> MessageId {
        self.message
    }
}
