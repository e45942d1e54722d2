//! The shell around `RealmState`: takes ids, commits, and starts the other actors of the organization.

use super::messages::{
    ChangeFlags, CreateChannel, CreateUser, LearnFacts, NewChannel, NewUser, OpenChannel, OpenDirect,
    ReportPresence, Type,
};
use super::state::RealmState;
use super::sweep::Sweeps;
use crate::Answer;
use crate::channel::{ChannelActor, IsIdle};
use crate::direct::DirectActor;
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::shard::{Committer, Done, Sequencer, SettledQueue};
use crate::shared::RealmShared;
use actix::prelude::*;
use model::{Audience, ChannelId, EventBody, Fact, Timestamp, User};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Requests that may wait for an organization. Past it they are refused as overloaded.
pub const MAILBOX_MAX: usize = 8192;

/// How often sessions are looked after. Deadlines are data: a late tick only makes them late.
const SESSIONS_TICK: Duration = Duration::from_secs(1);

/// How often unused actors are looked for.
const IDLE_TICK: Duration = Duration::from_secs(60);

/// How often waiting periods are looked at.
const MEMBERS_TICK: Duration = Duration::from_secs(5);

/// Decides for one organization, and starts its other actors on the same thread.
pub struct RealmActor {
    pub(super) realm: Arc<RealmShared>,
    pub(super) committer: Rc<Committer>,
    pub(super) fanout: Rc<Fanout>,
    pub(super) state: RealmState,
    /// Commands that wait for everything before them to be durable.
    pub(super) settled: SettledQueue<Self>,
    /// When to look for what time has made obsolete.
    pub(super) sweeps: Sweeps,
    /// When it began: queues of before have their idle time from here on.
    pub(super) since: Timestamp,
}

impl RealmActor {
    /// The actor of an organization.
    pub fn new(realm: Arc<RealmShared>, committer: Rc<Committer>, fanout: Rc<Fanout>) -> Self {
        let since = realm.clock.now();
        let (state, settled) = (RealmState::default(), SettledQueue::default());
        let sweeps = Sweeps::new(since);
        Self { realm, committer, fanout, state, settled, sweeps, since }
    }

    /// Commits, keeps given-out names until they are durable, and tells the channels concerned.
    pub(super) fn commit(&mut self, ctx: &Context<Self>, ids: Sequencer, facts: Vec<Fact>, done: Done) {
        let known: Arc<[Fact]> = facts.clone().into();
        let (own, arrived) = (ctx.address(), known.clone());
        let done: Done = Box::new(move |result| {
            own.do_send(Forget(arrived));
            done(result);
        });
        if self.committer.commit(&self.realm, ids, facts, done) {
            self.state.apply(&known, false);
            self.tell_channels(&known);
        }
    }

    /// Running channels decide ahead of the disk: they must not miss what was decided about them here.
    fn tell_channels(&self, facts: &Arc<[Fact]>) {
        let channels = self.realm.channels.read();
        if facts.iter().any(|fact| matches!(fact, Fact::UserActiveSet { .. })) {
            // Whichever they subscribe to.
            channels.values().for_each(|channel| channel.do_send(LearnFacts(facts.clone())));
            return;
        }
        let concerned: BTreeSet<ChannelId> = facts.iter().filter_map(concerned_channel).collect();
        for channel in concerned.iter().filter_map(|id| channels.get(id)) {
            channel.do_send(LearnFacts(facts.clone()));
        }
    }

    fn tick_idle(&self) {
        for channel in self.realm.channels.read().values() {
            channel.do_send(IsIdle);
        }
        for direct in self.realm.directs.read().values() {
            direct.do_send(IsIdle);
        }
    }
}

/// The channel whose actor must know of a fact.
fn concerned_channel(fact: &Fact) -> Option<ChannelId> {
    match fact {
        Fact::Subscribed { channel, .. } | Fact::Unsubscribed { channel, .. } => Some(*channel),
        Fact::ChannelChanged(channel) => Some(channel.id),
        Fact::ChannelActivityChanged { channel, .. } => Some(*channel),
        Fact::MessageSent { message, .. } => message.place.channel(),
        _ => None,
    }
}

/// Facts of the organization's own have become durable, or never will.
#[derive(Message)]
#[rtype(result = "()")]
struct Forget(Arc<[Fact]>);

impl Actor for RealmActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.set_mailbox_capacity(MAILBOX_MAX);
        ctx.run_interval(SESSIONS_TICK, |actor, ctx| {
            actor.tick_sessions();
            actor.end_forgotten_queues(ctx);
            actor.tick_sweep(ctx);
        });
        ctx.run_interval(IDLE_TICK, |actor, _| actor.tick_idle());
        ctx.run_interval(MEMBERS_TICK, |actor, ctx| actor.tick_full_members(ctx));
    }
}

impl Handler<Forget> for RealmActor {
    type Result = ();

    fn handle(&mut self, Forget(facts): Forget, ctx: &mut Self::Context) {
        self.state.apply(&facts, true);
        self.dismiss(ctx, &facts);
    }
}

impl RealmActor {
    fn create_user(&mut self, ctx: &Context<Self>, user: NewUser, answer: Answer<Arc<User>>) {
        let decide = || {
            let mut ids = self.committer.ids(self.realm.id)?;
            let now = self.realm.clock.now();
            let (user, facts) = self.state.create_user(&self.realm.directory(), user, &mut ids, now)?;
            Ok((ids, user, facts))
        };
        self.commit_account(ctx, decide(), answer);
    }

