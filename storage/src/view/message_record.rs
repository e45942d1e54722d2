//! The record of a message, read in place: its texts stay where they are, because most of what reads it only copies them.

use crate::codec::decode_plain;
use model::message::MessageTraits;
use model::{ChannelId, Flags, MessageId, Place, RecipientId, Submessage, Timestamp, TopicLink, UserId};
use serde::{Deserialize, Serialize};

/// What is stored of a [`model::Message`], field by field.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageRecord<'r> {
    pub id: MessageId,
    pub sender: UserId,
    pub recipient: RecipientId,
    #[serde(borrow)]
    pub place: PlaceRecord<'r>,
    pub sent: Timestamp,
    pub content: &'r str,
    pub rendered: &'r str,
    pub client: &'r str,
    pub traits: MessageTraits,
    pub user_flags: Vec<(UserId, Flags)>,
    pub topic_links: Vec<TopicLink>,
    pub submessages: Vec<Submessage>,
}

/// A [`model::Place`], whose topic is part of the record's bytes.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum PlaceRecord<'r> {
    Channel { channel: ChannelId, topic: &'r str },
    Direct,
}

impl From<PlaceRecord<'_>> for Place {
    fn from(place: PlaceRecord<'_>) -> Self {
        match place {
            PlaceRecord::Channel { channel, topic } => Self::Channel { channel, topic: topic.to_owned() },
            PlaceRecord::Direct => Self::Direct,
        }
    }
}

impl<'r> MessageRecord<'r> {
    /// The message in a record; `None` if it is compressed or no message. Records have one form, so encoding it again makes the
    /// same bytes.
    pub fn of(record: &'r [u8]) -> Option<Self> {
        decode_plain(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::encode;
    use crate::fixture::channel_message;
    use model::{Flag, Message};
    use proptest::prelude::*;

    impl<'m> From<&'m Place> for PlaceRecord<'m> {
        fn from(place: &'m Place) -> Self {
            match place {
                Place::Channel { channel, topic } => Self::Channel { channel: *channel, topic },
                Place::Direct => Self::Direct,
            }
        }
    }

    impl<'m> From<&'m Message> for MessageRecord<'m> {
        fn from(message: &'m Message) -> Self {
            // Without `..`: a field that a message gets must be decided about here. What is not stored with it is left out.
            let Message {
                id,
                sender,
                recipient,
                place,
                sent,
                content,
                rendered,
                client,
                traits,
                user_flags,
                topic_links,
                submessages,
                version: _,
                edits: _,
                last_edited: _,
                last_moved: _,
                reactions: _,
            } = message;
            Self {
                id: *id,
                sender: *sender,
                recipient: *recipient,
                place: place.into(),
                sent: *sent,
                content,
                rendered,
                client,
                traits: *traits,
                user_flags: user_flags.clone(),
                topic_links: topic_links.clone(),
                submessages: submessages.clone(),
            }
        }
    }

    /// A record of a message with most fields.
    fn full_record() -> Vec<u8> {
        let message = Message {
            user_flags: vec![(UserId(700), Flags::NONE.with(Flag::Mentioned))],
            topic_links: vec![TopicLink { text: "#1".into(), url: "https://tea.example/1".into() }],
            submessages: vec![Submessage {
                id: 1,
                msg_type: "widget".into(),
                content: "{}".into(),
                sender: UserId(8),
            }],
            ..channel_message(7, 8, 3, "tëa")
        };
        let record = encode(&message).unwrap();
        assert_eq!(MessageRecord::of(&record), Some(MessageRecord::from(&message)));
        let direct = Message { place: Place::Direct, ..message };
        assert_eq!(MessageRecord::of(&encode(&direct).unwrap()), Some(MessageRecord::from(&direct)));
        record
    }

    #[test]
    fn long_records_are_not_read_in_place() {
        let long = Message { content: "long ".repeat(3000), ..channel_message(1, 1, 1, "tea") };
        assert_eq!(MessageRecord::of(&encode(&long).unwrap()), None);
        assert_eq!(MessageRecord::of(&[]), None);
    }

    proptest! {
        #[test]
        fn what_is_read_in_place_is_the_only_form_of_the_message(place in 0..4_usize, at in 0..400_usize, byte: u8) {
            let mut record = full_record();
            if place > 0 && at < record.len() {
                record[at] = byte;
            }
            let decoded = crate::codec::decode::<Message>(&record, "message").ok();
            let read = MessageRecord::of(&record);
            prop_assert_eq!(&read, &decoded.as_ref().map(MessageRecord::from), "as other readers");
            if let Some(read) = read {
                prop_assert_eq!(encode(&read).unwrap(), record);
            }
        }
    }
}
