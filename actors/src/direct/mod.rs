//! The actor of a direct conversation, which orders its messages as a channel's actor does.

use crate::ReplySender;
use crate::account::Charged;
use crate::changes::{Change, ChangeCommand, ConversationKey, DecidesChanges, first_submessage};
use crate::channel::IsIdle;
use crate::draft::{ContentFlags, Destination, DirectDraft, Sent, read_by_muters};
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::mailbox::BoundedMailbox;
use crate::shard::{BasedOn, CommitCallback, Committer, RunNext, Sequencer, SerialActor, SerialQueue};
use crate::shared::RealmShared;
use crate::uploads::{claim_for, claims_of_sent};
use crate::webhooks::NewMessage;
use actix::prelude::*;
use model::{
    DirectConversation, Directory, Fact, MessageFact, MessageId, Place, RecipientId, Timestamp, User, UserId,
};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// Seconds without a request after which the actor stops.
const IDLE_SECS_MAX: u64 = 120;

/// Sends a message to the users of this conversation.
#[derive(Message)]
#[rtype(result = "()")]
pub struct SendDirect {
    pub draft: DirectDraft,
    /// What ends with this message, in the same frame: a job or a scheduled message.
    pub(crate) ends: Option<Fact>,
    pub answer: ReplySender<Sent>,
}

/// The running actors of direct conversations, by their users (sorted).
pub type Directs = Arc<RwLock<HashMap<Vec<UserId>, Addr<DirectActor>>>>;

/// Decides for one conversation.
pub struct DirectActor {
    users: Vec<UserId>,
    realm: Arc<RealmShared>,
    committer: Rc<Committer>,
    fanout: Rc<Fanout>,
    directs: Directs,
    queue: SerialQueue<Self>,
}

impl DirectActor {
    /// The actor of the conversation between `users` (sorted).
    pub fn load(
        users: Vec<UserId>,
        realm: &Arc<RealmShared>,
        committer: &Rc<Committer>,
        fanout: &Rc<Fanout>,
        directs: &Directs,
    ) -> Self {
        Self {
            users,
            realm: realm.clone(),
            committer: committer.clone(),
            fanout: fanout.clone(),
            directs: directs.clone(),
            queue: SerialQueue::used_at(realm.clock.monotonic()),
        }
    }

    fn decide(&self, draft: DirectDraft) -> Result<Decided, DomainError> {
        let mut ids = self.committer.ids(self.realm.id)?;
        let directory = self.realm.directory();
        let recipient = directory.direct_by_users(&self.users).map(|direct| direct.recipient);
        let recipient = recipient.or_else(|| self.committer.uncommitted_direct(self.realm.id, &self.users));
        let now = self.realm.clock.now();
        let context = DirectContext { realm: &self.realm, directory: &directory, now, recipient };
        let starter = starter(&draft.draft.sender).filter(|_| recipient.is_none());
        let (id, facts) = message_facts(&context, draft, &mut ids)?;
        if let Some(starter) = starter {
            self.committer.check_conversation(self.realm.id, starter)?;
        }
        Ok(Decided { ids, id, facts, starter })
    }
}

/// What was decided about a direct message.
struct Decided {
    ids: Sequencer,
    id: MessageId,
    facts: Vec<Fact>,
    /// The account that starts the conversation by it, if it is new.
    starter: Option<UserId>,
}

/// The account whose conversations those that a sender starts are counted as: of a bot its owner; none for the system bots.
fn starter(sender: &User) -> Option<UserId> {
    if sender.is_bot() { sender.owner() } else { Some(sender.id) }
}

/// The state that a direct message is decided from.
pub(crate) struct DirectContext<'a> {
    pub realm: &'a RealmShared,
    pub directory: &'a Directory,
    pub now: Timestamp,
    /// The conversation; `None` before its first message.
    pub recipient: Option<RecipientId>,
}

