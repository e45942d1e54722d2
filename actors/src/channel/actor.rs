//! The shell around `ChannelState`: takes ids, commits, and remembers what it committed.

use super::messages::{IsIdle, SendMessage, Subscribe, Subscribed, Unsubscribe, Unsubscribed};
use super::participants::participants;
use super::state::{ChannelState, SendContext, SendDecision};
use crate::Answer;
use crate::changes::{Change, ChangeCommand, Home, TakeTurn, TakesTurns, first_submessage};
use crate::draft::{ChannelDraft, Sent};
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::outbox::JobEnd;
use crate::realm::LearnFacts;
use crate::shard::{Committer, Done, Sequencer, SettledQueue};
use crate::shared::RealmShared;
use crate::webhooks::NewMessage;
use actix::prelude::*;
use model::fact::MessageRanges;
use model::{ChannelId, Fact, Flag, FlagOp, MessageId, Timestamp, TopicKey, UserId};
use std::rc::Rc;
use std::sync::Arc;
use storage::View;

/// Requests that may wait for one channel. Past it they are refused as overloaded.
pub const MAILBOX_MAX: usize = 4096;

/// Seconds without a request after which the actor goes away; the next request starts it again.
const IDLE_SECS_MAX: u64 = 300;

/// Decides for one channel.
pub struct ChannelActor {
    pub(super) id: ChannelId,
    pub(super) state: ChannelState,
    pub(super) realm: Arc<RealmShared>,
    pub(super) committer: Rc<Committer>,
    fanout: Rc<Fanout>,
    waiting: SettledQueue<Self>,
    /// Others have decided something about this channel that may not be durable yet.
    has_learned: bool,
    last_used: Timestamp,
}

impl ChannelActor {
    /// The actor of a channel that exists; none when it does not.
    pub fn load(
        id: ChannelId,
        realm: &Arc<RealmShared>,
        committer: &Rc<Committer>,
        fanout: &Rc<Fanout>,
    ) -> Option<Self> {
        let state = load_state(&realm.view.read(), id)?;
        let last_used = realm.clock.now();
        let (realm, committer, fanout) = (realm.clone(), committer.clone(), fanout.clone());
        let waiting = SettledQueue::default();
        Some(Self { id, state, realm, committer, fanout, waiting, has_learned: false, last_used })
    }

    fn send(&mut self, draft: ChannelDraft, ends: Option<JobEnd>, answer: Answer<Sent>) {
        let echo = draft.draft.echo.clone();
        self.state.ahead = self.committer.channel_ahead(self.realm.id, self.id);
        match self.decide(draft) {
            Err(error) => {
                let _ = answer.send(Err(error));
            }
            Ok((ids, id, mut decision)) => {
                decision.facts.extend(ends.map(Fact::from));
                let sent = Sent { id, new_policy: decision.new_policy };
                let done = Box::new(move |result: Result<(), DomainError>| {
                    let _ = answer.send(result.map(|()| sent));
                });
                if self.commit(ids, decision.facts, done)
                    && let Some(echo) = echo
                {
                    self.fanout.expect_echo(id, echo);
                }
            }
        }
    }

    fn decide(&self, draft: ChannelDraft) -> Result<(Sequencer, MessageId, SendDecision), DomainError> {
        let mut ids = self.committer.ids(self.realm.id)?;
        let id = ids.take_message()?;
        let view = self.realm.view.read();
        let participants = match draft.draft.rendered.mentions.topic_wildcard {
            true => participants(&view, self.id, &TopicKey::new(&draft.topic)),
            false => Vec::new(),
        };
        let now = self.realm.clock.now();
        let durable = view.progress.sequence;
        let context =
            SendContext { directory: &view.directory, participants: &participants, id, now, durable };
        let widget = first_submessage(draft.draft.sender.id, &draft.draft.content, &ids)?;
        let sender = draft.draft.sender.clone();
        let new = NewMessage { realm: &self.realm, directory: &view.directory, sender: &sender, id, now };
        let channel = view.directory.channel(self.id);
        let asked = channel.map(|channel| new.mentioning(channel, &draft.draft.rendered));
        let mut decision = self.state.send(draft, widget, &context)?;
        decision.facts.extend(asked.into_iter().flatten());
        Ok((ids, id, decision))
    }

