//! Deleting a message, and a topic in batches (docs/api/messages.md#delete-a-message,
//! docs/api/messages.md#delete-a-topic).

use super::{ChangeCommand, ConversationKey, Decision, DecisionContext, MessageCommand, Target};
use crate::announce::readable_in;
use crate::error::DomainError;
use crate::uploads::releases;
use model::fact::{DeletedFrom, MessageRanges};
use model::{
    ChannelId, Fact, MessageFact, MessageId, Place, SubscriptionFact, TopicKey, UserId, VisibilityPolicy,
};
use roaring::RoaringBitmap;
use rules::RuleError;
use rules::error::EditError;
use rules::permissions::channel::History;
use rules::permissions::delete::{access_topic_to_delete, check_delete};
use storage::View;

/// Messages of a topic that are deleted in one frame.
const BATCH_MESSAGES: usize = 100;

/// Deletes one message.
#[derive(Clone, Copy, Debug)]
pub struct DeleteMessage {
    pub user: UserId,
    pub message: MessageId,
}

impl MessageCommand for DeleteMessage {
    type Outcome = ();

    fn message(&self) -> MessageId {
        self.message
    }

    /// The requester saw it when the request began.
    fn missing(&self) -> RuleError {
        EditError::AlreadyDeleted.into()
    }

    fn decide_on(
        &self,
        context: &mut DecisionContext<'_>,
        target: &Target,
    ) -> Result<Decision<()>, DomainError> {
        let target = &target.message;
        let (directory, user) = (&context.view.directory, context.user(self.user)?);
        let received = || context.view.has(user.id, target);
        check_delete(directory, user, target, received, context.now)?;
        let from = match &target.place {
            Place::Channel { channel, topic } => {
                DeletedFrom::Topic { channel: *channel, topic: topic.clone() }
            }
            Place::Direct => DeletedFrom::Direct(target.recipient),
        };
        let messages = MessageRanges::from_sorted([self.message]);
        let mut facts = releases(context.view, messages.iter());
        facts.push(Fact::Message(MessageFact::Deleted { from, messages, by: Some(self.user) }));
        Ok(Decision::Decided((), facts))
    }
}

/// Deletes the newest messages of a topic.
#[derive(Clone, Debug)]
pub struct DeleteTopicBatch {
    pub user: UserId,
    pub channel: ChannelId,
    /// The topic as a client names it.
    pub topic: String,
}

/// The progress of deleting a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopicDeletion {
    pub deleted: usize,
    /// Whether no message is left that the user can read.
    pub is_complete: bool,
}

impl ChangeCommand for DeleteTopicBatch {
    type Outcome = TopicDeletion;

    fn decide(&self, context: &mut DecisionContext<'_>) -> Result<Decision<TopicDeletion>, DomainError> {
        let ConversationKey::Channel(channel) = context.conversation else { return Ok(Decision::Retry) };
        let (view, user) = (context.view, context.user(self.user)?);
        let (readable, topic) =
            access_topic_to_delete(&view.directory, user, self.channel.0.into(), &self.topic)?;
        let key = TopicKey::new(topic);
        let done = Decision::Decided(TopicDeletion { deleted: 0, is_complete: true }, Vec::new());
        let Some(messages) = view.messages.topic(channel, &key) else { return Ok(done) };
        let visible = readable_in(view, user, channel, &messages.ids);
        if visible.is_empty() {
            return Ok(done);
        }
        let batch: RoaringBitmap = visible.iter().rev().take(BATCH_MESSAGES).collect();
        let is_complete = batch.len() == visible.len();
        let ranges = MessageRanges::from_sorted(batch.iter().map(MessageId));
        let from = DeletedFrom::Topic { channel, topic: messages.name.clone() };
        let mut facts = releases(view, ranges.iter());
        facts.push(Fact::Message(MessageFact::Deleted { from, messages: ranges, by: Some(self.user) }));
        if is_complete {
            let left = &messages.ids - &batch;
            let is_protected = matches!(readable.history(), History::Delivered(_));
            facts.extend(reset_policies(view, channel, &messages.name, is_protected.then_some(&left)));
        }
        Ok(Decision::Decided(TopicDeletion { deleted: batch.len() as usize, is_complete }, facts))
    }
}

/// Deleting the last message of a topic resets all users' policies for it; in protected history only those of users
/// for whom no message is left.
fn reset_policies(
    view: &View,
    channel: ChannelId,
    topic: &str,
    left: Option<&RoaringBitmap>,
) -> Option<Fact> {
    let has_some_left =
        |user: UserId| left.is_some_and(|left| !view.accessible_in_channel(user, channel, left).is_empty());
    let set = view.directory.topic_policies(channel, topic).into_iter().flatten().map(|(user, _)| *user);
    let users: Vec<UserId> = set.filter(|user| !has_some_left(*user)).collect();
    let policy = VisibilityPolicy::Inherit;
    (!users.is_empty()).then(|| {
        Fact::Subscription(SubscriptionFact::TopicPolicySet {
            channel,
            topic: topic.to_owned(),
            policy,
            users,
        })
    })
}
