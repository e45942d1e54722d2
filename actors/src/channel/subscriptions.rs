//! A user's settings for a channel and its topics. The channel's actor decides them, so that they are ordered with
//! sending, moving and subscribing.

use super::actor::ChannelActor;
use crate::ReplySender;
use crate::error::DomainError;
use crate::shard::SerialActor;
use actix::prelude::*;
use model::{Fact, SubscriptionFact, TopicKey, UserId, VisibilityPolicy};
use rules::RuleError;
use rules::permissions::channel::{ChannelRef, access_channel_for_policy};
use rules::subscription_properties::{SubscriptionChange, apply_property};
use rules::visibility::check_room_for_policy;

/// Sets one property of a subscription.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ChangeSubscription {
    pub user: UserId,
    pub change: SubscriptionChange,
    pub answer: ReplySender<()>,
}

/// Sets a user's policy for a topic.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SetTopicPolicy {
    pub user: UserId,
    /// The normalized topic; it need not have messages.
    pub topic: String,
    /// The policy; `Inherit` removes it.
    pub policy: VisibilityPolicy,
    pub answer: ReplySender<()>,
}

impl ChannelActor {
    /// The fact that sets a property, or restates it if it is unchanged.
    fn property_fact(&self, user: UserId, change: &SubscriptionChange) -> Result<Fact, DomainError> {
        let not_subscribed = || RuleError::NotSubscribed { id: self.id.0.into() };
        let before = self.state.subscription(user).ok_or_else(not_subscribed)?;
        let mut subscription = before.clone();
        apply_property(&mut subscription, change);
        if subscription == *before {
            let property = change.as_str().to_owned();
            return Ok(Fact::Subscription(SubscriptionFact::Restated { user, channel: self.id, property }));
        }
        let subscription = Box::new(subscription);
        Ok(Fact::Subscription(SubscriptionFact::Changed { user, channel: self.id, subscription }))
    }

    /// The fact that sets a policy; `None` if it is unchanged.
    fn policy_fact(
        &self,
        user: UserId,
        topic: String,
        policy: VisibilityPolicy,
    ) -> Result<Option<Fact>, DomainError> {
        let key = TopicKey::new(&topic);
        let view = self.realm.view.read();
        let record = view.directory.user(user).ok_or(DomainError::InvalidApiKey)?;
        access_channel_for_policy(&view.directory, record, ChannelRef::Id(self.id.0.into()), policy)?;
        let before = self.state.topic_policy(&view.directory, view.progress.sequence, user, &key);
        check_room_for_policy(&view.directory, user, before, policy)?;
        let channel = self.id;
        Ok((before != policy).then_some(Fact::Subscription(SubscriptionFact::TopicPolicySet {
            users: vec![user],
            channel,
            topic,
            policy,
        })))
    }

    fn commit_own(
        &mut self,
        ctx: &Context<Self>,
        fact: Result<Option<Fact>, DomainError>,
        answer: ReplySender<()>,
    ) {
        let decided = match fact {
            Ok(None) => return drop(answer.send(Ok(()))),
            Ok(Some(fact)) => self.committer.ids(self.realm.id).map(|ids| (ids, (), vec![fact])),
            Err(error) => Err(error),
        };
        self.conclude(ctx, decided, answer);
    }
}

impl Handler<ChangeSubscription> for ChannelActor {
    type Result = ();

    fn handle(&mut self, request: ChangeSubscription, ctx: &mut Self::Context) {
        let ChangeSubscription { user, change, answer } = request;
        self.run_in_order(ctx, answer, move |actor, ctx, answer| {
            let fact = actor.property_fact(user, &change);
            actor.commit_own(ctx, fact.map(Some), answer);
        });
    }
}

impl Handler<SetTopicPolicy> for ChannelActor {
    type Result = ();

    fn handle(&mut self, request: SetTopicPolicy, ctx: &mut Self::Context) {
        let SetTopicPolicy { user, topic, policy, answer } = request;
        self.run_in_order(ctx, answer, move |actor, ctx, answer| {
            let fact = actor.policy_fact(user, topic, policy);
            actor.commit_own(ctx, fact, answer);
        });
    }
}
