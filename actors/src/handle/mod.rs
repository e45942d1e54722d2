//! What the edge may ask of an organization. Nobody outside this package sees an actor's address.

mod accounts;
mod address;
mod alert_words;
mod bots;
mod channels;
mod groups;
mod invitations;
mod lifecycle;
mod lists;
mod messages;
mod personal;
mod pictures;
mod profiles;
mod push;
mod settings;
mod subscriptions;
mod topics;

use crate::channel::SendMessage;
use crate::draft::{ChannelDraft, DirectDraft, Sent};
use crate::error::DomainError;
use crate::outbox::JobEnd;
use crate::presence::{Presence, Report};
use crate::realm::{
    ChangeFlags, CreateUser, EndQueue, NewUser, OpenDirect, RealmActor, RegisterQueue, RegisteredQueue,
    ReportPresence, ResumeQueue, Settle, SettledCommand, Type,
};
use crate::session::{Poll, PollAnswer, SessionActor};
use crate::shared::RealmShared;
use crate::{Answer, login};
use actix::dev::ToEnvelope;
use actix::prelude::*;
use model::event::TypingPlace;
use model::fact::MessageRanges;
use model::{
    Directory, Flag, FlagOp, Message as ChatMessage, MessageId, QueueId, QueueOptions, RealmId, Timestamp,
    User, UserId,
};
use rules::settings::user_bool;
use std::sync::Arc;
use storage::View;
use tokio::sync::oneshot;

/// Ranges of messages whose flags one frame changes.
pub(crate) const FLAG_RANGES_MAX: usize = 16_384;
/// Users whose subscriptions, or flags in a channel, one frame changes.
pub(crate) const SUBSCRIBERS_MAX: usize = 1000;

/// An organization. Clones are handles to the same one.
#[derive(Clone)]
pub struct RealmHandle(pub(crate) Arc<RealmShared>);

/// Sends a request to an actor and waits for its answer. A full mailbox refuses at once: the caller
/// learns that it must slow down, instead of waiting in memory.
///
/// The request is sent before there is anything to wait for, so that what waits holds no copy of it.
fn ask<A, M, T>(
    to: &Addr<A>,
    request: impl FnOnce(Answer<T>) -> M,
) -> impl Future<Output = Result<T, DomainError>>
where
    A: Actor + Handler<M>,
    M: Message<Result = ()> + Send + 'static,
    A::Context: ToEnvelope<A, M>,
{
    let (answer, answered) = oneshot::channel();
    let asked = to.try_send(request(answer)).map_err(|error| match error {
        actix::dev::SendError::Full(_) => DomainError::Overloaded,
        actix::dev::SendError::Closed(_) => DomainError::Stopping,
    });
    async move {
        asked?;
        answered.await.unwrap_or(Err(DomainError::Stopping))
    }
}

impl RealmHandle {
    /// Its id.
    pub fn id(&self) -> RealmId {
        self.0.id
    }

    /// Now, by the server's clock.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// A snapshot of everything but the messages.
    pub fn directory(&self) -> Directory {
        self.0.directory()
    }

    /// Reads something that must be of one moment. Keep it short: writing waits meanwhile.
    pub fn read<T>(&self, read: impl FnOnce(&View) -> T) -> T {
        read(&self.0.view.read())
    }

    fn actor(&self) -> Result<&Addr<RealmActor>, DomainError> {
        self.0.realm.get().ok_or(DomainError::Stopping)
    }

    /// Lets the organization's actor decide something from what is durable.
    pub(crate) async fn settle<C: SettledCommand>(&self, command: C) -> Result<C::Outcome, DomainError> {
        ask(self.actor()?, |answer| Settle { command, answer }).await
    }

    // --- who somebody is ---

    /// The account of an address and an API key.
    ///
    /// # Errors
    /// See [`login::Credentials::authenticate`].
    pub fn authenticate(&self, address: &str, api_key: &str) -> Result<Arc<User>, DomainError> {
        let view = self.0.view.read();
        self.0.credentials.authenticate(&view.directory, address, api_key)
    }

    /// A user's API key.
    pub fn api_key(&self, user: &User) -> String {
        self.0.credentials.api_key(self.0.id, user)
    }

