//! Candidates for a notification about a message, found without checking every recipient.

use model::{Directory, Message, Place, Subscription, TopicKey, User, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A user who may be notified.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'d> {
    pub user: &'d Arc<User>,
    /// The user's subscription to the channel of the message, ended ones included; none for direct messages.
    pub subscription: Option<&'d Subscription>,
}

/// Users who are addressed or mentioned, follow the topic, or want all notifications. Some may not have the message. By id.
pub(super) fn candidates<'d>(directory: &'d Directory, message: &Message) -> Vec<Candidate<'d>> {
    let Place::Channel { channel, topic } = &message.place else {
        let direct = directory.direct(message.recipient);
        return among(directory, message, direct.into_iter().flat_map(|direct| direct.users.iter().copied()));
    };
    if message.traits.channel_wildcard {
        // All of them: whatever is looked up for each costs thousands of lookups.
        let all = directory.active_subscribers(*channel);
        return all.map(|(user, own)| Candidate { user, subscription: Some(&**own) }).collect();
    }
    let flagged = message.user_flags.iter().filter(|(_, flags)| flags.is_mention()).map(|(user, _)| *user);
    let key = TopicKey::new(topic);
    let others = directory.followers(*channel, &key).chain(directory.notification_candidates(*channel));
    let all: BTreeSet<UserId> = flagged.chain(others).collect();
    among(directory, message, all)
}

/// Those of some users who have an account, and a subscription if the message is in a channel.
pub(super) fn among<'d>(
    directory: &'d Directory,
    message: &Message,
    users: impl IntoIterator<Item = UserId>,
) -> Vec<Candidate<'d>> {
    let candidate = |id: UserId| {
        let user = directory.user(id)?;
        let subscription = match &message.place {
            Place::Direct => None,
            Place::Channel { channel, .. } => Some(&**directory.subscription(*channel, id)?),
        };
        Some(Candidate { user, subscription })
    };
    users.into_iter().filter_map(candidate).collect()
}
