//! Records of channels that were changed and are not durable yet, for those who decide ahead of the disk.

use model::{Channel, ChannelId, Fact, RealmId};
use std::collections::HashMap;
use std::sync::Arc;
use storage::log::Ticket;

/// The newest record of each channel that is on its way. Mostly empty.
#[derive(Debug, Default)]
pub(super) struct ChannelsAhead(HashMap<(RealmId, ChannelId), (Ticket, Arc<Channel>)>);

impl ChannelsAhead {
    /// Follows a frame that the log was given.
    pub fn note(&mut self, realm: RealmId, ticket: Ticket, facts: &[Fact]) {
        for fact in facts {
            if let Fact::ChannelChanged(record) = fact {
                let ahead = (ticket, Arc::new(Channel::clone(record)));
                self.0.insert((realm, record.id), ahead);
            }
        }
    }

    /// Everything of an organization up to here can be read in its view.
    pub fn forget(&mut self, realm: RealmId, upto: Ticket) {
        if !self.0.is_empty() {
            self.0.retain(|(of, _), (ticket, _)| *of != realm || *ticket > upto);
        }
    }

    /// A channel's record, if it is on its way.
    pub fn get(&self, realm: RealmId, channel: ChannelId) -> Option<Arc<Channel>> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(realm, channel)).map(|(_, record)| record.clone())
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
