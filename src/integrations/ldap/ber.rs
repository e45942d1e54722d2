//! The outer form of LDAP messages, checked before the LDAP library decodes them: it waits for as many bytes as a length
//! announces, however many, and follows nested values by recursion.

use std::io;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};

/// A message and its values, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024;
/// Values in a message, nested ones included.
const VALUES_MAX: usize = 10_000;
/// Values inside each other. A result of a search has 6.
const DEPTH_MAX: usize = 16;

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
/// The bit of a tag that says that values are inside.
const CONSTRUCTED: u8 = 0x20;
/// Tag numbers above 30 take further bytes, and LDAP has none.
const LONG_TAG: u8 = 0x1f;
const CLASS_MASK: u8 = 0xc0;
const APPLICATION: u8 = 0x40;
/// A length above 127 is that of the length's own bytes.
const LONG_LENGTH: u8 = 0x80;
/// Bytes of the longest length that is read; the highest ones may be zero.
const LENGTH_BYTES_MAX: usize = 8;

/// What is wrong with a message.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    #[error("the directory answers with a message of more than {} KiB", MESSAGE_BYTES_MAX / 1024)]
    TooLong,
    #[error(
        "the directory answers with a message of more than {VALUES_MAX} values, or of more than {DEPTH_MAX} inside each other"
    )]
    TooManyValues,
    #[error("the directory answers with something else than LDAP")]
    NotLdap,
}

impl From<Malformed> for io::Error {
    fn from(problem: Malformed) -> Self {
        Self::new(io::ErrorKind::InvalidData, problem)
    }
}

/// A value at the beginning of some bytes.
#[derive(Clone, Copy, Debug)]
pub struct Value<'a> {
    pub tag: u8,
    pub content: &'a [u8],
}

/// Reads one message, whose form is checked; none at the end of the stream. Never reads beyond it.
pub async fn read_message(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut message = vec![0; 2];
    if stream.read(&mut message[..1]).await? == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut message[1..]).await?;
    if message[0] != SEQUENCE {
        return Err(Malformed::NotLdap.into());
    }
    let more = length_bytes(message[1])?;
    message.resize(2 + more, 0);
    stream.read_exact(&mut message[2..]).await?;
    let length = decode_length(message[1], &message[2..])?;
    let begin = message.len();
    message.resize(begin + length, 0);
    stream.read_exact(&mut message[begin..]).await?;
    check(&message)?;
    Ok(Some(message))
}

/// Checks the form of a whole message: an id, then an operation.
fn check(message: &[u8]) -> Result<(), Malformed> {
    check_nesting(message)?;
    let parts = values(split(message)?.0.content)?;
    match parts.as_slice() {
        [id, operation, ..]
            if id.tag == INTEGER
                && (1..=4).contains(&id.content.len())
                && operation.tag & CLASS_MASK == APPLICATION =>
        {
            Ok(())
        }
        _ => Err(Malformed::NotLdap),
    }
}

/// Bounds the number of values and their depth, without recursion.
fn check_nesting(message: &[u8]) -> Result<(), Malformed> {
    let (mut at, mut count, mut ends) = (0, 0, Vec::new());
    loop {
        while ends.last() == Some(&at) {
            ends.pop();
        }
        let end = ends.last().copied().unwrap_or(message.len());
        if at == end {
            return Ok(());
        }
        let (value, rest) = split(&message[at..end])?;
        count += 1;
        if count > VALUES_MAX || ends.len() == DEPTH_MAX {
            return Err(Malformed::TooManyValues);
        }
        let value_end = end - rest.len();
        if value.tag & CONSTRUCTED == 0 {
            at = value_end;
        } else {
            at = value_end - value.content.len();
            ends.push(value_end);
        }
    }
}

/// The values one after the other, without those inside them.
pub fn values(mut bytes: &[u8]) -> Result<Vec<Value<'_>>, Malformed> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let (value, rest) = split(bytes)?;
        found.push(value);
        bytes = rest;
    }
    Ok(found)
}

