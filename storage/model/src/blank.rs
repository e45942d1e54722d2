//! Erased texts: as many spaces, so that records keep their length.

use crate::history::MessageVersion;
use crate::message::Message;
use std::sync::Arc;

/// Replaces a text by as many spaces. Returns whether there was anything else in it.
pub fn blank(text: &mut String) -> bool {
    let has_content = text.bytes().any(|byte| byte != b' ');
    if has_content {
        *text = " ".repeat(text.len());
    }
    has_content
}

impl Message {
    /// Erases the texts of this version. Returns whether there were any.
    pub fn blank(&mut self) -> bool {
        blank(&mut self.content) | blank(&mut self.rendered)
    }

    /// Erases the texts of the versions before number `kept` that it carries.
    pub fn blank_history(&mut self, kept: u32) {
        // The newest step has the text of the version before the newest.
        let mut number = self.version;
        for step in self.edits.iter_mut().filter(|step| step.prev_content.is_some()) {
            number = number.saturating_sub(1);
            if number < kept {
                for text in [&mut step.prev_content, &mut step.prev_rendered].into_iter().flatten() {
                    *text = Arc::from(" ".repeat(text.len()));
                }
            }
        }
    }
}

impl MessageVersion {
    /// Erases the texts. Returns whether there were any.
    pub fn blank(&mut self) -> bool {
        blank(&mut self.content) | blank(&mut self.rendered)
    }
}
