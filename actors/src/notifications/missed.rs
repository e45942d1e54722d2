//! E-mails about missed messages: which messages one includes when it is due, by conversation.
//!
//! The messages of a pending e-mail were recorded when they were sent; no others are checked. A decision costs a lookup
//! for each of these messages and a body for each unread one.

use super::candidates::among;
use super::receipt::{Reception, is_still_unread};
use crate::error::DomainError;
use crate::outbox::{job, unrequested_mail_room};
use crate::shared::RealmShared;
use model::job::{MailTask, Task};
use model::push::PushFact;
use model::{Fact, Message, MessageId, Place, RecipientId, Timestamp, TopicKey, UserId};
use rules::notifications::Trigger;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Users whose e-mails are decided in one frame.
const USERS_PER_FRAME: usize = 100;
/// Maximum number of e-mails to a user at one time, one for each conversation; the client shows the others.
const CONVERSATIONS_MAX: usize = 20;

/// Whether any pending e-mail is due, and has room. Until there is room, pending ones stay pending.
pub(crate) fn is_any_due(realm: &RealmShared) -> bool {
    let now = realm.clock.now();
    let view = realm.view.read();
    let next = view.directory.pending_mails().next();
    next.is_some_and(|(due, _)| due <= now) && unrequested_mail_room(&view.jobs) > 0
}

/// The facts that end due pending e-mails, with their jobs; empty if none is due or no more can be sent for now.
pub(super) fn decide_due(realm: &RealmShared) -> Result<Vec<Fact>, DomainError> {
    let now = realm.clock.now();
    let users = due_users(realm, now);
    let mut facts = Vec::new();
    let mut known = KnownMessages::default();
    for user in &users {
        if realm.notifications.is_stopping() {
            return Err(DomainError::Stopping);
        }
        let pending = realm.view.read().directory.pending_mail(*user);
        let Some(pending) = pending else { continue };
        let missed = missed_among(realm, *user, &pending.messages, &mut known)?;
        let included = missed.iter().map(|(message, why)| (message.id, Conversation::of(message), *why));
        let conversations = conversations(included);
        metrics::counter!("millstream_missed_mails_total").increment(conversations.len() as u64);
        for messages in conversations {
            facts.push(job(now, Task::Mail(MailTask::Missed { user: *user, messages })));
        }
    }
    if !users.is_empty() {
        facts.push(Fact::Push(Box::new(PushFact::MissedDecided { users })));
    }
    Ok(facts)
}

fn due_users(realm: &RealmShared, now: Timestamp) -> Vec<UserId> {
    let view = realm.view.read();
    let users_max = unrequested_mail_room(&view.jobs).div_ceil(CONVERSATIONS_MAX).min(USERS_PER_FRAME);
    let mut users = BTreeSet::new();
    for (_, user) in view.directory.pending_mails().take_while(|(due, _)| *due <= now) {
        users.insert(user);
        if users.len() >= users_max {
            break;
        }
    }
    users.into_iter().collect()
}

/// The messages of each conversation. If there are too many, direct messages and mentions come first.
fn conversations(messages: impl Iterator<Item = (MessageId, Conversation, Trigger)>) -> Vec<Vec<MessageId>> {
    let mut positions: BTreeMap<Conversation, usize> = BTreeMap::new();
    let mut found: Vec<(Trigger, Vec<MessageId>)> = Vec::new();
    for (id, conversation, why) in messages {
        let next = positions.len();
        let position = *positions.entry(conversation).or_insert(next);
        if position == found.len() {
            found.push((why, Vec::new()));
        }
        let (most, ids) = &mut found[position];
        *most = why.min(*most);
        ids.push(id);
    }
    found.sort_by_key(|(why, _)| *why);
    found.truncate(CONVERSATIONS_MAX);
    found.into_iter().map(|(_, ids)| ids).collect()
}

/// The subject of one e-mail: a topic, or a direct conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Conversation {
    Topic(model::ChannelId, TopicKey),
    Direct(RecipientId),
}

impl Conversation {
    fn of(message: &Message) -> Self {
        match &message.place {
            Place::Direct => Self::Direct(message.recipient),
            Place::Channel { channel, topic } => Self::Topic(*channel, TopicKey::new(topic)),
        }
    }
}

/// The messages that an e-mail should still include, with the reason: unread, accessible and wanted ones of the first
/// message's conversation, because others were moved since the e-mail was decided. Blocks: call it from a blocking
/// thread.
pub fn missed_messages(
    realm: &RealmShared,
    user: UserId,
    messages: &[MessageId],
) -> Result<Vec<(Arc<Message>, Trigger)>, DomainError> {
    let mut missed = missed_among(realm, user, messages, &mut KnownMessages::default())?;
    if let Some((first, _)) = missed.first() {
        let about = Conversation::of(first);
        missed.retain(|(message, _)| Conversation::of(message) == about);
    }
    Ok(missed)
}

/// Messages that were read for one user, because many users miss the same ones.
#[derive(Default)]
struct KnownMessages(HashMap<MessageId, Option<Arc<Message>>>);

/// Maximum number of known messages; beyond it, all are forgotten.
const KNOWN_MAX: usize = 500;

impl KnownMessages {
    fn get(&mut self, realm: &RealmShared, id: MessageId) -> Result<Option<Arc<Message>>, DomainError> {
        if let Some(known) = self.0.get(&id) {
            return Ok(known.clone());
        }
        if self.0.len() >= KNOWN_MAX {
            self.0.clear();
        }
        let message = realm.message(id)?;
        self.0.insert(id, message.clone());
        Ok(message)
    }
}

fn missed_among(
    realm: &RealmShared,
    user: UserId,
    messages: &[MessageId],
    known: &mut KnownMessages,
) -> Result<Vec<(Arc<Message>, Trigger)>, DomainError> {
    let mut missed = Vec::new();
    for id in messages {
        // Most messages have been read, and need no body.
        if !is_still_unread(&realm.view.read(), user, *id) {
            continue;
        }
        let Some(message) = known.get(realm, *id)? else { continue };
        let view = realm.view.read();
        let receipt = || {
            let sender = view.directory.user(message.sender)?;
            let candidate = among(&view.directory, &message, [user]).pop()?;
            Reception::of(&view, sender, &message).receipt(candidate)?.mail()
        };
        if let Some(trigger) = receipt() {
            drop(view);
            missed.push((message, trigger));
        }
    }
    Ok(missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_messages_of_a_conversation_are_one_email() {
        let topic = |id, name: &str, why| {
            (MessageId(id), Conversation::Topic(model::ChannelId(1), TopicKey::new(name)), why)
        };
        let direct = (MessageId(4), Conversation::Direct(RecipientId(9)), Trigger::Direct);
        let messages = [
            topic(1, "tea", Trigger::FollowedTopic),
            topic(2, "milk", Trigger::FollowedTopic),
            topic(3, "Tea", Trigger::Mention),
            direct.clone(),
        ];
        let found = conversations(messages.into_iter());
        let ids: Vec<Vec<u32>> = found.iter().map(|ids| ids.iter().map(|id| id.0).collect()).collect();
        assert_eq!(ids, [vec![4], vec![1, 3], vec![2]]);
        let many = (100..150).map(|id| topic(id, &id.to_string(), Trigger::FollowedTopic));
        let found = conversations(many.chain([direct]));
        assert_eq!((found.len(), &found[0]), (CONVERSATIONS_MAX, &vec![MessageId(4)]));
    }
}