/// The first value, and what follows it.
fn split(bytes: &[u8]) -> Result<(Value<'_>, &[u8]), Malformed> {
    let (&tag, rest) = bytes.split_first().ok_or(Malformed::NotLdap)?;
    let (&first, rest) = rest.split_first().ok_or(Malformed::NotLdap)?;
    if tag & LONG_TAG == LONG_TAG {
        return Err(Malformed::NotLdap);
    }
    let (length, rest) = rest.split_at_checked(length_bytes(first)?).ok_or(Malformed::NotLdap)?;
    let (content, rest) = rest.split_at_checked(decode_length(first, length)?).ok_or(Malformed::NotLdap)?;
    Ok((Value { tag, content }, rest))
}

/// How many bytes of a length follow its first one. The form without a length is not permitted in LDAP.
fn length_bytes(first: u8) -> Result<usize, Malformed> {
    match first.checked_sub(LONG_LENGTH).map(usize::from) {
        None => Ok(0),
        Some(more @ 1..=LENGTH_BYTES_MAX) => Ok(more),
        Some(_) => Err(Malformed::NotLdap),
    }
}

fn decode_length(first: u8, more: &[u8]) -> Result<usize, Malformed> {
    let length = match more {
        [] => u64::from(first),
        more => more.iter().fold(0, |length, byte| (length << 8) | u64::from(*byte)),
    };
    usize::try_from(length).ok().filter(|length| *length <= MESSAGE_BYTES_MAX).ok_or(Malformed::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A message with an id, and a result that has `inside`.
    fn message(inside: &[u8]) -> Vec<u8> {
        value(SEQUENCE, &[&[INTEGER, 1, 1][..], &value(0x65, inside)].concat())
    }

    fn value(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, 0x84][..], &u32::try_from(content.len()).unwrap().to_be_bytes(), content].concat()
    }

    async fn read(bytes: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let mut stream = bytes;
        read_message(&mut stream).await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn messages_are_read_one_by_one() {
        let first = message(&[0x0a, 1, 0, 4, 0, 4, 0]);
        let both = [first.clone(), vec![SEQUENCE, 5, INTEGER, 1, 2, 0x61, 0]].concat();
        let mut stream = both.as_slice();
        assert_eq!(read_message(&mut stream).await.unwrap(), Some(first));
        assert_eq!(stream.len(), 7);
        assert_eq!(read_message(&mut stream).await.unwrap().map(|message| message.len()), Some(7));
        assert_eq!(read_message(&mut stream).await.unwrap(), None);
    }

    #[tokio::test]
    async fn what_is_too_large_is_refused_before_it_is_read() {
        let too_long = Malformed::TooLong.to_string();
        for announced in
            [&[SEQUENCE, 0x84, 0x80, 0, 0, 0][..], &[SEQUENCE, 0x88, 255, 255, 255, 255, 255, 255, 255, 255]]
        {
            assert_eq!(read(announced).await, Err(too_long.clone()));
        }
        let deep = (0..20_000).fold(Vec::new(), |inside: Vec<u8>, _| {
            // Only as long as the bound permits.
            if inside.len() > MESSAGE_BYTES_MAX - 64 { inside } else { value(0x30, &inside) }
        });
        let many = [4, 0].repeat(VALUES_MAX);
        for inside in [deep, many] {
            assert_eq!(read(&message(&inside)).await, Err(Malformed::TooManyValues.to_string()));
        }
    }

    #[tokio::test]
    async fn what_is_no_message_is_refused() {
        for bytes in [
            &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
            &[SEQUENCE, 0x80, 0, 0],
            &[SEQUENCE, 0],
            &[SEQUENCE, 3, INTEGER, 1, 1],
            &[SEQUENCE, 5, INTEGER, 1, 1, 0x65, 1],
            &[SEQUENCE, 5, INTEGER, 0, 0x65, 1, 1],
            &[SEQUENCE, 5, INTEGER, 1, 1, 0x7f, 0],
        ] {
            assert_eq!(read(bytes).await, Err(Malformed::NotLdap.to_string()), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let whole = message(&bytes);
            let _ = check(&bytes);
            if check(&whole).is_ok() {
                prop_assert!(ldap3::asn1::parse_tag(&whole).is_ok());
            }
        }
    }
}
