//! `unread_msgs` as clients read it (docs/api/events.md#unread-messages).

use actors::queries::{UnreadConversation, Unreads};
use model::{ChannelId, MessageId, UserId};
use rules::topics::shown_topic;
use serde::Serialize;

/// A user's unread messages by conversation.
#[derive(Clone, Debug, Serialize)]
pub struct UnreadJson<'a> {
    count: usize,
    pms: Vec<PersonJson<'a>>,
    streams: Vec<TopicJson<'a>>,
    huddles: Vec<GroupJson<'a>>,
    mentions: &'a [MessageId],
    old_unreads_missing: bool,
}

#[derive(Clone, Debug, Serialize)]
struct PersonJson<'a> {
    other_user_id: UserId,
    /// The older name of `other_user_id`.
    sender_id: UserId,
    unread_message_ids: &'a [MessageId],
}

#[derive(Clone, Debug, Serialize)]
struct TopicJson<'a> {
    stream_id: ChannelId,
    topic: &'a str,
    unread_message_ids: &'a [MessageId],
}

#[derive(Clone, Debug, Serialize)]
struct GroupJson<'a> {
    user_ids_string: String,
    unread_message_ids: &'a [MessageId],
}

/// The unread messages of `owner`; `knows_empty_topic` is the capability `empty_topic_name`.
pub fn unread(unreads: &Unreads, owner: UserId, knows_empty_topic: bool) -> UnreadJson<'_> {
    let (mut pms, mut huddles) = (Vec::new(), Vec::new());
    for UnreadConversation { users, ids } in &unreads.conversations {
        if users.len() > 2 {
            let numbers: Vec<String> = users.iter().map(UserId::to_string).collect();
            huddles.push(GroupJson { user_ids_string: numbers.join(","), unread_message_ids: ids });
        } else {
            // The only participant of a conversation with oneself.
            let other = users.iter().copied().find(|user| *user != owner).unwrap_or(owner);
            pms.push(PersonJson { other_user_id: other, sender_id: other, unread_message_ids: ids });
        }
    }
    pms.sort_by_key(|person| person.other_user_id);
    let topics = unreads.topics.iter().map(|topic| TopicJson {
        stream_id: topic.channel,
        topic: shown_topic(&topic.topic, knows_empty_topic),
        unread_message_ids: &topic.ids,
    });
    UnreadJson {
        count: unreads.count,
        pms,
        streams: topics.collect(),
        huddles,
        mentions: &unreads.mentions,
        old_unreads_missing: unreads.old_unreads_missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actors::queries::UnreadTopic;

    #[test]
    fn unread_messages_are_grouped_by_conversation() {
        let ids = |list: &[u32]| list.iter().copied().map(MessageId).collect::<Vec<_>>();
        let talk = |users: &[u32], list: &[u32]| UnreadConversation {
            users: users.iter().copied().map(UserId).collect(),
            ids: ids(list),
        };
        let unreads = Unreads {
            topics: vec![UnreadTopic { channel: ChannelId(3), topic: String::new(), ids: ids(&[7, 9]) }],
            conversations: vec![talk(&[5, 6, 7], &[4]), talk(&[5, 8], &[1, 2]), talk(&[5], &[3])],
            mentions: ids(&[9]),
            count: 6,
            old_unreads_missing: false,
        };
        let json = |knows_empty| serde_json::to_string(&unread(&unreads, UserId(5), knows_empty)).unwrap();
        assert_eq!(
            json(false),
            r#"{"count":6,"pms":[{"other_user_id":5,"sender_id":5,"unread_message_ids":[3]},{"other_user_id":8,"sender_id":8,"unread_message_ids":[1,2]}],"streams":[{"stream_id":3,"topic":"general chat","unread_message_ids":[7,9]}],"huddles":[{"user_ids_string":"5,6,7","unread_message_ids":[4]}],"mentions":[9],"old_unreads_missing":false}"#
        );
        assert!(json(true).contains(r#""topic":"","#));
    }
}
