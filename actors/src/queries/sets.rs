//! The sets of messages that a narrow's terms match. Set algebra on the index; no message is loaded.

use super::own::{Own, own_channels};
use model::{ChannelId, Flag, MessageId, TopicKey, User, UserId, VisibilityPolicy};
use roaring::{MultiOps, RoaringBitmap};
use rules::narrow::{Content, MessageSet, Plan, PlanTerm, Scope};
use rules::topics::is_resolved;
use rules::visibility::{SkippedMuting, is_muted};
use std::borrow::Cow;
use std::collections::BTreeMap;
use storage::View;

/// Conditions on accessible messages.
#[derive(Default)]
pub(super) struct Filter<'v> {
    /// A message must be in all of these.
    pub wanted: Vec<Cow<'v, RoaringBitmap>>,
    /// And in none of these.
    pub unwanted: Vec<Cow<'v, RoaringBitmap>>,
    /// And in any of these.
    pub shown: Option<Vec<Cow<'v, RoaringBitmap>>>,
}

/// Maximum number of look-ups; beyond it a union of all sets is cheaper.
const LOOKUPS_MAX: u64 = 100_000;

impl<'v> Filter<'v> {
    /// The conditions of a plan's terms, without `done`, which is met already, for the messages of `own`.
    pub fn new(
        view: &'v View,
        asker: Option<&User>,
        plan: &Plan,
        done: Option<&MessageSet>,
        own: &Own<'_>,
    ) -> Self {
        let mut filter = Self::default();
        let is_met =
            |term: &&PlanTerm| !term.negated && (Some(&term.set) == done || implies(&plan.scope, &term.set));
        let terms: Vec<&PlanTerm> = plan.terms.iter().filter(|term| !is_met(term)).collect();
        let directs = directs_by_user(view, asker, terms.iter().filter_map(|term| participant(&term.set)));
        for (index, term) in terms.iter().enumerate() {
            if terms[..index].contains(term) {
                continue;
            }
            match participant(&term.set) {
                Some((user, people_min)) => {
                    let set = directs_with(&directs, user, people_min);
                    filter.push(Cow::Owned(set), term.negated);
                }
                None => filter.add(view, asker, plan, term, own),
            }
        }
        filter
    }

    fn add(&mut self, view: &'v View, asker: Option<&User>, plan: &Plan, term: &PlanTerm, own: &Own<'_>) {
        // In the own history, unread is the complement of read.
        if term.set == MessageSet::Unread && matches!(own, Own::History) {
            let mine = asker.and_then(|asker| view.messages.users.get(&asker.id));
            let read =
                mine.map_or_else(|| Cow::Owned(RoaringBitmap::new()), |mine| Cow::Borrowed(&mine.read));
            self.push(read, !term.negated);
        } else {
            self.push(message_set(view, asker, plan, &term.set, own), term.negated);
        }
    }

    fn push(&mut self, set: Cow<'v, RoaringBitmap>, is_unwanted: bool) {
        if is_unwanted { self.unwanted.push(set) } else { self.wanted.push(set) }
    }

    /// Whether a message meets the conditions.
    pub fn allows(&self, id: u32) -> bool {
        self.wanted.iter().all(|set| set.contains(id))
            && !self.unwanted.iter().any(|set| set.contains(id))
            && self.shown.as_ref().is_none_or(|shown| is_in_any(shown, id))
    }

    /// Removes the messages that do not meet the conditions.
    pub fn apply<'s>(&self, set: Cow<'s, RoaringBitmap>) -> Cow<'s, RoaringBitmap> {
        let mut kept = set;
        for wanted in &self.wanted {
            *kept.to_mut() &= &**wanted;
        }
        for unwanted in &self.unwanted {
            *kept.to_mut() -= &**unwanted;
        }
        match &self.shown {
            Some(shown) if kept.len() * shown.len() as u64 <= LOOKUPS_MAX => {
                Cow::Owned(kept.iter().filter(|id| is_in_any(shown, *id)).collect())
            }
            Some(shown) => {
                *kept.to_mut() &= union(shown);
                kept
            }
            None => kept,
        }
    }
}

