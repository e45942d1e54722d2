//! Who may hear of a message at all, without a look at everybody who receives it.

use model::{Directory, Message, Place, TopicKey, UserId};
use std::collections::BTreeSet;

/// Those who are written to, mentioned or follow, and those who want to hear of everything. Some of them may not have it.
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
    flagged.chain(directory.followers(*channel, &key)).chain(directory.hearers(*channel)).collect()
}
