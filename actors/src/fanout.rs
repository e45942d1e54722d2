//! The event queues of an organization, and the delivery of events to them. One for each organization, on its shard's
//! thread, so that an event crosses threads once for any number of clients.

use crate::announce::Listeners;
use crate::session::{Delivered, HolderBytes, QueueHolder, QueueHolders, Queues, Session};
use crate::shared::RealmShared;
use model::fact::LocalEcho;
use model::{
    Audience, ChannelId, Directory, Event, EventBody, EventKind, EventKinds, Flag, Flags, Message, Place,
    QueueId, Subscription, User, UserId,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Room for sessions that stays between groups.
const DUE_KEPT: usize = 1024;

/// A queue, with the filters of the fan-out.
#[derive(Clone, Debug)]
pub struct Listener {
    pub queue: QueueId,
    pub session: Arc<Session>,
    /// The requested types of events.
    pub kinds: EventKinds,
    /// Whether it receives messages of all public channels, also without a subscription.
    pub all_public_channels: bool,
}

/// The queues of one organization, by user.
pub struct Fanout {
    realm: Arc<RealmShared>,
    queues: Queues,
    listeners: RefCell<BTreeMap<UserId, Vec<Listener>>>,
    /// Those that asked for all public channels, indexed separately so that a message need not check all queues.
    public_listeners: RefCell<BTreeMap<QueueId, (UserId, Listener)>>,
    echoes: RefCell<HashMap<model::MessageId, LocalEcho>>,
    /// The bytes in the queues of each account that has queues, and of the bots of each owner.
    holders: RefCell<HashMap<QueueHolder, Arc<HolderBytes>>>,
    /// Sessions whose polls are to be answered with what was published.
    due: RefCell<Vec<Arc<Session>>>,
}

impl Fanout {
    /// A fan-out without listeners.
    pub fn new(realm: Arc<RealmShared>, queues: Queues) -> Self {
        Self {
            realm,
            queues,
            listeners: RefCell::default(),
            public_listeners: RefCell::default(),
            echoes: RefCell::default(),
            holders: RefCell::default(),
            due: RefCell::default(),
        }
    }

    /// The bytes that those of an account's queues count in.
    pub fn holders_of(&self, user: UserId) -> QueueHolders {
        let owner = self.realm.directory().user(user).and_then(|user| user.owner());
        let mut holders = self.holders.borrow_mut();
        let mut bytes_of =
            |holder| holders.entry(holder).or_insert_with(|| Arc::new(HolderBytes::new(holder))).clone();
        QueueHolders {
            account: bytes_of(QueueHolder::Account(user)),
            bots: owner.map(QueueHolder::BotsOf).map(bytes_of),
        }
    }

    /// Adds a queue.
    pub fn add(&self, user: UserId, listener: Listener) {
        if listener.all_public_channels {
            self.public_listeners.borrow_mut().insert(listener.queue.clone(), (user, listener.clone()));
        }
        self.listeners.borrow_mut().entry(user).or_default().push(listener);
    }

    /// Removes a queue.
    pub fn remove(&self, user: UserId, queue: &QueueId) {
        self.public_listeners.borrow_mut().remove(queue);
        let mut listeners = self.listeners.borrow_mut();
        if let Some(own) = listeners.get_mut(&user) {
            let removed: Vec<_> = own.extract_if(.., |listener| listener.queue == *queue).collect();
            if own.is_empty() {
                listeners.remove(&user);
                let holders = removed.iter().flat_map(|listener| listener.session.holders());
                holders.for_each(|holder| self.forget_holder(&listeners, holder));
            }
        }
    }

    /// Forgets the bytes of a holder without queues.
    fn forget_holder(&self, listeners: &BTreeMap<UserId, Vec<Listener>>, holder: QueueHolder) {
        let has_queues = match holder {
            QueueHolder::Account(user) => listeners.contains_key(&user),
            QueueHolder::BotsOf(owner) => {
                self.realm.directory().bots_of(owner).any(|bot| listeners.contains_key(&bot.id))
            }
        };
        if !has_queues {
            self.holders.borrow_mut().remove(&holder);
        }
    }

    /// Remembers the `local_id` of a message for the client that sent it.
    pub fn expect_echo(&self, message: model::MessageId, echo: LocalEcho) {
        self.echoes.borrow_mut().insert(message, echo);
    }

    /// Drops expected echoes: their messages were not committed.
    pub fn forget_echoes(&self) {
        self.echoes.borrow_mut().clear();
    }

    /// Delivers an event to the queues of its audience. Polls are answered by [`Self::answer_polls`].
    pub fn publish(&self, event: Event, audience: &Audience) {
        let event = Arc::new(event);
        self.realm.resume.note(&event);
        match audience {
            Audience::Everyone => self.to_all(&event, |_| true),
            Audience::NonGuests => self.to_all(&event, |user| !user.is_guest()),
            Audience::Users(users) => self.to_users(&event, users.iter().map(|user| (*user, Flags::NONE))),
            Audience::Flagged(users) => self.to_users(&event, users.iter().copied()),
            Audience::Readers(message) => self.to_readers(&event, message),
            Audience::Queue(queue) => self.to_queue(&event, queue),
        }
    }

    /// Answers the polls that wait for what was published: once for all events that were published together.
    pub fn answer_polls(&self) {
        let mut due = self.due.borrow_mut();
        for session in due.drain(..) {
            session.answer_due();
        }
        due.shrink_to(DUE_KEPT);
    }

    fn to_all(&self, event: &Arc<Event>, wanted: impl Fn(&User) -> bool) {
        let directory = self.realm.directory();
        for (user, own) in self.listeners.borrow().iter() {
            if directory.user(*user).is_some_and(|user| user.is_active && wanted(user)) {
                self.deliver(own, event, Flags::NONE);
            }
        }
    }

    fn to_users(&self, event: &Arc<Event>, users: impl Iterator<Item = (UserId, Flags)>) {
        let listeners = self.listeners.borrow();
        if listeners.is_empty() {
            return;
        }
        for (user, flags) in users {
            if let Some(own) = listeners.get(&user) {
                self.deliver(own, event, flags);
            }
        }
    }

    fn to_queue(&self, event: &Arc<Event>, queue: &QueueId) {
        if let Some(running) = self.queues.read().get(queue) {
            self.send(running, event, Flags::NONE, None);
        }
    }

    fn to_readers(&self, event: &Arc<Event>, message: &Message) {
        let echo = self.echoes.borrow_mut().remove(&message.id);
        if self.listeners.borrow().is_empty() {
            return;
        }
        match message.place {
            Place::Direct => {
                let EventBody::Message { context, .. } = &event.body else { return };
                let listeners = self.listeners.borrow();
                for user in &context.participants {
                    if let Some(own) = listeners.get(&user.id) {
                        self.deliver_message(own, event, flags_at_send(user.id, message), echo.as_ref());
                    }
                }
            }
            Place::Channel { channel, .. } => self.to_channel(event, message, channel, echo.as_ref()),
        }
    }

    /// Iterates over the smaller set: listeners or subscribers. Frames that were published together with the message's may
    /// have changed subscriptions since, but not the recipients of the message.
    fn to_channel(
        &self,
        event: &Arc<Event>,
        message: &Message,
        channel: ChannelId,
        echo: Option<&LocalEcho>,
    ) {
        let directory = self.realm.directory();
        let subscribers = directory.subscriptions_of(channel);
        let has = |subscription: &Arc<Subscription>| subscription.received(message.id);
        let listeners = self.listeners.borrow();
        let give = |user: UserId, own: &[Listener]| {
            self.deliver_message(own, event, flags_at_send(user, message), echo);
        };
        if subscribers.len() < listeners.len() {
            for (user, _) in subscribers.iter().filter(|(_, subscription)| has(subscription)) {
                if let Some(own) = listeners.get(user) {
                    give(*user, own);
                }
            }
        } else {
            for (user, own) in listeners.iter().filter(|(user, _)| subscribers.get(*user).is_some_and(has)) {
                give(*user, own);
            }
        }
        self.to_public_listeners(event, &directory, channel, message);
    }

    /// Clients that asked for all public channels and are not subscribed to this one.
    fn to_public_listeners(
        &self,
        event: &Arc<Event>,
        directory: &Directory,
        channel: ChannelId,
        message: &Message,
    ) {
        let is_public = directory.channel(channel).is_some_and(|channel| !channel.invite_only);
        if !is_public {
            return;
        }
        for (user, listener) in self.public_listeners.borrow().values() {
            let may = directory.user(*user).is_some_and(|user| user.is_active && !user.is_guest());
            let subscription = directory.subscription(channel, *user);
            let has = subscription.is_some_and(|subscription| subscription.received(message.id));
            if may && !has && listener.kinds.contains(EventKind::Message) {
                self.send(&listener.session, event, Flags::NONE, None);
            }
        }
    }

    fn deliver(&self, listeners: &[Listener], event: &Arc<Event>, flags: Flags) {
        let kind = event.body.kind();
        for listener in listeners.iter().filter(|listener| listener.kinds.contains(kind)) {
            self.send(&listener.session, event, flags, None);
        }
    }

    fn deliver_message(
        &self,
        listeners: &[Listener],
        event: &Arc<Event>,
        flags: Flags,
        echo: Option<&LocalEcho>,
    ) {
        for listener in listeners.iter().filter(|listener| listener.kinds.contains(EventKind::Message)) {
            let local_id = echo.filter(|echo| echo.queue == listener.queue).map(|echo| echo.local_id.clone());
            self.send(&listener.session, event, flags, local_id);
        }
    }

    fn send(&self, session: &Arc<Session>, event: &Arc<Event>, flags: Flags, local_id: Option<Arc<str>>) {
        if session.deliver(Delivered { event: event.clone(), flags, local_id }) {
            self.due.borrow_mut().push(session.clone());
        }
    }
}

impl Listeners for Fanout {
    fn users(&self) -> Vec<UserId> {
        self.listeners.borrow().keys().copied().collect()
    }

    fn receives(&self, user: UserId, kind: EventKind) -> bool {
        let listeners = self.listeners.borrow();
        listeners.get(&user).is_some_and(|own| own.iter().any(|listener| listener.kinds.contains(kind)))
    }
}

/// A recipient's flags of a new message.
pub(crate) fn flags_at_send(user: UserId, message: &Message) -> Flags {
    message
        .own_flags(user)
        .with_if(Flag::ChannelWildcardMentioned, message.traits.channel_wildcard)
        .with_if(Flag::Read, message.sender == user && message.traits.read_by_sender)
}
