//! `message`: a new message. The message object is written by the same code as in responses; flags and the client's
//! local id differ from queue to queue and follow it.

use super::writer::EventWriter;
use crate::api::wire::message::{MessageForm, MessageWriter};
use model::Message;
use model::event::MessageContext;

/// The form in which the queue gets messages, or none where the bytes cannot be shared with other queues.
pub(super) fn form(writer: &EventWriter<'_>, message: &Message) -> Option<usize> {
    let options = writer.options;
    let is_channel = message.place.channel().is_some();
    let topic = if is_channel { writer.topic_form(message.place.topic()) } else { 0 };
    let form = usize::from(options.apply_markdown) | usize::from(options.client_gravatar) << 1 | topic << 2;
    (!writer.is_restricted).then_some(form)
}

/// The event without its flags and number. The channel has its name of then: the owner may have lost access since.
pub(super) fn encode(writer: &EventWriter<'_>, message: &Message, context: &MessageContext) -> Vec<u8> {
    let form = MessageForm::of_queue(writer.options);
    let mut messages = MessageWriter::new(writer.directory, Some(writer.owner), form)
        .with_channel_name(context.channel_name.as_deref());
    let mut out = Vec::with_capacity(messages.size_of(message));
    out.extend_from_slice(b"{\"type\":\"message\",\"message\":");
    messages.push(&mut out, message, None);
    out
}
