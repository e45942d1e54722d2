//! Keys of rows: `realm (u32) ‖ table (u8) ‖ fields`.
//!
//! Numbers are big-endian and of fixed width, and text comes last, so byte order is id order and one prefix scan is one
//! table of one organization.

use model::{
    AttachmentId, ChannelId, DraftId, EventNumber, Flag, FolderId, GroupId, InvitationId, JobId, MessageId,
    QueueId, RealmId, RecipientId, SavedSnippetId, ScheduledMessageId, Sequence, Timestamp, TopicKey, UserId,
    WebSessionKey,
};
use std::collections::BTreeSet;

/// Bytes before the fields.
const PREFIX_BYTES: usize = 5;

/// The existing users, channels and uploaded files, for checking references to them.
#[derive(Debug, Default)]
pub struct References {
    pub users: BTreeSet<UserId>,
    pub channels: BTreeSet<ChannelId>,
    pub attachments: BTreeSet<AttachmentId>,
}

impl References {
    /// An error if the user does not exist.
    pub fn user(&self, user: UserId) -> Result<(), String> {
        if self.users.contains(&user) { Ok(()) } else { Err(format!("user {user} does not exist")) }
    }

    /// An error if the channel does not exist.
    pub fn channel(&self, channel: ChannelId) -> Result<(), String> {
        match self.channels.contains(&channel) {
            true => Ok(()),
            false => Err(format!("channel {channel} does not exist")),
        }
    }

    /// An error if the uploaded file does not exist.
    pub fn attachment(&self, file: AttachmentId) -> Result<(), String> {
        match self.attachments.contains(&file) {
            true => Ok(()),
            false => Err(format!("uploaded file {file} does not exist")),
        }
    }
}

/// The fields of a key, or one of them.
pub trait KeyField: Sized {
    /// Appends the field to a key.
    fn write(&self, bytes: &mut Vec<u8>);

    /// Removes the field from the front of the rest of a key; `None` if it is not there.
    fn read(bytes: &mut &[u8]) -> Option<Self>;

    /// The field in a report, such as `user 7`.
    fn describe(&self) -> String;

    fn check(&self, _: &References) -> Result<(), String> {
        Ok(())
    }
}

/// A block of 4096 messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block(pub u32);

/// A day since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day(pub u32);

/// A number that is unique together with the fields before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(pub u32);

/// The position of a fact in its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(pub u16);

macro_rules! number_fields {
    ($($field:ident($raw:ty), $name:literal $(, $check:ident)?;)*) => {$(
        impl KeyField for $field {
            fn write(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.0.to_be_bytes());
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                let (number, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(Self(<$raw>::from_be_bytes(*number)))
            }

            fn describe(&self) -> String {
                format!(concat!($name, " {}"), self.0)
            }

            $(fn check(&self, known: &References) -> Result<(), String> {
                known.$check(*self)
            })?
        }
    )*};
}

number_fields! {
    UserId(u32), "user", user;
    ChannelId(u32), "channel", channel;
    GroupId(u32), "group";
    FolderId(u32), "folder";
    RecipientId(u32), "recipient";
    InvitationId(u32), "invitation";
    MessageId(u32), "message";
    SavedSnippetId(u32), "saved snippet";
    DraftId(u32), "draft";
    ScheduledMessageId(u32), "scheduled message";
    AttachmentId(u32), "uploaded file", attachment;
    JobId(u64), "job";
    Timestamp(u64), "time";
    Sequence(u64), "frame";
    EventNumber(u64), "event";
    Block(u32), "block";
    Day(u32), "day";
    Number(u32), "number";
    Position(u16), "fact";
}

impl KeyField for Flag {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(*self as u8);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        Self::ALL.into_iter().find(|flag| *flag as u8 == *byte)
    }

    fn describe(&self) -> String {
        format!("flag {}", self.as_str())
    }
}

impl KeyField for WebSessionKey {
    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.0);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (hash, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(Self(*hash))
    }

    fn describe(&self) -> String {
        format!("web session {}", self.name())
    }
}

macro_rules! text_fields {
    ($($field:ty, $from:expr, $to:expr;)*) => {$(
        impl KeyField for $field {
            fn write(&self, bytes: &mut Vec<u8>) {
                let text: fn(&Self) -> &str = $to;
                bytes.extend_from_slice(text(self).as_bytes());
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                let from: fn(&str) -> Self = $from;
                std::str::from_utf8(std::mem::take(bytes)).ok().map(from)
            }

            fn describe(&self) -> String {
                let text: fn(&Self) -> &str = $to;
                format!("{:?}", text(self))
            }
        }
    )*};
}

