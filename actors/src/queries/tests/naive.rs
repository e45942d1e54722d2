//! The plain table: what a handful of people did to a few messages, and the meaning of narrows for each of these.

use crate::fixture::{self, CORE, HAMLET, IAGO, POLONIUS, START, VERONA};
use model::fact::DeletedFrom;
use model::message::MessageTraits;
use model::{
    ChannelFact, ChannelId, DirectConversation, Fact, Flag, FlagOp, Flags, Frame, Message, MessageFact,
    MessageId, MessageRanges, Place, RecipientId, Sequence, Subscription, SubscriptionFact, TopicKey, UserId,
    VisibilityPolicy,
};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use storage::View;

/// Private, with protected history.
const VAULT: ChannelId = ChannelId(3);
const CHANNELS: [(ChannelId, &str); 3] = [(VERONA, "verona"), (CORE, "core team"), (VAULT, "vault")];
const TOPICS: [&str; 4] = ["pens", "PENS", "✔ ink", ""];
/// Everyone in each direct conversation.
const CONVERSATIONS: [&[UserId]; 4] =
    [&[HAMLET], &[IAGO, HAMLET], &[IAGO, HAMLET, POLONIUS], &[HAMLET, POLONIUS]];

/// Something that a user does; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
pub enum Step {
    Send { sender: usize, channel: usize, topic: usize, traits: u8 },
    SendDirect { conversation: usize, sender: usize, traits: u8 },
    Toggle { user: usize, channel: usize },
    MuteChannel { user: usize, channel: usize, is_muted: bool },
    SetPolicy { user: usize, channel: usize, topic: usize, policy: usize },
    SetFlag { user: usize, message: usize, is_star: bool, is_add: bool },
    Delete { message: usize },
}

pub fn any_step() -> impl Strategy<Value = Step> {
    let (user, channel, topic) = (0usize..3, 0usize..3, 0usize..4);
    let places = (user.clone(), channel.clone(), topic.clone());
    prop_oneof![
        4 => (places, any::<u8>())
            .prop_map(|((sender, channel, topic), traits)| Step::Send { sender, channel, topic, traits }),
        2 => (0usize..4, user.clone(), any::<u8>())
            .prop_map(|(conversation, sender, traits)| Step::SendDirect { conversation, sender, traits }),
        2 => (user.clone(), channel.clone()).prop_map(|(user, channel)| Step::Toggle { user, channel }),
        1 => (user.clone(), channel.clone(), any::<bool>())
            .prop_map(|(user, channel, is_muted)| Step::MuteChannel { user, channel, is_muted }),
        1 => (user.clone(), channel, topic, 0usize..4)
            .prop_map(|(user, channel, topic, policy)| Step::SetPolicy { user, channel, topic, policy }),
        3 => (user, any::<usize>(), any::<bool>(), prop::bool::weighted(0.8))
            .prop_map(|(user, message, is_star, is_add)| Step::SetFlag { user, message, is_star, is_add }),
        1 => any::<usize>().prop_map(|message| Step::Delete { message }),
    ]
}

/// One message.
#[derive(Clone, Debug)]
struct Entry {
    id: u32,
    sender: UserId,
    /// Channel and topic; none for a direct message.
    place: Option<(ChannelId, &'static str)>,
    participants: Vec<UserId>,
    traits: MessageTraits,
    /// Mentioned by name, and alerted.
    flagged: BTreeSet<(UserId, Flag)>,
    given: BTreeSet<UserId>,
    /// Flagged without having been given.
    historical: BTreeSet<UserId>,
    read: BTreeSet<UserId>,
    starred: BTreeSet<UserId>,
}

pub struct Table {
    pub view: View,
    entries: Vec<Entry>,
    last: u32,
    subscribed: BTreeSet<(UserId, ChannelId)>,
    muted: BTreeSet<(UserId, ChannelId)>,
    policies: BTreeMap<(UserId, ChannelId, String), VisibilityPolicy>,
}

impl Table {
    pub fn new() -> Self {
        let mut table = Self {
            view: fixture::view(),
            entries: Vec::new(),
            last: 0,
            subscribed: BTreeSet::from([(IAGO, VERONA), (HAMLET, VERONA), (IAGO, CORE)]),
            muted: BTreeSet::new(),
            policies: BTreeMap::new(),
        };
        let mut vault = model::Channel::clone(table.view.directory.channel(CORE).unwrap());
        (vault.id, vault.recipient, vault.name) = (VAULT, RecipientId(VAULT.0), "vault".into());
        vault.history_public_to_subscribers = false;
        let mut facts = vec![Fact::Channel(ChannelFact::Created(Box::new(vault)))];
        for (index, users) in CONVERSATIONS.iter().enumerate() {
            let direct = DirectConversation { recipient: recipient(index), users: users.to_vec() };
            facts.push(Fact::Message(MessageFact::ConversationCreated(direct)));
        }
        table.apply(facts);
        table
    }

