//! What unsubscribing does to unread messages: those of the channel become read
//! (docs/api/message-flags.md#unread-rules), of as many users as fit into one frame.

use model::{ChannelId, Fact, MessageFact, MessageId, MessageRanges, SubscriptionFact, UserId};
use storage::View;

/// The unread messages of some subscribers of a channel, as far as they fit into one frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnreadPart {
    /// The first users, each with all of their unread messages of the channel.
    pub fitting: Vec<(UserId, MessageRanges)>,
    /// If not even the messages of the first user fit: that user, with the first of them.
    pub partial: Option<(UserId, MessageRanges)>,
}

impl UnreadPart {
    /// The unread messages of the first of some users, with at most `room` ranges.
    pub(crate) fn of(view: &View, channel: ChannelId, users: &[UserId], mut room: usize) -> Self {
        let mut part = Self { fitting: Vec::new(), partial: None };
        for user in users {
            let mut messages = unread_in(view, channel, *user);
            if messages.0.len() > room {
                messages.0.truncate(room);
                part.partial = part.fitting.is_empty().then_some((*user, messages));
                break;
            }
            room -= messages.0.len();
            part.fitting.push((*user, messages));
        }
        part
    }
}

/// The facts that unsubscribe users from a channel. It also marks their unread messages of the channel as read.
pub(crate) fn unsubscribe_facts(
    view: &View,
    channel: ChannelId,
    removed: Vec<UserId>,
    last: MessageId,
    by: UserId,
) -> Vec<Fact> {
    let unread = removed.into_iter().map(|user| (user, unread_in(view, channel, user))).collect();
    removed_facts(channel, unread, last, by)
}

/// The facts that unsubscribe users from a channel, and mark as read what each has unread there.
pub(crate) fn removed_facts(
    channel: ChannelId,
    unread: Vec<(UserId, MessageRanges)>,
    last: MessageId,
    by: UserId,
) -> Vec<Fact> {
    let users = unread.iter().map(|(user, _)| *user).collect();
    let mut facts = vec![Fact::Subscription(SubscriptionFact::Removed { channel, last, users, by })];
    let read = unread.into_iter().filter(|(_, messages)| !messages.is_empty());
    facts.extend(read.map(|(user, messages)| Fact::Message(MessageFact::read(user, messages))));
    facts
}

/// The unread messages of a user in a channel, as far as the user can access them there.
pub(crate) fn unread_in(view: &View, channel: ChannelId, user: UserId) -> MessageRanges {
    let own = view.channel_ids(channel).map(|ids| view.accessible_in_channel(user, channel, ids));
    MessageRanges::from_sorted(view.unread_of(user, &own.unwrap_or_default()).iter().map(MessageId))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, HAMLET, IAGO, VERONA};

    fn ranges(ids: impl IntoIterator<Item = u32>) -> MessageRanges {
        MessageRanges::from_sorted(ids.into_iter().map(MessageId))
    }

    /// Six messages, of which Hamlet has read the second and the fourth.
    fn view() -> View {
        let mut view = fixture::view();
        (1..=6).for_each(|id| {
            let sent = fixture::sent(&view, VERONA, id);
            fixture::apply(&mut view, vec![sent]);
        });
        let read = [2, 4].map(|id| Fact::Message(MessageFact::read(HAMLET, ranges([id]))));
        fixture::apply(&mut view, read.into());
        view
    }

    #[test]
    fn unread_messages_of_users_are_limited_to_what_fits_into_a_frame() {
        let view = view();
        let (of_hamlet, of_iago) = ((HAMLET, ranges([1, 3, 5, 6])), (IAGO, ranges(1..=6)));
        let part = |room| UnreadPart::of(&view, VERONA, &[HAMLET, IAGO], room);
        let all = vec![of_hamlet.clone(), of_iago.clone()];
        assert_eq!(part(4), UnreadPart { fitting: all, partial: None });
        assert_eq!(part(3), UnreadPart { fitting: vec![of_hamlet], partial: None });
        let first = (HAMLET, ranges([1, 3]));
        assert_eq!(part(2), UnreadPart { fitting: Vec::new(), partial: Some(first) });
        let none = UnreadPart { fitting: Vec::new(), partial: None };
        assert_eq!(UnreadPart::of(&view, VERONA, &[], 4), none);
    }
}