/// All messages of some sets.
pub(super) fn union(sets: &[Cow<'_, RoaringBitmap>]) -> RoaringBitmap {
    sets.iter().map(|set| &**set).union()
}

fn is_in_any(sets: &[Cow<'_, RoaringBitmap>], id: u32) -> bool {
    sets.iter().any(|set| set.contains(id))
}

/// Whether the whole scope is in a set.
fn implies(scope: &Scope, set: &MessageSet) -> bool {
    match (scope, set) {
        (Scope::Channels(searched), MessageSet::Channels(wanted)) => {
            searched.iter().all(|channel| wanted.contains(channel))
        }
        _ => false,
    }
}

/// The messages of a set; may be incomplete for messages that the asker has no access to.
pub(super) fn message_set<'v>(
    view: &'v View,
    asker: Option<&User>,
    plan: &Plan,
    set: &MessageSet,
    own: &Own<'_>,
) -> Cow<'v, RoaringBitmap> {
    let index = &view.messages;
    let borrowed = |ids: Option<&'v RoaringBitmap>| match ids {
        Some(ids) => Cow::Borrowed(ids),
        None => Cow::Owned(RoaringBitmap::new()),
    };
    match set {
        MessageSet::Channel(channel) => borrowed(view.channel_ids(*channel)),
        MessageSet::Channels(channels) => {
            Cow::Owned(channels.iter().filter_map(|channel| view.channel_ids(*channel)).union())
        }
        MessageSet::Topic(channel, topic) => borrowed(index.topic(*channel, topic).map(|topic| &topic.ids)),
        MessageSet::TopicAnywhere(topic) => {
            Cow::Owned(index.channels.values().filter_map(|c| Some(&c.topics.get(topic)?.ids)).union())
        }
        MessageSet::Direct(recipient) => borrowed(index.directs.get(recipient)),
        MessageSet::Sender(user) => borrowed(index.senders.get(user)),
        MessageSet::Has(content) => Cow::Borrowed(match content {
            Content::Link => &index.with_link,
            Content::Image => &index.with_image,
            Content::Attachment => &index.with_attachment,
            Content::Reaction => &index.with_reaction,
        }),
        MessageSet::Resolved => Cow::Owned(resolved(view, asker, plan, own)),
        MessageSet::Ids(ids) => {
            Cow::Owned(ids.iter().map(|id| id.0).filter(|id| index.all.contains(*id)).collect())
        }
        MessageSet::Nothing => Cow::Owned(RoaringBitmap::new()),
        MessageSet::Flagged(flag) if *flag != Flag::ChannelWildcardMentioned => {
            borrowed(asker.and_then(|asker| index.users.get(&asker.id)?.set(*flag)))
        }
        MessageSet::AllDirects
        | MessageSet::DirectsWith(_)
        | MessageSet::GroupDirectsWith(_)
        | MessageSet::Flagged(_)
        | MessageSet::Unread
        | MessageSet::Mentioned
        | MessageSet::Followed
        | MessageSet::Muted => {
            Cow::Owned(asker.map(|asker| personal_set(view, asker, set, own)).unwrap_or_default())
        }
    }
}

/// Sets that depend on the asker.
fn personal_set(view: &View, asker: &User, set: &MessageSet, own: &Own<'_>) -> RoaringBitmap {
    match set {
        MessageSet::AllDirects => view.direct_messages_of(asker.id),
        MessageSet::DirectsWith(_) | MessageSet::GroupDirectsWith(_) => {
            let Some((user, people_min)) = participant(set) else { return RoaringBitmap::new() };
            let directs = directs_by_user(view, Some(asker), [(user, people_min)]);
            directs_with(&directs, user, people_min)
        }
        MessageSet::Flagged(_) => channel_wildcards(view, asker, own),
        MessageSet::Mentioned => {
            let mut found = channel_wildcards(view, asker, own);
            if let Some(mine) = view.messages.users.get(&asker.id) {
                found |= &mine.mentioned;
                found |= &mine.topic_wildcard;
            }
            found
        }
        MessageSet::Unread => view.unread_of(asker.id, &own.messages(view, asker)),
        MessageSet::Followed => policy_set(view, asker.id, VisibilityPolicy::Followed),
        MessageSet::Muted => muted(view, asker.id, SkippedMuting::TopicsAndChannels),
        _ => RoaringBitmap::new(),
    }
}

/// Minimum number of users in a group conversation.
const GROUP_PEOPLE_MIN: usize = 3;

/// The user with whom the direct conversations of a set are, and how many users they have at least.
fn participant(set: &MessageSet) -> Option<(UserId, usize)> {
    match set {
        MessageSet::DirectsWith(user) => Some((*user, 0)),
        MessageSet::GroupDirectsWith(user) => Some((*user, GROUP_PEOPLE_MIN)),
        MessageSet::Channel(_)
        | MessageSet::Channels(_)
        | MessageSet::Topic(..)
        | MessageSet::TopicAnywhere(_)
        | MessageSet::Direct(_)
        | MessageSet::AllDirects
        | MessageSet::Sender(_)
        | MessageSet::Has(_)
        | MessageSet::Flagged(_)
        | MessageSet::Unread
        | MessageSet::Mentioned
        | MessageSet::Followed
        | MessageSet::Muted
        | MessageSet::Resolved
        | MessageSet::Ids(_)
        | MessageSet::Nothing => None,
    }
}

