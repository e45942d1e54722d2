//! One entry of a message's edit history.

use crate::ids::{ChannelId, UserId};
use crate::time::Timestamp;
use std::sync::Arc;

/// Bytes that an entry counts besides its texts.
pub(crate) const STEP_BYTES: usize = 128;

/// One entry of a message's history; a part is present only if it changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditEntry {
    pub user: UserId,
    pub at: Timestamp,
    /// Markdown source before the edit.
    pub prev_content: Option<Arc<str>>,
    pub prev_rendered: Option<Arc<str>>,
    /// Channel before and after.
    pub channel: Option<(ChannelId, ChannelId)>,
    /// Topic before and after.
    pub topic: Option<(String, String)>,
}

impl EditEntry {
    /// Estimated bytes in memory and in responses.
    pub fn bytes(&self) -> usize {
        let text = |text: &Option<Arc<str>>| text.as_ref().map_or(0, |text| text.len());
        let topics = self.topic.as_ref().map_or(0, |(before, after)| before.len() + after.len());
        STEP_BYTES + text(&self.prev_content) + text(&self.prev_rendered) + topics
    }
}
