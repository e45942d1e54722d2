//! Uncommitted decisions, for actors that decide before earlier decisions are durable: changed records of channels,
//! channels to which messages are moving, new subscriptions and new direct conversations.

use model::fact::DirectoryChange as Change;
use model::{Channel, ChannelId, Fact, MessageFact, RealmId, RecipientId, Subscription, UserId};
use std::collections::HashMap;
use std::sync::Arc;
use storage::log::Ticket;

/// A subscription and the ticket of its frame.
type NewSubscription = (Ticket, UserId, Subscription);

/// Uncommitted records and arrivals by channel, and new subscriptions and conversations. Mostly empty.
#[derive(Debug, Default)]
pub(super) struct UncommittedChannels {
    records: HashMap<(RealmId, ChannelId), (Ticket, Arc<Channel>)>,
    arrivals: HashMap<(RealmId, ChannelId), Ticket>,
    subscriptions: HashMap<(RealmId, ChannelId), Vec<NewSubscription>>,
    directs: HashMap<(RealmId, Vec<UserId>), (Ticket, RecipientId)>,
}

impl UncommittedChannels {
    /// Records a frame that was queued for the log.
    pub fn note(&mut self, realm: RealmId, ticket: Ticket, facts: &[Fact]) {
        for fact in facts {
            if let Fact::Message(MessageFact::Updated(update)) = fact
                && let Some(arrival) = update.movement.as_ref().and_then(|moved| moved.new_channel.as_ref())
            {
                self.arrivals.insert((realm, arrival.channel), ticket);
            }
            let Some(change) = fact.directory_change() else { continue };
            match change {
                Change::Channel { channel, is_new: false } => {
                    self.records.insert((realm, channel.id), (ticket, Arc::new(channel.clone())));
                }
                Change::Subscribed { channel, subscribers } => {
                    let new = subscribers.iter().map(|(user, own)| (ticket, *user, own.clone()));
                    self.subscriptions.entry((realm, channel)).or_default().extend(new);
                }
                Change::Direct(direct) => {
                    self.directs.insert((realm, direct.users.clone()), (ticket, direct.recipient));
                }
                Change::Channel { is_new: true, .. }
                | Change::Realm(_)
                | Change::User { .. }
                | Change::Account { .. }
                | Change::Group { .. }
                | Change::Members { .. }
                | Change::Activity { .. }
                | Change::DefaultChannels(_)
                | Change::Folder(_)
                | Change::Unsubscribed { .. }
                | Change::Subscription { .. }
                | Change::Picture(_) => {}
            }
        }
    }

    /// Drops everything up to a ticket, because the organization's view has it now.
    pub fn forget(&mut self, realm: RealmId, upto: Ticket) {
        let is_pending = |of: &RealmId, ticket: &Ticket| *of != realm || *ticket > upto;
        self.records.retain(|(of, _), (ticket, _)| is_pending(of, ticket));
        self.arrivals.retain(|(of, _), ticket| is_pending(of, ticket));
        self.directs.retain(|(of, _), (ticket, _)| is_pending(of, ticket));
        self.subscriptions.retain(|(of, _), new| {
            new.retain(|(ticket, ..)| is_pending(of, ticket));
            !new.is_empty()
        });
    }

    /// The uncommitted record of a channel.
    pub fn get(&self, realm: RealmId, channel: ChannelId) -> Option<Arc<Channel>> {
        self.records.get(&(realm, channel)).map(|(_, record)| record.clone())
    }

    /// The uncommitted subscriptions to a channel.
    pub fn subscriptions(&self, realm: RealmId, channel: ChannelId) -> Vec<(UserId, Subscription)> {
        let new = self.subscriptions.get(&(realm, channel)).into_iter().flatten();
        new.map(|(_, user, own)| (*user, own.clone())).collect()
    }

    /// The recipient of an uncommitted conversation between some users (sorted).
    pub fn direct(&self, realm: RealmId, users: &[UserId]) -> Option<RecipientId> {
        if self.directs.is_empty() {
            return None;
        }
        self.directs.get(&(realm, users.to_vec())).map(|(_, recipient)| *recipient)
    }

    /// Whether messages are moving to this channel from another one.
    pub fn is_awaiting(&self, realm: RealmId, channel: ChannelId) -> bool {
        self.arrivals.contains_key(&(realm, channel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::ChannelFact;

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
