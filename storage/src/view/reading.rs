//! Questions about messages and people that combine the directory with the index.

use super::View;
use model::{ChannelId, Flag, Flags, Message, Place, RecipientId, Subscription, UserId};
use roaring::RoaringBitmap;

impl View {
    /// Whether a message was delivered to a user: it is in the user's direct conversations, or in a
    /// channel while the user was subscribed.
    pub fn is_delivered(&self, user: UserId, message: &Message) -> bool {
        match message.place {
            Place::Channel { channel, .. } => {
                self.directory.subscription(channel, user).is_some_and(|s| s.received(message.id))
            }
            Place::Direct => self.is_in_conversation(user, message.recipient),
        }
    }

    /// Those of some messages that were delivered to a user.
    pub fn delivered_among(&self, user: UserId, ids: &RoaringBitmap) -> RoaringBitmap {
        let mut found = RoaringBitmap::new();
        for (channel, subscription) in self.directory.subscriptions_of_user(user) {
            let Some(messages) = self.channel_ids(channel) else { continue };
            let here = messages & ids;
            if !here.is_empty() {
                found |= self.received_among(subscription, here);
            }
        }
        for direct in self.directory.directs_of(user) {
            if let Some(messages) = self.messages.directs.get(&direct.recipient) {
                found |= messages & ids;
            }
        }
        found
    }

    /// Whether a user takes part in a direct conversation.
    pub fn is_in_conversation(&self, user: UserId, recipient: RecipientId) -> bool {
        self.directory.direct(recipient).is_some_and(|direct| direct.users.contains(&user))
    }

    /// All messages of a channel.
    pub fn channel_ids(&self, channel: ChannelId) -> Option<&RoaringBitmap> {
        self.messages.channels.get(&channel).map(|messages| &messages.ids)
    }

    /// Messages of a channel that were delivered to a user.
    pub fn delivered_in_channel(&self, user: UserId, channel: ChannelId) -> RoaringBitmap {
        let (Some(ids), Some(subscription)) =
            (self.channel_ids(channel), self.directory.subscription(channel, user))
        else {
            return RoaringBitmap::new();
        };
        self.received_among(subscription, ids.clone())
    }

    /// Those of a channel's messages that a subscription covers.
    fn received_among(&self, subscription: &Subscription, ids: RoaringBitmap) -> RoaringBitmap {
        // The usual case: subscribed since before the first of them, without a break.
        if let [span] = subscription.spans.as_slice()
            && span.until.is_none()
            && ids.min().is_none_or(|first| first > span.after.0)
        {
            return ids;
        }
        let mut spans = RoaringBitmap::new();
        for span in &subscription.spans {
            let until = span.until.unwrap_or(self.messages.last);
            if span.after < until {
                spans.insert_range(span.after.0 + 1..=until.0);
            }
        }
        ids & spans
    }

    /// All messages of a user's direct conversations.
    pub fn direct_messages_of(&self, user: UserId) -> RoaringBitmap {
        let mut found = RoaringBitmap::new();
        for direct in self.directory.directs_of(user) {
            if let Some(ids) = self.messages.directs.get(&direct.recipient) {
                found |= ids;
            }
        }
        found
    }

    /// What a message is to a user: the flags as GET /messages gives them.
    pub fn flags_for(&self, user: UserId, message: &Message) -> Flags {
        let mine = self.messages.users.get(&user);
        let has = |flag: Flag| mine.and_then(|m| m.set(flag)).is_some_and(|set| set.contains(message.id.0));
        let delivered = self.is_delivered(user, message);
        let mut flags = Flags::NONE;
        for flag in Flag::ALL {
            flags = flags.with_if(flag, has(flag));
        }
        if !delivered {
            let is_read = has(Flag::Read) || !has(Flag::Historical);
            return flags.with(Flag::Historical).with_if(Flag::Read, is_read);
        }
        flags.with_if(Flag::ChannelWildcardMentioned, message.traits.channel_wildcard)
    }

    /// Messages that a user has, read or not, in what is delivered to them now: unread ones of a set.
    pub fn unread_of(&self, user: UserId, delivered: &RoaringBitmap) -> RoaringBitmap {
        match self.messages.users.get(&user) {
            Some(mine) => delivered - &mine.read,
            None => delivered.clone(),
        }
    }
}
