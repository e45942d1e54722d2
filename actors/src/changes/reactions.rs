//! Adding and removing reactions (docs/api/reactions.md).

use super::{ConversationKey, Decision, DecisionContext, MessageCommand, Target};
use crate::error::DomainError;
use model::{
    ConversationId, Fact, MessageFact, MessageId, RemainingReactions, SubscriptionFact, TopicKey, User,
    UserId,
};
use rules::custom_emoji::choices;
use rules::permissions::edit::check_may_modify;
use rules::reactions::{ProposedEmoji, check_reaction, find_own_reaction};
use rules::visibility::{Participation, has_room_for_policy, policy_of_participant};

/// An emoji as a client names it: `emoji_name`, `emoji_code` and `reaction_type`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedEmoji {
    pub name: Option<String>,
    pub code: Option<String>,
    pub kind: Option<String>,
}

/// Whether a reaction is added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReactionChange {
    Add,
    Remove,
}

/// Adds or removes a reaction.
#[derive(Clone, Debug)]
pub struct ChangeReaction {
    pub user: UserId,
    pub message: MessageId,
    pub change: ReactionChange,
    pub emoji: NamedEmoji,
}

impl MessageCommand for ChangeReaction {
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
        let (message, conversation) = (self.message, ConversationId::of(&target.message));
        let NamedEmoji { name, code, kind } = &self.emoji;
        let (name, code, kind) = (name.as_deref(), code.as_deref(), kind.as_deref());
        let custom = choices(directory);
        let facts = match self.change {
            ReactionChange::Add => {
                let proposed = ProposedEmoji { name: name.unwrap_or_default(), code, kind };
                let reaction = check_reaction(&target.own, user.id, proposed, &custom)?;
                let added = Fact::Message(MessageFact::ReactionAdded { message, conversation, reaction });
                [added].into_iter().chain(follow(context, user, target)).collect()
            }
            ReactionChange::Remove => {
                let reaction = find_own_reaction(&target.own, user.id, name, code, kind, &custom)?.clone();
                let left = RemainingReactions::without(&target.own, &reaction);
                vec![Fact::Message(MessageFact::ReactionRemoved { message, conversation, reaction, left })]
            }
        };
        Ok(Decision::Decided((), facts))
    }
}

/// The policy that a user gets for a topic by participating without writing.
pub(super) fn follow(context: &DecisionContext<'_>, user: &User, target: &Target) -> Option<Fact> {
    let ConversationKey::Channel(channel) = context.conversation else { return None };
    let directory = &context.view.directory;
    let topic = target.message.place.topic();
    let participation = Participation {
        is_channel_muted: directory.subscription(channel, user.id).is_some_and(|own| own.is_muted),
        policy: directory.topic_policy(user.id, channel, &TopicKey::new(topic)),
        starts_topic: false,
    };
    let policy = policy_of_participant(user, participation)
        .filter(|_| has_room_for_policy(directory, user.id, participation.policy))?;
    Some(Fact::Subscription(SubscriptionFact::TopicPolicySet {
        users: vec![user.id],
        channel,
        topic: topic.to_owned(),
        policy,
    }))
}
