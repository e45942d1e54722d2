//! What a channel's actor must know to decide, ahead of the disk. No actor, no clock, no storage.

use super::policies::PoliciesAhead;
use crate::draft::{ChannelDraft, ContentFlags, Destination, check_group_mentions, read_by_muters};
use crate::error::DomainError;
use model::directory::Subscribers;
use model::fact::{DeletedFrom, Movement};
use model::{
    Channel, ChannelId, Directory, Fact, MessageId, Place, Sequence, Submessage, Subscription, Timestamp,
    TopicKey, User, UserId, VisibilityPolicy,
};
use rules::permissions::message::{Wildcard, check_wildcard};
use rules::visibility::{self, Participation};
use std::collections::HashMap;
use std::sync::Arc;

/// A channel as its actor sees it: possibly ahead of what is durable.
#[derive(Clone, Debug)]
pub struct ChannelState {
    id: ChannelId,
    subscribers: Subscribers,
    /// Topics, each with how many messages it has.
    topics: HashMap<TopicKey, u64>,
    is_recently_active: bool,
    /// Its record, where the organization has changed it and that is not durable yet.
    pub(super) ahead: Option<Arc<Channel>>,
    /// Policies for topics that are on their way to the disk.
    pub(super) policies: PoliciesAhead,
}

/// What to commit for a message.
#[derive(Debug)]
pub struct SendDecision {
    /// To be stored, in order.
    pub facts: Vec<Fact>,
    /// The sender's new policy for the topic.
    pub new_policy: Option<VisibilityPolicy>,
}

/// What the decision needs to know that is not the channel's own.
pub struct SendContext<'a> {
    /// Everybody and everything that is durable.
    pub directory: &'a Directory,
    /// Distinct people who wrote in the topic, for `@**topic**`.
    pub participants: &'a [UserId],
    /// The id the message will have.
    pub id: MessageId,
    /// Now.
    pub now: Timestamp,
    /// The newest frame that `directory` knows.
    pub durable: Sequence,
}

impl ChannelState {
    /// The state of a channel that nobody decides for at the moment.
    pub fn new(channel: &Channel, subscribers: Subscribers, topics: HashMap<TopicKey, u64>) -> Self {
        let is_recently_active = channel.is_recently_active;
        Self {
            id: channel.id,
            subscribers,
            topics,
            is_recently_active,
            ahead: None,
            policies: PoliciesAhead::default(),
        }
    }

    /// A user's current subscription.
    pub fn subscription(&self, user: UserId) -> Option<&Subscription> {
        self.subscribers.get(&user).filter(|subscription| subscription.is_active).map(|own| &**own)
    }

    /// A user's policy for a topic, be it durable or not. `durable` is the newest frame that the directory knows.
    pub fn topic_policy(
        &self,
        directory: &Directory,
        durable: Sequence,
        user: UserId,
        topic: &TopicKey,
    ) -> VisibilityPolicy {
        let ahead = self.policies.get(user, topic, durable);
        ahead.unwrap_or_else(|| directory.topic_policy(user, self.id, topic))
    }

    fn is_subscribed(&self, user: UserId) -> bool {
        self.subscribers.get(&user).is_some_and(|subscription| subscription.is_active)
    }

    /// Decides one message, which `widget` makes a widget. Nothing is stored or announced here, and nothing changes.
    ///
    /// # Errors
    /// What `rules::permissions::channel::check_may_post` says; wildcard and group-mention rules.
    pub fn send(
        &self,
        draft: ChannelDraft,
        widget: Option<Submessage>,
        context: &SendContext<'_>,
    ) -> Result<SendDecision, DomainError> {
        let directory = context.directory;
        let sender = draft.draft.sender.clone();
        let Some(channel) = self.ahead.as_ref().or_else(|| directory.channel(self.id)) else {
            return Err(rules::RuleError::ChannelIdDoesNotExist { id: self.id.0.into() }.into());
        };
        rules::permissions::channel::check_may_post(directory, &sender, channel)?;
        self.check_mentions(&draft, context)?;
        let participants = with_sender(context.participants, sender.id);
        let (content, rendered) = (&draft.draft.content, &draft.draft.rendered);
        let flags = ContentFlags { content, rendered, participants: &participants };
        let mut flags = flags.of_readers(directory, |user| self.is_subscribed(user));
        read_by_muters(&mut flags, directory, sender.id, |user| self.is_subscribed(user));
        let (policies, new_policy) = self.automatic_policies(&draft, &sender, context);
        let topic = draft.topic;
        let destination = Destination {
            recipient: channel.recipient,
            place: Place::Channel { channel: self.id, topic },
            topic_links: draft.topic_links,
        };
        let echo = draft.draft.echo.clone();
        let mut message = draft.draft.into_message(context.id, context.now, destination, flags);
        message.submessages.extend(widget);
        let mut facts = vec![Fact::MessageSent { message: Arc::new(message), echo }];
        if !self.is_recently_active {
            facts.push(Fact::ChannelActivityChanged { channel: self.id, is_recently_active: true });
        }
        facts.extend(policies);
        Ok(SendDecision { facts, new_policy })
    }

