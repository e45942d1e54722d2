//! Messages that may be too large for one frame of the journal, such as one with a long history of markup. What does not fit is
//! left out and counted: frames are written one after the other, and an import that fails in the middle could never end.

use super::drafting::{Draft, Scope};
use super::entry::Entry;
use super::messages::Messages;
use actors::fits_in_frame;
use model::{Fact, MessageId};

/// Bytes of texts from which on a message has a frame of its own, whose size is checked. With fewer bytes, a message fits into
/// the frame that is being filled.
const LARGE_BYTES: usize = 8 * 1024;

/// Estimated bytes of facts that fit into a frame in any case.
const SURE_BYTES: usize = 400 * 1024;

/// Bytes of a reaction.
const REACTION_BYTES: usize = 80;

impl Messages {
    /// Whether a message may be too large for a frame with others.
    pub(super) fn is_large(&self, entry: &Entry) -> bool {
        let history = entry.row.edit_history.as_ref().map_or(0, String::len);
        let parts: usize =
            entry.submessages.iter().map(|part| part.content.len() + part.msg_type.len()).sum();
        let id = u32::try_from(entry.row.id).unwrap_or(u32::MAX);
        let reactions = self.tables.reactions_of(id).len() * REACTION_BYTES;
        entry.row.content.len() + history + parts + reactions > LARGE_BYTES
    }

    /// The frame of a large message, with as much of it as fits; none for a message that is not carried over.
    pub(super) fn large_message(&mut self, entry: &Entry) -> Option<Vec<Fact>> {
        let mut begun = Draft::default();
        let (id, spotted) = self.begin(entry, &mut begun)?;
        let (report, reactions, parts_max) = (self.report.clone(), self.reactions, self.parts_max);
        let mut facts = Vec::new();
        for scope in [Scope::All, Scope::WithoutHistory, Scope::TextOnly] {
            (self.report, self.reactions, self.parts_max) = (report.clone(), reactions, parts_max);
            let mut draft = Draft { facts: begun.facts.clone(), ..Draft::default() };
            self.compose(id, entry, &spotted, scope, &mut draft);
            let size = draft.size();
            facts = draft.into_facts();
            if size <= SURE_BYTES || fits_in_frame(&facts) {
                break;
            }
        }
        Some(facts)
    }

    /// Counts the reactions and parts of widgets of a message that is carried over without them.
    pub(super) fn leave_out_rest(&mut self, id: MessageId, entry: &Entry) {
        let why = "of a message that is too large with them";
        let reactions = self.tables.reactions_of(id.0).len() as u64;
        self.reactions += reactions;
        self.report.leave_out(super::messages::REACTION, why, reactions);
        self.report.leave_out(super::messages::PART, why, entry.submessages.len() as u64);
        self.report.change("messages that are too large for a frame were carried over without HTML", 1);
    }
}
