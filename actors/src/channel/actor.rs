//! The actor around `ChannelState`: takes ids, commits, and remembers what it committed.

use super::commands::{ApplyFacts, IsIdle, SendMessage, Unsubscribe, Unsubscribed, UnsubscribedPart};
use super::participants::participants;
use super::state::{ChannelState, SendContext, SendDecision};
use super::unsubscribing::{UnreadPart, removed_facts};
use crate::ReplySender;
use crate::account::Charged;
use crate::changes::{Change, ChangeCommand, ConversationKey, DecidesChanges, first_submessage};
use crate::direct::{DirectContext, message_facts};
use crate::draft::{ChannelDraft, DirectDraft, Sent};
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::mailbox::BoundedMailbox;
use crate::shard::{BasedOn, CommitCallback, Committer, RunNext, Sequencer, SerialActor, SerialQueue};
use crate::shared::{FLAG_RANGES_MAX, RealmShared, SUBSCRIBERS_MAX};
use crate::uploads::claim_in;
use crate::webhooks::NewMessage;
use actix::prelude::*;
use model::{ChannelId, Directory, Fact, MessageFact, MessageId, TopicKey, UserId};
use parking_lot::RwLock;
use rules::bots::bots_leaving_with;
use rules::permissions::create::{check_may_remove_subscribers, is_own_subscription};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use storage::View;

/// Seconds without a request after which the actor stops; the next request starts it again.
const IDLE_SECS_MAX: u64 = 300;

/// The running channel actors of an organization.
pub type Channels = Arc<RwLock<HashMap<ChannelId, Arc<Addr<ChannelActor>>>>>;

/// Decides for one channel.
pub struct ChannelActor {
    pub(super) id: ChannelId,
    pub(super) state: ChannelState,
    pub(super) realm: Arc<RealmShared>,
    pub(super) committer: Rc<Committer>,
    fanout: Rc<Fanout>,
    channels: Channels,
    queue: SerialQueue<Self>,
    /// Whether another actor has decided something about this channel that may not be durable yet.
    has_unpublished_facts: bool,
    /// The generation of the shard that the state is from.
    generation: u64,
}

impl ChannelActor {
    /// The actor of a channel; `None` if the channel does not exist.
    pub fn load(
        id: ChannelId,
        realm: &Arc<RealmShared>,
        committer: &Rc<Committer>,
        fanout: &Rc<Fanout>,
        channels: &Channels,
    ) -> Option<Self> {
        let view = realm.view.read();
        Some(Self {
            id,
            state: load_state(&view, &view.directory, id)?,
            realm: realm.clone(),
            committer: committer.clone(),
            fanout: fanout.clone(),
            channels: channels.clone(),
            queue: SerialQueue::used_at(realm.clock.monotonic()),
            has_unpublished_facts: false,
            generation: committer.generation(),
        })
    }

    /// The notice to the owner of a bot is sent with the message, or alone if the message is refused.
    fn send(
        &mut self,
        ctx: &Context<Self>,
        mut draft: ChannelDraft,
        ends: Option<Fact>,
        answer: ReplySender<Sent>,
    ) {
        let echo = draft.draft.echo.clone();
        self.state.uncommitted = self.committer.uncommitted_channel(self.realm.id, self.id);
        // The organization's actor may just have subscribed users who must receive this message.
        for (user, subscription) in self.committer.new_subscriptions(self.realm.id, self.id) {
            self.state.add_subscription(user, subscription);
        }
        let mut ids = match self.committer.ids(self.realm.id) {
            Ok(ids) => ids,
            Err(error) => return drop(answer.send(Err(error))),
        };
        let notice = draft.owner_notice.take();
        let mut facts = notice.map(|notice| self.owner_notice(*notice, &mut ids)).unwrap_or_default();
        let decided = match self.decide(draft, ids) {
            Err(error) if !facts.is_empty() => {
                self.commit(ctx, ids, facts, Box::new(move |_| drop(answer.send(Err(error)))));
                return;
            }
            decided => decided.map(|(ids, id, decision)| {
                if facts.is_empty() {
                    facts = decision.facts;
                } else {
                    facts.extend(decision.facts);
                }
                facts.extend(ends);
                (ids, Sent { id, new_policy: decision.new_policy }, facts)
            }),
        };
        let id = decided.as_ref().ok().map(|(_, sent, _)| sent.id);
        if self.conclude(ctx, decided, answer)
            && let (Some(id), Some(echo)) = (id, echo)
        {
            self.fanout.expect_echo(id, echo);
        }
    }

    fn owner_notice(&self, notice: DirectDraft, ids: &mut Sequencer) -> Vec<Fact> {
        let (directory, before) = (self.realm.directory(), *ids);
        let known = directory.direct_by_users(&notice.users).map(|direct| direct.recipient);
        let recipient = known.or_else(|| self.committer.uncommitted_direct(self.realm.id, &notice.users));
        let now = self.realm.clock.now();
        let context = DirectContext { realm: &self.realm, directory: &directory, now, recipient };
        match message_facts(&context, notice, ids) {
            Ok((_, facts)) => facts,
            Err(error) => {
                *ids = before;
                tracing::warn!(%error, "the owner of a bot could not be notified");
                Vec::new()
            }
        }
    }

