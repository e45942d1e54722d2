//! Events as clients read them (events.md): the shared part is written once for each form and kept with the event,
//! and what is different for each queue is written around it.
//!
//! Which events a queue gets is decided before. Every variant that a capability leads to (events.md 2) is here.

mod bots;
mod changes;
mod flags;
mod message_changes;
mod organization;
mod others;
mod personal;
mod pictures;
mod push;

use super::json::{push_field, push_text_field};
use super::message::{MessageForm, MessageWriter, push_flags};
use actors::{Delivered, RealmHandle};
use bytes::Bytes;
use model::{Directory, Event, EventBody, QueueOptions, User};
use rules::permissions::users::is_restricted;

/// Writes events for one queue.
pub struct EventWriter<'a> {
    directory: &'a Directory,
    owner: &'a User,
    options: &'a QueueOptions,
    /// Has the keys of bots, which only their events need.
    realm: Option<&'a RealmHandle>,
    /// Some people must not be known to the owner: what names people cannot be shared with other queues.
    is_restricted: bool,
}

impl<'a> EventWriter<'a> {
    /// A writer for the queue of `owner`, with names and addresses as in `directory`.
    pub fn new(directory: &'a Directory, owner: &'a User, options: &'a QueueOptions) -> Self {
        let is_restricted = is_restricted(directory, owner);
        Self { directory, owner, options, realm: None, is_restricted }
    }

    /// The same with the keys of bots that the owner of the queue looks after.
    pub fn with_keys(mut self, realm: &'a RealmHandle) -> Self {
        self.realm = Some(realm);
        self
    }

    /// Writes a list of events. Changes of the same flag that follow one another become one (companions.md 3).
    pub fn push_all(&self, out: &mut Vec<u8>, events: &[Delivered]) {
        out.push(b'[');
        let mut rest = events;
        while !rest.is_empty() {
            if rest.len() < events.len() {
                out.push(b',');
            }
            let merged = flags::mergeable(rest);
            if merged > 1 {
                flags::push_merged(out, &rest[..merged]);
            } else {
                self.push(out, &rest[0]);
            }
            rest = &rest[merged.max(1)..];
        }
        out.push(b']');
    }

    fn push(&self, out: &mut Vec<u8>, delivered: &Delivered) {
        let event = &*delivered.event;
        if let EventBody::MessagesDeleted { place, messages } = &event.body
            && !self.options.capabilities.bulk_message_deletion
        {
            return self.push_deleted_one_by_one(out, event, place.as_ref(), messages);
        }
        match self.slot(event).and_then(|slot| event.encoded.get(slot)) {
            Some(kept) => out.extend_from_slice(kept.get_or_init(|| Bytes::from(self.shared_part(event)))),
            None => out.extend_from_slice(&self.shared_part(event)),
        }
        if let EventBody::Message { .. } | EventBody::MessageChanged(_) = &event.body {
            push_flags(out, delivered.flags);
            if let Some(local_id) = &delivered.local_id {
                push_text_field(out, "local_message_id", local_id);
            }
        }
        push_field(out, "id", &event.number);
        out.push(b'}');
    }

    /// Where the form of this queue is kept; none for what no other queue could use.
    fn slot(&self, event: &Event) -> Option<usize> {
        let capabilities = &self.options.capabilities;
        let topic_form = |topic: &str| usize::from(topic.is_empty() && capabilities.empty_topic_name);
        match &event.body {
            EventBody::Message { message, .. } => {
                let is_channel = message.place.channel().is_some();
                let topic = if is_channel { topic_form(message.place.topic()) } else { 0 };
                let form = usize::from(self.options.apply_markdown)
                    | usize::from(self.options.client_gravatar) << 1
                    | topic << 2;
                (!self.is_restricted).then_some(form)
            }
            EventBody::Flags { .. } | EventBody::UserAdded(_) | EventBody::Heartbeat => None,
            EventBody::UserTopic { topic, .. } => Some(topic_form(topic)),
            EventBody::MessagesDeleted { place, .. } => {
                Some(place.as_ref().map_or(0, |(_, topic)| topic_form(topic)))
            }
            // What restricted guests must not know of people is nobody else's form.
            EventBody::Typing { .. } | EventBody::Reaction { .. } if self.is_restricted => None,
            EventBody::Reaction { .. } => Some(0),
            EventBody::MutedTopics(_) | EventBody::Typing { .. } | EventBody::MessageChanged(_) => {
                Some(usize::from(capabilities.empty_topic_name))
            }
            EventBody::SubscriptionsAdded(_) | EventBody::SubscriptionChanged { .. } => {
                Some(usize::from(capabilities.notification_settings_null))
            }
            EventBody::Presence { .. } if capabilities.simplified_presence_events => Some(2),
            EventBody::Presence { .. } => Some(usize::from(self.options.slim_presence)),
            _ => Some(0),
        }
    }

    /// An event without what differs from queue to queue, without its number, and without the last brace.
    fn shared_part(&self, event: &Event) -> Vec<u8> {
        let EventBody::Message { message, .. } = &event.body else { return self.other(&event.body) };
        let form = MessageForm::of_queue(self.options);
        let mut writer = MessageWriter::new(self.directory, Some(self.owner), form);
        let mut out = Vec::with_capacity(writer.size_of(message));
        out.extend_from_slice(b"{\"type\":\"message\",\"message\":");
        writer.push(&mut out, message, None);
        out
    }
}

#[cfg(test)]
mod tests;
