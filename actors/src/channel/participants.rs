//! Participants of a topic: everyone who wrote in it or reacted to a message of it
//! (docs/api/messages.md#wildcard-mentions). Needed only for topic wildcard mentions.

use model::{ChannelId, MessageId, TopicKey, UserId};
use roaring::RoaringBitmap;
use std::collections::BTreeSet;
use storage::View;

/// The distinct senders and reactors of a topic's messages, sorted.
pub(crate) fn participants(view: &View, channel: ChannelId, topic: &TopicKey) -> Vec<UserId> {
    let Some(messages) = view.messages.topic(channel, topic) else { return Vec::new() };
    let accounts = view.messages.senders.len() + view.messages.reactors.len();
    let recent = match messages.ids.len() < accounts as u64 {
        true => of_recent(view, &messages.ids),
        false => None,
    };
    recent.unwrap_or_else(|| by_account(view, &messages.ids))
}

/// The distinct senders and reactors of messages, sorted. Visits all accounts.
fn by_account(view: &View, ids: &RoaringBitmap) -> Vec<UserId> {
    let all = view.messages.senders.iter().chain(&view.messages.reactors);
    let here = all.filter(|(_, own)| !own.is_disjoint(ids)).map(|(user, _)| *user);
    here.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The same, from the messages; `None` unless all of them are in memory.
fn of_recent(view: &View, ids: &RoaringBitmap) -> Option<Vec<UserId>> {
    let mut users = BTreeSet::new();
    for id in ids {
        let message = view.recent.get(MessageId(id))?;
        users.insert(message.sender);
        users.extend(message.reactions.iter().map(|reaction| reaction.user));
    }
    Some(users.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{HAMLET, IAGO, POLONIUS, VERONA, apply, sent, view};
    use model::{ConversationId, Fact, MessageFact, Reaction};

    #[test]
    fn messages_and_accounts_give_the_same_participants() {
        let mut view = view();
        let facts = (1..=3).map(|id| sent(&view, VERONA, id)).collect();
        apply(&mut view, facts);
        let react = |user: UserId, id: u32| {
            Fact::Message(MessageFact::ReactionAdded {
                message: MessageId(id),
                conversation: ConversationId::Channel(VERONA),
                reaction: Reaction {
                    emoji_name: "tada".into(),
                    emoji_code: "1f389".into(),
                    reaction_type: "unicode_emoji".into(),
                    user,
                },
            })
        };
        apply(&mut view, vec![react(POLONIUS, 2), react(HAMLET, 3)]);
        for (ids, users) in
            [(vec![1], vec![IAGO]), (vec![1, 2], vec![IAGO, POLONIUS]), (vec![3], vec![IAGO, HAMLET])]
        {
            let ids: RoaringBitmap = ids.into_iter().collect();
            assert_eq!(of_recent(&view, &ids), Some(users.clone()));
            assert_eq!(by_account(&view, &ids), users);
        }
        assert_eq!(of_recent(&view, &RoaringBitmap::from_iter([1, 9])), None, "not in memory");
        let all = participants(&view, VERONA, &TopicKey::new("lunch"));
        assert_eq!(all, [IAGO, HAMLET, POLONIUS]);
    }
}
