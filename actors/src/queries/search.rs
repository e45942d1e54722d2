//! A plan that can be walked from an anchor: the accessible messages, in parts, and conditions on them. A window does not
//! need the union of hundreds of channels.

use super::own::{Own, own_among, own_in_channel, own_parts};
use super::sets::{Filter, message_set, union};
use model::{MessageId, User};
use roaring::RoaringBitmap;
use roaring::bitmap::Iter;
use rules::narrow::{MessageSet, Plan, Scope};
use std::borrow::Cow;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use storage::View;

/// Messages that a walk skips because they do not meet the conditions; after more, sets are computed.
const PASSED_OVER_MAX: usize = 16_384;

/// What is known of a plan's scope already.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KnownSets<'v> {
    /// The asker's own history.
    pub own: Option<&'v RoaringBitmap>,
    /// The messages of the plan's channels.
    pub channels: Option<&'v RoaringBitmap>,
}

/// A plan for a user.
pub(super) struct Search<'v> {
    /// The accessible messages; almost disjoint.
    parts: Vec<Cow<'v, RoaringBitmap>>,
    filter: Filter<'v>,
}

impl<'v> Search<'v> {
    /// All messages that match a plan for a user (none: without an account).
    /// `text` has the messages that match the text of a search.
    pub fn new(view: &'v View, asker: Option<&User>, plan: &Plan, text: Option<&'v RoaringBitmap>) -> Self {
        let mut search = Self::within(view, asker, plan, KnownSets::default());
        search.filter.wanted.extend(text.map(Cow::Borrowed));
        search.shortened()
    }

    /// All messages that match a plan for a user, in a scope of which something is known.
    pub fn within(view: &'v View, asker: Option<&User>, plan: &Plan, known: KnownSets<'v>) -> Self {
        let narrowest = plan.narrowest();
        let parts = match narrowest {
            Some(set) => vec![within_scope(view, asker, plan, set)],
            None => whole_scope(view, asker, &plan.scope, known),
        };
        Self { parts, filter: Filter::new(view, asker, plan, narrowest, &Own::History) }
    }

    /// The messages of a set that are in another one, too.
    pub fn in_both(set: &'v RoaringBitmap, other: &'v RoaringBitmap) -> Self {
        let filter = Filter { wanted: vec![Cow::Borrowed(other)], ..Filter::default() };
        Self { parts: vec![Cow::Borrowed(set)], filter }.shortened()
    }

    /// Those of some messages that meet a plan's conditions. Their access has been checked.
    pub fn among(
        view: &'v View,
        asker: Option<&User>,
        plan: &Plan,
        (ids, text): (RoaringBitmap, Option<&'v RoaringBitmap>),
    ) -> Self {
        let mut filter = Filter::new(view, asker, plan, None, &Own::Among(&ids));
        filter.wanted.extend(text.map(Cow::Borrowed));
        Self { parts: vec![Cow::Owned(ids)], filter }
    }

    /// Exchanges the parts and the rarest condition, if that has fewer messages: then a walk goes over its messages, and looks
    /// each of them up in the parts.
    fn shortened(mut self) -> Self {
        let wanted = self.filter.wanted.iter().enumerate().map(|(index, set)| (set.len(), index));
        let Some((len, rarest)) = wanted.min() else { return self };
        let mut counted = 0;
        let is_fewer = self.parts.iter().any(|part| {
            counted += part.len();
            counted > 2 * len
        });
        if is_fewer {
            let rarest = self.filter.wanted.swap_remove(rarest);
            self.filter.shown = Some(std::mem::replace(&mut self.parts, vec![rarest]));
        }
        self
    }

    /// All of it as one set.
    pub fn into_set(mut self) -> Cow<'v, RoaringBitmap> {
        let all = match self.parts.pop() {
            Some(only) if self.parts.is_empty() => only,
            Some(last) => {
                self.parts.push(last);
                Cow::Owned(union(&self.parts))
            }
            None => Cow::Owned(RoaringBitmap::new()),
        };
        self.filter.apply(all)
    }

    /// Whether a message is in it.
    pub fn contains(&self, id: u32) -> bool {
        self.filter.allows(id) && self.parts.iter().any(|part| part.contains(id))
    }

    /// The last `count` messages before `id` (none: of all), newest first. None: needs sets.
    pub fn before(&self, id: Option<u32>, count: usize) -> Option<Vec<u32>> {
        let parts = self.parts.iter();
        let iters = match id {
            Some(id) => parts.map(|part| part.range(..id)).collect(),
            None => parts.map(|part| part.iter()).collect(),
        };
        self.walk(iters, Walk::Down, count)
    }

    /// The first `count` messages after `id`. None: needs sets.
    pub fn after(&self, id: u32, count: usize) -> Option<Vec<u32>> {
        let Some(next) = id.checked_add(1) else { return Some(Vec::new()) };
        self.walk(self.parts.iter().map(|part| part.range(next..)).collect(), Walk::Up, count)
    }

    /// The first message that is in none of `excluded`.
    pub fn first_outside(&self, excluded: &[&RoaringBitmap]) -> Option<u32> {
        let mut first: Option<u32> = None;
        for part in &self.parts {
            let mut left = Cow::Borrowed(&**part);
            for set in excluded.iter().filter(|set| !set.is_empty()) {
                *left.to_mut() -= *set;
            }
            let limit = first.unwrap_or(u32::MAX);
            let mut earlier = left.iter().take_while(|id| *id < limit);
            first = earlier.find(|id| self.filter.allows(*id)).or(first);
        }
        first
    }

