//! GET /messages: the ids of a window around an anchor, then their bodies (endpoints.md 3).

use super::sets;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use model::{Directory, Flags, Message, MessageId, User};
use roaring::RoaringBitmap;
use rules::narrow::Plan;
use std::collections::HashMap;
use std::sync::Arc;
use storage::View;

/// What a window is laid around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Behind everything.
    Newest,
    /// Before everything.
    Oldest,
    /// The oldest unread message of the narrow, else the newest.
    FirstUnread,
    /// This message, or where it would be.
    Id(u64),
}

/// The number that stands for the newest message on the wire.
pub const NEWEST: u64 = 10_000_000_000_000_000;

/// Which messages around the anchor are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Where.
    pub anchor: Anchor,
    /// So many before.
    pub num_before: usize,
    /// So many after.
    pub num_after: usize,
    /// Also the anchor itself, where there is such a message.
    pub include_anchor: bool,
}

/// A range that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// More than are given at once.
    #[error("too many messages requested")]
    TooMany,
    /// The anchor can be left out only at an end.
    #[error("the anchor can only be excluded at an end of the range")]
    AnchorInside,
}

/// The ids of a window, ascending, and what lies beyond.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Resolved.
    pub anchor: u64,
    /// Ascending.
    pub ids: Vec<MessageId>,
    /// Nothing matches before it.
    pub found_oldest: bool,
    /// Nothing matches after it.
    pub found_newest: bool,
    /// The anchor is in it.
    pub found_anchor: bool,
}

/// A message with what it is to the one who asked.
#[derive(Clone, Debug)]
pub struct FetchedMessage {
    /// The message.
    pub message: Arc<Message>,
    /// Its flags; none without an account.
    pub flags: Flags,
}

/// Messages for somebody.
#[derive(Clone, Debug)]
pub struct Page {
    /// Which, and what lies beyond.
    pub window: Window,
    /// The messages, ascending.
    pub messages: Vec<FetchedMessage>,
    /// Names and addresses as of then.
    pub directory: Directory,
}

/// Reads a window of the messages that a plan means. Reads the disk for older messages: call it from a
/// blocking thread when `RealmHandle::read` says that the window is not recent.
///
/// # Errors
/// `Storage`.
pub fn fetch(
    realm: &RealmHandle,
    asker: Option<&User>,
    plan: &Plan,
    range: &Range,
) -> Result<Page, DomainError> {
    let window = realm.read(|view| window(view, asker, plan, range));
    let messages = load(realm, asker, &window.ids)?;
    Ok(Page { window, messages, directory: realm.directory() })
}

/// Reads those of some messages that a plan means and that exist.
///
/// # Errors
/// `Storage`.
pub fn fetch_ids(
    realm: &RealmHandle,
    asker: Option<&User>,
    plan: &Plan,
    ids: &[MessageId],
) -> Result<Page, DomainError> {
    let ids = realm.read(|view| ids_among(view, asker, plan, ids));
    let window = Window { ids, ..Window::default() };
    let messages = load(realm, asker, &window.ids)?;
    Ok(Page { window, messages, directory: realm.directory() })
}

/// Those of some ids that a plan means, ascending, each once.
pub fn ids_among(view: &View, asker: Option<&User>, plan: &Plan, ids: &[MessageId]) -> Vec<MessageId> {
    let found = sets::evaluate(view, asker, plan);
    let wanted: RoaringBitmap = ids.iter().map(|id| id.0).filter(|id| found.contains(*id)).collect();
    wanted.iter().map(MessageId).collect()
}

/// The ids of a window.
pub fn window(view: &View, asker: Option<&User>, plan: &Plan, range: &Range) -> Window {
    let found = sets::evaluate(view, asker, plan);
    let anchor = match range.anchor {
        Anchor::Newest => NEWEST,
        Anchor::Oldest => 0,
        Anchor::Id(id) => id.min(NEWEST),
        Anchor::FirstUnread => first_unread(view, asker, plan, &found).map_or(NEWEST, |id| id.0.into()),
    };
    lay(&found, anchor, range)
}

fn first_unread(view: &View, asker: Option<&User>, plan: &Plan, found: &RoaringBitmap) -> Option<MessageId> {
    let asker = asker?;
    let mut unread = sets::unread(view, asker);
    unread &= found;
    unread -= sets::muted(view, asker.id, plan.skipped_muting);
    unread.min().map(MessageId)
}