    /// The account of an address and a password. Takes about 13 ms of a thread: call it from a blocking one.
    ///
    /// # Errors
    /// `WrongPassword`, `UserDeactivated` (only with the right password), `RealmDeactivated`.
    pub fn check_password(
        &self,
        address: &str,
        password: &str,
        hasher: &mut login::PasswordHasher,
    ) -> Result<Arc<User>, DomainError> {
        let directory = self.directory();
        let user = directory.user_by_email(address).filter(|user| !user.is_bot());
        let stored = user.and_then(|user| user.password_hash.as_deref());
        let matches = hasher.check(stored, password);
        let user = user.filter(|_| matches).ok_or(DomainError::WrongPassword)?;
        if !directory.realm().is_active {
            return Err(DomainError::RealmDeactivated);
        }
        if !user.is_active {
            return Err(DomainError::UserDeactivated);
        }
        Ok(user.clone())
    }

    /// Creates a person or bot.
    ///
    /// # Errors
    /// `EmailInUse`, besides those of every command: `Overloaded`, `Storage`, `Stopping`.
    pub async fn create_user(&self, user: NewUser) -> Result<Arc<User>, DomainError> {
        ask(self.actor()?, |answer| CreateUser { user, answer }).await
    }

    // --- messages ---

    /// Sends to a topic. The message is durable when this returns.
    ///
    /// # Errors
    /// The rules of sending (endpoints.md 1).
    pub fn send_to_channel(&self, draft: ChannelDraft) -> impl Future<Output = Result<Sent, DomainError>> {
        self.send_to_channel_ending(draft, None)
    }

    /// The same, in one frame with the end of a job.
    #[expect(clippy::manual_async_fn, reason = "the future of an async function holds its argument twice")]
    pub(crate) fn send_to_channel_ending(
        &self,
        draft: ChannelDraft,
        ends: Option<JobEnd>,
    ) -> impl Future<Output = Result<Sent, DomainError>> {
        async move {
            let channel = self.channel(draft.channel).await?;
            ask(&channel, |answer| SendMessage { draft, ends, answer }).await
        }
    }

    /// Sends to people. The message is durable when this returns.
    ///
    /// # Errors
    /// The rules of direct messages (endpoints.md 1).
    pub fn send_direct(&self, draft: DirectDraft) -> impl Future<Output = Result<Sent, DomainError>> {
        self.send_direct_ending(draft, None)
    }

    /// The same, in one frame with the end of a job.
    #[expect(clippy::manual_async_fn, reason = "the future of an async function holds its argument twice")]
    pub(crate) fn send_direct_ending(
        &self,
        draft: DirectDraft,
        ends: Option<JobEnd>,
    ) -> impl Future<Output = Result<Sent, DomainError>> {
        async move {
            let running =
                self.0.directs.read().get(&draft.users).filter(|direct| direct.connected()).cloned();
            let direct = match running {
                Some(direct) => direct,
                None => self.actor()?.send(OpenDirect(draft.users.clone())).await.map_err(mailbox)?,
            };
            ask(&direct, |answer| crate::direct::SendDirect { draft, ends, answer }).await
        }
    }

    /// A message's body, from memory or the trees. May read the disk: microseconds, rarely more.
    ///
    /// # Errors
    /// `Storage`.
    pub fn message(&self, id: MessageId) -> Result<Option<Arc<ChatMessage>>, DomainError> {
        Ok(self.0.message(id)?)
    }

    /// Sets or clears a user's flag on messages.
    ///
    /// # Errors
    /// Those of every command.
    pub async fn change_flags(
        &self,
        user: UserId,
        flag: Flag,
        op: FlagOp,
        messages: MessageRanges,
    ) -> Result<(), DomainError> {
        // The owner's clients are told all the same that nothing had to change.
        if messages.is_empty() {
            return ask(self.actor()?, |answer| ChangeFlags { user, flag, op, messages, answer }).await;
        }
        // A frame is bounded, so very scattered messages go in several.
        for ranges in messages.0.chunks(FLAG_RANGES_MAX) {
            let messages = MessageRanges(ranges.to_vec());
            ask(self.actor()?, |answer| ChangeFlags { user, flag, op, messages, answer }).await?;
        }
        Ok(())
    }

    // --- events ---

    /// Registers an event queue. State that is read after this and the queue's events overlap, but never
    /// leave a gap: give the client the number of the view that the state was read from, or that of the queue
    /// if it is higher. Events that are not kept have numbers that no view knows.
    ///
    /// # Errors
    /// `TooManyQueues`.
    pub async fn register_queue(
        &self,
        user: UserId,
        options: QueueOptions,
    ) -> Result<RegisteredQueue, DomainError> {
        ask(self.actor()?, |answer| RegisterQueue { user, options, answer }).await
    }