    /// Makes a new account durable, and its key good.
    pub(super) fn commit_account(
        &mut self,
        ctx: &Context<Self>,
        decided: Result<(Sequencer, Arc<User>, Vec<Fact>), DomainError>,
        answer: Answer<Arc<User>>,
    ) {
        match decided {
            Err(error) => drop(answer.send(Err(error))),
            Ok((ids, user, facts)) => {
                let realm = self.realm.clone();
                let done = Box::new(move |result: Result<(), DomainError>| {
                    if result.is_ok() {
                        realm.credentials.add(realm.id, &user);
                    }
                    let _ = answer.send(result.map(|()| user));
                });
                self.commit(ctx, ids, facts, done);
            }
        }
    }

    fn create_channel(&mut self, ctx: &Context<Self>, channel: NewChannel, answer: Answer<ChannelId>) {
        let decide = || {
            let mut ids = self.committer.ids(self.realm.id)?;
            let now = self.realm.clock.now();
            let (id, facts) = self.state.create_channel(&self.realm.directory(), channel, &mut ids, now)?;
            Ok((ids, id, facts))
        };
        match decide() {
            Err(error) => drop(answer.send(Err(error))),
            Ok((ids, id, facts)) => {
                let done = Box::new(move |result: Result<(), DomainError>| {
                    let _ = answer.send(result.map(|()| id));
                });
                self.commit(ctx, ids, facts, done);
            }
        }
    }
}

impl Handler<CreateUser> for RealmActor {
    type Result = ();

    fn handle(&mut self, CreateUser { user, answer }: CreateUser, ctx: &mut Self::Context) {
        self.in_order(ctx, false, answer, |actor, ctx, answer| actor.create_user(ctx, user, answer));
    }
}

impl Handler<CreateChannel> for RealmActor {
    type Result = ();

    /// The list of default channels and what is in a folder are shared with others: they must be as they are.
    fn handle(&mut self, CreateChannel { channel, answer }: CreateChannel, ctx: &mut Self::Context) {
        let needs_settled = channel.is_default || channel.channel.folder.is_some();
        self.in_order(ctx, needs_settled, answer, |actor, ctx, answer| {
            actor.create_channel(ctx, *channel, answer);
        });
    }
}

impl Handler<ChangeFlags> for RealmActor {
    type Result = ();

    fn handle(&mut self, change: ChangeFlags, ctx: &mut Self::Context) {
        let ChangeFlags { user, flag, op, messages, answer } = change;
        if messages.is_empty() {
            let body = EventBody::Flags { flag, op, messages: Vec::new(), details: Vec::new() };
            let _ = answer.send(self.committer.pass(&self.realm, body, Audience::Users([user].into())));
            return;
        }
        match self.committer.ids(self.realm.id) {
            Err(error) => drop(answer.send(Err(error))),
            Ok(ids) => {
                let fact = Fact::FlagsChanged { user, flag, op, messages };
                let done = Box::new(move |result| drop(answer.send(result)));
                self.commit(ctx, ids, vec![fact], done);
            }
        }
    }
}

impl Handler<Type> for RealmActor {
    type Result = ();

    fn handle(&mut self, typing: Type, _: &mut Self::Context) {
        let Type { sender, is_start, place, readers, answer } = typing;
        let body = EventBody::Typing { sender, is_start, place };
        let _ = answer.send(self.committer.pass(&self.realm, body, Audience::Users(readers.into())));
    }
}

impl Handler<ReportPresence> for RealmActor {
    type Result = ();

    fn handle(&mut self, ReportPresence { user, report, answer }: ReportPresence, _: &mut Self::Context) {
        let now = self.realm.clock.now();
        let news = {
            let mut presence = self.realm.presence.lock();
            presence.report(user.id, report, now).then(|| presence.get(user.id)).flatten()
        };
        let directory = self.realm.directory();
        // Where nobody is shown, nobody is told.
        let is_shown = !rules::settings::realm_bool(directory.realm(), "presence_disabled");
        let Some(news) = news.filter(|_| is_shown) else { return drop(answer.send(Ok(()))) };
        let viewers = directory
            .users()
            .filter(|viewer| rules::permissions::users::sees_user(&directory, viewer, &user));
        let viewers = viewers.map(|viewer| viewer.id).collect();
        let is_active = report == crate::presence::Report::Active;
        let body = EventBody::Presence { user, active: news.active, idle: news.idle, is_active, server: now };
        let _ = answer.send(self.committer.pass(&self.realm, body, Audience::Users(viewers)));
    }
}

impl Handler<OpenChannel> for RealmActor {
    type Result = Option<Addr<ChannelActor>>;

    fn handle(&mut self, OpenChannel(id): OpenChannel, _: &mut Self::Context) -> Self::Result {
        if let Some(running) = self.realm.channels.read().get(&id) {
            return Some(running.clone());
        }
        let started = ChannelActor::load(id, &self.realm, &self.committer, &self.fanout)?.start();
        self.realm.channels.write().insert(id, started.clone());
        Some(started)
    }
}

impl Handler<OpenDirect> for RealmActor {
    type Result = MessageResult<OpenDirect>;

    fn handle(&mut self, OpenDirect(users): OpenDirect, _: &mut Self::Context) -> Self::Result {
        if let Some(running) = self.realm.directs.read().get(&users) {
            return MessageResult(running.clone());
        }
        let started = DirectActor::load(users.clone(), &self.realm, &self.committer, &self.fanout).start();
        self.realm.directs.write().insert(users, started.clone());
        MessageResult(started)
    }
}
