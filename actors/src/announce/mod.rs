//! Facts become events: who is told what. Pure: from the view as the frame left it, and the little of
//! the state before that events need.

mod access;
mod accounts;
mod before;
mod bots;
mod channels;
mod groups;
mod invitations;
mod known;
mod messages;
mod people;
mod personal;
mod pictures;
mod push;
mod realm;
mod replay;
mod roles;
mod subscriptions;

pub use access::can_read_now;
pub(crate) use accounts::activity_events_max;
pub use before::Before;
pub(crate) use bots::looks_after;
pub(crate) use known::note_known_people;
pub use replay::{Replay, note};

use model::event::{ChannelSummary, Clients};
use model::{Audience, Channel, Directory, Event, EventBody, EventNumber, Fact, Frame, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;
use storage::View;

/// A frame that was applied, with what was before and what is now.
pub(crate) struct Moment<'a> {
    /// Everything as it is now.
    view: &'a View,
    /// What was noted before.
    before: &'a Before,
    /// Everything but the messages as the frame left it; in a replay, other frames may have come after it.
    after: &'a Directory,
    frame: &'a Frame,
}

impl Moment<'_> {
    /// Everything but the messages as it was before the frame.
    fn before(&self) -> &Directory {
        self.before.directory.as_ref().unwrap_or(self.after)
    }

    /// Whether the frame made a channel.
    fn is_new(&self, id: model::ChannelId) -> bool {
        self.frame.facts.iter().any(|fact| matches!(fact, Fact::ChannelCreated(channel) if channel.id == id))
    }
}

/// Collects events and numbers them.
struct Announcements {
    next: EventNumber,
    events: Vec<(Event, Audience)>,
    /// Channels that somebody was told of gaining or losing with a group.
    told: BTreeSet<(UserId, model::ChannelId)>,
}

impl Announcements {
    fn add(&mut self, body: EventBody, audience: Audience) {
        self.push(self.next, Clients::All, body, audience);
    }

    /// Adds an event whose numbers begin at `first`.
    fn push(&mut self, first: EventNumber, clients: Clients, body: EventBody, audience: Audience) {
        let last = EventNumber(first.0 + body.numbers() - 1);
        let mut event = Event::new(last, body);
        event.clients = clients;
        self.events.push((event, audience));
        self.next = self.next.max(last.next());
    }

    fn to(&mut self, users: impl IntoIterator<Item = UserId>, body: EventBody) {
        self.for_clients(Clients::All, users, body);
    }

    fn for_clients(&mut self, clients: Clients, users: impl IntoIterator<Item = UserId>, body: EventBody) {
        let users: Arc<[UserId]> = users.into_iter().collect();
        if !users.is_empty() {
            self.push(self.next, clients, body, Audience::Users(users));
        }
    }

    /// Events for different people: nobody is in two of them, so they have the same number.
    fn each(&mut self, bodies: impl IntoIterator<Item = (Vec<UserId>, EventBody)>) {
        self.each_for(Clients::All, bodies);
    }

    fn each_for(&mut self, clients: Clients, bodies: impl IntoIterator<Item = (Vec<UserId>, EventBody)>) {
        let first = self.next;
        for (users, body) in bodies {
            if !users.is_empty() {
                self.push(first, clients, body, Audience::Users(users.into()));
            }
        }
    }
}

/// The events of a frame that was just applied to `view`, in order.
pub fn events(view: &View, before: &Before, frame: &Frame) -> Vec<(Event, Audience)> {
    announced(&Moment { view, before, after: &view.directory, frame })
}

fn announced(moment: &Moment<'_>) -> Vec<(Event, Audience)> {
    let frame = moment.frame;
    // Most facts are one event.
    let events = Vec::with_capacity(frame.facts.len());
    let mut out = Announcements { next: frame.first_event, events, told: BTreeSet::new() };
    let mut reserved = frame.first_event;
    for (position, fact) in frame.facts.iter().enumerate() {
        announce(moment, position, fact, &mut out);
        // Each fact has its own numbers, so that a replay gives every event the same one.
        reserved.0 += fact.events_max();
        debug_assert!(out.next <= reserved, "more events than `Fact::events_max` says: {fact:?}");
        out.next = reserved;
    }
    out.events
}