/// Of the asker's direct conversations, those with each of some users: the number of users and the messages of each.
type DirectsByUser<'v> = BTreeMap<UserId, Vec<(usize, &'v RoaringBitmap)>>;

/// The asker's direct conversations by users in them, in one pass for all of these users.
fn directs_by_user<'v>(
    view: &'v View,
    asker: Option<&User>,
    users: impl IntoIterator<Item = (UserId, usize)>,
) -> DirectsByUser<'v> {
    let mut found: DirectsByUser<'v> = users.into_iter().map(|(user, _)| (user, Vec::new())).collect();
    let Some(asker) = asker.filter(|_| !found.is_empty()) else { return found };
    for (direct, messages) in view.conversations_of(asker.id) {
        let count = direct.users.len();
        if count <= found.len() {
            for user in &direct.users {
                found.entry(*user).and_modify(|theirs| theirs.push((count, messages)));
            }
        } else {
            let named = found.iter_mut().filter(|(user, _)| direct.users.binary_search(user).is_ok());
            named.for_each(|(_, theirs)| theirs.push((count, messages)));
        }
    }
    found
}

/// Messages of those conversations with a user that have at least `people_min` users.
fn directs_with(directs: &DirectsByUser<'_>, user: UserId, people_min: usize) -> RoaringBitmap {
    let theirs = directs.get(&user).into_iter().flatten();
    theirs.filter(|(count, _)| *count >= people_min).map(|(_, messages)| *messages).union()
}

/// Messages with a channel wildcard mention that were delivered to the asker.
fn channel_wildcards(view: &View, asker: &User, own: &Own<'_>) -> RoaringBitmap {
    let given = match own {
        Own::History => view.messages.channel_wildcard.clone(),
        Own::Among(_) => &view.messages.channel_wildcard & own.messages(view, asker),
    };
    match view.messages.users.get(&asker.id) {
        Some(mine) => given - &mine.historical,
        None => given,
    }
}

/// Messages of resolved topics in the searched channels.
fn resolved(view: &View, asker: Option<&User>, plan: &Plan, own: &Own<'_>) -> RoaringBitmap {
    let named = plan.terms.iter().filter(|term| !term.negated).find_map(|term| match term.set {
        MessageSet::Channel(channel) | MessageSet::Topic(channel, _) => Some(vec![channel]),
        _ => None,
    });
    let channels = match (named, own, &plan.scope, asker) {
        (Some(named), ..) => named,
        (None, Own::Among(ids), ..) => {
            let channels = view.messages.channels.iter();
            channels.filter(|(_, channel)| !channel.ids.is_disjoint(ids)).map(|(id, _)| *id).collect()
        }
        (None, Own::History, Scope::Channels(channels), _) => channels.clone(),
        (None, Own::History, Scope::OwnHistory, Some(asker)) => own_channels(view, asker),
        (None, Own::History, Scope::OwnHistory, None) => Vec::new(),
    };
    let channels = channels.iter().filter_map(|channel| view.messages.channels.get(channel));
    let topics = channels.flat_map(|channel| channel.topics.values());
    topics.filter(|topic| is_resolved(&topic.name)).map(|topic| &topic.ids).union()
}

fn policy_set(view: &View, user: UserId, wanted: VisibilityPolicy) -> RoaringBitmap {
    let topics = view.directory.topics_of_user(user).filter(|(_, _, topic)| topic.policy == wanted);
    topics.filter_map(|(channel, key, _)| Some(&view.messages.topic(channel, key)?.ids)).union()
}

/// Messages that count as muted for a user.
pub(super) fn muted(view: &View, user: UserId, skipped: SkippedMuting) -> RoaringBitmap {
    if skipped == SkippedMuting::Nothing {
        return RoaringBitmap::new();
    }
    let mut found = policy_set(view, user, VisibilityPolicy::Muted);
    if skipped == SkippedMuting::Topics {
        return found;
    }
    for (channel, subscription) in view.directory.subscriptions_of_user(user) {
        if subscription.is_active && subscription.is_muted {
            found |= muted_in_channel(view, user, channel);
        }
    }
    found
}

/// Messages of a muted channel, without topics that are not muted.
fn muted_in_channel(view: &View, user: UserId, channel: ChannelId) -> RoaringBitmap {
    let Some(messages) = view.messages.channels.get(&channel) else { return RoaringBitmap::new() };
    let is_shown = |key: &TopicKey| !is_muted(true, view.directory.topic_policy(user, channel, key));
    let shown = messages.topics.iter().filter(|(key, _)| is_shown(key)).map(|(_, topic)| &topic.ids);
    &messages.ids - shown.union()
}

/// The newest message of a set.
pub(super) fn newest(set: &RoaringBitmap) -> Option<MessageId> {
    set.max().map(MessageId)
}
