//! Narrows with the text of a search: it is looked up before the other terms, and messages that only may match are read
//! before they are shown (docs/api/narrow.md#search).

use super::range::MESSAGES_MAX;
use crate::http::ApiError;
use crate::http::admission::Admission;
use actors::RealmHandle;
use actors::queries::{Anchor, Covered, Narrowed, Range, SearchScope, TextSearch, Window};
use actors::search::{Highlighter, SearchCandidates};
use model::{MessageId, User};
use rules::narrow::{Term, search_text};

/// How much further each repetition searches for messages that match.
const WIDER: usize = 4;

/// The messages that an answer depends on; all of them must match.
pub struct Selected {
    ids: Vec<MessageId>,
    range: Option<Range>,
}

impl Selected {
    /// The messages of a window, and its anchor.
    pub fn window(window: &Window, range: &Range) -> Self {
        let mut ids = window.ids.clone();
        if range.anchor == Anchor::FirstUnread {
            ids.extend(u32::try_from(window.anchor).map(MessageId));
        }
        Self { ids, range: Some(*range) }
    }

    /// Messages that were asked for by their ids.
    pub fn ids(ids: &[MessageId]) -> Self {
        Self { ids: ids.to_vec(), range: None }
    }
}

/// The requester and the narrow of a request.
pub struct NarrowedRequest<'r> {
    pub admission: &'r Admission,
    pub realm: &'r RealmHandle,
    /// None without an account.
    pub user: Option<&'r User>,
    pub narrow: &'r [Term],
    /// What `select` selects from.
    pub covered: Covered,
}

/// What a round of a search has led to.
enum Round<T> {
    Done(T),
    /// These messages must be checked first, and more of a range.
    Again(Vec<MessageId>, Option<Range>),
}

impl NarrowedRequest<'_> {
    /// Selects messages of the narrow at one point in time, as [`RealmHandle::narrow`] does: `select` finds them, and `finish` makes the
    /// result of what it found. With a search, `select` runs again until all messages that it selects match; then there is a
    /// highlighter, too.
    pub async fn select<P, T>(
        &self,
        check: impl Fn() -> Result<(), ApiError>,
        select: impl Fn(&Narrowed<'_>) -> (Selected, P),
        finish: impl Fn(&Narrowed<'_>, P) -> Result<T, ApiError>,
    ) -> Result<(T, Option<Highlighter>), ApiError> {
        let (user, narrow) = (self.user, self.narrow);
        let Some(text) = search_text(narrow) else {
            let selected = self
                .realm
                .narrow(user, (narrow, None), check, |narrowed| finish(narrowed, select(narrowed).1))?;
            return Ok((selected, None));
        };
        // Errors of the other terms come first.
        self.realm.narrow(user, (narrow, None), &check, |_| Ok::<_, ApiError>(()))?;
        let (mut found, scope) = self.find(text).await?;
        let mut wider = 1;
        loop {
            let round = self.realm.narrow(user, (narrow, Some((&found, &scope))), &check, |narrowed| {
                let (shown, selected) = select(narrowed);
                let unverified = found.unverified(shown.ids);
                match unverified.is_empty() {
                    true => finish(narrowed, selected).map(Round::Done),
                    false => Ok(Round::Again(unverified, shown.range)),
                }
            })?;
            let (mut unverified, range) = match round {
                Round::Done(selected) => {
                    let highlighter = found.highlighter();
                    return Ok((selected, Some(highlighter)));
                }
                Round::Again(unverified, range) => (unverified, range),
            };
            // Looking words up is cheap, reading messages is not.
            if !found.needs_lookup(&unverified) {
                wider = WIDER.saturating_mul(wider);
            }
            if let Some(range) = range {
                unverified.extend(found.unverified(self.read_ahead(
                    (&found, &scope),
                    &range,
                    wider.max(WIDER),
                )?));
                unverified.sort_unstable();
                unverified.dedup();
            }
            found = self.check(found, unverified).await?;
        }
    }

    async fn find(&self, text: String) -> Result<(SearchCandidates, SearchScope), ApiError> {
        let (realm, user) = (self.realm.clone(), self.user.cloned());
        let (narrow, covered) = (self.narrow.to_vec(), self.covered.clone());
        let work = move || {
            let found = realm.find_text(&text)?;
            let scope = realm.search_scope(user.as_ref(), &narrow, covered)?;
            Ok::<_, ApiError>((found, scope))
        };
        self.admission.enter_pages()?.work(work).await?
    }

    async fn check(
        &self,
        mut found: SearchCandidates,
        ids: Vec<MessageId>,
    ) -> Result<SearchCandidates, ApiError> {
        let realm = self.realm.clone();
        let work = move || realm.check_found(&mut found, &ids).map(|()| found);
        Ok(self.admission.enter_pages()?.work(work).await??)
    }

    /// The messages of a wider range, which are read together; those that may be its anchor, too.
    fn read_ahead(
        &self,
        search: TextSearch<'_>,
        range: &Range,
        wider: usize,
    ) -> Result<Vec<MessageId>, ApiError> {
        let count = |count: usize| count.saturating_mul(wider).min(MESSAGES_MAX);
        let wide = Range { num_before: count(range.num_before), num_after: count(range.num_after), ..*range };
        let anchors = match range.anchor {
            Anchor::FirstUnread => count(range.num_before.saturating_add(range.num_after).max(1)),
            Anchor::Newest | Anchor::Oldest | Anchor::Id(_) => 0,
        };
        let narrow = (self.narrow, Some(search));
        self.realm.narrow(
            self.user,
            narrow,
            || Ok(()),
            |narrowed| {
                let mut ids = narrowed.window(&wide).ids;
                ids.extend(narrowed.searched_unread(anchors));
                Ok(ids)
            },
        )
    }
}
