//! What unsubscribing does to unread messages: those of the channel become read
//! (docs/api/message-flags.md#unread-rules), of as many users as fit into one frame.

use crate::shared::FLAG_RANGES_MAX;
use model::{ChannelId, Fact, MessageFact, MessageId, MessageRanges, SubscriptionFact, UserId};
use std::collections::BTreeMap;
use storage::View;

/// The unread messages of some subscribers of a channel, as far as they fit into one frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnreadPart {
    /// The first users, each with their unread messages of the channel; at least one user if there are any.
    pub fitting: Vec<(UserId, MessageRanges)>,
    /// If not even the messages of the first user fit: that user, with those that are left.
    pub rest: Option<(UserId, MessageRanges)>,
}

impl UnreadPart {
    /// The unread messages of the first of some users, with at most `room` ranges.
    pub(super) fn of(view: &View, channel: ChannelId, users: &[UserId], mut room: usize) -> Self {
        let mut part = Self { fitting: Vec::new(), rest: None };
        for user in users {
            let mut messages = unread_in(view, channel, *user);
            if messages.0.len() > room && !part.fitting.is_empty() {
                break;
            }
            if messages.0.len() > room {
                part.rest = Some((*user, MessageRanges(messages.0.split_off(room))));
            }
            room -= messages.0.len();
            part.fitting.push((*user, messages));
            if part.rest.is_some() {
                break;
            }
        }
        part
    }
}

/// The facts that unsubscribe bots from channels. They also mark their unread messages of the channels as read, as far as
/// that fits into one frame: bots that cannot read the rest any more do not need it.
pub(crate) fn unsubscribe_bots(
    view: &View,
    leaving: BTreeMap<ChannelId, Vec<UserId>>,
    last: MessageId,
    by: UserId,
) -> Vec<Fact> {
    let mut room = FLAG_RANGES_MAX;
    let mut unread_of = |channel, bot| {
        let mut messages = unread_in(view, channel, bot);
        messages.0.truncate(room);
        room -= messages.0.len();
        (bot, messages)
    };
    let mut facts = Vec::new();
    for (channel, bots) in leaving {
        let unread = bots.into_iter().map(|bot| unread_of(channel, bot)).collect();
        facts.extend(removed_facts(channel, unread, last, by));
    }
    facts
}

/// The facts that unsubscribe users from a channel, and mark as read what each has unread there.
pub(super) fn removed_facts(
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
    use crate::draft::Destination;
    use crate::fixture::{self, HAMLET, IAGO, START, VERONA};
    use model::{EventNumber, Flag, FlagOp, Frame, Place};
    use std::sync::Arc;

    fn ranges(ids: impl IntoIterator<Item = u32>) -> MessageRanges {
        MessageRanges::from_sorted(ids.into_iter().map(MessageId))
    }

    /// Six messages, of which Hamlet has read the second and the fourth.
    fn view() -> View {
        let mut view = fixture::view();
        let recipient = view.directory.channel(VERONA).unwrap().recipient;
        let sent = |view: &View, id| {
            let draft = fixture::draft(view, HAMLET, VERONA, "lunch", "hi").draft;
            let place = Place::Channel { channel: VERONA, topic: "lunch".into() };
            let destination = Destination { recipient, place, topic_links: Vec::new() };
            let message = draft.into_message(MessageId(id), START, destination, Default::default());
            Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None })
        };
        let mut facts: Vec<Fact> = (1..=6).map(|id| sent(&view, id)).collect();
        facts.extend([2, 4].map(|id| {
            let (user, messages) = (HAMLET, ranges([id]));
            Fact::Message(MessageFact::FlagsChanged { user, flag: Flag::Read, op: FlagOp::Add, messages })
        }));
        for fact in facts {
            let first_event: EventNumber = view.progress.last_event.next();
            let frame = Frame { at: START, first_event, facts: vec![fact] };
            view.apply(view.progress.sequence.next(), &frame).unwrap();
        }
        view
    }

    #[test]
    fn unread_messages_of_users_are_limited_to_what_fits_into_a_frame() {
        let view = view();
        let (of_hamlet, of_iago) = ((HAMLET, ranges([1, 3, 5, 6])), (IAGO, ranges(1..=6)));
        let part = |room| UnreadPart::of(&view, VERONA, &[HAMLET, IAGO], room);
        let all = vec![of_hamlet.clone(), of_iago.clone()];
        assert_eq!(part(4), UnreadPart { fitting: all, rest: None });
        assert_eq!(part(3), UnreadPart { fitting: vec![of_hamlet], rest: None });
        assert_eq!(
            part(2),
            UnreadPart { fitting: vec![(HAMLET, ranges([1, 3]))], rest: Some((HAMLET, ranges([5, 6]))) }
        );
        let none = UnreadPart { fitting: Vec::new(), rest: None };
        assert_eq!(UnreadPart::of(&view, VERONA, &[], 4), none);
    }
}