    /// Acknowledges events and waits for more, or answers at once with `dont_block`.
    ///
    /// # Errors
    /// `BadEventQueue` for unknown, foreign and ended queues; `EventsPruned`, `EventUnknown`.
    pub async fn poll(
        &self,
        user: UserId,
        queue: &QueueId,
        last_event_id: Option<i64>,
        dont_block: bool,
    ) -> PollAnswer {
        let session = self.session(user, queue, last_event_id).await?;
        let newest = self.0.view.read().progress.last_event.0 as i64;
        let (answer, answered) = oneshot::channel();
        // Waits for room, too: events that are just being delivered must not turn a poll away.
        let asked = session.send(Poll { last_event_id, newest, dont_block, answer }).await;
        let answered = match asked {
            Ok(()) => answered.await.unwrap_or(Err(DomainError::Stopping)),
            Err(error) => Err(mailbox(error)),
        };
        match answered {
            // The queue ended between finding and asking it.
            Err(DomainError::Stopping) if self.0.queues.read().get(queue).is_none() => {
                Err(DomainError::BadEventQueue(queue.clone()))
            }
            answered => answered,
        }
    }

    /// What a queue was registered for.
    ///
    /// # Errors
    /// `BadEventQueue` for unknown and foreign queues.
    pub fn queue_options(
        &self,
        user: UserId,
        queue: &QueueId,
    ) -> Result<Arc<model::QueueRecord>, DomainError> {
        let view = self.0.view.read();
        let record = view.queues.get(queue).filter(|record| record.user == user);
        record.cloned().ok_or_else(|| DomainError::BadEventQueue(queue.clone()))
    }

    async fn session(
        &self,
        user: UserId,
        queue: &QueueId,
        last_event_id: Option<i64>,
    ) -> Result<Addr<SessionActor>, DomainError> {
        let running = self.0.queues.read().get(queue).cloned();
        match running {
            Some(running) if running.user == user => Ok(running.session),
            Some(_) => Err(DomainError::BadEventQueue(queue.clone())),
            None => {
                let (queue, last_event_id) = (queue.clone(), last_event_id.unwrap_or(-1));
                ask(self.actor()?, |answer| ResumeQueue { queue, user, last_event_id, answer }).await
            }
        }
    }

    /// Ends a queue; a waiting poll is answered first.
    ///
    /// # Errors
    /// `BadEventQueue` for unknown and foreign queues.
    pub async fn close_queue(&self, user: UserId, queue: QueueId) -> Result<(), DomainError> {
        self.queue_options(user, &queue)?;
        ask(self.actor()?, |answer| EndQueue { queue, user, answer: Some(answer) }).await
    }

    /// Tells `readers` that somebody starts or stops typing.
    ///
    /// # Errors
    /// Those of every command.
    pub async fn typing(
        &self,
        sender: Arc<User>,
        is_start: bool,
        place: TypingPlace,
        readers: Vec<UserId>,
    ) -> Result<(), DomainError> {
        ask(self.actor()?, |answer| Type { sender, is_start, place, readers, answer }).await
    }

    /// Notes that somebody is here.
    ///
    /// # Errors
    /// Those of every command.
    pub async fn report_presence(&self, user: Arc<User>, report: Report) -> Result<(), DomainError> {
        ask(self.actor()?, |answer| ReportPresence { user, report, answer }).await
    }

    /// Lets a user's own record be changed, and others see at once if that shows or hides the user's presence.
    async fn settle_own<C: SettledCommand>(
        &self,
        user: UserId,
        command: C,
    ) -> Result<C::Outcome, DomainError> {
        let shows = |user: &User| user_bool(user, "presence_enabled");
        let before = self.directory().user(user).map(|user| shows(user));
        let outcome = self.settle(command).await?;
        let after = self.directory().user(user).cloned();
        if let Some(user) = after.filter(|user| before != Some(shows(user))) {
            let report = if shows(&user) { Report::Active } else { Report::Hidden };
            // The change is durable whatever becomes of this; presence is said again with the next report.
            let _ = self.report_presence(user, report).await;
        }
        Ok(outcome)
    }

    /// Presences with a change after number `update` (all without one), and the number of the newest change.
    pub fn presences(&self, update: Option<u64>) -> (Vec<(UserId, Presence)>, u64) {
        let table = self.0.presence.lock();
        (table.since(update).collect(), table.last_update())
    }
}

fn mailbox(error: MailboxError) -> DomainError {
    match error {
        MailboxError::Closed => DomainError::Stopping,
        MailboxError::Timeout => DomainError::Overloaded,
    }
}
