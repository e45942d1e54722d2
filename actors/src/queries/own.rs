//! A user's own history: messages that were delivered to the user or flagged by the user, and that the user can still access
//! (docs/api/narrow.md#searched-messages).

use model::{ChannelId, ConversationId, DirectConversation, User};
use roaring::{MultiOps, RoaringBitmap};
use rules::permissions::message::{keeps_own_history, own_channel_history};
use std::borrow::Cow;
use std::sync::Arc;
use storage::View;

/// The messages among which a set is computed.
pub(super) enum Own<'a> {
    /// The asker's own history.
    History,
    /// These, which the asker may read, delivered or not.
    Among(&'a RoaringBitmap),
}

impl Own<'_> {
    /// The ids of the matching messages that the user may read.
    pub fn messages(&self, view: &View, asker: &User) -> RoaringBitmap {
        match self {
            Self::History => own_history(view, asker),
            Self::Among(ids) => own_among(view, asker, ids),
        }
    }
}

/// A user's direct conversation with all its messages.
pub(super) type OwnConversation<'v> = (&'v Arc<DirectConversation>, &'v RoaringBitmap);

/// Channels with messages of a user's own history.
pub(super) fn own_channels(view: &View, asker: &User) -> Vec<ChannelId> {
    let mut channels = delivered_channels(view, asker);
    channels.extend(flagged_channels(view, asker));
    channels.sort_unstable();
    channels.dedup();
    channels
}

/// A user's own history in parts, one for each conversation. The parts are disjoint, except for the last one: messages that
/// were flagged before they were delivered.
pub(super) fn own_parts<'v>(view: &'v View, asker: &User) -> Vec<Cow<'v, RoaringBitmap>> {
    let directs = view.conversations_of(asker.id).map(|(_, messages)| Cow::Borrowed(messages));
    let mut parts: Vec<Cow<'v, RoaringBitmap>> = directs.collect();
    for channel in delivered_channels(view, asker) {
        let delivered = view.delivered_in_channel(asker.id, channel);
        if !delivered.is_empty() {
            parts.push(delivered);
        }
    }
    let flagged = historical(view, asker);
    if !flagged.is_empty() {
        parts.push(Cow::Owned(flagged));
    }
    parts
}

pub(super) fn own_history(view: &View, asker: &User) -> RoaringBitmap {
    own_parts(view, asker).iter().map(|part| &**part).union()
}

/// Those of some messages that are in a user's own history.
pub(super) fn own_among(view: &View, asker: &User, ids: &RoaringBitmap) -> RoaringBitmap {
    let mut found = RoaringBitmap::new();
    for (_, messages) in view.conversations_of(asker.id).filter(|(_, messages)| !messages.is_disjoint(ids)) {
        found |= messages & ids;
    }
    for channel in delivered_channels(view, asker) {
        let is_here = view.channel_ids(channel).is_some_and(|messages| !messages.is_disjoint(ids));
        if is_here {
            found |= &*view.delivered_in_channel(asker.id, channel) & ids;
        }
    }
    found | (historical(view, asker) & ids)
}

/// The messages of a channel in a user's own history.
pub(super) fn own_in_channel<'v>(view: &'v View, asker: &User, channel: ChannelId) -> Cow<'v, RoaringBitmap> {
    let record = view.directory.channel(channel);
    let (Some(messages), Some(record)) = (view.channel_ids(channel), record) else {
        return Cow::Owned(RoaringBitmap::new());
    };
    if !keeps_own_history(&view.directory, asker, record) {
        return Cow::Owned(RoaringBitmap::new());
    }
    let delivered = view.delivered_in_channel(asker.id, channel);
    match view.messages.users.get(&asker.id).filter(|mine| !mine.historical.is_disjoint(messages)) {
        Some(mine) => Cow::Owned(&*delivered | (&mine.historical & messages)),
        None => delivered,
    }
}

/// The conversations in which a user may have a history, to be examined with [`own_in_conversation`]; each once.
pub(super) fn own_conversations(view: &View, asker: &User) -> Vec<ConversationId> {
    let directs = view.directory.directs_of(asker.id).map(|direct| ConversationId::Direct(direct.recipient));
    let subscribed = view.directory.channels_of_user(asker.id).map(ConversationId::Channel);
    let arrived = view.channels_arrived_for(asker.id).into_iter();
    let new = arrived.filter(|channel| view.directory.subscription(*channel, asker.id).is_none());
    directs.chain(subscribed).chain(new.map(ConversationId::Channel)).collect()
}

/// The messages of a conversation that were delivered to a user and can still be accessed.
pub(super) fn own_in_conversation<'v>(
    view: &'v View,
    asker: &User,
    conversation: ConversationId,
) -> Option<Cow<'v, RoaringBitmap>> {
    match conversation {
        ConversationId::Direct(recipient) if view.is_in_conversation(asker.id, recipient) => {
            view.messages.directs.get(&recipient).map(Cow::Borrowed)
        }
        ConversationId::Direct(_) => None,
        ConversationId::Channel(channel) => {
            let record = view.directory.channel(channel)?;
            let is_kept = keeps_own_history(&view.directory, asker, record);
            is_kept.then(|| view.delivered_in_channel(asker.id, channel))
        }
    }
}

/// A user's unread messages.
pub(super) fn unread(view: &View, asker: &User) -> RoaringBitmap {
    let none = RoaringBitmap::new();
    let read = view.messages.users.get(&asker.id).map_or(&none, |mine| &mine.read);
    own_parts(view, asker).iter().map(|part| &**part - read).union()
}

/// Channels with accessible messages that were delivered to a user, by subscription or by a move; each once.
fn delivered_channels(view: &View, asker: &User) -> Vec<ChannelId> {
    let subscribed = own_channel_history(&view.directory, asker);
    let mut channels: Vec<ChannelId> = subscribed.map(|(channel, _)| channel.id).collect();
    for channel in view.channels_arrived_for(asker.id) {
        let record = view.directory.channel(channel);
        let is_new = view.directory.subscription(channel, asker.id).is_none();
        if is_new && record.is_some_and(|record| keeps_own_history(&view.directory, asker, record)) {
            channels.push(channel);
        }
    }
    channels
}

/// Messages that a user has flagged and that were not delivered to the user.
pub(super) fn historical(view: &View, asker: &User) -> RoaringBitmap {
    let Some(mine) = view.messages.users.get(&asker.id).filter(|mine| !mine.historical.is_empty()) else {
        return RoaringBitmap::new();
    };
    let channels = flagged_channels(view, asker).into_iter();
    let found = channels.filter_map(|channel| Some(view.channel_ids(channel)? & &mine.historical));
    found.union()
}

/// Channels with accessible messages that a user has flagged and that were not delivered.
fn flagged_channels(view: &View, asker: &User) -> Vec<ChannelId> {
    let Some(mine) = view.messages.users.get(&asker.id).filter(|mine| !mine.historical.is_empty()) else {
        return Vec::new();
    };
    let channels = view.messages.channels.iter();
    let here = channels.filter(|(_, messages)| !messages.ids.is_disjoint(&mine.historical));
    let record = |id: &ChannelId| view.directory.channel(*id);
    let kept =
        here.filter(|(id, _)| record(id).is_some_and(|c| keeps_own_history(&view.directory, asker, c)));
    kept.map(|(id, _)| *id).collect()
}
