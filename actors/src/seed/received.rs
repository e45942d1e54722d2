//! Who gets the messages of a seed. Lists and sets are by channel and conversation, so that a message costs the same however many
//! people get it.

use model::{MessageId, MessageRanges, RecipientId, UserId};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The messages of each channel and conversation, and those who get them.
#[derive(Default)]
pub(super) struct Received {
    /// In the order of their ids.
    readers: HashMap<RecipientId, Arc<[UserId]>>,
    sent: BTreeMap<RecipientId, RoaringBitmap>,
    by_sender: HashMap<UserId, RoaringBitmap>,
}

impl Received {
    /// Adds a channel or conversation, unless it is known. `find` returns its readers in the order of their ids.
    pub fn join(&mut self, recipient: RecipientId, find: impl FnOnce() -> Vec<UserId>) {
        self.readers.entry(recipient).or_insert_with(|| find().into());
    }

    /// The readers of a channel or conversation, in the order of their ids.
    pub fn readers(&self, recipient: RecipientId) -> Arc<[UserId]> {
        self.readers.get(&recipient).cloned().unwrap_or_default()
    }

    /// Adds a message.
    pub fn add(&mut self, recipient: RecipientId, sender: UserId, id: MessageId) {
        self.sent.entry(recipient).or_default().insert(id.0);
        self.by_sender.entry(sender).or_default().insert(id.0);
    }

    /// The messages that each user received from others.
    pub fn by_user(self) -> impl Iterator<Item = (UserId, MessageRanges)> {
        let mut places: BTreeMap<UserId, Vec<RecipientId>> = BTreeMap::new();
        for recipient in self.sent.keys() {
            for user in self.readers.get(recipient).into_iter().flat_map(|readers| &**readers) {
                places.entry(*user).or_default().push(*recipient);
            }
        }
        let all = places.into_iter().map(move |(user, places)| {
            let mut received = RoaringBitmap::new();
            places.iter().filter_map(|place| self.sent.get(place)).for_each(|sent| received |= sent);
            if let Some(own) = self.by_sender.get(&user) {
                received -= own;
            }
            (user, ranges(&received))
        });
        all.filter(|(_, messages)| !messages.is_empty())
    }
}

fn ranges(ids: &RoaringBitmap) -> MessageRanges {
    let mut ids = ids.iter();
    let ranges = std::iter::from_fn(|| ids.next_range());
    MessageRanges(ranges.map(|range| (MessageId(*range.start()), MessageId(*range.end()))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_receive_what_others_send_to_their_channels_and_conversations() {
        let mut received = Received::default();
        let [ann, ben, cid] = [1, 2, 3].map(UserId);
        let [channel, direct, silent] = [1, 2, 3].map(RecipientId);
        received.join(channel, || vec![ann, ben]);
        received.join(channel, Vec::new);
        received.join(direct, || vec![ben, cid]);
        received.join(silent, || vec![cid]);
        for (place, sender, id) in
            [(channel, ann, 1), (channel, ben, 2), (channel, ann, 3), (direct, cid, 4), (channel, ann, 6)]
        {
            received.add(place, sender, MessageId(id));
        }
        assert_eq!(*received.readers(channel), [ann, ben]);
        let all: Vec<_> = received.by_user().collect();
        let ranges = |ids: &[u32]| MessageRanges::from_sorted(ids.iter().copied().map(MessageId));
        assert_eq!(all, [(ann, ranges(&[2])), (ben, ranges(&[1, 3, 4, 6]))]);
    }
}
