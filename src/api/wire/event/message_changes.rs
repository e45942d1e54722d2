//! `update_message`, `delete_message`, `reaction` and `submessage` (events.md 3 and 4).

use super::EventWriter;
use crate::api::wire::json::{push_field, push_text_field, push_value};
use crate::api::wire::message::push_topic_links;
use crate::api::wire::user::UNKNOWN_NAME;
use model::event::{ChangedContent, MessageChange, MovedMessages};
use model::{ChannelId, Event, EventBody, MessageId, Reaction, User, UserId};
use rules::permissions::users::{api_email, sees_user};
use rules::topics::shown_topic;
use serde::Serialize;
use std::borrow::Cow;

/// Who reacted; only events say it (client quirks of older clients).
#[derive(Serialize)]
struct ReactorJson<'e> {
    user_id: UserId,
    email: Cow<'e, str>,
    full_name: &'e str,
}

impl EventWriter<'_> {
    /// Writes an event about messages that were sent before, up to its number. False: it is of another kind.
    pub(super) fn push_message_change(&self, out: &mut Vec<u8>, body: &EventBody) -> bool {
        match body {
            EventBody::MessageChanged(change) => self.push_changed(out, change),
            EventBody::MessagesDeleted { place, messages } => {
                self.push_deleted_open(out, place.as_ref());
                push_field(out, "message_ids", messages);
            }
            EventBody::Reaction { message, reaction, user, is_added } => {
                self.push_reaction(out, *message, reaction, user, *is_added);
            }
            EventBody::Submessage { message, submessage } => {
                out.extend_from_slice(b"{\"type\":\"submessage\"");
                push_field(out, "message_id", message);
                push_field(out, "submessage_id", &submessage.id);
                push_field(out, "sender_id", &submessage.sender);
                push_text_field(out, "msg_type", &submessage.msg_type);
                push_text_field(out, "content", &submessage.content);
            }
            _ => return false,
        }
        true
    }

    fn push_changed(&self, out: &mut Vec<u8>, change: &MessageChange) {
        out.extend_from_slice(b"{\"type\":\"update_message\"");
        push_field(out, "user_id", &change.by);
        push_field(out, "rendering_only", &false);
        push_field(out, "message_id", &change.target);
        push_field(out, "message_ids", &change.messages);
        push_field(out, "edit_timestamp", &change.at.secs());
        if let Some((id, name)) = &change.channel {
            push_field(out, "stream_id", id);
            push_text_field(out, "stream_name", name);
        }
        if let Some(movement) = &change.movement {
            self.push_movement(out, movement);
        }
        if let Some(content) = &change.content {
            push_content(out, content);
        }
    }

    fn push_movement(&self, out: &mut Vec<u8>, movement: &MovedMessages) {
        let topic = |topic| shown_topic(topic, self.options.capabilities.empty_topic_name);
        push_text_field(out, "propagate_mode", movement.mode.word());
        push_text_field(out, "orig_subject", topic(&movement.topic));
        if let Some((name, links)) = &movement.new_topic {
            push_text_field(out, "subject", topic(name));
            push_topic_links(out, links);
        }
        if let Some(channel) = movement.new_channel {
            push_field(out, "new_stream_id", &channel);
        }
    }

    fn push_deleted_open(&self, out: &mut Vec<u8>, place: Option<&(ChannelId, String)>) {
        out.extend_from_slice(b"{\"type\":\"delete_message\"");
        match place {
            Some((channel, topic)) => {
                push_text_field(out, "message_type", "stream");
                push_field(out, "stream_id", channel);
                let topic = shown_topic(topic, self.options.capabilities.empty_topic_name);
                push_text_field(out, "topic", topic);
            }
            None => push_text_field(out, "message_type", "private"),
        }
    }

    /// For clients without bulk deletion: an event for each message. The event's numbers are theirs, the last
    /// one that of the last message.
    pub(super) fn push_deleted_one_by_one(
        &self,
        out: &mut Vec<u8>,
        event: &Event,
        place: Option<&(ChannelId, String)>,
        messages: &[MessageId],
    ) {
        let mut open = Vec::new();
        self.push_deleted_open(&mut open, place);
        for (number, message) in (event.first_number().0..).zip(messages) {
            if number > event.first_number().0 {
                out.push(b',');
            }
            out.extend_from_slice(&open);
            push_field(out, "message_id", message);
            push_field(out, "id", &number);
            out.push(b'}');
        }
    }

    fn push_reaction(
        &self,
        out: &mut Vec<u8>,
        message: MessageId,
        reaction: &Reaction,
        user: &User,
        is_added: bool,
    ) {
        out.extend_from_slice(b"{\"type\":\"reaction\",\"op\":");
        push_value(out, if is_added { "add" } else { "remove" });
        push_field(out, "message_id", &message);
        push_field(out, "user_id", &reaction.user);
        push_text_field(out, "emoji_name", &reaction.emoji_name);
        push_text_field(out, "emoji_code", &reaction.emoji_code);
        push_text_field(out, "reaction_type", &reaction.reaction_type);
        let is_hidden = self.is_restricted && !sees_user(self.directory, self.owner, user);
        let reactor = ReactorJson {
            user_id: user.id,
            email: match is_hidden {
                true => Cow::Owned(self.directory.made_up_email(user.id)),
                false => api_email(self.directory, user),
            },
            full_name: if is_hidden { UNKNOWN_NAME } else { &user.full_name },
        };
        push_field(out, "user", &reactor);
    }
}

fn push_content(out: &mut Vec<u8>, content: &ChangedContent) {
    push_text_field(out, "orig_content", &content.orig_content);
    push_text_field(out, "orig_rendered_content", &content.orig_rendered);
    push_text_field(out, "content", &content.content);
    push_text_field(out, "rendered_content", &content.rendered);
    push_field(out, "is_me_message", &content.is_me);
}
