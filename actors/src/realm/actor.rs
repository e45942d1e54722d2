//! The shell around `EventQueues`: takes ids, commits, and starts the other actors of the organization.

use super::commands::{ChangeFlags, ExpireNow, OpenChannel, OpenDirect, ReportPresence, Type};
use super::event_queues::EventQueues;
use super::serialized::{DecisionContext, Serialized, SerializedCommand};
use super::wall_clock::WallClockWatch;
use crate::account::Charged;
use crate::channel::{ApplyFacts, ChannelActor, IsIdle};
use crate::direct::DirectActor;
use crate::fanout::Fanout;
use crate::mailbox::BoundedMailbox;
use crate::registry::Registry;
use crate::resume::ResumingQueues;
use crate::shard::{BasedOn, CommitCallback, Committer, RunNext, Sequencer, SerialActor, SerialQueue};
use crate::shared::RealmShared;
use actix::prelude::*;
use model::fact::DirectoryChange as Change;
use model::{Audience, ChannelId, EventBody, Fact, MessageFact, UserFact, UserId};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Interval of the timers of sessions. A late tick only delays deadlines.
const SESSIONS_TICK: Duration = Duration::from_secs(1);

/// How often unused actors are stopped.
const IDLE_TICK: Duration = Duration::from_secs(60);

/// How often waiting periods of new members are checked.
const MEMBERS_TICK: Duration = Duration::from_secs(5);

/// Decides for one organization, and starts its other actors on the same thread.
pub struct RealmActor {
    pub(super) realm: Arc<RealmShared>,
    pub(super) committer: Rc<Committer>,
    pub(super) fanout: Rc<Fanout>,
    /// The other actors of the organization.
    pub(super) registry: Arc<Registry>,
    pub(super) event_queues: EventQueues,
    queue: SerialQueue<Self>,
    /// When the next sweep begins, in monotonic time. The first one is due at once.
    pub(super) sweep_due: Duration,
    pub(super) is_sweeping: bool,
    /// The start of the actor, in monotonic time: idle time of queues from before a restart counts from here.
    pub(super) since: Duration,
    /// Queues from before a restart whose clients have returned and whose past is not being read yet.
    pub(super) resuming: ResumingQueues,
    pub(super) wall: WallClockWatch,
}

impl RealmActor {
    /// The actor of an organization.
    pub fn new(
        realm: Arc<RealmShared>,
        committer: Rc<Committer>,
        fanout: Rc<Fanout>,
        registry: Arc<Registry>,
    ) -> Self {
        let since = realm.clock.monotonic();
        let (event_queues, wall) = (EventQueues::of(&realm.view.read()), WallClockWatch::new(&*realm.clock));
        Self {
            event_queues,
            wall,
            realm,
            committer,
            fanout,
            registry,
            queue: SerialQueue::default(),
            sweep_due: since,
            is_sweeping: false,
            since,
            resuming: ResumingQueues::default(),
        }
    }

    /// Running channel actors decide before facts are durable, so they must learn at once what was decided about them here.
    fn forward_to_channels(&self, facts: &Arc<[Fact]>) {
        let channels = self.registry.channels.read();
        let generation = self.committer.generation();
        if facts.iter().any(|fact| matches!(fact, Fact::User(UserFact::ActiveSet { .. }))) {
            // All channels: the user may be subscribed to any of them.
            channels.values().for_each(|channel| channel.do_send(ApplyFacts(facts.clone(), generation)));
            return;
        }
        let concerned: BTreeSet<ChannelId> = facts.iter().filter_map(concerned_channel).collect();
        for channel in concerned.iter().filter_map(|id| channels.get(id)) {
            channel.do_send(ApplyFacts(facts.clone(), generation));
        }
    }

    fn tick(&mut self, ctx: &mut Context<Self>) {
        self.tick_sessions();
        self.expire_idle_queues(ctx);
        self.tick_sweep(ctx);
        self.tick_expiry(ctx);
    }

    fn tick_idle(&self) {
        for channel in self.registry.channels.read().values() {
            channel.do_send(IsIdle);
        }
        for direct in self.registry.directs.read().values() {
            direct.do_send(IsIdle);
        }
    }
}