    fn apply(&mut self, facts: Vec<Fact>) {
        let (sequence, first_event) =
            (self.view.progress.sequence.0 + 1, self.view.progress.last_event.next());
        self.view.apply(Sequence(sequence), &Frame { at: START, first_event, facts }).unwrap();
    }

    pub fn take(&mut self, step: &Step) {
        let person = |index: usize| super::PEOPLE[index % 3];
        match *step {
            Step::Send { sender, channel, topic, traits } => {
                let place = (CHANNELS[channel].0, TOPICS[topic]);
                let given = super::PEOPLE.into_iter().filter(|user| self.is_subscribed(*user, place.0));
                let given = given.collect();
                self.send(person(sender), Some(place), RecipientId(place.0.0), given, traits);
            }
            Step::SendDirect { conversation, sender, traits } => {
                let users = CONVERSATIONS[conversation];
                let given = users.iter().copied().collect();
                self.send(users[sender % users.len()], None, recipient(conversation), given, traits);
            }
            Step::Toggle { user, channel } => self.toggle(person(user), CHANNELS[channel].0),
            Step::MuteChannel { user, channel, is_muted } => {
                self.mute(person(user), CHANNELS[channel].0, is_muted);
            }
            Step::SetPolicy { user, channel, topic, policy } => {
                use VisibilityPolicy::{Followed, Inherit, Muted, Unmuted};
                let (user, channel, topic) = (person(user), CHANNELS[channel].0, TOPICS[topic]);
                let policy = [Inherit, Muted, Unmuted, Followed][policy];
                self.policies.insert((user, channel, topic.to_lowercase()), policy);
                self.apply(vec![Fact::Subscription(SubscriptionFact::TopicPolicySet {
                    users: vec![user],
                    channel,
                    topic: topic.to_owned(),
                    policy,
                })]);
            }
            Step::SetFlag { user, message, is_star, is_add } => {
                self.flag(person(user), message, is_star, is_add);
            }
            Step::Delete { message } => self.delete(message),
        }
    }

    fn send(
        &mut self,
        sender: UserId,
        place: Option<(ChannelId, &'static str)>,
        recipient: RecipientId,
        given: BTreeSet<UserId>,
        bits: u8,
    ) {
        self.last += 1;
        let traits = MessageTraits {
            has_link: bits & 1 != 0,
            has_image: bits & 2 != 0,
            channel_wildcard: bits & 12 == 12,
            read_by_sender: bits & 16 != 0,
            ..MessageTraits::default()
        };
        let flag = if bits & 64 == 0 { Flag::Mentioned } else { Flag::HasAlertWord };
        let flagged: BTreeSet<_> = given
            .iter()
            .filter(|user| (bits >> 5) as u32 % 3 == user.0 % 3)
            .map(|user| (*user, flag))
            .collect();
        let stored_place = match place {
            Some((channel, topic)) => Place::Channel { channel, topic: topic.to_owned() },
            None => Place::Direct,
        };
        let message = Message {
            traits,
            user_flags: flagged.iter().map(|(user, flag)| (*user, Flags::only(*flag))).collect(),
            ..Message::new(MessageId(self.last), sender, recipient, stored_place, START)
        };
        let read = BTreeSet::from_iter(traits.read_by_sender.then_some(sender));
        self.entries.push(Entry {
            id: self.last,
            sender,
            place,
            participants: if place.is_none() { given.iter().copied().collect() } else { Vec::new() },
            traits,
            flagged,
            given,
            historical: BTreeSet::new(),
            read,
            starred: BTreeSet::new(),
        });
        self.apply(vec![Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None })]);
    }

    fn toggle(&mut self, user: UserId, channel: ChannelId) {
        let (last, by) = (MessageId(self.last), user);
        let before =
            self.view.directory.subscription(channel, user).map(|record| Subscription::clone(record));
        if self.subscribed.remove(&(user, channel)) {
            return self.apply(vec![Fact::Subscription(SubscriptionFact::Removed {
                channel,
                last,
                users: vec![user],
                by,
            })]);
        }
        self.subscribed.insert((user, channel));
        let mut record = before.unwrap_or_else(|| Subscription::start("#76ce90".into(), last));
        record.resubscribe(last);
        self.apply(vec![Fact::Subscription(SubscriptionFact::Added {
            channel,
            subscribers: vec![(user, record)],
            by,
        })]);
    }

