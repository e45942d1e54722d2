//! Queries that combine the directory with the index of messages.

use super::View;
use super::flags::SCAN_FACTOR;
use model::attachment::USES_LISTED_MAX;
use model::{
    AttachmentId, AttachmentUse, ChannelId, ConversationId, DirectConversation, ListedAttachment, Message,
    MessageId, RecipientId, Subscription, UserId,
};
use roaring::{MultiOps, RoaringBitmap};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl View {
    /// An uploaded file with the newest messages that name it; none if it is deleted.
    pub fn listed_attachment(&self, file: AttachmentId) -> Option<ListedAttachment> {
        let file = self.directory.attachment(file)?.clone();
        let mut uses: Vec<AttachmentUse> = self.claims.uses(file.id).take(USES_LISTED_MAX).collect();
        uses.reverse();
        Some(ListedAttachment { file, uses })
    }

    /// Whether a message was delivered to a user: it is in one of the user's direct conversations, was sent to a channel
    /// while the user was subscribed, or was moved there with the user as recipient. `message` has its moves applied.
    pub fn is_delivered(&self, user: UserId, message: &Message) -> bool {
        self.is_delivered_at(user, ConversationId::of(message), message.id)
    }

    /// Whether a message in `conversation` was delivered to a user.
    pub fn is_delivered_at(&self, user: UserId, conversation: ConversationId, id: MessageId) -> bool {
        match conversation {
            ConversationId::Channel(channel) => self.is_delivered_in(user, channel, id),
            ConversationId::Direct(recipient) => self.is_in_conversation(user, recipient),
        }
    }

    /// Whether a message of a channel was delivered to a user.
    pub fn is_delivered_in(&self, user: UserId, channel: ChannelId, id: MessageId) -> bool {
        let subscription = self.directory.subscription(channel, user);
        self.is_delivered_by(subscription.map(|own| &**own), user, channel, id)
    }

    /// Whether a message of a channel was delivered to a user whose subscription to it is known.
    pub(super) fn is_delivered_by(
        &self,
        subscription: Option<&Subscription>,
        user: UserId,
        channel: ChannelId,
        id: MessageId,
    ) -> bool {
        match self.arrivals.to(channel).filter(|arrived| arrived.ids.contains(id.0)) {
            Some(arrived) => arrived.is_delivered_to(user, id.0),
            None => subscription.is_some_and(|own| own.received(id)),
        }
    }

    /// The subset of `ids` that was delivered to a user. Most ids have bodies in memory, which say where they are; the others are
    /// searched in the user's channels and conversations.
    pub fn delivered_among(&self, user: UserId, ids: &RoaringBitmap) -> RoaringBitmap {
        // Each message is in one place. A page has those of few places, and a user may have thousands.
        let mut left = ids & &self.messages.all;
        let mut found = self.delivered_at_known(user, &mut left);
        if left.is_empty() {
            return found;
        }
        for (channel, subscription) in self.directory.subscriptions_of_user(user) {
            if left.is_empty() {
                break;
            }
            let Some(messages) = self.channel_ids(channel) else { continue };
            let mut here = part_of(messages, &left);
            if here.is_empty() {
                continue;
            }
            left -= &here;
            if let Some(arrived) = self.arrivals.to(channel) {
                here -= &arrived.ids;
            }
            if !here.is_empty() {
                found |= self.received_among(subscription, here);
            }
        }
        for (_, arrived) in self.arrivals.channels() {
            if !arrived.ids.is_disjoint(ids) {
                found |= arrived.delivered_to(user) & ids;
            }
        }
        self.take_directs(user, &mut left, |_, here| found |= here);
        found
    }

    /// Takes those messages from `left` whose conversations are known by bodies in memory, and returns those of them that were
    /// delivered to a user.
    fn delivered_at_known(&self, user: UserId, left: &mut RoaringBitmap) -> RoaringBitmap {
        let mut found = RoaringBitmap::new();
        for (conversation, here) in self.take_known_conversations(left) {
            found |= match conversation {
                ConversationId::Channel(channel) => self.delivered_among_in_channel(user, channel, &here),
                ConversationId::Direct(recipient) if self.is_in_conversation(user, recipient) => here,
                ConversationId::Direct(_) => continue,
            };
        }
        found
    }

    /// Whether a message is in a user's own history: it was delivered to them, or they flagged it when they could read it.
    /// Such messages stay readable in channels with protected history while the user is subscribed
    /// (docs/api/permissions.md#channel-access). `message` has its moves applied.
    pub fn has(&self, user: UserId, message: &Message) -> bool {
        self.has_at(user, ConversationId::of(message), message.id)
    }

    /// Whether a message in `conversation` is in a user's own history.
    pub fn has_at(&self, user: UserId, conversation: ConversationId, id: MessageId) -> bool {
        let mine = self.messages.users.get(&user);
        mine.is_some_and(|mine| mine.historical.contains(id.0))
            || self.is_delivered_at(user, conversation, id)
    }

    /// The subset of `ids` that is in a user's own history.
    pub fn accessible_among(&self, user: UserId, ids: &RoaringBitmap) -> RoaringBitmap {
        self.delivered_among(user, ids) | self.flagged_from_outside(user, ids)
    }

    /// The subset of the messages of one channel that is in a user's own history.
    pub fn accessible_in_channel(
        &self,
        user: UserId,
        channel: ChannelId,
        ids: &RoaringBitmap,
    ) -> RoaringBitmap {
        self.delivered_among_in_channel(user, channel, ids) | self.flagged_from_outside(user, ids)
    }

    fn flagged_from_outside(&self, user: UserId, ids: &RoaringBitmap) -> RoaringBitmap {
        self.messages.users.get(&user).map(|mine| &mine.historical & ids).unwrap_or_default()
    }

    /// Whether a user takes part in a direct conversation.
    pub fn is_in_conversation(&self, user: UserId, recipient: RecipientId) -> bool {
        self.directory.direct(recipient).is_some_and(|direct| direct.users.binary_search(&user).is_ok())
    }

    /// All messages of a channel.
    pub fn channel_ids(&self, channel: ChannelId) -> Option<&RoaringBitmap> {
        self.messages.channels.get(&channel).map(|messages| &messages.ids)
    }

    /// Messages of a channel that were delivered to a user. Borrowed in the usual case: subscribed since before the
    /// channel's first message.
    pub fn delivered_in_channel(&self, user: UserId, channel: ChannelId) -> Cow<'_, RoaringBitmap> {
        match self.channel_ids(channel) {
            None => Cow::Owned(RoaringBitmap::new()),
            Some(ids) if self.has_all_delivered(user, channel, ids) => Cow::Borrowed(ids),
            Some(ids) => Cow::Owned(self.delivered_among_in_channel(user, channel, ids)),
        }
    }

    /// Channels with messages that were delivered to a user by moves, by id; the user may never have been subscribed.
    pub fn channels_arrived_for(&self, user: UserId) -> Vec<ChannelId> {
        let arrived = self.arrivals.channels().filter(|(_, arrived)| arrived.has_any(user));
        let mut channels: Vec<ChannelId> = arrived.map(|(channel, _)| channel).collect();
        channels.sort_unstable();
        channels
    }

    /// The subset of `ids`, messages of one channel, that was delivered to a user.
    pub fn delivered_among_in_channel(
        &self,
        user: UserId,
        channel: ChannelId,
        ids: &RoaringBitmap,
    ) -> RoaringBitmap {
        let arrived = self.arrivals.to(channel);
        let mut found = match self.directory.subscription(channel, user) {
            Some(subscription) => {
                let sent = arrived.map_or_else(|| ids.clone(), |arrived| ids - &arrived.ids);
                self.received_among(subscription, sent)
            }
            None => RoaringBitmap::new(),
        };
        if let Some(arrived) = arrived {
            found |= arrived.delivered_to(user) & ids;
        }
        found
    }

    /// A fast check whether all of some messages of one channel were delivered to a user. True only if no message was moved
    /// to the channel and the user has been subscribed since before the first; false may be a false negative.
    pub fn has_all_delivered(&self, user: UserId, channel: ChannelId, ids: &RoaringBitmap) -> bool {
        let subscription = self.directory.subscription(channel, user);
        self.arrivals.to(channel).is_none() && subscription.is_some_and(|own| covers(own, ids))
    }

    /// The users to whom any of some messages of one channel were delivered, with those messages.
    pub fn holders(&self, channel: ChannelId, ids: &RoaringBitmap) -> BTreeMap<UserId, RoaringBitmap> {
        let mut users: BTreeSet<UserId> = self.directory.subscriptions_of(channel).keys().copied().collect();
        users.extend(self.arrivals.to(channel).into_iter().flat_map(|arrived| arrived.holders(ids)));
        let theirs =
            users.into_iter().map(|user| (user, self.delivered_among_in_channel(user, channel, ids)));
        theirs.filter(|(_, ids)| !ids.is_empty()).collect()
    }

    /// The subset of a channel's messages that a subscription covers.
    fn received_among(&self, subscription: &Subscription, ids: RoaringBitmap) -> RoaringBitmap {
        if covers(subscription, &ids) {
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
        self.conversations_of(user).map(|(_, messages)| messages).union()
    }

    /// A user's direct conversations with all their messages, the one that began first before the others.
    pub fn conversations_of(
        &self,
        user: UserId,
    ) -> impl DoubleEndedIterator<Item = (&Arc<DirectConversation>, &RoaringBitmap)> {
        let directs = self.directory.directs_of(user);
        directs.filter_map(|direct| Some((direct, self.messages.directs.get(&direct.recipient)?)))
    }

    /// The unread messages among `delivered`.
    pub fn unread_of(&self, user: UserId, delivered: &RoaringBitmap) -> RoaringBitmap {
        match self.messages.users.get(&user) {
            Some(mine) => delivered - &mine.read,
            None => delivered.clone(),
        }
    }
}

/// With more ids than this, whole sets are compared: that takes a few thousand steps for each 65,536 ids.
const SCANNED_MAX: u64 = 1024;

/// `set & ids`, at the cost of the part of the set from the first to the last id where that is short: the ids of a page are
/// neighbors, and the set has the whole history.
pub(super) fn part_of(set: &RoaringBitmap, ids: &RoaringBitmap) -> RoaringBitmap {
    let (Some(first), Some(last)) = (ids.min(), ids.max()) else { return RoaringBitmap::new() };
    match set.range_cardinality(first..=last) {
        0 => RoaringBitmap::new(),
        count if count <= SCANNED_MAX.min(SCAN_FACTOR as u64 * ids.len()) => {
            set.range(first..=last).filter(|id| ids.contains(*id)).collect()
        }
        _ => set & ids,
    }
}

/// Whether a subscription is active without interruption since before the first of some messages.
fn covers(subscription: &Subscription, ids: &RoaringBitmap) -> bool {
    match subscription.spans.as_slice() {
        [span] => span.until.is_none() && ids.min().is_none_or(|first| first > span.after.0),
        _ => false,
    }
}