    /// Commits, and remembers what was committed ahead of the disk. A channel to which messages moved learns of it.
    pub(super) fn commit(&mut self, ids: Sequencer, facts: Vec<Fact>, done: Done) -> bool {
        let (known, sequence) = (facts.clone(), ids.sequence);
        let accepted = self.committer.commit(&self.realm, ids, facts, done);
        if accepted {
            known.iter().for_each(|fact| self.state.apply(fact));
            let durable = self.realm.view.read().progress.sequence;
            self.state.policies.note(self.id, &known, sequence, durable);
            self.tell_destination(known);
        }
        accepted
    }

    fn tell_destination(&self, facts: Vec<Fact>) {
        let moves = facts.iter().filter_map(|fact| match fact {
            Fact::MessageUpdated(update) => update.movement.as_ref()?.new_channel.as_ref(),
            _ => None,
        });
        let Some(destination) = moves.map(|arrival| arrival.channel).next() else { return };
        if let Some(actor) = self.realm.channels.read().get(&destination) {
            actor.do_send(LearnFacts(facts.into()));
        }
    }

    /// Begins anew from what is durable.
    fn reload(&mut self) {
        if let Some(state) = load_state(&self.realm.view.read(), self.id) {
            self.state = state;
        }
    }

    /// Runs a command that may run ahead of the disk, unless others wait for their turn.
    pub(super) fn run_in_order<T: 'static>(
        &mut self,
        ctx: &mut Context<Self>,
        answer: Answer<T>,
        run: impl FnOnce(&mut Self, Answer<T>) + 'static,
    ) {
        self.last_used = self.realm.clock.now();
        self.in_order(ctx, false, answer, run);
    }

    fn subscribe(&mut self, users: Vec<(UserId, String)>, by: UserId, answer: Answer<Subscribed>) {
        let all: Vec<UserId> = users.iter().map(|(user, _)| *user).collect();
        let ids = match self.committer.ids(self.realm.id) {
            Ok(ids) => ids,
            Err(error) => return drop(answer.send(Err(error))),
        };
        let new = self.state.subscribe(users, ids.last_message());
        let subscribed: Vec<UserId> = new.iter().map(|(user, _)| *user).collect();
        let already = all.into_iter().filter(|user| !subscribed.contains(user)).collect();
        let outcome = Subscribed { subscribed, already };
        if new.is_empty() {
            return drop(answer.send(Ok(outcome)));
        }
        let fact = Fact::Subscribed { channel: self.id, subscribers: new, by };
        let done = Box::new(move |result: Result<(), DomainError>| {
            let _ = answer.send(result.map(|()| outcome));
        });
        self.commit(ids, vec![fact], done);
    }

    fn unsubscribe(&mut self, users: Vec<UserId>, by: UserId, answer: Answer<Unsubscribed>) {
        let ids = match self.committer.ids(self.realm.id) {
            Ok(ids) => ids,
            Err(error) => return drop(answer.send(Err(error))),
        };
        let removed = self.state.unsubscribe(&users);
        let not_subscribed = users.into_iter().filter(|user| !removed.contains(user)).collect();
        let outcome = Unsubscribed { removed: removed.clone(), not_subscribed };
        if removed.is_empty() {
            return drop(answer.send(Ok(outcome)));
        }
        let last = ids.last_message();
        let facts = self.unsubscribe_facts(removed, last, by);
        let done = Box::new(move |result: Result<(), DomainError>| {
            let _ = answer.send(result.map(|()| outcome));
        });
        self.commit(ids, facts, done);
    }

    /// Unsubscribing also marks the user's unread messages of the channel as read (endpoints.md 22).
    fn unsubscribe_facts(&self, removed: Vec<UserId>, last: MessageId, by: UserId) -> Vec<Fact> {
        let view = self.realm.view.read();
        let mut facts = vec![Fact::Unsubscribed { channel: self.id, last, users: removed.clone(), by }];
        for user in removed {
            let own = view.channel_ids(self.id).map(|ids| view.had_of(user, self.id, ids));
            let unread = view.unread_of(user, &own.unwrap_or_default());
            if !unread.is_empty() {
                let messages = MessageRanges::from_sorted(unread.iter().map(MessageId));
                facts.push(Fact::FlagsChanged { user, flag: Flag::Read, op: FlagOp::Add, messages });
            }
        }
        facts
    }
}

