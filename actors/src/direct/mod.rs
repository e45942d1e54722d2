//! A direct conversation's actor, the same in shape as a channel's: one order for everything said in it.

use crate::Answer;
use crate::changes::{Change, ChangeCommand, Home, TakeTurn, TakesTurns, first_submessage};
use crate::channel::IsIdle;
use crate::draft::{ContentFlags, Destination, DirectDraft, Sent, read_by_muters};
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::outbox::JobEnd;
use crate::shard::{Committer, Done, Sequencer, SettledQueue};
use crate::shared::RealmShared;
use crate::webhooks::NewMessage;
use actix::prelude::*;
use model::{DirectConversation, Fact, MessageId, Place, RecipientId, Timestamp, UserId};
use std::rc::Rc;
use std::sync::Arc;

/// Requests that may wait for one conversation.
const MAILBOX_MAX: usize = 1024;

/// Seconds without a request after which the actor goes away.
const IDLE_SECS_MAX: u64 = 120;

/// Send a message to the people of this conversation.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SendDirect {
    /// What to send.
    pub draft: DirectDraft,
    /// The job that sending it ends.
    pub(crate) ends: Option<JobEnd>,
    /// Gets the id when the message is durable.
    pub answer: Answer<Sent>,
}

/// Decides for one conversation.
pub struct DirectActor {
    users: Vec<UserId>,
    /// None until the first message, which makes the conversation.
    recipient: Option<RecipientId>,
    realm: Arc<RealmShared>,
    committer: Rc<Committer>,
    fanout: Rc<Fanout>,
    waiting: SettledQueue<Self>,
    last_used: Timestamp,
}

impl DirectActor {
    /// The actor of the conversation between `users` (sorted).
    pub fn load(
        users: Vec<UserId>,
        realm: &Arc<RealmShared>,
        committer: &Rc<Committer>,
        fanout: &Rc<Fanout>,
    ) -> Self {
        let recipient = realm.view.read().directory.direct_by_users(&users).map(|direct| direct.recipient);
        let last_used = realm.clock.now();
        let (realm, committer, fanout) = (realm.clone(), committer.clone(), fanout.clone());
        Self { users, recipient, realm, committer, fanout, waiting: SettledQueue::default(), last_used }
    }

    fn decide(
        &self,
        draft: DirectDraft,
    ) -> Result<(Sequencer, MessageId, RecipientId, Vec<Fact>), DomainError> {
        let mut ids = self.committer.ids(self.realm.id)?;
        let id = ids.take_message()?;
        let directory = self.realm.directory();
        let sender = draft.draft.sender.clone();
        let is_started = self.recipient.is_some();
        rules::permissions::direct::check_direct(&directory, &sender, &self.users, is_started)?;
        crate::draft::check_group_mentions(&draft.draft, &directory)?;
        let mut facts = Vec::new();
        let recipient = match self.recipient {
            Some(recipient) => recipient,
            None => {
                let recipient = ids.take_recipient();
                let conversation = DirectConversation { recipient, users: self.users.clone() };
                facts.push(Fact::DirectConversationCreated(conversation));
                recipient
            }
        };
        let (content, rendered) = (&draft.draft.content, &draft.draft.rendered);
        let flags = ContentFlags { content, rendered, participants: &[] };
        let mut flags = flags.of_readers(&directory, |user| self.users.contains(&user));
        read_by_muters(&mut flags, &directory, sender.id, |user| self.users.contains(&user));
        let widget = first_submessage(sender.id, content, &ids)?;
        let destination = Destination { recipient, place: Place::Direct, topic_links: Vec::new() };
        let echo = draft.draft.echo.clone();
        let now = self.realm.clock.now();
        let mut message = draft.draft.into_message(id, now, destination, flags);
        message.submessages.extend(widget);
        facts.push(Fact::MessageSent { message: Arc::new(message), echo });
        let new = NewMessage { realm: &self.realm, directory: &directory, sender: &sender, id, now };
        facts.extend(new.to_people(&self.users));
        Ok((ids, id, recipient, facts))
    }
}

impl Actor for DirectActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX_MAX);
    }
}

impl DirectActor {
    fn send(&mut self, draft: DirectDraft, ends: Option<JobEnd>, answer: Answer<Sent>) {
        let echo = draft.draft.echo.clone();
        let (ids, id, recipient, mut facts) = match self.decide(draft) {
            Ok(decided) => decided,
            Err(error) => return drop(answer.send(Err(error))),
        };
        facts.extend(ends.map(Fact::from));
        let sent = Sent { id, new_policy: None };
        let done = Box::new(move |result: Result<(), DomainError>| {
            let _ = answer.send(result.map(|()| sent));
        });
        if self.committer.commit(&self.realm, ids, facts, done) {
            self.recipient = Some(recipient);
            if let Some(echo) = echo {
                self.fanout.expect_echo(id, echo);
            }
        }
    }
}

impl TakesTurns for DirectActor {
    fn waiting(&mut self) -> &mut SettledQueue<Self> {
        &mut self.waiting
    }

    fn realm(&self) -> &Arc<RealmShared> {
        &self.realm
    }

    fn committer(&self) -> &Rc<Committer> {
        &self.committer
    }

    fn home(&self) -> Home<'_> {
        Home::Direct(&self.users)
    }

    fn commit_change(&mut self, ids: Sequencer, facts: Vec<Fact>, done: Done) {
        self.committer.commit(&self.realm, ids, facts, done);
    }
}

impl Handler<TakeTurn> for DirectActor {
    type Result = ();

    fn handle(&mut self, _: TakeTurn, ctx: &mut Self::Context) {
        self.take_turn(ctx);
    }
}

impl<C: ChangeCommand> Handler<Change<C>> for DirectActor {
    type Result = ();

    fn handle(&mut self, change: Change<C>, ctx: &mut Self::Context) {
        self.last_used = self.realm.clock.now();
        self.change(ctx, change);
    }
}

impl Handler<SendDirect> for DirectActor {
    type Result = ();

    fn handle(&mut self, SendDirect { draft, ends, answer }: SendDirect, ctx: &mut Self::Context) {
        self.last_used = self.realm.clock.now();
        self.in_order(ctx, false, answer, move |actor, answer| actor.send(draft, ends, answer));
    }
}

impl Handler<IsIdle> for DirectActor {
    type Result = ();

    /// As for channels: only while nothing it decided is still on its way to the disk, and nobody waits.
    fn handle(&mut self, _: IsIdle, ctx: &mut Self::Context) {
        let idle_millis = self.realm.clock.now().millis_since(self.last_used);
        let is_unused = self.waiting.is_empty() && self.committer.is_idle();
        if idle_millis > IDLE_SECS_MAX * 1000 && is_unused {
            self.realm.directs.write().remove(&self.users);
            ctx.stop();
        }
    }
}
