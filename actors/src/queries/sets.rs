//! A narrow's plan → the set of messages that match. Set algebra on the index; no message is looked at.

use model::{ChannelId, Flag, MessageId, TopicKey, User, UserId, VisibilityPolicy};
use roaring::RoaringBitmap;
use rules::narrow::{Content, MessageSet, Plan, Scope};
use rules::permissions::channel::{History, history_of};
use rules::permissions::message::own_channel_history;
use rules::topics::is_resolved;
use rules::visibility::{SkippedMuting, is_muted};
use std::borrow::Cow;
use storage::View;

/// The messages that a plan means for somebody (none: without an account), and may show.
pub fn evaluate<'v>(view: &'v View, asker: Option<&User>, plan: &Plan) -> Cow<'v, RoaringBitmap> {
    let narrowest = plan.narrowest();
    let mut found = match narrowest {
        Some(set) => within_scope(view, asker, &plan.scope, set),
        None => Cow::Owned(whole_scope(view, asker, &plan.scope)),
    };
    for term in &plan.terms {
        if !term.negated && Some(&term.set) == narrowest {
            continue;
        }
        let set = message_set(view, asker, &term.set);
        if term.negated {
            *found.to_mut() -= &*set;
        } else {
            *found.to_mut() &= &*set;
        }
    }
    found
}

/// The part of one conversation or channel that lies in the scope; borrowed where it is all of it.
fn within_scope<'v>(
    view: &'v View,
    asker: Option<&User>,
    scope: &Scope,
    set: &MessageSet,
) -> Cow<'v, RoaringBitmap> {
    let all = message_set(view, asker, set);
    let channel = match set {
        MessageSet::Channel(channel) | MessageSet::Topic(channel, _) => Some(*channel),
        _ => None,
    };
    match (scope, channel) {
        (Scope::Channels(channels), Some(channel)) if channels.contains(&channel) => all,
        (Scope::OwnHistory, Some(channel)) => match own_in_channel(view, asker, channel) {
            Some(own) if all.is_subset(&own) => all,
            Some(own) => Cow::Owned(own & &*all),
            None => Cow::Owned(RoaringBitmap::new()),
        },
        (Scope::OwnHistory, None) if is_own_direct(view, asker, set) => all,
        _ => Cow::Owned(whole_scope(view, asker, scope) & &*all),
    }
}

fn is_own_direct(view: &View, asker: Option<&User>, set: &MessageSet) -> bool {
    match (set, asker) {
        (MessageSet::Direct(recipient), Some(asker)) => view.is_in_conversation(asker.id, *recipient),
        _ => false,
    }
}

fn whole_scope(view: &View, asker: Option<&User>, scope: &Scope) -> RoaringBitmap {
    match (scope, asker) {
        (Scope::Channels(channels), _) => {
            union(channels.iter().filter_map(|channel| view.channel_ids(*channel)))
        }
        (Scope::OwnHistory, Some(asker)) => own_history(view, asker),
        (Scope::OwnHistory, None) => RoaringBitmap::new(),
    }
}

/// Everything that was delivered to somebody and is still reachable.
pub(super) fn own_history(view: &View, asker: &User) -> RoaringBitmap {
    let mut found = view.direct_messages_of(asker.id);
    for (channel, _) in own_channel_history(&view.directory, asker) {
        found |= view.delivered_in_channel(asker.id, channel.id);
    }
    found | historical(view, asker)
}

/// Messages that somebody has starred or marked without having been given them: they are in one's history, too, where
/// the channel's whole history can be read.
fn historical(view: &View, asker: &User) -> RoaringBitmap {
    let mut found = RoaringBitmap::new();
    let Some(mine) = view.messages.users.get(&asker.id).filter(|mine| !mine.historical.is_empty()) else {
        return found;
    };
    for (id, messages) in &view.messages.channels {
        let channel = view.directory.channel(*id).filter(|_| !messages.ids.is_disjoint(&mine.historical));
        if channel.and_then(|channel| history_of(&view.directory, asker, channel)) == Some(History::Whole) {
            found |= &mine.historical & &messages.ids;
        }
    }
    found
}

fn own_in_channel(view: &View, asker: Option<&User>, channel: ChannelId) -> Option<RoaringBitmap> {
    let asker = asker?;
    if own_channel_history(&view.directory, asker).any(|(own, _)| own.id == channel) {
        return Some(received_in_channel(view, asker, channel));
    }
    Some(historical(view, asker) & view.channel_ids(channel)?)
}

/// Messages of a channel that somebody was given, or flagged without having been given them.
pub(super) fn received_in_channel(view: &View, user: &User, channel: ChannelId) -> RoaringBitmap {
    let mut own = view.delivered_in_channel(user.id, channel);
    if let (Some(mine), Some(ids)) = (view.messages.users.get(&user.id), view.channel_ids(channel)) {
        own |= &mine.historical & ids;
    }
    own
}