fn load_state(view: &View, id: ChannelId) -> Option<ChannelState> {
    let channel = view.directory.channel(id)?;
    let messages = view.messages.channels.get(&id);
    let topics = messages.into_iter().flat_map(|messages| &messages.topics);
    let topics = topics.map(|(key, topic)| (key.clone(), topic.ids.len())).collect();
    Some(ChannelState::new(channel, view.directory.subscriptions_of(id), topics))
}

impl Actor for ChannelActor {
    type Context = Context<Self>;

    /// Somebody else may have decided something about the channel just before this actor came to be, and it is
    /// not durable yet. Nothing is decided before it is.
    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX_MAX);
        if !self.committer.is_idle()
            && self.waiting.push(true, Box::new(|actor: &mut Self, _| actor.reload()))
        {
            self.ask_for_turn(ctx);
        }
    }
}

impl TakesTurns for ChannelActor {
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
        Home::Channel(self.id)
    }

    fn commit_change(&mut self, ids: Sequencer, facts: Vec<Fact>, done: Done) {
        self.commit(ids, facts, done);
    }
}

impl Handler<TakeTurn> for ChannelActor {
    type Result = ();

    /// What was learned since the turn was asked for may not be durable yet: then it is asked for again. Where
    /// nothing becomes durable any more, the commands find out.
    fn handle(&mut self, _: TakeTurn, ctx: &mut Self::Context) {
        let is_changing = self.committer.channel_ahead(self.realm.id, self.id).is_some()
            || self.committer.is_awaiting_messages(self.realm.id, self.id);
        let is_working = self.committer.ids(self.realm.id).is_ok();
        if (std::mem::take(&mut self.has_learned) || is_changing) && is_working {
            return self.ask_for_turn(ctx);
        }
        self.take_turn(ctx);
    }
}

impl<C: ChangeCommand> Handler<Change<C>> for ChannelActor {
    type Result = ();

    fn handle(&mut self, change: Change<C>, ctx: &mut Self::Context) {
        self.last_used = self.realm.clock.now();
        self.change(ctx, change);
    }
}

impl Handler<SendMessage> for ChannelActor {
    type Result = ();

    fn handle(&mut self, SendMessage { draft, ends, answer }: SendMessage, ctx: &mut Self::Context) {
        self.run_in_order(ctx, answer, move |actor, answer| actor.send(draft, ends, answer));
    }
}

impl Handler<Subscribe> for ChannelActor {
    type Result = ();

    fn handle(&mut self, request: Subscribe, ctx: &mut Self::Context) {
        let Subscribe { users, by, answer } = request;
        self.run_in_order(ctx, answer, move |actor, answer| actor.subscribe(users, by, answer));
    }
}

impl Handler<Unsubscribe> for ChannelActor {
    type Result = ();

    fn handle(&mut self, request: Unsubscribe, ctx: &mut Self::Context) {
        let Unsubscribe { users, by, answer } = request;
        self.last_used = self.realm.clock.now();
        // Messages on their way to the disk are unread, too, and must not stay so.
        self.in_order(ctx, true, answer, move |actor, answer| actor.unsubscribe(users, by, answer));
    }
}

impl Handler<LearnFacts> for ChannelActor {
    type Result = ();

    /// Another actor of the organization decided something about this channel.
    fn handle(&mut self, LearnFacts(facts): LearnFacts, _: &mut Self::Context) {
        facts.iter().for_each(|fact| self.state.apply(fact));
        self.has_learned = true;
    }
}

impl Handler<IsIdle> for ChannelActor {
    type Result = ();

    /// Goes away when unused, and only while nothing it decided is still on its way to the disk and nobody
    /// waits: its next life starts from what is durable.
    fn handle(&mut self, _: IsIdle, ctx: &mut Self::Context) {
        let idle_millis = self.realm.clock.now().millis_since(self.last_used);
        let is_unused = self.waiting.is_empty() && self.committer.is_idle();
        if idle_millis > IDLE_SECS_MAX * 1000 && is_unused {
            self.realm.channels.write().remove(&self.id);
            ctx.stop();
        }
    }
}
