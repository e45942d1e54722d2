//! The interface of an organization to the edge. Addresses of actors stay inside this package.
//!
//! Every command can fail with `Overloaded`, `Paused`, `Stopping`, `Storage` or `TooLarge`; `# Errors` lists the others.

mod channels;
mod due;
mod keys;
mod messages;
mod queues;
mod reading;
mod scheduled;
mod uploads;
mod users;
mod web_sessions;

pub use queues::OwnQueue;
pub use web_sessions::FoundSession;

use crate::account::{ask, mailbox};
use crate::channel::SendMessage;
use crate::draft::{ChannelDraft, DirectDraft, Sent};
use crate::error::DomainError;
use crate::login_candidate::LoginCandidate;
use crate::presence::{Presence, Report};
use crate::realm::{
    ChangeFlags, RealmActor, ReportPresence, ResetRealm, Serialized, SerializedCommand, Type,
};
use crate::registry::Registry;
use crate::shared::{FLAG_RANGES_MAX, RealmShared};
use actix::prelude::*;
use model::event::TypingConversation;
use model::fact::MessageRanges;
use model::{
    Directory, EventBody, Fact, Flag, FlagOp, Message as ChatMessage, MessageId, RealmId, Timestamp, User,
    UserId,
};
use rules::settings::user_bool;
use std::sync::Arc;
use std::time::Duration;
use storage::View;

/// An organization. Clones are handles to the same one.
#[derive(Clone)]
pub struct RealmHandle {
    pub(crate) shared: Arc<RealmShared>,
    /// Shared, because a clone of an address allocates, and each request takes several of the handle.
    pub(crate) actor: Arc<Addr<RealmActor>>,
    pub(crate) registry: Arc<Registry>,
}

impl RealmHandle {
    /// The id of the organization.
    pub fn id(&self) -> RealmId {
        self.shared.id
    }

    /// Monotonic time, for durations within this process.
    pub fn monotonic(&self) -> Duration {
        self.shared.clock.monotonic()
    }

    /// Now, by the server's clock.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// A snapshot of the directory.
    pub fn directory(&self) -> Directory {
        self.shared.directory()
    }

