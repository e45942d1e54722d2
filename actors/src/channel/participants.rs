//! Who took part in a topic: everybody who wrote in it or reacted to a message of it (endpoints.md 0.6). It matters
//! only where somebody mentions the whole topic.

use crate::error::DomainError;
use crate::shared::RealmShared;
use model::{ChannelId, MessageId, TopicKey, UserId};
use std::collections::BTreeSet;

/// Distinct senders and reactors of a topic's messages, sorted. Reads the bodies of those that have reactions.
///
/// # Errors
/// `Storage`.
pub(crate) fn participants(
    realm: &RealmShared,
    channel: ChannelId,
    topic: &TopicKey,
) -> Result<Vec<UserId>, DomainError> {
    let (mut people, reacted) = {
        let view = realm.view.read();
        let Some(messages) = view.messages.topic(channel, topic) else { return Ok(Vec::new()) };
        let senders = view.messages.senders.iter();
        let senders = senders.filter(|(_, ids)| !ids.is_disjoint(&messages.ids)).map(|(user, _)| *user);
        (senders.collect::<BTreeSet<_>>(), &view.messages.with_reaction & &messages.ids)
    };
    for id in &reacted {
        if let Some(message) = realm.own_record(MessageId(id))? {
            people.extend(message.reactions.iter().map(|reaction| reaction.user));
        }
    }
    Ok(people.into_iter().collect())
}
