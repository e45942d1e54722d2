//! Messages' records within blocks: without what all of them repeat. The bytes of a record are made again from it exactly.
//!
//! An entry is `0 (u8)` and a [`CompactMessage`] in bincode with variable integers. What is not the record of a message as it is
//! written now stays as it is: its version (u8) is not 0. So do long records, which are compressed already.

use super::message_record::{MessageRecord, PlaceRecord};
use crate::codec::{decode, decode_part, encode, encode_part};
use crate::error::StoreError;
use model::message::MessageTraits;
use model::{Flags, Message, MessageId, RecipientId, Submessage, Timestamp, TopicLink, UserId};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The version of a record that is in its compact form.
const COMPACT: u8 = 0;

/// What a record is called in errors.
const NAME: &str = "message";

/// A message without its id, which is beside it. Other fields need another version of chunks.
#[derive(Debug, Serialize, Deserialize)]
struct CompactMessage<'m> {
    sender: UserId,
    recipient: RecipientId,
    #[serde(borrow)]
    place: PlaceRecord<'m>,
    /// Milliseconds since the first message of the chunk.
    sent: i64,
    /// One bit for each of [`MessageTraits`], in the order of its fields.
    traits: u8,
    client: &'m str,
    content: &'m str,
    /// `None`: one paragraph with the content as it is.
    rendered: Option<&'m str>,
    user_flags: Vec<(UserId, Flags)>,
    topic_links: Vec<TopicLink>,
    submessages: Vec<Submessage>,
}

/// Whether bytes that should be a record, whose version is never 0, would be taken for one in its compact form.
pub fn is_like_compact(record: &[u8]) -> bool {
    record.first() == Some(&COMPACT)
}

/// Adds a message's record in its compact form, or as it is where it has none.
///
/// # Errors
/// [`StoreError::Encode`] when the encoder fails.
pub fn put_compact(
    bytes: &mut Vec<u8>,
    record: &[u8],
    id: MessageId,
    since: Timestamp,
) -> Result<(), StoreError> {
    match MessageRecord::of(record).filter(|message| message.id == id) {
        Some(message) => {
            bytes.push(COMPACT);
            encode_part(bytes, &CompactMessage::of(message, since))
        }
        None => {
            bytes.extend_from_slice(record);
            Ok(())
        }
    }
}

/// The message in an entry.
///
/// # Errors
/// [`StoreError::Decode`] when it is damaged.
pub fn message_in(entry: &[u8], id: MessageId, since: Timestamp) -> Result<Message, StoreError> {
    match entry.split_first() {
        Some((&COMPACT, body)) => Ok(decode_part::<CompactMessage<'_>>(body, NAME)?.into_message(id, since)),
        Some(_) | None => decode(entry, NAME),
    }
}

/// The record in an entry, as it was before.
///
/// # Errors
/// [`StoreError::Decode`] when it is damaged.
pub fn record_in(entry: &[u8], id: MessageId, since: Timestamp) -> Result<Cow<'_, [u8]>, StoreError> {
    match entry.first() {
        Some(&COMPACT) => Ok(Cow::Owned(encode(&message_in(entry, id, since)?)?)),
        Some(_) | None => Ok(Cow::Borrowed(entry)),
    }
}

impl<'m> CompactMessage<'m> {
    fn of(message: MessageRecord<'m>, since: Timestamp) -> Self {
        let MessageRecord { id: _, content, rendered, .. } = message;
        Self {
            sender: message.sender,
            recipient: message.recipient,
            place: message.place,
            sent: message.sent.0.wrapping_sub(since.0) as i64,
            traits: bits_of(message.traits),
            client: message.client,
            content,
            rendered: (!is_paragraph(rendered, content)).then_some(rendered),
            user_flags: message.user_flags,
            topic_links: message.topic_links,
            submessages: message.submessages,
        }
    }

    fn into_message(self, id: MessageId, since: Timestamp) -> Message {
        let sent = Timestamp(since.0.wrapping_add_signed(self.sent));
        Message {
            rendered: self.rendered.map_or_else(|| paragraph(self.content), str::to_owned),
            content: self.content.to_owned(),
            client: self.client.to_owned(),
            traits: traits_of(self.traits),
            user_flags: self.user_flags,
            topic_links: self.topic_links,
            submessages: self.submessages,
            ..Message::new(id, self.sender, self.recipient, self.place.into(), sent)
        }
    }
}

const PARAGRAPH: (&str, &str) = ("<p>", "</p>");