text_fields! {
    String, str::to_owned, |text| text;
    TopicKey, Self::new, Self::as_str;
    QueueId, |text| Self(text.into()), |queue| &queue.0;
}

impl KeyField for () {
    fn write(&self, _: &mut Vec<u8>) {}

    fn read(_: &mut &[u8]) -> Option<Self> {
        Some(())
    }

    fn describe(&self) -> String {
        String::new()
    }
}

macro_rules! several_fields {
    ($($field:ident $name:ident),*) => {
        impl<$($field: KeyField),*> KeyField for ($($field,)*) {
            fn write(&self, bytes: &mut Vec<u8>) {
                let ($($name,)*) = self;
                $($name.write(bytes);)*
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                Some(($($field::read(bytes)?,)*))
            }

            fn describe(&self) -> String {
                let ($($name,)*) = self;
                [$($name.describe()),*].join(", ")
            }

            fn check(&self, known: &References) -> Result<(), String> {
                let ($($name,)*) = self;
                $($name.check(known)?;)*
                Ok(())
            }
        }
    };
}

several_fields!(A a, B b);
several_fields!(A a, B b, C c);

/// The key of a row, or the prefix of several.
#[derive(Clone, Debug)]
pub struct Key(Vec<u8>);

impl Key {
    /// The prefix of a whole table.
    pub fn table(realm: RealmId, table: u8) -> Self {
        let mut bytes = Vec::with_capacity(24);
        bytes.extend_from_slice(&realm.0.to_be_bytes());
        bytes.push(table);
        Self(bytes)
    }

    /// The key with these fields, or the prefix of all keys that begin with them.
    pub fn new(realm: RealmId, table: u8, fields: &impl KeyField) -> Self {
        let mut key = Self::table(realm, table);
        fields.write(&mut key.0);
        key
    }

    /// The encoded key.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The encoded key, owned.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The organization in a key; `None` when the key is too short to have one.
pub fn realm_of(key: &[u8]) -> Option<RealmId> {
    Some(RealmId(u32::from_be_bytes(*key.first_chunk()?)))
}

/// The table in a key.
pub fn table_of(key: &[u8]) -> Option<u8> {
    key.get(PREFIX_BYTES - 1).copied()
}

/// All fields of a key; `None` if it has another form.
pub fn fields_of<K: KeyField>(key: &[u8]) -> Option<K> {
    let mut rest = key.get(PREFIX_BYTES..)?;
    let fields = K::read(&mut rest)?;
    rest.is_empty().then_some(fields)
}

/// The first field of a key.
pub fn first_field_of<K: KeyField>(key: &[u8]) -> Option<K> {
    K::read(&mut key.get(PREFIX_BYTES..)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_is_id_order() {
        for (small, large) in [(1, 2), (255, 256), (65_535, 65_536), (u32::MAX - 1, u32::MAX)] {
            let key = |id| Key::new(RealmId(1), 5, &MessageId(id)).into_bytes();
            assert!(key(small) < key(large));
            assert_eq!(fields_of(&key(small)), Some(MessageId(small)));
        }
    }

    #[test]
    fn keys_have_exactly_their_fields() {
        let key = Key::new(RealmId(258), 9, &(UserId(7), Flag::Starred, Block(3))).into_bytes();
        assert_eq!(key, [0, 0, 1, 2, 9, 0, 0, 0, 7, 1, 0, 0, 0, 3]);
        assert_eq!((realm_of(&key), table_of(&key)), (Some(RealmId(258)), Some(9)));
        assert_eq!(fields_of(&key), Some((UserId(7), Flag::Starred, Block(3))));
        assert_eq!(first_field_of(&key), Some(UserId(7)));
        assert_eq!(fields_of::<UserId>(&key), None);
        assert_eq!(fields_of::<(UserId, Flag, EventNumber)>(&key), None);
        assert_eq!((realm_of(&key[..3]), table_of(&key[..4])), (None, None));
    }

    #[test]
    fn text_is_the_rest_of_a_key() {
        let fields = (UserId(1), ChannelId(2), TopicKey::new("Tea"));
        let key = Key::new(RealmId(1), 9, &fields).into_bytes();
        assert!(key.ends_with(b"\x00\x00\x00\x02tea"));
        assert_eq!(fields.describe(), "user 1, channel 2, \"tea\"");
        assert_eq!(fields_of(&key), Some(fields));
        assert_eq!(fields_of::<(UserId, String)>(&[0, 0, 0, 1, 9, 0, 0, 0, 1, 0xff]), None);
    }
}