    fn mute(&mut self, user: UserId, channel: ChannelId, is_muted: bool) {
        let Some(record) = self.view.directory.subscription(channel, user) else { return };
        let subscription = Box::new(Subscription { is_muted, ..Subscription::clone(record) });
        if is_muted {
            self.muted.insert((user, channel));
        } else {
            self.muted.remove(&(user, channel));
        }
        self.apply(vec![Fact::Subscription(SubscriptionFact::Changed { user, channel, subscription })]);
    }

    fn flag(&mut self, user: UserId, message: usize, is_star: bool, is_add: bool) {
        let count = self.entries.len();
        let Some(index) = message.checked_rem(count) else { return };
        let (reads, has) = (self.reads(user, &self.entries[index]), self.has(user, &self.entries[index]));
        let entry = &mut self.entries[index];
        // As the selection of flags has it: what one has, or can read and star.
        if !(has || (reads && is_star && is_add)) {
            return;
        }
        if !entry.given.contains(&user) && entry.historical.insert(user) {
            entry.read.insert(user);
        }
        let set = if is_star { &mut entry.starred } else { &mut entry.read };
        let _ = if is_add { set.insert(user) } else { set.remove(&user) };
        let (flag, op) = (
            if is_star { Flag::Starred } else { Flag::Read },
            if is_add { FlagOp::Add } else { FlagOp::Remove },
        );
        let messages = MessageRanges::from_sorted([MessageId(entry.id)]);
        self.apply(vec![Fact::Message(MessageFact::FlagsChanged { user, flag, op, messages })]);
    }

    fn delete(&mut self, message: usize) {
        let Some(index) = message.checked_rem(self.entries.len()) else { return };
        let removed = self.entries.remove(index);
        let from = match removed.place {
            Some((channel, topic)) => DeletedFrom::Topic { channel, topic: topic.to_owned() },
            None => {
                let users = removed.participants.as_slice();
                let index = CONVERSATIONS.iter().position(|others| *others == users).unwrap();
                DeletedFrom::Direct(recipient(index))
            }
        };
        let messages = MessageRanges::from_sorted([MessageId(removed.id)]);
        self.apply(vec![Fact::Message(MessageFact::Deleted { from, messages, by: None })]);
    }

    fn is_subscribed(&self, user: UserId, channel: ChannelId) -> bool {
        self.subscribed.contains(&(user, channel))
    }

    /// A user was given a message, or flagged it.
    fn has(&self, user: UserId, entry: &Entry) -> bool {
        entry.given.contains(&user) || entry.historical.contains(&user)
    }

    /// All of a channel can be read.
    fn reads_whole(&self, user: UserId, channel: ChannelId) -> bool {
        let is_inside = self.is_subscribed(user, channel);
        match channel {
            VERONA => is_inside || user != POLONIUS,
            CORE => is_inside,
            _ => false,
        }
    }

    fn reads(&self, user: UserId, entry: &Entry) -> bool {
        match entry.place {
            None => entry.given.contains(&user),
            Some((VAULT, _)) => self.is_subscribed(user, VAULT) && self.has(user, entry),
            Some((channel, _)) => self.reads_whole(user, channel),
        }
    }

    fn policy(&self, user: UserId, entry: &Entry) -> VisibilityPolicy {
        let Some((channel, topic)) = entry.place else { return VisibilityPolicy::Inherit };
        self.policies.get(&(user, channel, topic.to_lowercase())).copied().unwrap_or_default()
    }

    fn is_channel_muted(&self, user: UserId, entry: &Entry) -> bool {
        entry.place.is_some_and(|(channel, _)| {
            self.is_subscribed(user, channel) && self.muted.contains(&(user, channel))
        })
    }

    fn is_muted(&self, user: UserId, entry: &Entry) -> bool {
        match self.policy(user, entry) {
            VisibilityPolicy::Muted => true,
            VisibilityPolicy::Inherit => self.is_channel_muted(user, entry),
            _ => false,
        }
    }

    /// What a narrow finds for a user.
    pub fn found(&self, user: UserId, narrow: &[Value]) -> Vec<u32> {
        let terms: Vec<Term> = narrow.iter().map(Term::of).collect();
        let is_about_flags =
            |term: &Term| term.operator == "is" && !["resolved", "followed"].contains(&term.as_str());
        let whole = |term: &Term| {
            let channel = CHANNELS.iter().find(|(_, name)| *name == term.as_str().to_lowercase());
            match term.operator {
                "channel" => channel.is_some_and(|(channel, _)| self.reads_whole(user, *channel)),
                "channels" => user != POLONIUS,
                _ => false,
            }
        };
        let searches_whole =
            !terms.iter().any(is_about_flags) && terms.iter().any(|term| !term.negated && whole(term));
        let searched = self.entries.iter().filter(|entry| {
            if searches_whole {
                return entry.place.is_some_and(|(channel, _)| self.reads_whole(user, channel));
            }
            self.has(user, entry) && self.reads(user, entry)
        });
        let wanted = searched.filter(|entry| terms.iter().all(|term| self.holds(user, entry, term)));
        wanted.map(|entry| entry.id).collect()
    }

