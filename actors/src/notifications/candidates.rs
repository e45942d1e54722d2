//! Candidates for a notification about a message, found without checking every recipient.

use model::{Directory, Message, Place, TopicKey, UserId};
use std::collections::BTreeSet;

/// Users who are addressed or mentioned, follow the topic, or want all notifications. Some may not have the message.
pub(super) fn candidates(directory: &Directory, message: &Message) -> BTreeSet<UserId> {
    let Place::Channel { channel, topic } = &message.place else {
        let direct = directory.direct(message.recipient);
        return direct.into_iter().flat_map(|direct| direct.users.iter().copied()).collect();
    };
    if message.traits.channel_wildcard {
        return directory.subscriber_ids(*channel).collect();
    }
    let flagged = message.user_flags.iter().filter(|(_, flags)| flags.is_mention()).map(|(user, _)| *user);
    let key = TopicKey::new(topic);
    flagged
        .chain(directory.followers(*channel, &key))
        .chain(directory.notification_candidates(*channel))
        .collect()
}
