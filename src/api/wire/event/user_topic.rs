//! `user_topic`: the user's visibility policy for a topic.

use super::writer::EventWriter;
use model::{ChannelId, Timestamp, VisibilityPolicy};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct UserTopic<'e> {
    stream_id: ChannelId,
    topic_name: &'e str,
    last_updated: u64,
    visibility_policy: u8,
}

pub(super) fn changed<'e>(
    writer: &EventWriter<'_>,
    stream_id: ChannelId,
    topic: &'e str,
    updated: Timestamp,
    policy: VisibilityPolicy,
) -> UserTopic<'e> {
    UserTopic {
        stream_id,
        topic_name: writer.topic(topic),
        last_updated: updated.secs(),
        visibility_policy: policy.code(),
    }
}
