//! What one user sets for the channel or for a topic of it. The channel's actor decides it, so that it has a place in
//! the one order of sending, moving and subscribing.

use super::actor::ChannelActor;
use crate::Answer;
use crate::error::DomainError;
use actix::prelude::*;
use model::{Fact, TopicKey, UserId, VisibilityPolicy};
use rules::RuleError;
use rules::subscription_properties::{SubscriptionChange, apply_property};

/// Set one property of a subscription.
#[derive(Message)]
#[rtype(result = "()")]
pub struct ChangeSubscription {
    /// Whose.
    pub user: UserId,
    /// What, and to what.
    pub change: SubscriptionChange,
    /// Told when it is durable; at once when nothing changes.
    pub answer: Answer<()>,
}

/// Set a user's policy for a topic.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SetTopicPolicy {
    /// Whose.
    pub user: UserId,
    /// The topic, normalized; it need not have messages.
    pub topic: String,
    /// The policy; `Inherit` takes it away.
    pub policy: VisibilityPolicy,
    /// Told when it is durable; at once when nothing changes.
    pub answer: Answer<()>,
}

impl ChannelActor {
    /// The fact that sets a property; none where it has that value already.
    fn property_fact(&self, user: UserId, change: &SubscriptionChange) -> Result<Option<Fact>, DomainError> {
        let not_subscribed = || RuleError::NotSubscribed { id: self.id.0.into() };
        let before = self.state.subscription(user).ok_or_else(not_subscribed)?;
        let mut subscription = before.clone();
        apply_property(&mut subscription, change);
        if subscription == *before {
            return Ok(None);
        }
        let subscription = Box::new(subscription);
        Ok(Some(Fact::SubscriptionChanged { user, channel: self.id, subscription }))
    }

    /// The fact that sets a policy; none where it is that already.
    fn policy_fact(&self, user: UserId, topic: String, policy: VisibilityPolicy) -> Option<Fact> {
        let key = TopicKey::new(&topic);
        let view = self.realm.view.read();
        let before = self.state.topic_policy(&view.directory, view.progress.sequence, user, &key);
        let channel = self.id;
        (before != policy).then_some(Fact::TopicPolicySet { user, channel, topic, policy })
    }

    fn commit_own(&mut self, fact: Result<Option<Fact>, DomainError>, answer: Answer<()>) {
        let fact = match fact {
            Ok(Some(fact)) => fact,
            Ok(None) => return drop(answer.send(Ok(()))),
            Err(error) => return drop(answer.send(Err(error))),
        };
        match self.committer.ids(self.realm.id) {
            Err(error) => drop(answer.send(Err(error))),
            Ok(ids) => {
                let done = Box::new(move |result| drop(answer.send(result)));
                self.commit(ids, vec![fact], done);
            }
        }
    }
}

impl Handler<ChangeSubscription> for ChannelActor {
    type Result = ();

    fn handle(&mut self, request: ChangeSubscription, ctx: &mut Self::Context) {
        let ChangeSubscription { user, change, answer } = request;
        self.run_in_order(ctx, answer, move |actor, answer| {
            let fact = actor.property_fact(user, &change);
            actor.commit_own(fact, answer);
        });
    }
}

impl Handler<SetTopicPolicy> for ChannelActor {
    type Result = ();

    fn handle(&mut self, request: SetTopicPolicy, ctx: &mut Self::Context) {
        let SetTopicPolicy { user, topic, policy, answer } = request;
        self.run_in_order(ctx, answer, move |actor, answer| {
            let fact = actor.policy_fact(user, topic, policy);
            actor.commit_own(Ok(fact), answer);
        });
    }
}