    /// The first of these that is unread and not muted as the narrow has it.
    pub fn first_unread(&self, user: UserId, narrow: &[Value]) -> Option<u32> {
        let terms: Vec<Term> = narrow.iter().map(Term::of).collect();
        let asks = |wanted: &[&str]| {
            terms.iter().any(|term| {
                let is_direct = term.operator == "is" && term.as_str() == "dm" && wanted.contains(&"is:dm");
                !term.negated && (wanted.contains(&term.operator) || is_direct)
            })
        };
        let skipped = |entry: &Entry| {
            if asks(&["dm", "dm-including", "group-pm-with", "is:dm"]) {
                return false;
            }
            let is_channel_given = asks(&["channel"]);
            match is_channel_given {
                true => self.policy(user, entry) == VisibilityPolicy::Muted,
                false => self.is_muted(user, entry),
            }
        };
        let own = |entry: &&Entry| self.has(user, entry) && self.reads(user, entry);
        let matching = self.entries.iter().filter(own);
        let matching = matching.filter(|entry| terms.iter().all(|term| self.holds(user, entry, term)));
        let mut unread = matching.filter(|entry| !entry.read.contains(&user) && !skipped(entry));
        unread.next().map(|entry| entry.id)
    }

    fn holds(&self, user: UserId, entry: &Entry, term: &Term) -> bool {
        let is_direct = entry.place.is_none();
        let involves = |other: UserId| is_direct && entry.participants.contains(&other);
        let given = entry.given.contains(&user);
        let flagged = |flag| entry.flagged.contains(&(user, flag));
        let holds = match (term.operator, term.as_str()) {
            ("channel", name) => {
                let channel = CHANNELS.iter().find(|(_, known)| *known == name.to_lowercase()).unwrap().0;
                entry.place.is_some_and(|(here, _)| here == channel)
            }
            ("channels", _) => entry.place.is_some_and(|(here, _)| here == VERONA),
            ("topic", name) => {
                entry.place.is_some_and(|(_, topic)| TopicKey::new(topic) == TopicKey::new(name))
            }
            ("dm", _) => {
                let mut people: BTreeSet<UserId> = term.ids().into_iter().collect();
                people.insert(user);
                is_direct && entry.participants == people.into_iter().collect::<Vec<_>>()
            }
            ("dm-including", _) => involves(term.ids()[0]) && involves(user),
            ("group-pm-with", _) => involves(term.ids()[0]) && entry.participants.len() > 2,
            ("sender", _) => entry.sender == term.ids()[0],
            ("is", "dm") => is_direct,
            ("is", "starred") => entry.starred.contains(&user),
            ("is", "unread") => !entry.read.contains(&user),
            ("is", "mentioned") => flagged(Flag::Mentioned) || (given && entry.traits.channel_wildcard),
            ("is", "alerted") => flagged(Flag::HasAlertWord),
            ("is", "followed") => self.policy(user, entry) == VisibilityPolicy::Followed,
            ("is", "muted") => self.is_muted(user, entry),
            ("is", "resolved") => entry.place.is_some_and(|(_, topic)| topic.starts_with('✔')),
            ("in", "home") => return !self.is_muted(user, entry),
            ("in", _) | ("near", _) => return true,
            ("has", "link") => entry.traits.has_link,
            ("has", _) => entry.traits.has_image,
            ("id", _) => term.operand == entry.id,
            other => unreachable!("{other:?}"),
        };
        holds != term.negated
    }
}

fn recipient(conversation: usize) -> RecipientId {
    RecipientId(1000 + u32::try_from(conversation).unwrap())
}

/// A term as sent.
struct Term<'n> {
    operator: &'n str,
    operand: &'n Value,
    negated: bool,
}

impl<'n> Term<'n> {
    fn of(term: &'n Value) -> Self {
        Self {
            operator: term["operator"].as_str().unwrap(),
            operand: &term["operand"],
            negated: term["negated"] == true,
        }
    }

    fn as_str(&self) -> &'n str {
        self.operand.as_str().unwrap_or_default()
    }

    fn ids(&self) -> Vec<UserId> {
        let list = self.operand.as_array().cloned().unwrap_or_else(|| vec![self.operand.clone()]);
        list.iter().map(|id| UserId(u32::try_from(id.as_u64().unwrap()).unwrap())).collect()
    }
}