    fn decide(
        &self,
        mut draft: ChannelDraft,
        mut ids: Sequencer,
    ) -> Result<(Sequencer, MessageId, SendDecision), DomainError> {
        let id = ids.take_message()?;
        let view = self.realm.view.read();
        claim_in(&view, &mut draft.draft);
        let participants = match draft.draft.rendered.mentions.topic_wildcard {
            true => participants(&view, self.id, &TopicKey::new(&draft.topic)),
            false => Vec::new(),
        };
        let now = self.realm.clock.now();
        let durable = view.progress.sequence;
        let context =
            SendContext { directory: &view.directory, participants: &participants, id, now, durable };
        let widget = first_submessage(&draft.draft, &ids)?;
        let sender = draft.draft.sender.clone();
        let (directory, jobs) = (&view.directory, &view.jobs);
        let new = NewMessage { realm: &self.realm, directory, jobs, sender: &sender, id, now };
        let channel = view.directory.channel(self.id);
        let asked = channel.map(|channel| new.mentioning(channel, &draft.draft.rendered));
        let mut decision = self.state.send(draft, widget, &context)?;
        decision.facts.extend(asked.into_iter().flatten());
        Ok((ids, id, decision))
    }

    fn forward_to_destination(&self, facts: Vec<Fact>) {
        let destination = facts.iter().find_map(|fact| {
            let Fact::Message(MessageFact::Updated(update)) = fact else { return None };
            Some(update.movement.as_ref()?.new_channel.as_ref()?.channel)
        });
        let Some(destination) = destination else { return };
        if let Some(actor) = self.channels.read().get(&destination) {
            actor.do_send(ApplyFacts(facts.into(), self.committer.generation()));
        }
    }

    /// Drops decisions that never became durable, after the shard has restarted from the durable state.
    fn refresh(&mut self) {
        let generation = self.committer.generation();
        if self.generation != generation {
            (self.generation, self.has_unpublished_facts) = (generation, false);
            self.reload();
        }
    }

    /// Reloads the durable state.
    fn reload(&mut self) {
        let view = self.realm.view.read();
        if let Some(state) = load_state(&view, &view.directory, self.id) {
            self.state = state;
        }
    }

    /// Runs a command that does not need durable state, after the waiting commands.
    pub(super) fn run_in_order<T: 'static>(
        &mut self,
        ctx: &mut Context<Self>,
        answer: ReplySender<T>,
        run: impl FnOnce(&mut Self, &mut Context<Self>, ReplySender<T>) + 'static,
    ) {
        self.refresh();
        self.in_order(ctx, BasedOn::Uncommitted, answer, run);
    }

    fn unsubscribe(
        &mut self,
        users: Vec<UserId>,
        by: UserId,
    ) -> Result<(Sequencer, UnsubscribedPart, Vec<Fact>), DomainError> {
        let ids = self.committer.ids(self.realm.id)?;
        check_unsubscribe(&self.realm.directory(), self.id, &users, by)?;
        let mut removed = self.state.subscribed_among(&users);
        let not_subscribed = users.into_iter().filter(|user| !removed.contains(user)).collect();
        self.add_their_bots(&mut removed);
        let mut left = removed.split_off(removed.len().min(SUBSCRIBERS_MAX));
        let unread = UnreadPart::of(&self.realm.view.read(), self.id, &removed, FLAG_RANGES_MAX);
        left.extend(removed.split_off(unread.fitting.len()));
        let outcome = Unsubscribed { removed, not_subscribed };
        let part = UnsubscribedPart { outcome, left, unread: unread.rest };
        let facts = match unread.fitting.is_empty() {
            true => Vec::new(),
            false => removed_facts(self.id, unread.fitting, ids.last_message(), by),
        };
        Ok((ids, part, facts))
    }

    /// Adds the subscribed bots of users who leave and cannot read the channel any more.
    fn add_their_bots(&self, leaving: &mut Vec<UserId>) {
        let directory = self.realm.directory();
        let Some(channel) = directory.channel(self.id) else { return };
        let mut bots = self.state.subscribed_among(&bots_leaving_with(&directory, channel, leaving));
        bots.retain(|bot| !leaving.contains(bot));
        leaving.extend(bots);
    }
}

/// Users may unsubscribe themselves and their bots, others only with a permission.
fn check_unsubscribe(
    directory: &Directory,
    id: ChannelId,
    users: &[UserId],
    by: UserId,
) -> Result<(), DomainError> {
    let (Some(requester), Some(channel)) = (directory.user(by), directory.channel(id)) else {
        return Err(DomainError::InvalidApiKey);
    };
    if users.iter().all(|user| is_own_subscription(directory, by, *user)) {
        return Ok(());
    }
    Ok(check_may_remove_subscribers(directory, requester, &[channel])?)
}

