//! The state of a channel's actor, with which it decides before earlier decisions are durable. No actor, no clock, no
//! storage.

use super::policies::UncommittedPolicies;
use crate::draft::{ChannelDraft, ContentFlags, Destination, check_group_mentions, read_by_muters};
use crate::error::DomainError;
use crate::uploads::claims_of_sent;
use model::directory::Subscribers;
use model::fact::{DeletedFrom, DirectoryChange as Change, Movement};
use model::{
    Channel, ChannelFact, ChannelId, Directory, Fact, MessageFact, MessageId, Place, Sequence, Submessage,
    Subscription, SubscriptionFact, Timestamp, TopicKey, User, UserId, VisibilityPolicy,
};
use rules::permissions::message::{WILDCARD_PEOPLE_MAX, Wildcard, check_wildcard};
use rules::visibility::{self, Participation};
use std::collections::HashMap;
use std::sync::Arc;

/// A channel with its uncommitted decisions.
#[derive(Clone, Debug)]
pub struct ChannelState {
    id: ChannelId,
    subscribers: Subscribers,
    /// The number of messages of each topic.
    topics: HashMap<TopicKey, u64>,
    is_recently_active: bool,
    /// The channel's record, if it has uncommitted changes.
    pub(super) uncommitted: Option<Arc<Channel>>,
    pub(super) policies: UncommittedPolicies,
}

/// The decision about a message.
#[derive(Debug)]
pub struct SendDecision {
    pub facts: Vec<Fact>,
    /// The sender's new policy for the topic.
    pub new_policy: Option<VisibilityPolicy>,
}

/// The input of a decision that is not part of the channel's state.
pub struct SendContext<'a> {
    pub directory: &'a Directory,
    /// The distinct senders of the topic, for `@**topic**`.
    pub participants: &'a [UserId],
    pub id: MessageId,
    pub now: Timestamp,
    /// The newest frame in `directory`.
    pub durable: Sequence,
}

impl ChannelState {
    /// The state of a channel without pending decisions.
    pub fn new(channel: &Channel, subscribers: Subscribers, topics: HashMap<TopicKey, u64>) -> Self {
        let is_recently_active = channel.is_recently_active;
        Self {
            id: channel.id,
            subscribers,
            topics,
            is_recently_active,
            uncommitted: None,
            policies: UncommittedPolicies::default(),
        }
    }

    /// A user's current subscription.
    pub fn subscription(&self, user: UserId) -> Option<&Subscription> {
        self.subscribers.get(&user).filter(|subscription| subscription.is_active).map(|own| &**own)
    }

    /// A user's policy for a topic, durable or not. `durable` is the directory's newest frame.
    pub fn topic_policy(
        &self,
        directory: &Directory,
        durable: Sequence,
        user: UserId,
        topic: &TopicKey,
    ) -> VisibilityPolicy {
        let uncommitted = self.policies.get(user, topic, durable);
        uncommitted.unwrap_or_else(|| directory.topic_policy(user, self.id, topic))
    }

    fn is_subscribed(&self, user: UserId) -> bool {
        self.subscribers.get(&user).is_some_and(|subscription| subscription.is_active)
    }

