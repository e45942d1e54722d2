//! Candidates for a notification about a message, found without checking every recipient.

use model::{Directory, Message, Place, TopicKey, UserId};
use std::collections::BTreeSet;

/// Users who are addressed or mentioned, follow the topic, or want all notifications. Some may not have the message. Sorted.
pub(super) fn candidates(directory: &Directory, message: &Message) -> Vec<UserId> {
    let Place::Channel { channel, topic } = &message.place else {
        let direct = directory.direct(message.recipient);
        return direct.map(|direct| direct.users.clone()).unwrap_or_default();
    };
    if message.traits.channel_wildcard {
        return directory.subscriber_ids(*channel).collect();
    }
    let flagged = message.user_flags.iter().filter(|(_, flags)| flags.is_mention()).map(|(user, _)| *user);
    let key = TopicKey::new(topic);
    let others = directory.followers(*channel, &key).chain(directory.notification_candidates(*channel));
    let all: BTreeSet<UserId> = flagged.chain(others).collect();
    all.into_iter().collect()
}
