//! Channels about which the organization's actor is about to decide: their own actors, which decide without waiting for earlier
//! decisions, wait meanwhile. So the durable state is all that there is to know of these channels.

use model::{ChannelId, RealmId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// How many decisions hold each channel; empty most of the time.
type Counts = Rc<RefCell<HashMap<(RealmId, ChannelId), u32>>>;

/// The held channels of a shard.
#[derive(Default)]
pub(super) struct HeldChannels(Counts);

/// Channels that are held until this is dropped.
pub(crate) struct Hold {
    counts: Counts,
    realm: RealmId,
    channels: Vec<ChannelId>,
}

impl HeldChannels {
    /// Holds channels, each named once.
    pub fn hold(&self, realm: RealmId, channels: Vec<ChannelId>) -> Hold {
        let mut counts = self.0.borrow_mut();
        channels.iter().for_each(|channel| *counts.entry((realm, *channel)).or_default() += 1);
        Hold { counts: self.0.clone(), realm, channels }
    }

    /// Whether a decision holds a channel.
    pub fn has(&self, realm: RealmId, channel: ChannelId) -> bool {
        let counts = self.0.borrow();
        !counts.is_empty() && counts.contains_key(&(realm, channel))
    }
}

impl Hold {
    /// The channels that are held.
    pub fn channels(&self) -> &[ChannelId] {
        &self.channels
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut counts = self.counts.borrow_mut();
        for channel in &self.channels {
            let key = (self.realm, *channel);
            match counts.get_mut(&key) {
                Some(count) if *count > 1 => *count -= 1,
                Some(_) | None => drop(counts.remove(&key)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_is_held_until_the_last_hold_is_dropped() {
        let (held, realm) = (HeldChannels::default(), RealmId(1));
        let first = held.hold(realm, vec![ChannelId(1), ChannelId(2)]);
        let second = held.hold(realm, vec![ChannelId(2)]);
        let is_held = || [1, 2, 3].map(|channel| held.has(realm, ChannelId(channel)));
        assert_eq!(is_held(), [true, true, false]);
        assert!(!held.has(RealmId(2), ChannelId(1)));
        drop(first);
        assert_eq!(is_held(), [false, true, false]);
        drop(second);
        assert_eq!(is_held(), [false, false, false]);
        assert!(held.0.borrow().is_empty());
    }
}