    /// Reads from the view at one point in time. Keep it short: writing waits meanwhile.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&View) -> T) -> T {
        read(&self.shared.view.read())
    }

    /// Executes a command in the organization's actor, which decides it from the committed state. The decision is durable
    /// when this returns.
    ///
    /// # Errors
    /// What the command refuses.
    pub async fn execute<C: SerializedCommand>(&self, command: C) -> Result<C::Outcome, DomainError> {
        ask(&self.actor, |answer| Serialized { command, answer }).await
    }

    // --- authentication ---

    /// The account of an address and an API key.
    ///
    /// # Errors
    /// See [`login::Credentials::authenticate`].
    pub fn authenticate(&self, address: &str, api_key: &str) -> Result<Arc<User>, DomainError> {
        let view = self.shared.view.read();
        self.shared.credentials.authenticate(&view.directory, address, api_key)
    }

    /// The account of an API key, for URLs that have the key alone.
    ///
    /// # Errors
    /// See [`login::Credentials::authenticate_key`].
    pub fn authenticate_key(&self, api_key: &str) -> Result<Arc<User>, DomainError> {
        let view = self.shared.view.read();
        self.shared.credentials.authenticate_key(&view.directory, api_key)
    }

    /// A user's API key.
    pub fn api_key(&self, user: &User) -> String {
        self.shared.credentials.api_key(self.shared.id, user)
    }

    /// What a password is compared with, for the real address of an account. It does not keep the server.
    pub fn login_candidate(&self, address: &str) -> LoginCandidate {
        let directory = self.directory();
        let user = directory.user_by_delivery_email(address).filter(|user| !user.is_bot()).cloned();
        LoginCandidate { user, is_realm_active: directory.realm().is_active }
    }

    // --- messages ---

    /// Sends to a topic. The message is durable when this returns.
    ///
    /// # Errors
    /// The errors of sending (docs/api/messages.md#send-a-message).
    pub fn send_to_channel(&self, draft: ChannelDraft) -> impl Future<Output = Result<Sent, DomainError>> {
        self.send_to_channel_ending(draft, None)
    }

    /// Sends to a topic, in one frame with the end of a job or of a scheduled message.
    #[expect(clippy::manual_async_fn, reason = "the future of an async function holds its argument twice")]
    pub(crate) fn send_to_channel_ending(
        &self,
        draft: ChannelDraft,
        ends: Option<Fact>,
    ) -> impl Future<Output = Result<Sent, DomainError>> {
        async move {
            let channel = self.channel(draft.channel).await?;
            ask(&channel, |answer| SendMessage { draft, ends, answer }).await
        }
    }

    /// Sends a direct message. The message is durable when this returns.
    ///
    /// # Errors
    /// The errors of direct messages (docs/api/messages.md#direct-message-permissions).
    pub fn send_direct(&self, draft: DirectDraft) -> impl Future<Output = Result<Sent, DomainError>> {
        self.send_direct_ending(draft, None)
    }

    /// Sends a direct message, in one frame with the end of a job or of a scheduled message.
    #[expect(clippy::manual_async_fn, reason = "the future of an async function holds its argument twice")]
    pub(crate) fn send_direct_ending(
        &self,
        draft: DirectDraft,
        ends: Option<Fact>,
    ) -> impl Future<Output = Result<Sent, DomainError>> {
        async move {
            let direct = self.direct_between(&draft.users).await?;
            ask(&direct, |answer| crate::direct::SendDirect { draft, ends, answer }).await
        }
    }

    /// A message's body, from memory or the trees. May read the disk: microseconds, rarely more.
    ///
    /// # Errors
    /// `Storage`.
    pub fn message(&self, id: MessageId) -> Result<Option<Arc<ChatMessage>>, DomainError> {
        Ok(self.shared.message(id)?)
    }

    /// Sets or clears a user's flag on messages.
    pub async fn change_flags(
        &self,
        user: UserId,
        flag: Flag,
        op: FlagOp,
        messages: MessageRanges,
    ) -> Result<(), DomainError> {
        // The owner's clients receive an event all the same.
        if messages.is_empty() {
            return ask(&self.actor, |answer| ChangeFlags { user, flag, op, messages, answer }).await;
        }
        // A frame is bounded, so very scattered messages take several.
        for ranges in messages.0.chunks(FLAG_RANGES_MAX) {
            let messages = MessageRanges(ranges.to_vec());
            ask(&self.actor, |answer| ChangeFlags { user, flag, op, messages, answer }).await?;
        }
        Ok(())
    }

    // --- events ---

    /// Replaces everything in the organization by what frames create; its event queues end. For development servers.
    ///
    /// # Errors
    /// Those of every command.
    pub(crate) async fn reset(&self, frames: Vec<Vec<Fact>>) -> Result<(), DomainError> {
        ask(&self.actor, |answer| ResetRealm { frames, answer }).await
    }

    /// Notifies `readers` that a user starts or stops typing.
    pub async fn typing(
        &self,
        sender: Arc<User>,
        is_start: bool,
        conversation: TypingConversation,
        readers: Vec<UserId>,
    ) -> Result<(), DomainError> {
        let body = EventBody::Typing { sender, is_start, conversation };
        ask(&self.actor, |answer| Type { body, readers, answer }).await
    }

    /// Tells those of `readers` who can read a message that the sender starts or stops typing a new text of it.
    ///
    /// # Errors
    /// Those of every command.
    pub async fn edit_typing(
        &self,
        sender: UserId,
        is_start: bool,
        (message, conversation): (MessageId, TypingConversation),
        readers: Vec<UserId>,
    ) -> Result<(), DomainError> {
        let readers = self.who_can_read(message, readers);
        let body = EventBody::EditTyping { sender, is_start, message, conversation };
        ask(&self.actor, |answer| Type { body, readers, answer }).await
    }

    /// Records that a client reports its user's presence.
    pub async fn report_presence(&self, user: Arc<User>, report: Report) -> Result<(), DomainError> {
        ask(&self.actor, |answer| ReportPresence { user, report, answer }).await
    }

    /// Executes a command that may change whether a user's presence is shown, and then broadcasts the presence if it
    /// did.
    ///
    /// # Errors
    /// As [`RealmHandle::execute`].
    pub async fn execute_and_report_presence<C: SerializedCommand>(
        &self,
        user: UserId,
        command: C,
    ) -> Result<C::Outcome, DomainError> {
        let shows = |user: &User| user_bool(user, "presence_enabled");
        let before = self.directory().user(user).map(|user| shows(user));
        let outcome = self.execute(command).await?;
        let after = self.directory().user(user).cloned();
        if let Some(user) = after.filter(|user| before != Some(shows(user))) {
            let report = if shows(&user) { Report::Active } else { Report::Hidden };
            // The change is durable even if this fails; the next report updates the presence.
            let _ = self.report_presence(user, report).await;
        }
        Ok(outcome)
    }

    /// Presences with a change after number `update` (all without one, and with one that was never issued), by user, and the
    /// number of the newest change.
    pub fn presences(&self, update: Option<u64>) -> (Vec<(UserId, Presence)>, u64) {
        let table = self.shared.presence.lock();
        (table.since(update), table.last_update())
    }

    /// One user's presence; none if it was not reported since the server started.
    pub fn presence_of(&self, user: UserId) -> Option<Presence> {
        self.shared.presence.lock().get(user)
    }
}