/// The facts of a direct message; the first one creates the conversation.
pub(crate) fn message_facts(
    context: &DirectContext<'_>,
    draft: DirectDraft,
    ids: &mut Sequencer,
) -> Result<(MessageId, Vec<Fact>), DomainError> {
    let DirectDraft { mut draft, users } = draft;
    let (directory, now) = (context.directory, context.now);
    let id = ids.take_message()?;
    let sender = draft.sender.clone();
    rules::permissions::direct::check_direct(directory, &sender, &users, context.recipient.is_some())?;
    crate::draft::check_group_mentions(&draft, directory)?;
    let flags = ContentFlags { content: &draft.content, rendered: &draft.rendered, participants: &[] };
    let is_participant = |user: UserId| users.binary_search(&user).is_ok();
    let mut flags = flags.of_readers(directory, is_participant);
    read_by_muters(&mut flags, directory, sender.id, is_participant);
    let widget = first_submessage(&draft, ids)?;
    let mut facts = Vec::new();
    let recipient = match context.recipient {
        Some(recipient) => recipient,
        None => {
            let recipient = ids.take_recipient()?;
            let conversation = DirectConversation { recipient, users: users.clone() };
            facts.push(Fact::Message(MessageFact::ConversationCreated(conversation)));
            recipient
        }
    };
    claim_for(context.realm, &mut draft);
    facts.extend(claims_of_sent(id, now, draft.claims.clone()));
    let destination = Destination { recipient, place: Place::Direct, topic_links: Vec::new() };
    let echo = draft.echo.clone();
    let mut message = draft.into_message(id, now, destination, flags);
    message.submessages.extend(widget);
    facts.push(Fact::Message(MessageFact::Sent { message: Arc::new(message), echo }));
    let view = context.realm.view.read();
    let new = NewMessage { realm: context.realm, directory, jobs: &view.jobs, sender: &sender, id, now };
    facts.extend(new.to_people(&users));
    Ok((id, facts))
}

impl BoundedMailbox for DirectActor {
    const MAILBOX_MAX: usize = 1024;
}

impl Actor for DirectActor {
    type Context = Context<Self>;
}

impl DirectActor {
    fn send(
        &mut self,
        ctx: &Context<Self>,
        draft: DirectDraft,
        ends: Option<Fact>,
        answer: ReplySender<Sent>,
    ) {
        let echo = draft.draft.echo.clone();
        let Decided { ids, id, mut facts, starter } = match self.decide(draft) {
            Ok(decided) => decided,
            Err(error) => return drop(answer.send(Err(error))),
        };
        facts.extend(ends);
        if self.conclude(ctx, Ok((ids, Sent { id, new_policy: None }, facts)), answer) {
            if let Some(starter) = starter {
                self.committer.charge_conversation(self.realm.id, starter);
            }
            if let Some(echo) = echo {
                self.fanout.expect_echo(id, echo);
            }
        }
    }
}

impl SerialActor for DirectActor {
    fn queue(&mut self) -> &mut SerialQueue<Self> {
        &mut self.queue
    }

    fn realm(&self) -> &Arc<RealmShared> {
        &self.realm
    }

    fn committer(&self) -> &Rc<Committer> {
        &self.committer
    }

    fn commit(&mut self, _: &Context<Self>, ids: Sequencer, facts: Vec<Fact>, done: CommitCallback) -> bool {
        self.committer.commit(&self.realm, ids, facts, done)
    }
}

impl DecidesChanges for DirectActor {
    fn conversation_key(&self) -> ConversationKey<'_> {
        ConversationKey::Direct(&self.users)
    }
}

impl Handler<RunNext> for DirectActor {
    type Result = ();

    fn handle(&mut self, _: RunNext, ctx: &mut Self::Context) {
        self.run_next(ctx);
    }
}

impl<C: ChangeCommand> Handler<Change<C>> for DirectActor {
    type Result = ();

    fn handle(&mut self, change: Change<C>, ctx: &mut Self::Context) {
        self.change(ctx, change);
    }
}

impl Handler<SendDirect> for DirectActor {
    type Result = ();

    fn handle(&mut self, SendDirect { draft, ends, answer }: SendDirect, ctx: &mut Self::Context) {
        self.in_order(ctx, BasedOn::Uncommitted, answer, move |actor, ctx, answer| {
            actor.send(ctx, draft, ends, answer)
        });
    }
}

impl Handler<IsIdle> for DirectActor {
    type Result = ();

    fn handle(&mut self, _: IsIdle, ctx: &mut Self::Context) {
        if self.is_unused_for(IDLE_SECS_MAX) {
            self.directs.write().remove(&self.users);
            ctx.stop();
        }
    }
}

impl<M> Handler<Charged<M>> for DirectActor
where
    Self: Handler<M>,
    M: Message<Result = ()>,
{
    type Result = ();

    fn handle(&mut self, charged: Charged<M>, ctx: &mut Self::Context) {
        charged.handle(self, ctx);
    }
}

#[cfg(test)]
mod tests;