/// The channel whose actor must know of a fact that it did not decide itself.
fn concerned_channel(fact: &Fact) -> Option<ChannelId> {
    if let Fact::Message(MessageFact::Sent { message, .. }) = fact {
        return message.place.channel();
    }
    match fact.directory_change()? {
        Change::Subscribed { channel, .. }
        | Change::Unsubscribed { channel, .. }
        | Change::Activity { channel, .. } => Some(channel),
        Change::Channel { channel, is_new } => (!is_new).then_some(channel.id),
        Change::Realm(_)
        | Change::User { .. }
        | Change::Account { .. }
        | Change::Group { .. }
        | Change::Members { .. }
        | Change::DefaultChannels(_)
        | Change::Folder(_)
        | Change::Subscription { .. }
        | Change::Direct(_)
        | Change::Picture(_) => None,
    }
}

impl SerialActor for RealmActor {
    fn queue(&mut self) -> &mut SerialQueue<Self> {
        &mut self.queue
    }

    fn realm(&self) -> &Arc<RealmShared> {
        &self.realm
    }

    fn committer(&self) -> &Rc<Committer> {
        &self.committer
    }

    /// New names count as taken until they are durable; the affected channel actors receive the facts.
    fn commit(
        &mut self,
        ctx: &Context<Self>,
        ids: Sequencer,
        facts: Vec<Fact>,
        done: CommitCallback,
    ) -> bool {
        let known: Arc<[Fact]> = facts.clone().into();
        let (own, arrived) = (ctx.address(), known.clone());
        let done: CommitCallback = Box::new(move |result| {
            own.do_send(CommitFinished(arrived));
            done(result);
        });
        let is_accepted = self.committer.commit(&self.realm, ids, facts, done);
        if is_accepted {
            self.event_queues.apply(&known, false);
            self.forward_to_channels(&known);
        }
        is_accepted
    }
}

impl Handler<RunNext> for RealmActor {
    type Result = ();

    fn handle(&mut self, _: RunNext, ctx: &mut Self::Context) {
        self.run_next(ctx);
    }
}

impl<C: SerializedCommand> Handler<Serialized<C>> for RealmActor {
    type Result = ();

    fn handle(&mut self, Serialized { command, answer }: Serialized<C>, ctx: &mut Self::Context) {
        self.in_order(ctx, BasedOn::Durable, answer, move |actor, ctx, answer| {
            let realm = actor.realm.clone();
            let decided = actor.committer.ids(realm.id).and_then(|ids| {
                let (directory, now) = (realm.directory(), realm.clock.now());
                let uncommitted_direct =
                    &|users: &[UserId]| actor.committer.uncommitted_direct(realm.id, users);
                let mut context = DecisionContext { realm: &realm, directory, now, ids, uncommitted_direct };
                let (outcome, facts) = command.decide(&mut context)?;
                Ok((context.ids, outcome, facts))
            });
            actor.conclude(ctx, decided, answer);
        });
    }
}

/// Facts of this actor became durable or were refused.
#[derive(Message)]
#[rtype(result = "()")]
struct CommitFinished(Arc<[Fact]>);

impl BoundedMailbox for RealmActor {
    const MAILBOX_MAX: usize = 8192;
}

impl Actor for RealmActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        self.end_queues_past_the_bound(ctx);
        // The metrics have the organization from the start.
        self.tick_sessions();
        ctx.run_interval(SESSIONS_TICK, |actor, ctx| actor.tick(ctx));
        ctx.run_interval(IDLE_TICK, |actor, _| actor.tick_idle());
        ctx.run_interval(MEMBERS_TICK, |actor, ctx| actor.tick_full_members(ctx));
    }
}

/// Ends the actors of the organization on this machine. Waiting polls are answered with what is there.
#[cfg(feature = "cluster")]
#[derive(Message)]
#[rtype(result = "()")]
pub struct Leave;

#[cfg(feature = "cluster")]
impl Handler<Leave> for RealmActor {
    type Result = ();

    fn handle(&mut self, _: Leave, ctx: &mut Self::Context) {
        for queue in std::mem::take(&mut *self.registry.queues.write()).into_values() {
            queue.close();
        }
        self.registry.channels.write().clear();
        self.registry.directs.write().clear();
        ctx.stop();
    }
}

