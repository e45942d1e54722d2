//! The messages that a search covers, whatever their text: found once for a request. A search repeats its query until all messages
//! that it shows are known to match, and an account may have thousands of channels.
//!
//! They are found in turns, each under the view's lock for a bounded number of conversations, on the thread that looks up the text.
//! What is committed between the turns and before the answer is handled at the end: messages that an answer shows are checked again
//! where anything was committed ([`SearchScope::still`]). Messages that were sent meanwhile are not found.

use super::fetch::{Anchor, NEWEST, Range, Window, around};
use super::locate::{locate, readable_among};
use super::own::{historical, own_among, own_conversations, own_in_conversation};
use super::search::{KnownSets, Search, set_of};
use super::sets::muted;
use model::{ChannelId, ConversationId, MessageId, Sequence, User};
use roaring::{MultiOps, RoaringBitmap};
use rules::RuleError;
use rules::narrow::{Plan, Scope, Term, locate_narrow};
use storage::View;

/// Conversations of a turn: some hundred microseconds.
const CONVERSATIONS_PER_TURN: usize = 256;

/// What a request selects from.
#[derive(Clone, Debug)]
pub enum Covered {
    /// A window of the narrow.
    Window(Range),
    /// Those of some messages that are in the narrow.
    Matching(Vec<MessageId>),
    /// Those of some messages that the asker may read and that meet the terms.
    Readable(Vec<MessageId>),
}

/// The messages of a narrow for an account (none: without an account), before the text of a search is compared.
#[derive(Debug)]
pub struct SearchScope {
    /// The newest frame when the first turn began.
    begun: Sequence,
    plan: Plan,
    covered: Covered,
    messages: RoaringBitmap,
    /// Those among which the anchor of a window is the first unread one.
    unread: RoaringBitmap,
}

/// A scope that is being found.
pub(crate) struct ScopeSearch<'a> {
    asker: Option<&'a User>,
    scope: SearchScope,
    /// The asker's own history, as far as it was read.
    own: Turns<ConversationId>,
    /// The messages of the plan's channels, as far as they were read.
    channels: Turns<ChannelId>,
}

/// A union of sets that is made in turns; none where it is not needed.
struct Turns<K> {
    found: Option<RoaringBitmap>,
    left: Vec<K>,
}

impl<K> Turns<K> {
    fn of(keys: Option<Vec<K>>) -> Self {
        Self { found: keys.is_some().then(RoaringBitmap::new), left: keys.unwrap_or_default() }
    }

    /// Adds the sets of the next few keys.
    fn add<S: std::ops::Deref<Target = RoaringBitmap>>(&mut self, set: impl Fn(K) -> Option<S>) {
        let Some(found) = &mut self.found else { return };
        let next = self.left.split_off(self.left.len().saturating_sub(CONVERSATIONS_PER_TURN));
        let sets: Vec<S> = next.into_iter().filter_map(set).collect();
        *found |= sets.iter().map(|set| &**set).union();
    }
}

impl<'a> ScopeSearch<'a> {
    /// Begins to find the messages of a narrow.
    ///
    /// # Errors
    /// Those of the terms.
    pub fn begin(
        view: &View,
        asker: Option<&'a User>,
        terms: &[Term],
        covered: Covered,
    ) -> Result<Self, RuleError> {
        let plan = plan_of(view, asker, terms)?;
        // A narrow of a conversation or of ids has few messages to look at.
        let range = match &covered {
            Covered::Window(range) if plan.narrowest().is_none() => Some(range),
            Covered::Window(_) | Covered::Matching(_) | Covered::Readable(_) => None,
        };
        let is_own = |range: &Range| plan.scope == Scope::OwnHistory || range.anchor == Anchor::FirstUnread;
        let own = asker.filter(|_| range.is_some_and(is_own)).map(|asker| own_conversations(view, asker));
        let channels = match &plan.scope {
            Scope::Channels(channels) => range.map(|_| channels.clone()),
            Scope::OwnHistory => None,
        };
        let (messages, unread) = Default::default();
        let scope = SearchScope { begun: view.progress.sequence, plan, covered, messages, unread };
        Ok(Self { asker, scope, own: Turns::of(own), channels: Turns::of(channels) })
    }