/// The state of a channel with the messages of `view` and all else of `directory`; `None` if there is no such channel.
pub(crate) fn load_state(view: &View, directory: &Directory, id: ChannelId) -> Option<ChannelState> {
    let channel = directory.channel(id)?;
    let messages = view.messages.channels.get(&id);
    let topics = messages.into_iter().flat_map(|messages| &messages.topics);
    let topics = topics.map(|(key, topic)| (key.clone(), topic.ids.len())).collect();
    Some(ChannelState::new(channel, directory.subscriptions_of(id), topics))
}

impl BoundedMailbox for ChannelActor {
    const MAILBOX_MAX: usize = 4096;
}

impl Actor for ChannelActor {
    type Context = Context<Self>;

    /// Another actor may have decided something about the channel just before this one started, and it is
    /// not durable yet. Nothing is decided before it is.
    fn started(&mut self, ctx: &mut Self::Context) {
        if !self.committer.is_idle()
            && self.queue.push(BasedOn::Durable, Box::new(|actor: &mut Self, _| actor.reload()))
        {
            self.schedule_next(ctx);
        }
    }
}

impl SerialActor for ChannelActor {
    fn queue(&mut self) -> &mut SerialQueue<Self> {
        &mut self.queue
    }

    fn realm(&self) -> &Arc<RealmShared> {
        &self.realm
    }

    fn committer(&self) -> &Rc<Committer> {
        &self.committer
    }

    /// The destination channel of a move receives the facts, too.
    fn commit(&mut self, _: &Context<Self>, ids: Sequencer, facts: Vec<Fact>, done: CommitCallback) -> bool {
        let (known, sequence) = (facts.clone(), ids.sequence);
        let accepted = self.committer.commit(&self.realm, ids, facts, done);
        if accepted {
            known.iter().for_each(|fact| self.state.apply(fact));
            let durable = self.realm.view.read().progress.sequence;
            self.state.policies.note(self.id, &known, sequence, durable);
            self.forward_to_destination(known);
        }
        accepted
    }
}

impl DecidesChanges for ChannelActor {
    fn conversation_key(&self) -> ConversationKey<'_> {
        ConversationKey::Channel(self.id)
    }
}

impl Handler<RunNext> for ChannelActor {
    type Result = ();

    /// Facts that arrived since this was scheduled may not be durable yet: then it is scheduled again. After a failure of
    /// the shard, the commands get the error.
    fn handle(&mut self, _: RunNext, ctx: &mut Self::Context) {
        self.refresh();
        let is_changing = self.committer.uncommitted_channel(self.realm.id, self.id).is_some()
            || self.committer.is_awaiting_messages(self.realm.id, self.id);
        let is_working = self.committer.ids(self.realm.id).is_ok();
        if (std::mem::take(&mut self.has_unpublished_facts) || is_changing) && is_working {
            return self.schedule_next(ctx);
        }
        self.run_next(ctx);
    }
}

impl<C: ChangeCommand> Handler<Change<C>> for ChannelActor {
    type Result = ();

    fn handle(&mut self, change: Change<C>, ctx: &mut Self::Context) {
        self.refresh();
        self.change(ctx, change);
    }
}

impl Handler<SendMessage> for ChannelActor {
    type Result = ();

    fn handle(&mut self, SendMessage { draft, ends, answer }: SendMessage, ctx: &mut Self::Context) {
        self.run_in_order(ctx, answer, move |actor, ctx, answer| actor.send(ctx, draft, ends, answer));
    }
}

impl Handler<Unsubscribe> for ChannelActor {
    type Result = ();

    fn handle(&mut self, request: Unsubscribe, ctx: &mut Self::Context) {
        let Unsubscribe { users, by, answer } = request;
        self.refresh();
        // Messages that are not durable yet are unread, too, and must be marked as read.
        self.in_order(ctx, BasedOn::Durable, answer, move |actor, ctx, answer| {
            let decided = actor.unsubscribe(users, by);
            actor.conclude(ctx, decided, answer);
        });
    }
}

impl Handler<ApplyFacts> for ChannelActor {
    type Result = ();

    /// Another actor of the organization decided something about this channel.
    fn handle(&mut self, ApplyFacts(facts, generation): ApplyFacts, _: &mut Self::Context) {
        self.refresh();
        if generation != self.generation {
            return;
        }
        facts.iter().for_each(|fact| self.state.apply(fact));
        self.has_unpublished_facts = true;
    }
}

impl Handler<IsIdle> for ChannelActor {
    type Result = ();

    fn handle(&mut self, _: IsIdle, ctx: &mut Self::Context) {
        if self.is_unused_for(IDLE_SECS_MAX) {
            self.channels.write().remove(&self.id);
            ctx.stop();
        }
    }
}

impl<M> Handler<Charged<M>> for ChannelActor
where
    Self: Handler<M>,
    M: Message<Result = ()>,
{
    type Result = ();

    fn handle(&mut self, charged: Charged<M>, ctx: &mut Self::Context) {
        charged.handle(self, ctx);
    }
}
