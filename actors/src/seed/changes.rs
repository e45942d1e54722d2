//! What happened to the messages of a seed after they were sent: edits, moves with their notices, reactions, stars.

use super::builder::{SeedBuilder, Sending, UnsentMessage};
use super::content::SeedChange;
use crate::draft::message_traits;
use model::fact::{MessageUpdate, Movement, NewTopic};
use model::{
    ChannelId, ConversationId, Fact, Flag, FlagOp, Message, MessageFact, MessageRanges, MessageVersion,
    Place, PropagateMode, Reaction, Timestamp, User,
};
use rules::bot_notices::{MovedPart, moved_here_text, resolve_text};
use rules::reactions::{CustomEmoji, find_emoji};
use rules::topics::resolve_change;
use std::borrow::Cow;
use std::sync::Arc;

/// How long after a message it was edited.
const EDITED_AFTER_MILLIS: u64 = 90 * 1000;
/// The local part of the address of the bot that sends notices.
const NOTIFICATION_BOT: &str = "notification-bot";

impl SeedBuilder<'_> {
    /// The number of messages that follow from changes.
    pub(super) fn notices(&self) -> usize {
        let changes = self.seed.threads.iter().flat_map(|thread| &thread.changes);
        changes.filter(|change| matches!(change, SeedChange::Moved { .. })).count()
    }

    /// The facts of all changes, in the order of the threads.
    pub(super) fn changes(&mut self, sending: &mut Sending) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (index, thread) in self.seed.threads.iter().enumerate() {
            for (position, change) in thread.changes.iter().enumerate() {
                let earlier = thread.changes.get(..position).unwrap_or_default();
                facts.extend(match *change {
                    SeedChange::Edited { message, text } => {
                        self.edit(index, message, text, earlier).into_iter().collect()
                    }
                    SeedChange::Moved { by, topic } => self.move_topic(sending, index, by, topic),
                    SeedChange::Reacted { message, by, emoji } => {
                        self.react(index, message, by, emoji).into_iter().collect()
                    }
                    SeedChange::Starred { message, by } => {
                        self.star(index, message, by).into_iter().collect()
                    }
                });
            }
        }
        facts
    }

    fn sent(&self, thread: usize, message: usize) -> Option<&Arc<Message>> {
        self.threads.get(thread)?.get(message)
    }

    fn edit(&self, thread: usize, message: usize, text: &str, earlier: &[SeedChange<'_>]) -> Option<Fact> {
        let sent = self.sent(thread, message)?;
        let before = earlier.iter().filter(
            |change| matches!(change, SeedChange::Edited { message: edited, .. } if *edited == message),
        );
        let number = before.count() as u32 + 1;
        let at = Timestamp(sent.sent.0 + EDITED_AFTER_MILLIS * u64::from(number));
        let rendered = self.render(text);
        let version = MessageVersion {
            number,
            by: sent.sender,
            at,
            content: text.to_owned(),
            traits: message_traits(&rendered, false, true),
            user_flags: self.mentioned(&rendered.mentions, sent.recipient),
            rendered: rendered.html,
        };
        let update = MessageUpdate {
            target: sent.id,
            by: sent.sender,
            at,
            conversation: ConversationId::of(sent),
            edited: Some(Arc::new(version)),
            movement: None,
        };
        Some(Fact::Message(MessageFact::Updated(Box::new(update))))
    }

    fn move_topic(&mut self, sending: &mut Sending, thread: usize, by: &str, topic: &str) -> Vec<Fact> {
        let all = self.threads.get(thread).cloned().unwrap_or_default();
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return Vec::new() };
        let Some(by) = self.directory.user_by_email(by).cloned() else { return Vec::new() };
        let Place::Channel { channel, topic: before } = &first.place else { return Vec::new() };
        let resolves = resolve_change(before, topic);
        let text = match resolves {
            Some(change) => resolve_text(&by, change),
            None => self.moved_text(&by, *channel, before),
        };
        let update = MessageUpdate {
            target: first.id,
            by: by.id,
            at: Timestamp(last.sent.0 + EDITED_AFTER_MILLIS),
            conversation: ConversationId::of(first),
            edited: None,
            movement: Some(Movement {
                messages: MessageRanges::from_sorted(all.iter().map(|message| message.id)),
                mode: PropagateMode::All,
                channel: *channel,
                topic: before.clone(),
                new_channel: None,
                new_topic: Some(NewTopic { name: topic.to_owned(), links: Vec::new() }),
                is_resolve: resolves.is_some(),
            }),
        };
        let notice = UnsentMessage {
            thread,
            sender: self.user(&format!("{NOTIFICATION_BOT}@{}", self.directory.realm().email_domain)),
            recipient: first.recipient,
            place: Place::Channel { channel: *channel, topic: topic.to_owned() },
            text: Cow::Owned(text),
        };
        let moved = Fact::Message(MessageFact::Updated(Box::new(update)));
        std::iter::once(moved).chain(self.send(sending, notice)).collect()
    }

    fn moved_text(&self, by: &User, channel: ChannelId, topic: &str) -> String {
        let channel =
            self.directory.channel(channel).map(|channel| channel.name.as_str()).unwrap_or_default();
        moved_here_text(by, &format!("#**{channel}>{topic}**"), MovedPart::Whole, "")
    }

    fn react(&self, thread: usize, message: usize, by: &str, emoji: &str) -> Option<Fact> {
        let sent = self.sent(thread, message)?;
        let custom: Vec<_> = self
            .directory
            .realm_emoji()
            .map(|known| CustomEmoji {
                id: known.id,
                name: &known.name,
                is_deactivated: known.is_deactivated,
            })
            .collect();
        let chosen = find_emoji(emoji, &custom).ok()?;
        let reaction = Reaction {
            emoji_name: chosen.name,
            emoji_code: chosen.code,
            reaction_type: chosen.kind,
            user: self.user(by),
        };
        let (message, conversation) = (sent.id, ConversationId::of(sent));
        Some(Fact::Message(MessageFact::ReactionAdded { message, conversation, reaction }))
    }

    fn star(&self, thread: usize, message: usize, by: &str) -> Option<Fact> {
        let messages = MessageRanges::from_sorted([self.sent(thread, message)?.id]);
        let (user, flag, op) = (self.user(by), Flag::Starred, FlagOp::Add);
        Some(Fact::Message(MessageFact::FlagsChanged { user, flag, op, messages }))
    }
}