fn message_set<'v>(view: &'v View, asker: Option<&User>, set: &MessageSet) -> Cow<'v, RoaringBitmap> {
    let index = &view.messages;
    let borrowed = |ids: Option<&'v RoaringBitmap>| match ids {
        Some(ids) => Cow::Borrowed(ids),
        None => Cow::Owned(RoaringBitmap::new()),
    };
    match set {
        MessageSet::Channel(channel) => borrowed(view.channel_ids(*channel)),
        MessageSet::Channels(channels) => {
            Cow::Owned(union(channels.iter().filter_map(|channel| view.channel_ids(*channel))))
        }
        MessageSet::Topic(channel, topic) => borrowed(index.topic(*channel, topic).map(|topic| &topic.ids)),
        MessageSet::TopicAnywhere(topic) => {
            Cow::Owned(union(index.channels.values().filter_map(|c| Some(&c.topics.get(topic)?.ids))))
        }
        MessageSet::Direct(recipient) => borrowed(index.directs.get(recipient)),
        MessageSet::AllDirects => Cow::Owned(union(index.directs.values())),
        MessageSet::DirectsWith(user) => Cow::Owned(view.direct_messages_of(*user)),
        MessageSet::GroupDirectsWith(user) => Cow::Owned(group_directs_with(view, *user)),
        MessageSet::Sender(user) => borrowed(index.senders.get(user)),
        MessageSet::Has(content) => Cow::Borrowed(match content {
            Content::Link => &index.with_link,
            Content::Image => &index.with_image,
            Content::Attachment => &index.with_attachment,
            Content::Reaction => &index.with_reaction,
        }),
        MessageSet::Resolved => Cow::Owned(union(
            index
                .channels
                .values()
                .flat_map(|c| c.topics.values())
                .filter(|t| is_resolved(&t.name))
                .map(|t| &t.ids),
        )),
        MessageSet::Ids(ids) => {
            Cow::Owned(ids.iter().map(|id| id.0).filter(|id| index.all.contains(*id)).collect())
        }
        MessageSet::Nothing => Cow::Owned(RoaringBitmap::new()),
        MessageSet::Flagged(_)
        | MessageSet::Unread
        | MessageSet::Mentioned
        | MessageSet::Followed
        | MessageSet::Muted => {
            Cow::Owned(asker.map(|asker| personal_set(view, asker, set)).unwrap_or_default())
        }
    }
}

/// Sets that depend on who asks.
fn personal_set(view: &View, asker: &User, set: &MessageSet) -> RoaringBitmap {
    let mine = view.messages.users.get(&asker.id);
    let flagged = |flag| mine.and_then(|mine| mine.set(flag)).cloned().unwrap_or_default();
    let channel_wildcard = || &view.messages.channel_wildcard & own_history(view, asker);
    match set {
        MessageSet::Flagged(Flag::ChannelWildcardMentioned) => channel_wildcard(),
        MessageSet::Flagged(flag) => flagged(*flag),
        MessageSet::Unread => unread(view, asker),
        MessageSet::Mentioned => {
            flagged(Flag::Mentioned) | flagged(Flag::TopicWildcardMentioned) | channel_wildcard()
        }
        MessageSet::Followed => policy_set(view, asker.id, VisibilityPolicy::Followed),
        MessageSet::Muted => muted(view, asker.id, SkippedMuting::TopicsAndChannels),
        _ => RoaringBitmap::new(),
    }
}

/// Somebody's unread messages.
pub(super) fn unread(view: &View, asker: &User) -> RoaringBitmap {
    view.unread_of(asker.id, &own_history(view, asker))
}

fn policy_set(view: &View, user: UserId, wanted: VisibilityPolicy) -> RoaringBitmap {
    let topics = view.directory.topics_of_user(user).filter(|(_, _, topic)| topic.policy == wanted);
    union(topics.filter_map(|(channel, key, _)| Some(&view.messages.topic(channel, key)?.ids)))
}

/// Messages that count as muted for somebody.
pub(super) fn muted(view: &View, user: UserId, skipped: SkippedMuting) -> RoaringBitmap {
    if skipped == SkippedMuting::Nothing {
        return RoaringBitmap::new();
    }
    let mut found = policy_set(view, user, VisibilityPolicy::Muted);
    if skipped == SkippedMuting::Topics {
        return found;
    }
    for (channel, subscription) in view.directory.subscriptions_of_user(user) {
        let Some(messages) = view.messages.channels.get(&channel).filter(|_| subscription.is_muted) else {
            continue;
        };
        let is_shown = |key: &TopicKey| !is_muted(true, view.directory.topic_policy(user, channel, key));
        let shown =
            union(messages.topics.iter().filter(|(key, _)| is_shown(key)).map(|(_, topic)| &topic.ids));
        found |= &messages.ids - shown;
    }
    found
}

fn group_directs_with(view: &View, user: UserId) -> RoaringBitmap {
    let groups = view.directory.directs_of(user).filter(|direct| direct.users.len() > 2);
    union(groups.filter_map(|direct| view.messages.directs.get(&direct.recipient)))
}

fn union<'s>(sets: impl Iterator<Item = &'s RoaringBitmap>) -> RoaringBitmap {
    let mut found = RoaringBitmap::new();
    for set in sets {
        found |= set;
    }
    found
}

/// The newest message of a set.
pub(super) fn newest(set: &RoaringBitmap) -> Option<MessageId> {
    set.max().map(MessageId)
}
