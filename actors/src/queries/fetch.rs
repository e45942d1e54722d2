//! GET /messages: the ids of a range around an anchor, then their bodies (docs/api/messages.md#fetch-messages).

use super::search::Search;
use super::sets;
use model::{Flags, Message, MessageId, User};
use roaring::RoaringBitmap;
use rules::narrow::{Plan, Scope};
use std::sync::Arc;
use storage::View;

/// The position of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// After the newest message.
    Newest,
    /// Before the oldest message.
    Oldest,
    /// The oldest unread message of the narrow, else the newest.
    FirstUnread,
    /// This message, or where it would be.
    Id(u64),
}

/// The number for the newest message in the API.
pub const NEWEST: u64 = 10_000_000_000_000_000;

/// The requested messages around the anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub anchor: Anchor,
    pub num_before: usize,
    pub num_after: usize,
    /// Whether the message of the anchor is included, if it exists.
    pub include_anchor: bool,
}

/// The ids of a window (ascending), and whether it reaches the ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The anchor as a message id.
    pub anchor: u64,
    /// Message ids, ascending.
    pub ids: Vec<MessageId>,
    /// Nothing matches before it.
    pub found_oldest: bool,
    /// Nothing matches after it.
    pub found_newest: bool,
    /// The anchor is in it.
    pub found_anchor: bool,
}

/// A message with the flags of the user who asked; none without an account.
#[derive(Clone, Debug)]
pub struct FetchedMessage {
    pub message: Arc<Message>,
    pub flags: Flags,
}

/// The ids of a window. `text` has the messages that match the text of a search.
pub fn window(
    view: &View,
    asker: Option<&User>,
    (plan, text): (&Plan, Option<&RoaringBitmap>),
    range: &Range,
) -> Window {
    let first_unread = || first_unread(view, asker, (plan, text)).map_or(NEWEST, |id| id.0.into());
    around(Search::new(view, asker, plan, text), range, first_unread)
}

/// The ids of a window of what a search finds; `first_unread` is the anchor of that name.
pub(super) fn around(search: Search<'_>, range: &Range, first_unread: impl FnOnce() -> u64) -> Window {
    let anchor = match range.anchor {
        Anchor::Newest => NEWEST,
        Anchor::Oldest => 0,
        Anchor::Id(id) => id.min(NEWEST),
        Anchor::FirstUnread => first_unread(),
    };
    // If too few messages meet the conditions for a walk, the set is computed.
    window_around(&search, anchor, range)
        .or_else(|| window_around(&Search::from(search.into_set()), anchor, range))
        .unwrap_or_else(|| Window { anchor, ..Window::default() })
}

/// The oldest unread, not muted message of the asker's own history that matches a plan.
fn first_unread(
    view: &View,
    asker: Option<&User>,
    (plan, text): (&Plan, Option<&RoaringBitmap>),
) -> Option<MessageId> {
    let asker = asker?;
    let own = Plan { scope: Scope::OwnHistory, ..plan.clone() };
    let none = RoaringBitmap::new();
    let read = view.messages.users.get(&asker.id).map_or(&none, |mine| &mine.read);
    let muted = sets::muted(view, asker.id, plan.skipped_muting);
    Search::new(view, Some(asker), &own, text).first_outside(&[read, &muted]).map(MessageId)
}

/// The window around an anchor. An anchor above every id is the newest end, 0 the oldest. None: the search must be
/// converted to a set first.
fn window_around(found: &Search<'_>, anchor: u64, range: &Range) -> Option<Window> {
    let position = u32::try_from(anchor).ok();
    let mut before = found.before(position, range.num_before)?;
    let after = match position {
        Some(position) => found.after(position, range.num_after)?,
        None => Vec::new(),
    };
    let found_oldest = anchor == 0 || before.len() < range.num_before;
    let found_newest = anchor >= NEWEST || after.len() < range.num_after;
    before.reverse();
    // With nothing before or after it, the anchor itself is requested.
    let is_wanted = range.include_anchor || (range.num_before == 0 && range.num_after == 0);
    let middle = position.filter(|id| is_wanted && found.contains(*id));
    let ids = before.into_iter().chain(middle).chain(after).map(MessageId).collect();
    Some(Window { anchor, ids, found_oldest, found_newest, found_anchor: middle.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn range(num_before: usize, num_after: usize, include_anchor: bool) -> Range {
        Range { anchor: Anchor::Newest, num_before, num_after, include_anchor }
    }

    fn ids(window: &Window) -> Vec<u32> {
        window.ids.iter().map(|id| id.0).collect()
    }

    fn window_of(found: &RoaringBitmap, anchor: u64, range: &Range) -> Window {
        window_around(&Search::from(Cow::Borrowed(found)), anchor, range).unwrap()
    }

    #[test]
    fn fetch_window_around_anchor() {
        let found: RoaringBitmap = [10, 20, 30, 40, 50].into_iter().collect();
        let window = window_of(&found, 30, &range(1, 1, true));
        assert_eq!(ids(&window), [20, 30, 40]);
        assert!(window.found_anchor && !window.found_oldest && !window.found_newest);
        let window = window_of(&found, 30, &range(0, 2, false));
        assert_eq!(ids(&window), [40, 50]);
        assert!(!window.found_anchor && !window.found_newest);
        let window = window_of(&found, 35, &range(9, 9, true));
        assert_eq!(ids(&window), [10, 20, 30, 40, 50]);
        assert!(window.found_oldest && window.found_newest && !window.found_anchor);
        let window = window_of(&found, NEWEST, &range(2, 0, true));
        assert_eq!(ids(&window), [40, 50]);
        assert!(window.found_newest && !window.found_oldest);
        let window = window_of(&found, 0, &range(0, 2, true));
        assert_eq!(ids(&window), [10, 20]);
        assert!(window.found_oldest && !window.found_newest);
        for include_anchor in [true, false] {
            let window = window_of(&found, 20, &range(0, 0, include_anchor));
            assert_eq!(ids(&window), [20]);
            assert!(window.found_anchor && !window.found_oldest && !window.found_newest);
        }
    }
}
