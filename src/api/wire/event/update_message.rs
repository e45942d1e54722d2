//! `update_message`: messages were edited or moved. Flags differ from queue to queue and follow.

use super::writer::EventWriter;
use crate::api::wire::message::{TopicLinkJson, topic_links};
use model::event::MessageChange;
use model::{ChannelId, MessageId, UserId};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct UpdateMessage<'e> {
    user_id: UserId,
    rendering_only: bool,
    /// The message that the request named.
    message_id: MessageId,
    /// It and all that were moved with it.
    message_ids: &'e [MessageId],
    edit_timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_name: Option<&'e str>,
    #[serde(flatten)]
    movement: Option<Movement<'e>>,
    #[serde(flatten)]
    content: Option<Content<'e>>,
}

#[derive(Serialize)]
struct Movement<'e> {
    propagate_mode: &'static str,
    orig_subject: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic_links: Option<Vec<TopicLinkJson<'e>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_stream_id: Option<ChannelId>,
}

#[derive(Serialize)]
struct Content<'e> {
    orig_content: &'e str,
    orig_rendered_content: &'e str,
    content: &'e str,
    rendered_content: &'e str,
    is_me_message: bool,
}

pub(super) fn changed<'e>(writer: &EventWriter<'_>, change: &'e MessageChange) -> UpdateMessage<'e> {
    UpdateMessage {
        user_id: change.by,
        rendering_only: false,
        message_id: change.target,
        message_ids: &change.messages,
        edit_timestamp: change.at.secs(),
        stream_id: change.channel,
        stream_name: change.channel_name.as_deref(),
        movement: change.movement.as_ref().map(|movement| {
            let new_topic = movement.new_topic.as_ref();
            Movement {
                propagate_mode: movement.mode.as_str(),
                orig_subject: writer.topic(&movement.topic),
                subject: new_topic.map(|(topic, _)| writer.topic(topic)),
                topic_links: new_topic.map(|(_, links)| topic_links(links)),
                new_stream_id: movement.new_channel,
            }
        }),
        content: change.content.as_ref().map(|content| Content {
            orig_content: &content.orig_content,
            orig_rendered_content: &content.orig_rendered,
            content: &content.content,
            rendered_content: &content.rendered,
            is_me_message: content.is_me,
        }),
    }
}
