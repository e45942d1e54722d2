//! Reactions: somebody adds one to a message, or takes it back (companions.md 4).

use super::{ChangeCommand, Found, Home, MessageCommand, Moment, Target, Verdict};
use crate::error::DomainError;
use model::{Fact, Message, MessageId, TopicKey, User, UserId};
use rules::custom_emoji::choices;
use rules::permissions::edit::check_may_modify;
use rules::reactions::{ProposedEmoji, check_reaction, find_own_reaction};
use rules::visibility::{Participation, policy_of_participant};
use std::sync::Arc;

/// An emoji as a client names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedEmoji {
    /// `emoji_name`
    pub name: Option<String>,
    /// `emoji_code`
    pub code: Option<String>,
    /// `reaction_type`
    pub kind: Option<String>,
}

/// What is done with a reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReactionChange {
    /// It is added.
    Add,
    /// It is taken back.
    Remove,
}

/// React to a message, or take a reaction back.
#[derive(Clone, Debug)]
pub(crate) struct ChangeReaction {
    /// Who.
    pub user: UserId,
    /// To what.
    pub message: MessageId,
    /// Which of both.
    pub change: ReactionChange,
    /// With which emoji.
    pub emoji: NamedEmoji,
}

impl ChangeCommand for ChangeReaction {
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
        let mut message = Message::clone(&target.own);
        let NamedEmoji { name, code, kind } = &self.emoji;
        let (name, code, kind) = (name.as_deref(), code.as_deref(), kind.as_deref());
        let custom = choices(directory);
        let facts = match self.change {
            ReactionChange::Add => {
                let proposed = ProposedEmoji { name: name.unwrap_or_default(), code, kind };
                let reaction = check_reaction(&target.own, user.id, proposed, &custom)?;
                message.reactions.push(reaction.clone());
                let added = Fact::ReactionAdded { message: Arc::new(message), reaction };
                [added].into_iter().chain(follow(moment, user, &target)).collect()
            }
            ReactionChange::Remove => {
                let reaction = find_own_reaction(&target.own, user.id, name, code, kind, &custom)?.clone();
                message.reactions.retain(|other| *other != reaction);
                vec![Fact::ReactionRemoved { message: Arc::new(message), reaction }]
            }
        };
        Ok(Verdict::Decided((), facts))
    }
}

impl MessageCommand for ChangeReaction {
    fn message(&self) -> MessageId {
        self.message
    }
}

/// The policy that somebody gets for a topic by taking part in it other than by writing.
pub(super) fn follow(moment: &Moment<'_>, user: &User, target: &Target) -> Option<Fact> {
    let Home::Channel(channel) = moment.home else { return None };
    let directory = &moment.view.directory;
    let topic = target.message.place.topic();
    let participation = Participation {
        is_channel_muted: directory.subscription(channel, user.id).is_some_and(|own| own.is_muted),
        policy: directory.topic_policy(user.id, channel, &TopicKey::new(topic)),
        starts_topic: false,
    };
    let policy = policy_of_participant(user, participation)?;
    Some(Fact::TopicPolicySet { user: user.id, channel, topic: topic.to_owned(), policy })
}