    fn check_mentions(&self, draft: &ChannelDraft, context: &SendContext<'_>) -> Result<(), DomainError> {
        let mentions = &draft.draft.rendered.mentions;
        let (directory, sender) = (context.directory, &draft.draft.sender);
        if mentions.channel_wildcard {
            let active = self.subscribers.iter().filter(|(_, subscription)| subscription.is_active);
            let count = active.filter(|(user, _)| directory.is_active_user(**user)).count();
            check_wildcard(directory, sender, Wildcard::Channel, count)?;
        }
        if mentions.topic_wildcard {
            let people = with_sender(context.participants, sender.id).len();
            check_wildcard(directory, sender, Wildcard::Topic, people)?;
        }
        check_group_mentions(&draft.draft, directory)
    }

    /// Policies that sending changes: the sender's own, and those of people who are mentioned by name.
    fn automatic_policies(
        &self,
        draft: &ChannelDraft,
        sender: &User,
        context: &SendContext<'_>,
    ) -> (Vec<Fact>, Option<VisibilityPolicy>) {
        let directory = context.directory;
        let key = TopicKey::new(&draft.topic);
        let policy_of = |user| self.topic_policy(directory, context.durable, user, &key);
        let set = |user: UserId, policy| Fact::TopicPolicySet {
            user,
            channel: self.id,
            topic: draft.topic.clone(),
            policy,
        };
        let starts_topic = !self.topics.contains_key(&key);
        let participation = Participation {
            is_channel_muted: self.subscription(sender.id).is_some_and(|own| own.is_muted),
            policy: policy_of(sender.id),
            starts_topic,
        };
        let new_policy = visibility::automatic_policy(sender, participation);
        let mut facts: Vec<Fact> = new_policy.iter().map(|policy| set(sender.id, *policy)).collect();
        for user in &draft.draft.rendered.mentions.users {
            let Some(user) = directory.user(UserId(*user as u32)) else { continue };
            if user.id == sender.id || !self.is_subscribed(user.id) {
                continue;
            }
            if let Some(policy) = visibility::policy_when_mentioned(user, policy_of(user.id)) {
                facts.push(set(user.id, policy));
            }
        }
        (facts, new_policy)
    }

    /// Decides who is subscribed; the others were already. `last` is the newest message so far.
    pub fn subscribe(&self, users: Vec<(UserId, String)>, last: MessageId) -> Vec<(UserId, Subscription)> {
        let mut new = Vec::new();
        for (user, color) in users {
            match self.subscribers.get(&user) {
                Some(subscription) if subscription.is_active => {}
                Some(before) => {
                    let mut subscription = Subscription::clone(before);
                    subscription.resume(last);
                    new.push((user, subscription));
                }
                None => new.push((user, Subscription::start(color, last))),
            }
        }
        new
    }

    /// Decides who is unsubscribed.
    pub fn unsubscribe(&self, users: &[UserId]) -> Vec<UserId> {
        users.iter().copied().filter(|user| self.is_subscribed(*user)).collect()
    }

    /// Follows what was decided, here or by the organization.
    pub fn apply(&mut self, fact: &Fact) {
        match fact {
            Fact::MessageSent { message, .. } if message.place.channel() == Some(self.id) => {
                self.count(message.place.topic(), 1);
            }
            Fact::MessageUpdated(update) => {
                if let Some(movement) = &update.movement {
                    self.apply_movement(movement);
                }
            }
            Fact::MessagesDeleted { from: DeletedFrom::Topic { channel, topic }, messages, .. }
                if *channel == self.id =>
            {
                self.count(topic, -(messages.len() as i64));
            }
            Fact::ChannelActivityChanged { channel, is_recently_active } if *channel == self.id => {
                self.is_recently_active = *is_recently_active;
            }
            Fact::Subscribed { channel, subscribers, .. } if *channel == self.id => {
                for (user, subscription) in subscribers {
                    self.subscribers.insert(*user, Arc::new(subscription.clone()));
                }
            }
            Fact::Unsubscribed { channel, last, users, .. } if *channel == self.id => {
                for user in users {
                    if let Some(subscription) = self.subscribers.get(user) {
                        let mut subscription = Subscription::clone(subscription);
                        subscription.end(*last);
                        self.subscribers.insert(*user, Arc::new(subscription));
                    }
                }
            }
            Fact::UserActiveSet { user, is_active, last, .. } => {
                if let Some(subscription) = self.subscribers.get(user) {
                    let mut subscription = Subscription::clone(subscription);
                    if *is_active {
                        subscription.go_on(*last)
                    } else {
                        subscription.pause(*last)
                    };
                    self.subscribers.insert(*user, Arc::new(subscription));
                }
            }
            Fact::SubscriptionChanged { user, channel, subscription } if *channel == self.id => {
                self.subscribers.insert(*user, Arc::new(Subscription::clone(subscription)));
            }
            _ => {}
        }
    }

    /// Messages of a topic came, went, or both.
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
        let key = TopicKey::new(topic);
        let before = self.topics.get(&key).copied().unwrap_or(0);
        match before.saturating_add_signed(change) {
            0 => self.topics.remove(&key),
            count => self.topics.insert(key, count),
        };
    }
}

/// Everybody who wrote in a topic, once the sender has.
fn with_sender(participants: &[UserId], sender: UserId) -> Vec<UserId> {
    let is_new = !participants.contains(&sender);
    participants.iter().copied().chain(is_new.then_some(sender)).collect()
}

#[cfg(test)]
mod tests;