/// Lays a window over a set. An anchor past every id is the newest end, 0 is the oldest.
fn lay(found: &RoaringBitmap, anchor: u64, range: &Range) -> Window {
    let position = u32::try_from(anchor).ok();
    let has_anchor = position.is_some_and(|id| found.contains(id));
    let mut before: Vec<u32> = match position {
        Some(position) => found.range(..position).rev().take(range.num_before).collect(),
        None => found.iter().rev().take(range.num_before).collect(),
    };
    let after: Vec<u32> = match position {
        Some(u32::MAX) | None => Vec::new(),
        Some(position) => found.range(position + 1..).take(range.num_after).collect(),
    };
    let found_oldest = anchor == 0 || before.len() < range.num_before;
    let found_newest = anchor >= NEWEST || after.len() < range.num_after;
    before.reverse();
    let with_anchor = has_anchor && range.include_anchor;
    let middle = position.filter(|_| with_anchor);
    let ids = before.into_iter().chain(middle).chain(after).map(MessageId).collect();
    Window { anchor, ids, found_oldest, found_newest, found_anchor: with_anchor }
}

/// Reads the bodies of messages: from memory, and the rest from the trees.
///
/// # Errors
/// `Storage`.
pub fn load(
    realm: &RealmHandle,
    asker: Option<&User>,
    ids: &[MessageId],
) -> Result<Vec<FetchedMessage>, DomainError> {
    let mut bodies: HashMap<MessageId, Arc<Message>> = HashMap::with_capacity(ids.len());
    realm.read(|view| {
        bodies.extend(ids.iter().filter_map(|id| Some((*id, view.recent.get(*id)?.clone()))));
    });
    let missing: Vec<MessageId> = ids.iter().copied().filter(|id| !bodies.contains_key(id)).collect();
    for message in read_stored(realm, &missing)? {
        bodies.insert(message.id, Arc::new(message));
    }
    // What was deleted meanwhile is left out.
    let messages = ids.iter().filter_map(|id| bodies.get(id).cloned());
    Ok(realm.read(|view| {
        let flags =
            |message: &Message| asker.map(|asker| view.flags_for(asker.id, message)).unwrap_or_default();
        messages.map(|message| FetchedMessage { flags: flags(&message), message }).collect()
    }))
}

/// A scan over the whole range is cheaper than single look-ups when it is so many times longer than what is wanted.
const SCAN_FACTOR: usize = 16;

fn read_stored(realm: &RealmHandle, ids: &[MessageId]) -> Result<Vec<Message>, DomainError> {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else { return Ok(Vec::new()) };
    let trees = &realm.0.trees;
    let span = (last.0 - first.0) as usize + 1;
    if span <= ids.len() * SCAN_FACTOR {
        return Ok(trees.messages(realm.0.id, (*first, *last), |id| ids.binary_search(&id).is_ok())?);
    }
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(trees.message(realm.0.id, *id)?);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(num_before: usize, num_after: usize, include_anchor: bool) -> Range {
        Range { anchor: Anchor::Newest, num_before, num_after, include_anchor }
    }

    fn ids(window: &Window) -> Vec<u32> {
        window.ids.iter().map(|id| id.0).collect()
    }

    #[test]
    fn windows_around_anchors() {
        let found: RoaringBitmap = [10, 20, 30, 40, 50].into_iter().collect();
        let window = lay(&found, 30, &range(1, 1, true));
        assert_eq!(ids(&window), [20, 30, 40]);
        assert!(window.found_anchor && !window.found_oldest && !window.found_newest);
        let window = lay(&found, 30, &range(0, 2, false));
        assert_eq!(ids(&window), [40, 50]);
        assert!(!window.found_anchor && !window.found_newest);
        let window = lay(&found, 35, &range(9, 9, true));
        assert_eq!(ids(&window), [10, 20, 30, 40, 50]);
        assert!(window.found_oldest && window.found_newest && !window.found_anchor);
        let window = lay(&found, NEWEST, &range(2, 0, true));
        assert_eq!(ids(&window), [40, 50]);
        assert!(window.found_newest && !window.found_oldest);
        let window = lay(&found, 0, &range(0, 2, true));
        assert_eq!(ids(&window), [10, 20]);
        assert!(window.found_oldest && !window.found_newest);
        assert_eq!(ids(&lay(&found, 20, &range(0, 0, true))), [20]);
    }
}
