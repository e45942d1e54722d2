//! Candidates for a notification about a message, found without checking every recipient.

use model::{Directory, Message, Place, Subscription, User, UserId};
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
    let others = directory.followers(*channel, topic).chain(directory.notification_candidates(*channel));
    let all: BTreeSet<UserId> = flagged.chain(others).collect();
    among(directory, message, all)
}

/// Whether finding the candidates considers at most `few` users.
pub(super) fn has_few_candidates(directory: &Directory, message: &Message, few: usize) -> bool {
    let Place::Channel { channel, topic } = &message.place else {
        return directory.direct(message.recipient).is_none_or(|direct| direct.users.len() <= few);
    };
    let policies = directory.topic_policies(*channel, topic).map_or(0, |policies| policies.len());
    !message.traits.channel_wildcard
        && message.user_flags.len() + policies <= few
        && directory.notification_candidates_max(*channel) <= few
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ChannelId, Flag, Flags, MessageId, Realm, RealmId, RecipientId, Timestamp};

    #[test]
    fn mentions_of_many_are_not_few_candidates() {
        let directory = Directory::new(Realm::new(RealmId(1), "", "Tea", "tea.example", Timestamp(0)));
        let message = |place| Message::new(MessageId(1), UserId(1), RecipientId(1), place, Timestamp(0));
        assert!(has_few_candidates(&directory, &message(Place::Direct), 2));
        let channel = || message(Place::Channel { channel: ChannelId(1), topic: "tea".into() });
        assert!(has_few_candidates(&directory, &channel(), 2));
        let mut everyone = channel();
        everyone.traits.channel_wildcard = true;
        assert!(!has_few_candidates(&directory, &everyone, 2));
        for (mentioned, is_few) in [(2, true), (3, false)] {
            let mut several = channel();
            several.user_flags =
                (0..mentioned).map(|id| (UserId(id), Flags::only(Flag::Mentioned))).collect();
            assert_eq!(has_few_candidates(&directory, &several, 2), is_few);
        }
    }
}
