//! The messages that match a narrow, for one account.

use super::fetch::{Range, Window, window};
use super::flags::{FlagSelection, select_flags};
use super::locate::readable_among;
use super::search::{Search, set_of};
use super::{MessageParts, MessageSnapshot, locate};
use crate::search::SearchCandidates;
use model::{Flag, FlagOp, MessageId, User};
use roaring::RoaringBitmap;
use rules::RuleError;
use rules::narrow::{Plan, Term, locate_narrow};
use storage::View;

/// A narrow at one point in time, for the account that asks (none: without an account).
pub struct Narrowed<'v> {
    view: &'v View,
    asker: Option<&'v User>,
    plan: Plan,
    /// The messages that match the text of a search.
    text: Option<RoaringBitmap>,
}

impl<'v> Narrowed<'v> {
    pub(crate) fn new<E: From<RuleError>>(
        view: &'v View,
        asker: Option<&'v User>,
        (terms, found): (&[Term], Option<&SearchCandidates>),
        check: impl FnOnce() -> Result<(), E>,
    ) -> Result<Self, E> {
        let located = locate_narrow(&view.directory, asker, terms, |id| locate(view, asker, id))?;
        check()?;
        let plan = located.plan(&view.directory, asker)?;
        let text = plan.is_search.then(|| found.map(|found| found.messages(view)).unwrap_or_default());
        Ok(Self { view, asker, plan, text })
    }

    /// The ids of a window.
    pub fn window(&self, range: &Range) -> Window {
        window(self.view, self.asker, (&self.plan, self.text.as_ref()), range)
    }

    /// Those of some ids that match; ascending, each once.
    pub fn matching(&self, ids: &[MessageId]) -> Vec<MessageId> {
        let search = Search::new(self.view, self.asker, &self.plan, self.text.as_ref());
        set_of(ids).iter().filter(|id| search.contains(*id)).map(MessageId).collect()
    }

    /// Those of some ids that the asker may read and that match; ascending, each once. Unlike in a window, they need not
    /// be in the asker's own history.
    pub fn readable(&self, ids: &[MessageId]) -> Vec<MessageId> {
        let Some(reader) = self.asker else { return self.matching(ids) };
        let readable = set_of(&readable_among(self.view, reader, ids));
        let found = Search::among(self.view, self.asker, &self.plan, (readable, self.text.as_ref()));
        found.into_set().iter().map(MessageId).collect()
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