    /// Reads some conversations. False if none are left.
    pub fn take_turn(&mut self, view: &View) -> bool {
        if self.own.left.is_empty() {
            self.channels.add(|channel| view.channel_ids(channel));
        } else if let Some(asker) = self.asker {
            self.own.add(|conversation| own_in_conversation(view, asker, conversation));
        }
        !self.own.left.is_empty() || !self.channels.left.is_empty()
    }

    /// Applies the terms to what was read.
    pub fn finish(self, view: &View) -> SearchScope {
        let Self { asker, mut scope, own, channels } = self;
        let own = own.found.zip(asker).map(|(own, asker)| own | historical(view, asker));
        let known = KnownSets { own: own.as_ref(), channels: channels.found.as_ref() };
        let found = |plan: &Plan| Search::within(view, asker, plan, known).into_set().into_owned();
        match (&scope.covered, asker) {
            (Covered::Window(range), Some(asker)) if range.anchor == Anchor::FirstUnread => {
                scope.messages = found(&scope.plan);
                let own_plan = Plan { scope: Scope::OwnHistory, ..scope.plan.clone() };
                scope.unread = match scope.plan.scope {
                    Scope::OwnHistory => scope.messages.clone(),
                    Scope::Channels(_) => found(&own_plan),
                };
                scope.unread = view.unread_of(asker.id, &scope.unread);
                scope.unread -= muted(view, asker.id, scope.plan.skipped_muting);
            }
            (Covered::Window(_), _) => scope.messages = found(&scope.plan),
            (Covered::Matching(ids) | Covered::Readable(ids), _) => {
                scope.messages = scope.among(view, asker, &scope.plan, ids);
            }
        }
        scope
    }
}

impl SearchScope {
    /// The ids of a window of those messages that match a text, too.
    pub(super) fn window(&self, text: &RoaringBitmap, range: &Range) -> Window {
        let first_unread = || self.unread(text).next().map_or(NEWEST, |id| id.0.into());
        around(Search::in_both(&self.messages, text), range, first_unread)
    }

    /// The unread messages that match a text, oldest first; none where no anchor asks for them.
    pub(super) fn unread(&self, text: &RoaringBitmap) -> impl Iterator<Item = MessageId> {
        self.unread.iter().filter(|id| text.contains(*id)).map(MessageId)
    }

    /// Those of some ids that are in the scope and match a text; ascending, each once.
    pub(super) fn matching(&self, ids: &[MessageId], text: &RoaringBitmap) -> Vec<MessageId> {
        (set_of(ids) & &self.messages & text).iter().map(MessageId).collect()
    }

    /// Those of some messages (ascending) of this scope that are still in it.
    pub(super) fn still(
        &self,
        view: &View,
        asker: Option<&User>,
        terms: &[Term],
        ids: Vec<MessageId>,
    ) -> Vec<MessageId> {
        if view.progress.sequence == self.begun {
            return ids;
        }
        // No message is in a narrow that names what there is no more.
        let Ok(plan) = plan_of(view, asker, terms) else { return Vec::new() };
        self.among(view, asker, &plan, &ids).iter().map(MessageId).collect()
    }

    /// Those of some messages that are in the scope of a plan, as it is now.
    fn among(&self, view: &View, asker: Option<&User>, plan: &Plan, ids: &[MessageId]) -> RoaringBitmap {
        let wanted = set_of(ids);
        let shown = match (&self.covered, asker, &plan.scope) {
            (Covered::Readable(_), Some(reader), _) => set_of(&readable_among(view, reader, ids)),
            (_, Some(asker), Scope::OwnHistory) => own_among(view, asker, &wanted),
            (_, None, Scope::OwnHistory) => RoaringBitmap::new(),
            (_, _, Scope::Channels(channels)) => {
                let channels = channels.iter().filter_map(|channel| view.channel_ids(*channel));
                let here = channels.filter(|messages| !messages.is_disjoint(&wanted));
                here.map(|messages| messages & &wanted).union()
            }
        };
        Search::among(view, asker, plan, (shown, None)).into_set().into_owned()
    }
}

fn plan_of(view: &View, asker: Option<&User>, terms: &[Term]) -> Result<Plan, RuleError> {
    let located = locate_narrow(&view.directory, asker, terms, |id| locate(view, asker, id))?;
    located.plan(&view.directory, asker)
}
