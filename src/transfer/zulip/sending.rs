//! A message as it was sent, and the changes since then.

use super::drafting::{Draft, MessageFlags, MessageLocation};
use super::entry::Entry;
use super::history::{History, Step};
use super::messages::{MESSAGE_BYTES, Messages};
use super::moves::PendingMove;
use crate::transfer::rows::timestamp;
use model::message::MessageTraits;
use model::{
    AttachmentFact, AttachmentId, ChannelId, ConversationId, Fact, Message, MessageFact, MessageId,
    MessageVersion, Place, Submessage, UserId,
};
use rules::markdown::Rendered;
use rules::widgets::{WIDGET, widget_content};
use std::sync::Arc;

/// A message that is being made.
struct Unsent<'e> {
    id: MessageId,
    entry: &'e Entry,
    flags: &'e MessageFlags,
    /// The uploaded files that it names.
    claims: &'e [AttachmentId],
}

impl Messages {
    /// Adds the facts of a message and of its history.
    pub(super) fn send(
        &mut self,
        id: MessageId,
        entry: &Entry,
        spotted: &MessageLocation,
        mut history: History,
        flags: &MessageFlags,
        draft: &mut Draft,
    ) {
        let claims = self.claims.get(&id).cloned().unwrap_or_default();
        let steps = std::mem::take(&mut history.steps);
        let is_edited = steps.iter().any(|step| step.content.is_some());
        let unsent = Unsent { id, entry, flags, claims: &claims };
        let message = self.as_sent(&unsent, spotted, history, is_edited);
        draft.bytes += message.content.len() + message.rendered.len();
        let conversation = ConversationId::of(&message);
        draft.facts.push(Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None }));
        self.change(&unsent, conversation, steps, draft);
        if !claims.is_empty() {
            let sent = timestamp(entry.row.date_sent);
            let fact =
                AttachmentFact::ClaimsChanged { message: id, sent, claimed: claims, released: Vec::new() };
            draft.later.push(Fact::Attachment(fact));
        }
    }

    fn as_sent(
        &self,
        unsent: &Unsent<'_>,
        spotted: &MessageLocation,
        history: History,
        is_edited: bool,
    ) -> Message {
        let Unsent { id, entry, flags, claims } = *unsent;
        let row = &entry.row;
        let content = self.text(history.content);
        let rendered = self.render(&content, entry, claims);
        let place = match history.place {
            Some((channel, topic)) => Place::Channel { channel, topic },
            None => Place::Direct,
        };
        let recipient = match place.channel().and_then(|channel| self.directory.channel(channel)) {
            Some(channel) => channel.recipient,
            None => spotted.recipient,
        };
        let sender = UserId(row.sender);
        let widget = widget_content(&content);
        let widget = widget.map(|content| Submessage { id: 1, msg_type: WIDGET.to_owned(), content, sender });
        Message {
            content,
            traits: traits_of(&rendered, !claims.is_empty(), flags),
            rendered: rendered.html,
            client: self.tables.clients.get(&row.sending_client).cloned().unwrap_or_default(),
            user_flags: if is_edited { Vec::new() } else { flags.content.clone() },
            topic_links: self.links(place.topic()),
            submessages: widget.into_iter().collect(),
            ..Message::new(id, sender, recipient, place, timestamp(row.date_sent))
        }
    }

    fn change(
        &self,
        unsent: &Unsent<'_>,
        mut conversation: ConversationId,
        steps: Vec<Step>,
        draft: &mut Draft,
    ) {
        let Unsent { id, entry, flags, claims } = *unsent;
        let mut number = 0;
        let last_edit = steps.iter().rposition(|step| step.content.is_some());
        for (order, step) in steps.into_iter().enumerate() {
            let known = step.by.filter(|user| self.directory.user(*user).is_some());
            let by = known.unwrap_or(UserId(entry.row.sender));
            let edited = step.content.map(|content| {
                number += 1;
                let content = self.text(content);
                let rendered = self.render(&content, entry, claims);
                draft.bytes += content.len() + rendered.html.len();
                Arc::new(MessageVersion {
                    number,
                    by,
                    at: step.at,
                    content,
                    traits: traits_of(&rendered, !claims.is_empty(), flags),
                    rendered: rendered.html,
                    user_flags: if last_edit == Some(order) { flags.content.clone() } else { Vec::new() },
                })
            });
            let links = step.place.as_ref().map(|(_, after)| self.links(&after.1)).unwrap_or_default();
            let recipient = |channel: ChannelId| self.directory.channel(channel).map(|known| known.recipient);
            let arrival = step.place.as_ref().filter(|(before, after)| before.0 != after.0);
            let arrival = arrival.and_then(|(_, after)| recipient(after.0));
            let after =
                step.place.as_ref().map_or(conversation, |(_, after)| ConversationId::Channel(after.0));
            draft.bytes += MESSAGE_BYTES + flags.received.len() * 4;
            let (message, at, place, received) = (id, step.at, step.place, &flags.received[..]);
            draft.moves.add(PendingMove {
                order,
                message,
                at,
                by,
                conversation,
                edited,
                place,
                links,
                arrival,
                received,
            });
            conversation = after;
        }
    }
}

fn traits_of(rendered: &Rendered, has_attachment: bool, flags: &MessageFlags) -> MessageTraits {
    MessageTraits {
        is_me: rendered.is_me_message,
        has_link: rendered.has_link,
        has_image: rendered.has_image,
        has_attachment,
        channel_wildcard: flags.has_channel_wildcard,
        read_by_sender: flags.is_read_by_sender,
    }
}
