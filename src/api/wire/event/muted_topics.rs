//! `muted_topics`: all muted topics of the user, for clients without `user_topic`.

use super::writer::EventWriter;
use model::Timestamp;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct MutedTopics<'e> {
    /// Channel name, topic, and when it was muted in seconds.
    muted_topics: Vec<(&'e str, &'e str, u64)>,
}

pub(super) fn all<'e>(
    writer: &EventWriter<'_>,
    topics: &'e [(String, String, Timestamp)],
) -> MutedTopics<'e> {
    let topics = topics.iter();
    let muted_topics = topics.map(|(channel, topic, at)| (channel.as_str(), writer.topic(topic), at.secs()));
    MutedTopics { muted_topics: muted_topics.collect() }
}