    /// Merges the parts in order and filters by the conditions.
    fn walk(&self, mut iters: Vec<Iter<'_>>, walk: Walk, count: usize) -> Option<Vec<u32>> {
        if let [only] = iters.as_mut_slice() {
            return self.first_allowed(std::iter::from_fn(|| walk.step(only)), count);
        }
        let firsts = iters.iter_mut().enumerate();
        let mut heads: BinaryHeap<(u32, usize)> =
            firsts.filter_map(|(index, iter)| Some((walk.rank(walk.step(iter)?), index))).collect();
        let merged = std::iter::from_fn(|| {
            let mut head = heads.peek_mut()?;
            let id = walk.rank(head.0);
            match walk.step(&mut iters[head.1]) {
                Some(next) => head.0 = walk.rank(next),
                None => drop(PeekMut::pop(head)),
            }
            Some(id)
        });
        self.first_allowed(merged, count)
    }

    /// The first `count` of some ids that meet the conditions; equal ones are neighbors. None if too many do not.
    fn first_allowed(&self, ids: impl Iterator<Item = u32>, count: usize) -> Option<Vec<u32>> {
        let mut found = Vec::with_capacity(count.min(self.parts.iter().map(|p| p.len() as usize).sum()));
        if count == 0 {
            return Some(found);
        }
        let mut passed_over = 0;
        for id in ids {
            if !self.filter.allows(id) {
                passed_over += 1;
                if passed_over > PASSED_OVER_MAX {
                    return None;
                }
            } else if found.last() != Some(&id) {
                found.push(id);
                if found.len() == count {
                    break;
                }
            }
        }
        Some(found)
    }
}

/// The direction of a walk over message ids.
#[derive(Clone, Copy)]
enum Walk {
    Up,
    Down,
}

impl Walk {
    fn step(self, iter: &mut Iter<'_>) -> Option<u32> {
        match self {
            Self::Up => iter.next(),
            Self::Down => iter.next_back(),
        }
    }

    /// Greater for ids that come earlier in the walk. Its own inverse.
    fn rank(self, id: u32) -> u32 {
        match self {
            Self::Up => !id,
            Self::Down => id,
        }
    }
}

/// The part of a set that is in the scope; borrowed if it is the whole set.
fn within_scope<'v>(
    view: &'v View,
    asker: Option<&User>,
    plan: &Plan,
    set: &MessageSet,
) -> Cow<'v, RoaringBitmap> {
    let all = message_set(view, asker, plan, set, &Own::History);
    let channel = match set {
        MessageSet::Channel(channel) | MessageSet::Topic(channel, _) => Some(*channel),
        _ => None,
    };
    match (&plan.scope, channel, asker) {
        (Scope::Channels(channels), Some(channel), _) if channels.contains(&channel) => all,
        (Scope::Channels(channels), _, _) => {
            let searched = channels.iter().filter_map(|channel| view.channel_ids(*channel));
            let shown =
                |id: &u32, searched: &[&RoaringBitmap]| searched.iter().any(|part| part.contains(*id));
            let searched: Vec<_> = searched.filter(|part| !part.is_disjoint(&all)).collect();
            Cow::Owned(all.iter().filter(|id| shown(id, &searched)).collect())
        }
        (Scope::OwnHistory, Some(channel), Some(asker)) => {
            let own = own_in_channel(view, asker, channel);
            if matches!(set, MessageSet::Channel(_)) || own.is_subset(&all) {
                own
            } else if all.is_subset(&own) {
                all
            } else {
                Cow::Owned(&*own & &*all)
            }
        }
        (Scope::OwnHistory, None, Some(asker)) => match set {
            MessageSet::Direct(recipient) if view.is_in_conversation(asker.id, *recipient) => all,
            MessageSet::Direct(_) | MessageSet::Nothing => Cow::Owned(RoaringBitmap::new()),
            _ => Cow::Owned(own_among(view, asker, &all)),
        },
        (Scope::OwnHistory, _, None) => Cow::Owned(RoaringBitmap::new()),
    }
}

fn whole_scope<'v>(
    view: &'v View,
    asker: Option<&User>,
    scope: &Scope,
    known: KnownSets<'v>,
) -> Vec<Cow<'v, RoaringBitmap>> {
    match (scope, asker) {
        (Scope::Channels(channels), _) => {
            if let Some(messages) = known.channels {
                return vec![Cow::Borrowed(messages)];
            }
            channels.iter().filter_map(|channel| view.channel_ids(*channel).map(Cow::Borrowed)).collect()
        }
        (Scope::OwnHistory, Some(asker)) => match known.own {
            Some(own) => vec![Cow::Borrowed(own)],
            None => own_parts(view, asker),
        },
        (Scope::OwnHistory, None) => Vec::new(),
    }
}

/// A search over a set that is known.
impl<'v> From<Cow<'v, RoaringBitmap>> for Search<'v> {
    fn from(set: Cow<'v, RoaringBitmap>) -> Self {
        Self { parts: vec![set], filter: Filter::default() }
    }
}

/// Ids as a set; faster for ascending ones.
pub(super) fn set_of(ids: &[MessageId]) -> RoaringBitmap {
    let numbers = || ids.iter().map(|id| id.0);
    RoaringBitmap::from_sorted_iter(numbers()).unwrap_or_else(|_| numbers().collect())
}
