//! Drafts as clients read them (docs/api/saved-texts.md#drafts).

use super::recipients::{To, others};
use model::{DraftId, DraftTo, SavedDraft, UserId};
use serde::Serialize;

/// The draft object of the API.
#[derive(Clone, Debug, Serialize)]
pub struct DraftJson<'a> {
    id: DraftId,
    #[serde(rename = "type")]
    kind: &'static str,
    to: To,
    topic: &'a str,
    content: &'a str,
    timestamp: u64,
}

/// The JSON of a draft of a user.
pub fn draft(owner: UserId, id: DraftId, record: &SavedDraft) -> DraftJson<'_> {
    let (kind, to, topic) = match &record.to {
        DraftTo::Nowhere => ("", To::People(Vec::new()), ""),
        DraftTo::Channel { channel, topic } => ("stream", To::Channels([*channel]), topic.as_str()),
        DraftTo::People(users) => ("private", To::People(others(owner, users)), ""),
    };
    DraftJson { id, kind, to, topic, content: &record.content, timestamp: record.edited.secs() }
}