    /// Decides one message; `widget` makes it a widget. Changes nothing.
    pub fn send(
        &self,
        draft: ChannelDraft,
        widget: Option<Submessage>,
        context: &SendContext<'_>,
    ) -> Result<SendDecision, DomainError> {
        let directory = context.directory;
        let sender = draft.draft.sender.clone();
        let Some(channel) = self.uncommitted.as_ref().or_else(|| directory.channel(self.id)) else {
            return Err(rules::RuleError::ChannelIdDoesNotExist { id: self.id.0.into() }.into());
        };
        rules::permissions::channel::check_may_post(directory, &sender, channel)?;
        self.check_mentions(&draft, context)?;
        let participants = with_sender(context.participants, sender.id);
        let (content, rendered) = (&draft.draft.content, &draft.draft.rendered);
        let flags = ContentFlags { content, rendered, participants: &participants };
        let mut flags = flags.of_readers(directory, |user| self.is_subscribed(user));
        read_by_muters(&mut flags, directory, sender.id, |user| self.is_subscribed(user));
        // Clients receive the policy before the message that caused it.
        let (mut facts, new_policy) = self.automatic_policies(&draft, &sender, context);
        let topic = draft.topic;
        let destination = Destination {
            recipient: channel.recipient,
            place: Place::Channel { channel: self.id, topic },
            topic_links: draft.topic_links,
        };
        let echo = draft.draft.echo.clone();
        facts.extend(claims_of_sent(context.id, context.now, draft.draft.claims.clone()));
        let mut message = draft.draft.into_message(context.id, context.now, destination, flags);
        message.submessages.extend(widget);
        facts.push(Fact::Message(MessageFact::Sent { message: Arc::new(message), echo }));
        if !self.is_recently_active {
            facts.push(Fact::Channel(ChannelFact::ActivityChanged {
                channel: self.id,
                is_recently_active: true,
            }));
        }
        Ok(SendDecision { facts, new_policy })
    }

    fn check_mentions(&self, draft: &ChannelDraft, context: &SendContext<'_>) -> Result<(), DomainError> {
        let mentions = &draft.draft.rendered.mentions;
        let (directory, sender) = (context.directory, &draft.draft.sender);
        if mentions.channel_wildcard {
            let active = self.subscribers.iter().filter(|(_, subscription)| subscription.is_active);
            let active = active.filter(|(user, _)| directory.is_active_user(**user));
            // More make no difference.
            let count = active.take(WILDCARD_PEOPLE_MAX + 1).count();
            check_wildcard(directory, sender, Wildcard::Channel, count)?;
        }
        if mentions.topic_wildcard {
            let people = with_sender(context.participants, sender.id).len();
            check_wildcard(directory, sender, Wildcard::Topic, people)?;
        }
        check_group_mentions(&draft.draft, directory)
    }

    /// Policies that sending changes: those of the sender and of users mentioned by name.
    fn automatic_policies(
        &self,
        draft: &ChannelDraft,
        sender: &User,
        context: &SendContext<'_>,
    ) -> (Vec<Fact>, Option<VisibilityPolicy>) {
        let directory = context.directory;
        let key = TopicKey::new(&draft.topic);
        let policy_of = |user| self.topic_policy(directory, context.durable, user, &key);
        let set = |user: UserId, policy| {
            Fact::Subscription(SubscriptionFact::TopicPolicySet {
                users: vec![user],
                channel: self.id,
                topic: draft.topic.clone(),
                policy,
            })
        };
        let starts_topic = !self.topics.contains_key(&key);
        let participation = Participation {
            is_channel_muted: self.subscription(sender.id).is_some_and(|own| own.is_muted),
            policy: policy_of(sender.id),
            starts_topic,
        };
        let has_room = |user, before| visibility::has_room_for_policy(directory, user, before);
        let new_policy = visibility::automatic_policy(sender, participation)
            .filter(|_| has_room(sender.id, participation.policy));
        let mut facts: Vec<Fact> = new_policy.iter().map(|policy| set(sender.id, *policy)).collect();
        for user in &draft.draft.rendered.mentions.users {
            let Some(user) = directory.user(UserId(*user as u32)) else { continue };
            if user.id == sender.id || !self.is_subscribed(user.id) {
                continue;
            }
            let before = policy_of(user.id);
            if let Some(policy) = visibility::policy_when_mentioned(user, before)
                && has_room(user.id, before)
            {
                facts.push(set(user.id, policy));
            }
        }
        (facts, new_policy)
    }

    /// Adds a subscription, if the user is not subscribed yet.
    pub fn add_subscription(&mut self, user: UserId, subscription: Subscription) {
        if !self.is_subscribed(user) {
            self.subscribers.insert(user, Arc::new(subscription));
        }
    }

    /// The users of a list that are subscribed.
    pub fn subscribed_among(&self, users: &[UserId]) -> Vec<UserId> {
        users.iter().copied().filter(|user| self.is_subscribed(*user)).collect()
    }

