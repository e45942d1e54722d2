//! What others added to a message: reactions, and parts of widgets.

use super::drafting::{Draft, MessageLocation};
use super::entry::{Entry, SubmessageRow};
use super::messages::{Messages, PART, REACTION};
use model::{ConversationId, Fact, MessageFact, MessageId, Reaction, Submessage, UserId};
use rules::widgets::widget_content;
use std::collections::HashSet;

impl Messages {
    /// Reactions and parts of widgets.
    pub(super) fn add_rest(
        &mut self,
        id: MessageId,
        entry: &Entry,
        spotted: &MessageLocation,
        draft: &mut Draft,
    ) {
        let conversation = match &spotted.topic {
            Some((channel, _)) => ConversationId::Channel(*channel),
            None => ConversationId::Direct(spotted.recipient),
        };
        let tables = self.tables.clone();
        let mut seen = HashSet::new();
        for stored in tables.reactions_of(id.0) {
            self.reactions += 1;
            let user = UserId(stored.user);
            let Some(emoji) = tables.emoji.get(stored.emoji as usize) else { continue };
            if self.directory.user(user).is_none() {
                self.report.leave_out(REACTION, "of a user who is not in the export", 1);
            } else if !seen.insert((user, &emoji.kind, &emoji.code)) {
                self.report.leave_out(REACTION, "the same twice", 1);
            } else {
                let reaction = Reaction {
                    emoji_name: emoji.name.clone(),
                    emoji_code: emoji.code.clone(),
                    reaction_type: emoji.kind.clone(),
                    user,
                };
                draft.bytes += emoji.name.len() + emoji.code.len() + 60;
                draft.later.push(Fact::Message(MessageFact::ReactionAdded {
                    message: id,
                    conversation,
                    reaction,
                }));
                self.report.carry(REACTION, 1);
            }
        }
        let mut parts: Vec<&SubmessageRow> = entry.submessages.iter().collect();
        parts.sort_by_key(|part| part.id);
        let has_widget = widget_content(&entry.row.content).is_some();
        for (number, part) in (1..).zip(parts) {
            let sender = UserId(part.sender);
            if self.directory.user(sender).is_none() {
                self.report.leave_out(PART, "of a user who is not in the export", 1);
                continue;
            }
            self.report.carry(PART, 1);
            // The first one follows from the text.
            if number == 1 && has_widget {
                continue;
            }
            self.parts_max = self.parts_max.max(number);
            let (msg_type, content) = (part.msg_type.clone(), part.content.clone());
            draft.bytes += content.len() + 60;
            let submessage = Submessage { id: number, msg_type, content, sender };
            draft.later.push(Fact::Message(MessageFact::SubmessageAdded {
                message: id,
                conversation,
                submessage,
            }));
        }
    }
}
