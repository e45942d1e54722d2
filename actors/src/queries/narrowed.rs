//! The messages that match a narrow, for one account.

use super::fetch::{Range, Window, window};
use super::flags::{FlagSelection, select_flags};
use super::locate::readable_among;
use super::search::{Search, set_of};
use super::search_scope::SearchScope;
use super::{MessageParts, MessageSnapshot, locate};
use crate::search::SearchCandidates;
use model::{Flag, FlagOp, MessageId, User};
use roaring::RoaringBitmap;
use rules::RuleError;
use rules::narrow::{Plan, Term, locate_narrow};
use storage::View;

/// A search, and the messages that it covers.
pub type TextSearch<'f> = (&'f SearchCandidates, &'f SearchScope);

/// A narrow at one point in time, for the account that asks (none: without an account).
pub struct Narrowed<'v> {
    view: &'v View,
    asker: Option<&'v User>,
    terms: &'v [Term],
    source: Source<'v>,
}

/// Where the messages of a narrow are found.
enum Source<'v> {
    /// In the sets of the view.
    Plan(Plan),
    /// In the messages that a search covers: those that match the text.
    Text { found: &'v SearchCandidates, scope: &'v SearchScope, text: RoaringBitmap },
}

impl<'v> Narrowed<'v> {
    /// A narrow. Without `search`, no message matches a text.
    pub(crate) fn new<E: From<RuleError>>(
        view: &'v View,
        asker: Option<&'v User>,
        (terms, search): (&'v [Term], Option<TextSearch<'v>>),
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<Self, E> {
        let source = match search {
            Some((found, scope)) => {
                check()?;
                Source::Text { found, scope, text: found.messages(view) }
            }
            None => {
                let located = locate_narrow(&view.directory, asker, terms, |id| locate(view, asker, id))?;
                check()?;
                Source::Plan(located.plan(&view.directory, asker)?)
            }
        };
        Ok(Self { view, asker, terms, source })
    }

    /// The ids of a window. With a search it may have messages that do not match; those of the last one do.
    pub fn window(&self, range: &Range) -> Window {
        match &self.source {
            Source::Plan(plan) => window(self.view, self.asker, (plan, self.no_text(plan).as_ref()), range),
            Source::Text { scope, text, .. } => {
                let mut window = scope.window(text, range);
                window.ids = self.current(window.ids);
                window
            }
        }
    }

    /// The first unread messages of a search that may match its text: one of them is the anchor of that name.
    pub fn searched_unread(&self, count: usize) -> Vec<MessageId> {
        match &self.source {
            Source::Text { scope, text, .. } => scope.unread(text).take(count).collect(),
            Source::Plan(_) => Vec::new(),
        }
    }

    /// Those of some ids that match; ascending, each once.
    pub fn matching(&self, ids: &[MessageId]) -> Vec<MessageId> {
        match &self.source {
            Source::Plan(plan) => {
                let text = self.no_text(plan);
                let search = Search::new(self.view, self.asker, plan, text.as_ref());
                set_of(ids).iter().filter(|id| search.contains(*id)).map(MessageId).collect()
            }
            Source::Text { scope, text, .. } => self.current(scope.matching(ids, text)),
        }
    }

    /// Those of some ids that the asker may read and that match; ascending, each once. Unlike in a window, they need not
    /// be in the asker's own history.
    pub fn readable(&self, ids: &[MessageId]) -> Vec<MessageId> {
        let (Source::Plan(plan), Some(reader)) = (&self.source, self.asker) else {
            return self.matching(ids);
        };
        let readable = set_of(&readable_among(self.view, reader, ids));
        let text = self.no_text(plan);
        let found = Search::among(self.view, self.asker, plan, (readable, text.as_ref()));
        found.into_set().iter().map(MessageId).collect()
    }

    /// A narrow with a text of which nothing was looked up has no messages.
    fn no_text(&self, plan: &Plan) -> Option<RoaringBitmap> {
        plan.is_search.then(RoaringBitmap::new)
    }

    /// Those of some messages of a search (ascending) that are still in the narrow. They are examined only when all of them are known
    /// to match the text, because otherwise they are not shown.
    fn current(&self, ids: Vec<MessageId>) -> Vec<MessageId> {
        match &self.source {
            Source::Text { found, scope, .. } if found.unverified(ids.iter().copied()).is_empty() => {
                scope.still(self.view, self.asker, self.terms, ids)
            }
            Source::Text { .. } | Source::Plan(_) => ids,
        }
    }

    /// A snapshot of some of these messages (ascending).
    pub fn snapshot(&self, ids: &[MessageId]) -> MessageSnapshot {
        MessageSnapshot::take(self.view, self.asker, ids)
    }

    /// Some of these messages (ascending), to be read in parts.
    pub fn parts(&self, ids: Vec<MessageId>) -> MessageParts {
        MessageParts::new(self.view, ids)
    }

    /// The effect of a change of a flag by `user` on some messages.
    ///
    /// # Errors
    /// `InvalidMessage`.
    pub fn select_flags(
        &self,
        user: &User,
        change: (Flag, FlagOp),
        ids: &[MessageId],
    ) -> Result<FlagSelection, RuleError> {
        select_flags(self.view, user, change, ids)
    }
}
