//! The shell around `ChannelState`: takes ids, commits, and remembers what it committed.

use super::messages::{IsIdle, SendMessage, Subscribe, Subscribed, Unsubscribe, Unsubscribed};
use super::state::{ChannelState, SendContext, SendDecision};
use crate::draft::{ChannelDraft, Sent};
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::realm::LearnFacts;
use crate::shard::{Committer, Done, Sequencer};
use crate::shared::RealmShared;
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
    pub(super) last_used: Timestamp,
}

impl ChannelActor {
    /// The actor of a channel that exists; none when it does not.
    pub fn load(
        id: ChannelId,
        realm: &Arc<RealmShared>,
        committer: &Rc<Committer>,
        fanout: &Rc<Fanout>,
    ) -> Option<Self> {
        let view = realm.view.read();
        let channel = view.directory.channel(id)?;
        let topics =
            view.messages.channels.get(&id).map(|messages| messages.topics.keys().cloned().collect());
        let state =
            ChannelState::new(channel, view.directory.subscriptions_of(id), topics.unwrap_or_default());
        drop(view);
        let last_used = realm.clock.now();
        let (realm, committer, fanout) = (realm.clone(), committer.clone(), fanout.clone());
        Some(Self { id, state, realm, committer, fanout, last_used })
    }

    fn send(&mut self, message: SendMessage) {
        let SendMessage { draft, answer } = message;
        let echo = draft.draft.echo.clone();
        match self.decide(draft) {
            Err(error) => {
                let _ = answer.send(Err(error));
            }
            Ok((ids, id, decision)) => {
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
        let participants = if draft.draft.rendered.mentions.topic_wildcard {
            participants(&view, self.id, &TopicKey::new(&draft.topic))
        } else {
            Vec::new()
        };
        let now = self.realm.clock.now();
        let durable = view.progress.sequence;
        let context =
            SendContext { directory: &view.directory, participants: &participants, id, now, durable };
        Ok((ids, id, self.state.send(draft, &context)?))
    }

    /// Commits, and remembers what was committed ahead of the disk.
    pub(super) fn commit(&mut self, ids: Sequencer, facts: Vec<Fact>, done: Done) -> bool {
        let (known, sequence) = (facts.clone(), ids.sequence);
        let accepted = self.committer.commit(&self.realm, ids, facts, done);
        if accepted {
            known.iter().for_each(|fact| self.state.apply(fact));
            let durable = self.realm.view.read().progress.sequence;
            self.state.policies.note(&known, sequence, durable);
        }
        accepted
    }

    fn subscribe(&mut self, request: Subscribe) {
        let Subscribe { users, by, answer } = request;
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

    fn unsubscribe(&mut self, request: Unsubscribe) {
        let Unsubscribe { users, by, answer } = request;
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
            let unread = view.unread_of(user, &view.delivered_in_channel(user, self.id));
            if !unread.is_empty() {
                let messages = MessageRanges::from_sorted(unread.iter().map(MessageId));
                facts.push(Fact::FlagsChanged { user, flag: Flag::Read, op: FlagOp::Add, messages });
            }
        }
        facts
    }
}

fn participants(view: &View, channel: ChannelId, topic: &TopicKey) -> Vec<UserId> {
    let Some(messages) = view.messages.topic(channel, topic) else { return Vec::new() };
    let senders = view.messages.senders.iter();
    senders.filter(|(_, ids)| !ids.is_disjoint(&messages.ids)).map(|(user, _)| *user).collect()
}

impl Actor for ChannelActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX_MAX);
    }
}

impl Handler<SendMessage> for ChannelActor {
    type Result = ();

    fn handle(&mut self, message: SendMessage, _: &mut Self::Context) {
        self.last_used = self.realm.clock.now();
        self.send(message);
    }
}

impl Handler<Subscribe> for ChannelActor {
    type Result = ();

    fn handle(&mut self, request: Subscribe, _: &mut Self::Context) {
        self.last_used = self.realm.clock.now();
        self.subscribe(request);
    }
}

impl Handler<Unsubscribe> for ChannelActor {
    type Result = ();

    fn handle(&mut self, request: Unsubscribe, _: &mut Self::Context) {
        self.last_used = self.realm.clock.now();
        self.unsubscribe(request);
    }
}

impl Handler<LearnFacts> for ChannelActor {
    type Result = ();

    /// The organization decided something about this channel (a new user's first channels).
    fn handle(&mut self, LearnFacts(facts): LearnFacts, _: &mut Self::Context) {
        facts.iter().for_each(|fact| self.state.apply(fact));
    }
}

impl Handler<IsIdle> for ChannelActor {
    type Result = ();

    /// Goes away when unused, and only while nothing it decided is still on its way to the disk:
    /// its next life starts from what is durable.
    fn handle(&mut self, _: IsIdle, ctx: &mut Self::Context) {
        let idle_millis = self.realm.clock.now().millis_since(self.last_used);
        if idle_millis > IDLE_SECS_MAX * 1000 && self.committer.is_idle() {
            self.realm.channels.write().remove(&self.id);
            ctx.stop();
        }
    }
}