impl Handler<CommitFinished> for RealmActor {
    type Result = ();

    fn handle(&mut self, CommitFinished(facts): CommitFinished, ctx: &mut Self::Context) {
        self.event_queues.apply(&facts, true);
        self.event_queues.reconcile_with_view(&self.realm.view.read(), &facts);
        self.dismiss(ctx, &facts);
    }
}

impl Handler<ChangeFlags> for RealmActor {
    type Result = ();

    fn handle(&mut self, change: ChangeFlags, ctx: &mut Self::Context) {
        let ChangeFlags { user, flag, op, messages, answer } = change;
        if messages.is_empty() {
            let body = EventBody::Flags { flag, op, messages: Vec::new(), details: Vec::new() };
            let _ = answer.send(self.committer.publish_ephemeral(
                &self.realm,
                body,
                Audience::Users([user].into()),
            ));
            return;
        }
        let decided = self.committer.ids(self.realm.id);
        let fact = Fact::Message(MessageFact::FlagsChanged { user, flag, op, messages });
        self.conclude(ctx, decided.map(|ids| (ids, (), vec![fact])), answer);
    }
}

impl Handler<Type> for RealmActor {
    type Result = ();

    fn handle(&mut self, typing: Type, _: &mut Self::Context) {
        let Type { body, readers, answer } = typing;
        let _ =
            answer.send(self.committer.publish_ephemeral(&self.realm, body, Audience::Users(readers.into())));
    }
}

impl Handler<ReportPresence> for RealmActor {
    type Result = ();

    fn handle(&mut self, ReportPresence { user, report, answer }: ReportPresence, _: &mut Self::Context) {
        let now = self.realm.clock.now();
        let changed = {
            let mut presence = self.realm.presence.lock();
            presence.report(user.id, report, now).then(|| presence.get(user.id)).flatten()
        };
        let directory = self.realm.directory();
        // Where presence is disabled, no event is sent.
        let is_shown = !rules::settings::realm_bool(directory.realm(), "presence_disabled");
        let Some(presence) = changed.filter(|_| is_shown) else { return drop(answer.send(Ok(()))) };
        // A queue that registers before the event is published has the presence from the table.
        let viewers = crate::announce::viewers_of(&directory, &user, Some(&*self.fanout));
        let is_active = report == crate::presence::Report::Active;
        let body = EventBody::Presence {
            user,
            active: presence.active,
            idle: presence.idle,
            is_active,
            server: now,
        };
        let _ = answer.send(self.committer.publish_ephemeral(&self.realm, body, viewers));
    }
}

impl Handler<OpenChannel> for RealmActor {
    type Result = Option<Addr<ChannelActor>>;

    fn handle(&mut self, OpenChannel(id): OpenChannel, _: &mut Self::Context) -> Self::Result {
        if let Some(running) = self.registry.channels.read().get(&id) {
            return Some(Addr::clone(running));
        }
        let started =
            ChannelActor::load(id, &self.realm, &self.committer, &self.fanout, &self.registry.channels)?;
        let started = started.start_bounded();
        self.registry.channels.write().insert(id, Arc::new(started.clone()));
        Some(started)
    }
}

impl Handler<ExpireNow> for RealmActor {
    type Result = ();

    fn handle(&mut self, ExpireNow: ExpireNow, ctx: &mut Self::Context) {
        self.tick(ctx);
    }
}

impl Handler<OpenDirect> for RealmActor {
    type Result = MessageResult<OpenDirect>;

    fn handle(&mut self, OpenDirect(users): OpenDirect, _: &mut Self::Context) -> Self::Result {
        if let Some(running) = self.registry.directs.read().get(&users) {
            return MessageResult(running.clone());
        }
        let started = DirectActor::load(
            users.clone(),
            &self.realm,
            &self.committer,
            &self.fanout,
            &self.registry.directs,
        );
        let started = started.start_bounded();
        self.registry.directs.write().insert(users, started.clone());
        MessageResult(started)
    }
}

impl<M> Handler<Charged<M>> for RealmActor
where
    Self: Handler<M>,
    M: Message<Result = ()>,
{
    type Result = ();

    fn handle(&mut self, charged: Charged<M>, ctx: &mut Self::Context) {
        charged.handle(self, ctx);
    }
}
