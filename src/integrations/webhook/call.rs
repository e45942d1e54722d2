//! One webhook call: the message, the bot and its service as they are at the time of the call.

use actors::outbox::DeliveryAttempt;
use model::job::WebhookTask;
use model::{Directory, Message, User, UserId, WebhookService};
use std::sync::Arc;

pub(super) struct WebhookCall<'p> {
    pub attempt: &'p DeliveryAttempt,
    pub task: &'p WebhookTask,
    pub directory: Directory,
    pub bot: Arc<User>,
    pub service: WebhookService,
    pub message: Arc<Message>,
    pub url: String,
}

impl WebhookCall<'_> {
    /// The owner of the bot, if that account is active.
    pub fn owner(&self) -> Option<UserId> {
        let owner = self.bot.bot.as_ref()?.owner?;
        self.directory.user(owner).filter(|owner| owner.is_active).map(|owner| owner.id)
    }
}
