//! Jobs for outgoing webhook bots, in the frame of the message that triggers them.
//!
//! Messages of bots trigger none, so that bots do not answer each other forever. Nor do messages to bots whose owner has too
//! many calls waiting.

use crate::outbox::{CallRoom, job, note_without_room};
use crate::shared::RealmShared;
use model::job::{Task, TaskKind, WebhookTask, WebhookTrigger};
use model::{BotKind, Channel, Directory, Fact, MessageId, Timestamp, User, UserId};
use rules::markdown::Rendered;
use rules::permissions::channel::sees_content;
use std::collections::BTreeSet;
use std::sync::Arc;
use storage::view::Jobs;

/// A decided message.
#[derive(Clone, Copy)]
pub(crate) struct NewMessage<'m> {
    pub realm: &'m RealmShared,
    pub directory: &'m Directory,
    /// The pending jobs.
    pub jobs: &'m Jobs,
    pub sender: &'m User,
    pub id: MessageId,
    pub now: Timestamp,
}

impl NewMessage<'_> {
    /// For a message to a channel: the bots that it mentions by name and that may read it.
    pub fn mentioning(self, channel: &Channel, rendered: &Rendered) -> Vec<Fact> {
        if rendered.mentions.users.is_empty() {
            return Vec::new();
        }
        let mentioned = rendered.mentions.users.iter().filter_map(|id| u32::try_from(*id).ok()).map(UserId);
        let mentioned: BTreeSet<UserId> = mentioned.collect();
        let bots = self.bots(mentioned.into_iter());
        let bots = bots.filter(|bot| sees_content(self.directory, bot, channel));
        self.calls(bots.map(|bot| bot.id).collect(), WebhookTrigger::Mention)
    }

    /// For a direct message: the bots in the conversation.
    pub fn to_people(self, users: &[UserId]) -> Vec<Fact> {
        let bots = self.bots(users.iter().copied()).map(|bot| bot.id).collect();
        self.calls(bots, WebhookTrigger::DirectMessage)
    }

    /// The active outgoing webhook bots among users; none if the sender is a bot.
    fn bots(&self, among: impl Iterator<Item = UserId>) -> impl Iterator<Item = &Arc<User>> {
        let is_bot = |user: &&Arc<User>| {
            user.is_active && user.bot.as_ref().is_some_and(|bot| bot.kind == BotKind::OutgoingWebhook)
        };
        let is_heard = !self.sender.is_bot();
        among.filter(move |_| is_heard).filter_map(|user| self.directory.user(user)).filter(is_bot)
    }

    /// The calls of the services of bots, as far as there is room for them.
    fn calls(&self, bots: Vec<UserId>, trigger: WebhookTrigger) -> Vec<Fact> {
        if bots.is_empty() || !self.realm.supports(TaskKind::Webhook) {
            return Vec::new();
        }
        let task = |bot| Task::Webhook(WebhookTask { bot, message: self.id, trigger });
        let mut room = CallRoom::new(self.directory, self.jobs);
        let (called, dropped): (Vec<_>, Vec<_>) = bots.into_iter().partition(|bot| room.take(*bot));
        for bot in dropped {
            tracing::warn!(%bot, "too many calls wait for the bots of one owner; a new one was dropped");
            note_without_room(TaskKind::Webhook);
        }
        called.into_iter().map(|bot| job(self.now, task(bot))).collect()
    }
}
