//! The input of announcing a frame, and the list of its events.

use super::access::{self, Listening};
use super::pre_images::PreImages;
use model::event::{ChannelSummary, Clients, SubscribedChannel};
use model::{
    AttachmentId, Audience, Channel, ChannelFact, Directory, Event, EventBody, EventNumber, Fact, Frame,
    User, UserId,
};
use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use storage::View;

/// A frame that was applied, with the state before and after it.
pub(crate) struct EventContext<'a> {
    pub(super) view: &'a View,
    pub(super) before: &'a PreImages,
    /// The directory after the frame. In a replay, `view` may be newer.
    pub(super) after: &'a Directory,
    pub(super) frame: &'a Frame,
    pub(super) listening: Listening<'a>,
}

impl EventContext<'_> {
    /// The directory before the frame.
    pub(super) fn before(&self) -> &Directory {
        self.before.directory.as_ref().unwrap_or(self.after)
    }

    /// The audience of events about a user. The numbers of later events do not depend on it, with `Announcements::add`.
    pub(super) fn viewers_of(&self, about: &User) -> Audience {
        access::viewers_of(self.after, about, self.listening)
    }

    /// Whether the frame created a channel.
    pub(super) fn is_new(&self, id: model::ChannelId) -> bool {
        self.frame
            .facts
            .iter()
            .any(|fact| matches!(fact, Fact::Channel(ChannelFact::Created(channel)) if channel.id == id))
    }
}

/// Collects the events of a frame, fact by fact, and numbers them.
pub(super) struct Announcements<'a> {
    pub(super) context: &'a EventContext<'a>,
    /// The position of the current fact in the frame.
    pub(super) position: usize,
    pub(super) next: EventNumber,
    pub(super) events: Vec<(Event, Audience)>,
    /// Channels whose gain or loss was announced to a user.
    pub(super) seen: BTreeSet<(UserId, model::ChannelId)>,
    /// Uploaded files whose messages were announced: the events show the state after the frame.
    pub(super) seen_files: BTreeSet<AttachmentId>,
}

impl Announcements<'_> {
    pub(super) fn add(&mut self, body: EventBody, audience: Audience) {
        self.push(self.next, Clients::All, body, audience);
    }

    /// Adds an event whose numbers begin at `first`.
    pub(super) fn push(&mut self, first: EventNumber, clients: Clients, body: EventBody, audience: Audience) {
        let last = EventNumber(first.0 + body.numbers() - 1);
        let mut event = Event::new(last, body);
        event.clients = clients;
        self.events.push((event, audience));
        self.next = self.next.max(last.next());
    }

    pub(super) fn to(&mut self, users: impl IntoIterator<Item = UserId>, body: EventBody) {
        self.for_clients(Clients::All, users, body);
    }

    pub(super) fn for_clients(
        &mut self,
        clients: Clients,
        users: impl IntoIterator<Item = UserId>,
        body: EventBody,
    ) {
        let users: Arc<[UserId]> = users.into_iter().collect();
        if !users.is_empty() {
            self.push(self.next, clients, body, Audience::Users(users));
        }
    }

    /// Events for disjoint sets of users, so they have the same number.
    pub(super) fn each(&mut self, bodies: impl IntoIterator<Item = (Vec<UserId>, EventBody)>) {
        self.each_for(Clients::All, bodies);
    }

    pub(super) fn each_for(
        &mut self,
        clients: Clients,
        bodies: impl IntoIterator<Item = (Vec<UserId>, EventBody)>,
    ) {
        let first = self.next;
        for (users, body) in bodies {
            if !users.is_empty() {
                self.push(first, clients, body, Audience::Users(users.into()));
            }
        }
    }
}

/// A channel with its counts.
pub fn summary(view: &View, channel: &Arc<Channel>, weekly_traffic: Option<u32>) -> ChannelSummary {
    ChannelSummary {
        channel: channel.clone(),
        first_message: view.messages.first_in_channel(channel.id),
        subscriber_count: view.directory.subscriber_count(channel.id),
        weekly_traffic,
    }
}

/// A channel as events show it, without traffic.
pub(super) fn new_summary(context: &EventContext<'_>, channel: &Arc<Channel>) -> ChannelSummary {
    let subscriber_count = context.after.subscriber_count(channel.id);
    ChannelSummary { subscriber_count, ..summary(context.view, channel, None) }
}

/// A channel for recipients of a separate event about its subscribers, from which they count them.
pub(super) fn uncounted(context: &EventContext<'_>, channel: &Arc<Channel>) -> ChannelSummary {
    ChannelSummary { subscriber_count: 0, ..new_summary(context, channel) }
}

/// The `subscription add` event of each of `users`.
pub(super) fn subscribed_channels(
    context: &EventContext<'_>,
    channel: &Arc<Channel>,
    users: impl Iterator<Item = UserId>,
) -> Vec<(Vec<UserId>, EventBody)> {
    let everyone = LazyCell::new(|| context.after.subscriber_ids(channel.id).collect::<Arc<[UserId]>>());
    let summary = new_summary(context, channel);
    let own = |user: UserId| {
        let subscription = context.after.subscription(channel.id, user)?.clone();
        // An account of this frame has no queues yet: its event only keeps its number, and needs no list.
        let subscribers = match context.before().user(user) {
            Some(_) => everyone.clone(),
            None => Arc::default(),
        };
        let own = SubscribedChannel { summary: summary.clone(), subscription, subscribers };
        Some((vec![user], EventBody::SubscriptionsAdded(vec![own])))
    };
    users.filter_map(own).collect()
}
