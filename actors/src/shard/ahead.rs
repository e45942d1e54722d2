//! Records of channels that were changed and are not durable yet, for those who decide ahead of the disk, and channels
//! to which messages are on their way from others.

use model::{Channel, ChannelId, Fact, RealmId};
use std::collections::HashMap;
use std::sync::Arc;
use storage::log::Ticket;

/// The newest record of each channel that is on its way, and the newest arrival. Mostly empty.
#[derive(Debug, Default)]
pub(super) struct ChannelsAhead {
    records: HashMap<(RealmId, ChannelId), (Ticket, Arc<Channel>)>,
    arrivals: HashMap<(RealmId, ChannelId), Ticket>,
}

impl ChannelsAhead {
    /// Follows a frame that the log was given.
    pub fn note(&mut self, realm: RealmId, ticket: Ticket, facts: &[Fact]) {
        for fact in facts {
            match fact {
                Fact::ChannelChanged(record) => {
                    let ahead = (ticket, Arc::new(Channel::clone(record)));
                    self.records.insert((realm, record.id), ahead);
                }
                Fact::MessageUpdated(update) => {
                    let arrival = update.movement.as_ref().and_then(|moved| moved.new_channel.as_ref());
                    if let Some(arrival) = arrival {
                        self.arrivals.insert((realm, arrival.channel), ticket);
                    }
                }
                _ => {}
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
    }

    /// A channel's record, if it is on its way.
    pub fn get(&self, realm: RealmId, channel: ChannelId) -> Option<Arc<Channel>> {
        if self.records.is_empty() {
            return None;
        }
        self.records.get(&(realm, channel)).map(|(_, record)| record.clone())
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
    fn records_are_known_until_they_are_published() {
        let view = fixture::view();
        let channel = view.directory.channels().next().unwrap().clone();
        let (id, here, there) = (channel.id, RealmId(1), RealmId(2));
        let archived = |is_archived| Channel { is_archived, ..Channel::clone(&channel) };
        let fact = |is_archived| Fact::ChannelChanged(Box::new(archived(is_archived)));
        let mut ahead = ChannelsAhead::default();
        assert_eq!(ahead.get(here, id), None);
        ahead.note(here, 5, &[fact(true)]);
        ahead.note(here, 7, &[fact(false)]);
        for (realm, upto, expected) in
            [(there, 9, Some(false)), (here, 5, Some(false)), (here, 6, Some(false)), (here, 7, None)]
        {
            ahead.forget(realm, upto);
            assert_eq!(ahead.get(here, id).map(|record| record.is_archived), expected, "{realm} {upto}");
        }
        assert_eq!(ahead.get(there, id), None);
    }
}
