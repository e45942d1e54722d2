//! What was decided and is not durable yet, for actors that decide ahead of the disk: changed records of channels,
//! channels to which messages are moving, new subscriptions and new direct conversations.

use model::{
    Channel, ChannelFact, ChannelId, Fact, MessageFact, RealmId, RecipientId, Subscription, SubscriptionFact,
    UserId,
};
use std::collections::HashMap;
use std::sync::Arc;
use storage::log::Ticket;

/// A subscription and the ticket of its frame.
type NewSubscription = (Ticket, UserId, Subscription);

/// The newest record of each channel that is on its way, and the newest arrival. Mostly empty.
#[derive(Debug, Default)]
pub(super) struct UncommittedChannels {
    records: HashMap<(RealmId, ChannelId), (Ticket, Arc<Channel>)>,
    arrivals: HashMap<(RealmId, ChannelId), Ticket>,
    subscriptions: HashMap<(RealmId, ChannelId), Vec<NewSubscription>>,
    directs: HashMap<(RealmId, Vec<UserId>), (Ticket, RecipientId)>,
}

impl UncommittedChannels {
    /// Follows a frame that the log was given.
    pub fn note(&mut self, realm: RealmId, ticket: Ticket, facts: &[Fact]) {
        for fact in facts {
            match fact {
                Fact::Channel(ChannelFact::Changed(record)) => {
                    let uncommitted = (ticket, Arc::new(Channel::clone(record)));
                    self.records.insert((realm, record.id), uncommitted);
                }
                Fact::Message(MessageFact::Updated(update)) => {
                    let arrival = update.movement.as_ref().and_then(|moved| moved.new_channel.as_ref());
                    if let Some(arrival) = arrival {
                        self.arrivals.insert((realm, arrival.channel), ticket);
                    }
                }
                Fact::Subscription(SubscriptionFact::Added { channel, subscribers, .. }) => {
                    let new = subscribers.iter().map(|(user, own)| (ticket, *user, own.clone()));
                    self.subscriptions.entry((realm, *channel)).or_default().extend(new);
                }
                Fact::Message(MessageFact::ConversationCreated(direct)) => {
                    self.directs.insert((realm, direct.users.clone()), (ticket, direct.recipient));
                }
                Fact::Channel(
                    ChannelFact::Created(_)
                    | ChannelFact::ActivityChanged { .. }
                    | ChannelFact::DefaultsChanged(_)
                    | ChannelFact::FolderChanged(_)
                    | ChannelFact::FoldersReordered(_),
                )
                | Fact::Message(
                    MessageFact::Sent { .. }
                    | MessageFact::Deleted { .. }
                    | MessageFact::FlagsChanged { .. }
                    | MessageFact::ReactionAdded { .. }
                    | MessageFact::ReactionRemoved { .. }
                    | MessageFact::SubmessageAdded { .. },
                )
                | Fact::Realm(_)
                | Fact::User(_)
                | Fact::Group(_)
                | Fact::Subscription(
                    SubscriptionFact::Removed { .. }
                    | SubscriptionFact::Changed { .. }
                    | SubscriptionFact::Restated { .. }
                    | SubscriptionFact::TopicPolicySet { .. },
                )
                | Fact::Personal(_)
                | Fact::Queue(_)
                | Fact::Job(_)
                | Fact::Push(_)
                | Fact::Invitation(_)
                | Fact::Picture(_)
                | Fact::PreImages(_) => {}
            }
        }
    }

    /// Everything of an organization up to here can be read in its view.
    pub fn forget(&mut self, realm: RealmId, upto: Ticket) {
        if !self.records.is_empty() {
            self.records.retain(|(of, _), (ticket, _)| *of != realm || *ticket > upto);
        }
        if !self.arrivals.is_empty() {
            self.arrivals.retain(|(of, _), ticket| *of != realm || *ticket > upto);
        }
        if !self.subscriptions.is_empty() {
            self.subscriptions.retain(|(of, _), new| {
                new.retain(|(ticket, ..)| *of != realm || *ticket > upto);
                !new.is_empty()
            });
        }
        if !self.directs.is_empty() {
            self.directs.retain(|(of, _), (ticket, _)| *of != realm || *ticket > upto);
        }
    }

    /// A channel's record, if it is on its way.
    pub fn get(&self, realm: RealmId, channel: ChannelId) -> Option<Arc<Channel>> {
        if self.records.is_empty() {
            return None;
        }
        self.records.get(&(realm, channel)).map(|(_, record)| record.clone())
    }

    /// Subscriptions to a channel that have begun.
    pub fn subscriptions(
        &self,
        realm: RealmId,
        channel: ChannelId,
    ) -> impl Iterator<Item = (UserId, &Subscription)> {
        let new = self.subscriptions.get(&(realm, channel)).into_iter().flatten();
        new.map(|(_, user, own)| (*user, own))
    }

    /// The conversation between some users (sorted), if it has been created.
    pub fn direct(&self, realm: RealmId, users: &[UserId]) -> Option<RecipientId> {
        if self.directs.is_empty() {
            return None;
        }
        self.directs.get(&(realm, users.to_vec())).map(|(_, recipient)| *recipient)
    }

    /// Whether messages from another channel are on their way to this one.
    pub fn is_awaiting(&self, realm: RealmId, channel: ChannelId) -> bool {
        !self.arrivals.is_empty() && self.arrivals.contains_key(&(realm, channel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn uncommitted_channel_is_kept_until_published() {
        let view = fixture::view();
        let channel = view.directory.channels().next().unwrap().clone();
        let (id, here, there) = (channel.id, RealmId(1), RealmId(2));
        let archived = |is_archived| Channel { is_archived, ..Channel::clone(&channel) };
        let fact = |is_archived| Fact::Channel(ChannelFact::Changed(Box::new(archived(is_archived))));
        let mut uncommitted = UncommittedChannels::default();
        assert_eq!(uncommitted.get(here, id), None);
        uncommitted.note(here, 5, &[fact(true)]);
        uncommitted.note(here, 7, &[fact(false)]);
        for (realm, upto, expected) in
            [(there, 9, Some(false)), (here, 5, Some(false)), (here, 6, Some(false)), (here, 7, None)]
        {
            uncommitted.forget(realm, upto);
            assert_eq!(
                uncommitted.get(here, id).map(|record| record.is_archived),
                expected,
                "{realm} {upto}"
            );
        }
        assert_eq!(uncommitted.get(there, id), None);
    }
}
