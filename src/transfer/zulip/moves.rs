//! Changes of the messages of a frame in chronological order. Messages that were moved together are one move again.

use model::fact::{ArrivalFact, Delivery, MessageUpdate, Movement, NewTopic};
use model::{
    ConversationId, Fact, MessageFact, MessageId, MessageRanges, MessageVersion, PropagateMode, RecipientId,
    Timestamp, TopicLink, UserId,
};
use rules::topics::resolve_change;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::history::TopicPlace;

/// A change of one message.
pub struct PendingMove<'m> {
    /// Its position among the changes of the message.
    pub order: usize,
    pub message: MessageId,
    pub at: Timestamp,
    pub by: UserId,
    /// Where the message was before.
    pub conversation: ConversationId,
    pub edited: Option<Arc<MessageVersion>>,
    pub place: Option<(TopicPlace, TopicPlace)>,
    pub links: Vec<TopicLink>,
    /// The recipient of the new channel, if the channel changed.
    pub arrival: Option<RecipientId>,
    /// Who received the message in the end.
    pub received: &'m [UserId],
}

/// Orders the changes; moves with the same key are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    at: Timestamp,
    order: usize,
    by: UserId,
    place: Option<(TopicPlace, TopicPlace)>,
    /// A message whose text changed is not moved with others.
    alone: Option<MessageId>,
}

struct Group {
    target: MessageId,
    conversation: ConversationId,
    edited: Option<Arc<MessageVersion>>,
    links: Vec<TopicLink>,
    arrival: Option<RecipientId>,
    /// The messages, by who received them.
    messages: BTreeMap<Vec<UserId>, Vec<MessageId>>,
}

/// The changes of a frame.
#[derive(Default)]
pub struct Moves(BTreeMap<Key, Group>);

impl Moves {
    /// Adds a change. Messages come in the order of their ids.
    pub fn add(&mut self, change: PendingMove<'_>) {
        let PendingMove { order, message, at, by, conversation, edited, place, links, arrival, received } =
            change;
        let alone = edited.is_some().then_some(message);
        let group = self.0.entry(Key { at, order, by, place, alone }).or_insert_with(|| Group {
            target: message,
            conversation,
            edited,
            links,
            arrival,
            messages: BTreeMap::new(),
        });
        group.messages.entry(received.to_vec()).or_default().push(message);
    }

    /// The facts, in chronological order.
    pub fn into_facts(self) -> impl Iterator<Item = Fact> {
        self.0.into_iter().map(|(key, group)| {
            let Group { target, conversation, edited, links, arrival, messages } = group;
            let movement = key.place.map(|place| movement(place, links, arrival, messages));
            let update = MessageUpdate { target, by: key.by, at: key.at, conversation, edited, movement };
            Fact::Message(MessageFact::Updated(Box::new(update)))
        })
    }
}

fn movement(
    (before, after): (TopicPlace, TopicPlace),
    links: Vec<TopicLink>,
    arrival: Option<RecipientId>,
    messages: BTreeMap<Vec<UserId>, Vec<MessageId>>,
) -> Movement {
    let mut all: Vec<MessageId> = messages.values().flatten().copied().collect();
    all.sort_unstable();
    let mode = if all.len() > 1 { PropagateMode::All } else { PropagateMode::One };
    let deliveries = messages.into_iter().filter(|(users, _)| !users.is_empty()).map(|(users, messages)| {
        Delivery { messages: MessageRanges::from_sorted(messages), users, is_new: false }
    });
    let new_channel = arrival.map(|recipient| ArrivalFact {
        channel: after.0,
        recipient,
        deliveries: deliveries.collect(),
    });
    Movement {
        messages: MessageRanges::from_sorted(all),
        mode,
        channel: before.0,
        is_resolve: new_channel.is_none() && resolve_change(&before.1, &after.1).is_some(),
        new_topic: (before.1 != after.1).then(|| NewTopic { name: after.1.clone(), links }),
        topic: before.1,
        new_channel,
    }
}
