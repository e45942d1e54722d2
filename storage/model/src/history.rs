//! The edit history of messages: one version for each edit, and the newest part, which is stored with the message.

use crate::edit_entry::EditEntry;
use crate::flags::Flags;
use crate::ids::UserId;
use crate::message::{Message, MessageTraits};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Maximum number of history entries that a message carries.
pub const CARRIED_EDITS_MAX: usize = 200;
/// Maximum bytes of earlier texts that a message carries.
pub const CARRIED_EDITS_BYTES_MAX: usize = 512 * 1024;

/// The content of a message after one of its edits. Version 0 is the content as sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageVersion {
    /// 1 for the first edit, then one more for each.
    pub number: u32,
    pub by: UserId,
    pub at: Timestamp,
    /// Markdown source after the edit.
    pub content: String,
    pub rendered: String,
    pub traits: MessageTraits,
    /// Flags of single users that result from the content, sorted by user.
    pub user_flags: Vec<(UserId, Flags)>,
}

impl MessageVersion {
    /// The current version of a message.
    pub fn of(message: &Message) -> Self {
        let newest = message.edits.iter().find(|edit| edit.prev_content.is_some());
        Self {
            number: message.version,
            by: newest.map_or(message.sender, |edit| edit.user),
            at: message.last_edited.unwrap_or(message.sent),
            content: message.content.clone(),
            rendered: message.rendered.clone(),
            traits: message.traits,
            user_flags: message.user_flags.clone(),
        }
    }

    /// The history entry that led to this version from the given texts.
    pub fn step(&self, prev_content: &str, prev_rendered: &str) -> EditEntry {
        EditEntry {
            user: self.by,
            at: self.at,
            prev_content: Some(prev_content.into()),
            prev_rendered: Some(prev_rendered.into()),
            ..EditEntry::default()
        }
    }
}

/// A limit on the newest part of a history: as many entries as fit, and at least one even if it is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryBound {
    /// Entries that still fit.
    pub steps: usize,
    /// Bytes that still fit.
    pub bytes: usize,
    is_begun: bool,
}

impl HistoryBound {
    /// The limit for entries that a message carries.
    pub const CARRIED: Self = Self::new(CARRIED_EDITS_MAX, CARRIED_EDITS_BYTES_MAX);

    /// At most `steps` entries with at most `bytes` bytes in total.
    pub const fn new(steps: usize, bytes: usize) -> Self {
        Self { steps, bytes, is_begun: false }
    }

    /// Whether another entry may fit.
    pub fn is_open(&self) -> bool {
        self.steps > 0 && self.bytes > 0
    }

    /// Adds the next older entry if it fits.
    pub fn takes(&mut self, step: &EditEntry) -> bool {
        let bytes = step.bytes();
        let fits = self.is_open() && (bytes <= self.bytes || !self.is_begun);
        if !fits {
            // Older entries might fit, but would leave a gap.
            self.steps = 0;
            return false;
        }
        self.is_begun = true;
        self.steps -= 1;
        self.bytes = self.bytes.saturating_sub(bytes);
        true
    }
}

impl Message {
    /// Replaces the content by the next version. The message carries the newest history entries within
    /// [`HistoryBound::CARRIED`]; older ones are read from storage, version by version.
    pub fn edit(&mut self, version: &MessageVersion) {
        self.edits.insert(0, version.step(&self.content, &self.rendered));
        let mut bound = HistoryBound::CARRIED;
        let carried = self.edits.iter().take_while(|step| bound.takes(step)).count();
        self.edits.truncate(carried);
        self.show(version);
    }

    /// Replaces the content by that of a version, without a history entry.
    pub fn show(&mut self, version: &MessageVersion) {
        self.version = version.number;
        self.content.clone_from(&version.content);
        self.rendered.clone_from(&version.rendered);
        self.traits = version.traits;
        self.user_flags.clone_from(&version.user_flags);
        self.last_edited = Some(version.at);
    }

    /// Whether the message does not carry its older content edits.
    pub fn is_history_cut(&self) -> bool {
        let shown = self.edits.iter().filter(|edit| edit.prev_content.is_some()).count();
        shown < self.version as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit_entry::STEP_BYTES;

    fn step(bytes: usize) -> EditEntry {
        EditEntry {
            user: UserId(1),
            at: Timestamp(1),
            prev_content: Some("x".repeat(bytes - STEP_BYTES).into()),
            prev_rendered: None,
            channel: None,
            topic: None,
        }
    }

    fn taken(mut bound: HistoryBound, steps: &[usize]) -> usize {
        steps.iter().take_while(|bytes| bound.takes(&step(**bytes))).count()
    }

    #[test]
    fn histories_are_cut_without_a_gap() {
        for (bound, steps, expected) in [
            (HistoryBound::new(9, 1000), &[400, 400, 200, 200][..], 3),
            (HistoryBound::new(2, 1000), &[200, 200, 200][..], 2),
            (HistoryBound::new(9, 1000), &[5000, 200][..], 1),
            (HistoryBound::new(9, 1000), &[400, 5000, 200][..], 1),
            (HistoryBound::new(9, 0), &[200][..], 0),
        ] {
            assert_eq!(taken(bound, steps), expected, "{bound:?} {steps:?}");
        }
        let mut bound = HistoryBound::new(9, 1000);
        assert!(bound.takes(&step(400)) && !bound.takes(&step(5000)));
        assert!(!bound.takes(&step(200)), "a smaller entry after a gap");
    }
}