fn is_paragraph(rendered: &str, content: &str) -> bool {
    let inner = rendered.strip_prefix(PARAGRAPH.0).and_then(|rest| rest.strip_suffix(PARAGRAPH.1));
    inner == Some(content)
}

fn paragraph(content: &str) -> String {
    [PARAGRAPH.0, content, PARAGRAPH.1].concat()
}

fn bits_of(traits: MessageTraits) -> u8 {
    let MessageTraits { is_me, has_link, has_image, has_attachment, channel_wildcard, read_by_sender } =
        traits;
    let bits = [is_me, has_link, has_image, has_attachment, channel_wildcard, read_by_sender];
    bits.into_iter().rev().fold(0, |bits, bit| (bits << 1) | u8::from(bit))
}

fn traits_of(bits: u8) -> MessageTraits {
    let is_set = |place: u8| (bits >> place) & 1 == 1;
    MessageTraits {
        is_me: is_set(0),
        has_link: is_set(1),
        has_image: is_set(2),
        has_attachment: is_set(3),
        channel_wildcard: is_set(4),
        read_by_sender: is_set(5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ChannelId, Flag, Place};

    const SINCE: Timestamp = Timestamp(5_000);

    fn compacted(record: &[u8], id: MessageId) -> Vec<u8> {
        let mut entry = Vec::new();
        put_compact(&mut entry, record, id, SINCE).unwrap();
        entry
    }

    fn message(id: u32) -> Message {
        let place = Place::Channel { channel: ChannelId(3), topic: "tea".into() };
        Message {
            content: "a cup".into(),
            rendered: "<p>a cup</p>".into(),
            client: "website".into(),
            ..Message::new(MessageId(id), UserId(8), RecipientId(300), place, Timestamp(5_007))
        }
    }

    fn check(message: &Message) -> usize {
        let record = encode(message).unwrap();
        let entry = compacted(&record, message.id);
        assert_eq!(entry[0], COMPACT, "{message:?}");
        assert_eq!(&message_in(&entry, message.id, SINCE).unwrap(), message);
        assert_eq!(record_in(&entry, message.id, SINCE).unwrap(), record);
        entry.len()
    }

    #[test]
    fn golden_bytes() {
        let record = encode(&message(1)).unwrap();
        let entry = compacted(&record, MessageId(1));
        let expected = [
            &[COMPACT, 8, 251, 44, 1, 0, 3, 3][..],
            b"tea",
            &[14, 0, 7],
            b"website",
            &[5],
            b"a cup",
            &[0, 0, 0, 0],
        ];
        assert_eq!(entry[..], expected.concat());
    }

    #[test]
    fn any_message_is_made_again() {
        let plain = check(&message(1));
        let other = |change: fn(&mut Message)| {
            let mut message = message(2);
            change(&mut message);
            check(&message)
        };
        assert_eq!(other(|message| message.rendered = "<p>a cupp</p>".into()), plain + 14);
        other(|message| message.rendered = "<p>a cup".into());
        other(|message| (message.content, message.rendered) = (String::new(), "<p></p>".into()));
        other(|message| message.sent = Timestamp(4_999));
        other(|message| message.sent = Timestamp(u64::MAX));
        other(|message| message.place = Place::Direct);
        other(|message| message.user_flags = vec![(UserId(700), Flags::NONE.with(Flag::Mentioned))]);
        other(|message| {
            message.topic_links = vec![TopicLink { text: "#1".into(), url: "https://tea.example/1".into() }]
        });
        other(|message| {
            let (msg_type, content) = ("widget".into(), "{}".into());
            message.submessages = vec![Submessage { id: 1, msg_type, content, sender: UserId(8) }];
        });
        for bits in 0..64 {
            let mut message = message(3);
            message.traits = traits_of(bits);
            assert_eq!(bits_of(message.traits), bits);
            check(&message);
        }
    }

    #[test]
    fn what_is_no_record_of_the_message_stays() {
        let long = Message { content: "long ".repeat(3000), ..message(1) };
        let (other, long) = (encode(&message(7)).unwrap(), encode(&long).unwrap());
        for record in [&b"\x01tea"[..], &[], &other[..], &long[..]] {
            assert_eq!(compacted(record, MessageId(1)), record);
            assert_eq!(record_in(record, MessageId(1), SINCE).unwrap(), record);
        }
        assert!(message_in(&[COMPACT, 8], MessageId(1), SINCE).is_err());
    }
}