    /// Applies what was decided, here or by the organization. Other records are read from the view.
    pub fn apply(&mut self, fact: &Fact) {
        if let Fact::Message(fact) = fact {
            self.apply_message(fact);
        }
        let Some(change) = fact.directory_change() else { return };
        match change {
            Change::Activity { channel, is_recently_active } if channel == self.id => {
                self.is_recently_active = is_recently_active;
            }
            Change::Account { user, is_active, last } => {
                self.change_subscription(user, |subscription| match is_active {
                    true => subscription.resume(last),
                    false => subscription.pause(last),
                });
            }
            Change::Subscribed { channel, subscribers } if channel == self.id => {
                for (user, subscription) in subscribers {
                    self.subscribers.insert(*user, Arc::new(subscription.clone()));
                }
            }
            Change::Unsubscribed { channel, last, users } if channel == self.id => {
                for user in users {
                    self.change_subscription(*user, |subscription| subscription.end(last));
                }
            }
            Change::Subscription { user, channel, subscription } if channel == self.id => {
                self.subscribers.insert(user, Arc::new(subscription.clone()));
            }
            Change::Activity { .. }
            | Change::Subscribed { .. }
            | Change::Unsubscribed { .. }
            | Change::Subscription { .. }
            | Change::Realm(_)
            | Change::User { .. }
            | Change::Group { .. }
            | Change::Members { .. }
            | Change::Channel { .. }
            | Change::DefaultChannels(_)
            | Change::Folder(_)
            | Change::Direct(_)
            | Change::Picture(_) => {}
        }
    }

    fn apply_message(&mut self, fact: &MessageFact) {
        match fact {
            MessageFact::Sent { message, .. } => {
                if message.place.channel() == Some(self.id) {
                    self.count(message.place.topic(), 1);
                }
            }
            MessageFact::Updated(update) => {
                update.movement.iter().for_each(|movement| self.apply_movement(movement));
            }
            MessageFact::Deleted { from, messages, .. } => {
                if let DeletedFrom::Topic { channel, topic } = from
                    && *channel == self.id
                {
                    self.count(topic, -(messages.len() as i64));
                }
            }
            MessageFact::FlagsChanged { .. }
            | MessageFact::ReactionAdded { .. }
            | MessageFact::ReactionRemoved { .. }
            | MessageFact::SubmessageAdded { .. }
            | MessageFact::HistoryErased { .. }
            | MessageFact::ConversationCreated(_) => {}
        }
    }

    fn change_subscription(&mut self, user: UserId, change: impl FnOnce(&mut Subscription)) {
        if let Some(subscription) = self.subscribers.get_mut(&user) {
            change(Arc::make_mut(subscription));
        }
    }

    /// Counts moved messages, out of or into this channel.
    fn apply_movement(&mut self, movement: &Movement) {
        let count = movement.messages.len() as i64;
        let to = movement.new_channel.as_ref().map_or(movement.channel, |arrival| arrival.channel);
        let topic = movement.new_topic.as_ref().map_or(&movement.topic, |topic| &topic.name);
        if movement.channel == self.id {
            self.count(&movement.topic, -count);
        }
        if to == self.id {
            self.count(topic, count);
        }
    }

    fn count(&mut self, topic: &str, change: i64) {
        let folded = TopicKey::fold(topic);
        let count = self.topics.get_mut(&*folded);
        let after = count.as_ref().map_or(0, |count| **count).saturating_add_signed(change);
        match (count, after) {
            (Some(_), 0) => drop(self.topics.remove(&*folded)),
            (Some(count), _) => *count = after,
            (None, 0) => {}
            (None, _) => drop(self.topics.insert(TopicKey::new(topic), after)),
        }
    }
}

/// The senders of a topic, including the current one.
fn with_sender(participants: &[UserId], sender: UserId) -> Vec<UserId> {
    let is_new = !participants.contains(&sender);
    participants.iter().copied().chain(is_new.then_some(sender)).collect()
}

#[cfg(test)]
mod tests;