fn announce(moment: &Moment<'_>, position: usize, fact: &Fact, out: &mut Announcements) {
    let at = moment.frame.at;
    match fact {
        Fact::MessageSent { message, .. } => {
            if let Some(body) = message_body(moment.view, message) {
                out.add(body, Audience::Readers(message.clone()));
            }
        }
        Fact::FlagsChanged { user, flag, op, messages } => {
            messages::flagged(moment, *user, (*flag, *op), messages, out);
        }
        Fact::MessageUpdated(update) => messages::updated(moment, position, update, out),
        Fact::MessagesDeleted { from, messages, by } => {
            messages::deleted(moment, position, (from, messages), *by, out);
        }
        Fact::ReactionAdded { message, reaction } => messages::reaction(moment, message, reaction, true, out),
        Fact::ReactionRemoved { message, reaction } => {
            messages::reaction(moment, message, reaction, false, out);
        }
        Fact::SubmessageAdded { message, submessage } => {
            messages::submessage(moment, message, submessage, out);
        }
        Fact::ChannelCreated(channel) => channels::created(moment, channel.id, out),
        Fact::ChannelChanged(channel) => channels::changed(moment, position, channel, out),
        Fact::ChannelActivityChanged { channel, is_recently_active } => {
            let change = model::event::ChannelChange::Activity(*is_recently_active);
            channels::say(moment, *channel, change, out);
        }
        Fact::Subscribed { channel, subscribers, .. } => {
            subscriptions::subscribed(moment, *channel, subscribers, out);
        }
        Fact::Unsubscribed { channel, users, .. } => {
            subscriptions::unsubscribed(moment, *channel, users, out);
        }
        Fact::SubscriptionChanged { user, channel, subscription } => {
            subscriptions::changed(moment, *user, *channel, subscription, out);
        }
        Fact::TopicPolicySet { user, channel, topic, policy } => {
            subscriptions::policies(moment, &[*user], (*channel, topic, *policy), at, out);
        }
        Fact::TopicPoliciesSet { channel, topic, policy, users } => {
            subscriptions::policies(moment, users, (*channel, topic, *policy), at, out);
        }
        Fact::AlertWordsSet { user, words } => out.to([*user], EventBody::AlertWords(words.clone())),
        _ => announce_organization(moment, position, fact, out),
    }
}

/// Facts about the organization and the people in it.
fn announce_organization(moment: &Moment<'_>, position: usize, fact: &Fact, out: &mut Announcements) {
    match fact {
        Fact::UserCreated(user) => people::created(moment, user.id, out),
        Fact::UserChanged(user) => people::changed(moment, user, out),
        Fact::GroupCreated(group) => {
            if let Some(group) = moment.after.group(group.id) {
                out.add(EventBody::GroupAdded(group.clone()), Audience::Everyone);
            }
        }
        Fact::GroupMembersChanged { group, added, removed } => {
            groups::members_changed(moment, *group, added, removed, out);
        }
        Fact::GroupChanged(group) => groups::changed(moment, position, group, out),
        Fact::RealmChanged(realm) => realm::changed(moment, realm, out),
        Fact::UserStatusSet { user, status, named } => {
            personal::status_set(moment, *user, status.as_ref(), *named, out);
        }
        Fact::Invitation(fact) => invitations::changed(moment, fact, out),
        Fact::UserMuted { user, .. } => personal::muted(moment, *user, out),
        Fact::NavigationViewSet { user, fragment, before, view } => {
            personal::navigation_view_set(*user, fragment, before.as_ref(), view.as_ref(), out);
        }
        Fact::BotConfigured { bot, before, config } => {
            bots::configured(moment, *bot, before.as_deref(), config, out);
        }
        Fact::ProfileFieldsChanged(fields) => {
            let fields = model::ProfileFields::clone(fields).into();
            out.add(EventBody::ProfileFields(fields), Audience::Everyone);
        }
        Fact::DomainSet { domain, op } => {
            out.add(EventBody::Domain { domain: domain.clone(), op: *op }, Audience::Everyone);
        }
        Fact::LinkifiersChanged(all) => {
            let body = EventBody::Linkifiers(model::Listed::clone(all).into());
            out.push(out.next, Clients::KnowLinkifiers, body, Audience::Everyone);
        }
        Fact::PlaygroundsChanged(all) => {
            let body = EventBody::Playgrounds(model::Listed::clone(all).into());
            out.add(body, Audience::Everyone);
        }
        Fact::Push(fact) => push::changed(fact, out),
        Fact::Picture(fact) => pictures::changed(moment, fact, out),
        Fact::UserActiveSet { user, is_active, .. } => accounts::active_set(moment, *user, *is_active, out),
        Fact::KnownPeopleChanged { .. } => known::changed(moment, out),
        Fact::ProfileValuesSet { user, values } => personal::profile_values_set(moment, *user, values, out),
        Fact::FolderChanged(folder) => realm::folder_changed(moment, folder, out),
        Fact::FoldersReordered(order) => {
            out.add(EventBody::FoldersReordered(order.clone()), Audience::Everyone);
        }
        Fact::DefaultChannelsChanged(channels) => {
            out.add(EventBody::DefaultChannels(channels.clone()), Audience::NonGuests);
        }
        _ => {}
    }
}

pub use messages::message_body;

/// A channel with its counts.
pub fn summary(view: &View, channel: &Arc<Channel>, weekly_traffic: Option<u32>) -> ChannelSummary {
    ChannelSummary {
        channel: channel.clone(),
        first_message: view.messages.first_in_channel(channel.id),
        subscriber_count: view.directory.subscriber_count(channel.id),
        weekly_traffic,
    }
}

fn new_summary(moment: &Moment<'_>, channel: &Arc<Channel>) -> ChannelSummary {
    // As the API has it: events about channels carry no traffic.
    let subscriber_count = moment.after.subscriber_count(channel.id);
    ChannelSummary { subscriber_count, ..summary(moment.view, channel, None) }
}
