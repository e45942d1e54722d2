//! The bytes of values in a checkpoint: integers little-endian, texts and lists after their length, sets of messages in
//! roaring's own portable form, maps by ascending key, structs field by field.
//!
//! `saved!` names every field of a struct: one that is forgotten does not compile.

use model::{ChannelId, MessageId, RecipientId, Timestamp, TopicKey, UserId};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};
use std::io::{self, Write};
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Where a checkpoint is written to; computes its checksum.
pub(crate) struct Output<'w> {
    inner: &'w mut dyn Write,
    hash: Xxh3,
}

impl<'w> Output<'w> {
    pub(crate) fn new(inner: &'w mut dyn Write) -> Self {
        Self { inner, hash: Xxh3::new() }
    }

    /// The checksum of everything written so far.
    pub(crate) fn checksum(&self) -> u64 {
        self.hash.digest()
    }

    /// Writes a length and that many bytes.
    pub(crate) fn put_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        length(bytes.len())?.save(self)?;
        self.write_all(bytes)
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write_all(bytes)?;
        self.hash.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The rest of the bytes of a checkpoint, whose checksum was verified.
pub(crate) struct Input<'b> {
    rest: &'b [u8],
}

impl<'b> Input<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether everything was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// A length and that many bytes.
    pub(crate) fn take_bytes(&mut self) -> Option<&'b [u8]> {
        let count = u32::load(self)? as usize;
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }
}

/// A value in a checkpoint.
pub(crate) trait Saved: Sized {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()>;

    /// `None` when the bytes are not such a value.
    fn load(input: &mut Input<'_>) -> Option<Self>;
}

/// Implements `Saved` for a struct, field by field in this order.
macro_rules! saved {
    ($name:ty { $($field:ident),* $(,)? }) => {
        impl $crate::checkpoint::codec::Saved for $name {
            fn save(&self, out: &mut $crate::checkpoint::codec::Output<'_>) -> std::io::Result<()> {
                let Self { $($field),* } = self;
                $($crate::checkpoint::codec::Saved::save($field, out)?;)*
                Ok(())
            }

            fn load(input: &mut $crate::checkpoint::codec::Input<'_>) -> Option<Self> {
                Some(Self { $($field: $crate::checkpoint::codec::Saved::load(input)?),* })
            }
        }
    };
}
pub(crate) use saved;

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Saved for $integer {
            fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
                out.write_all(&self.to_le_bytes())
            }

            fn load(input: &mut Input<'_>) -> Option<Self> {
                let (bytes, rest) = input.rest.split_first_chunk()?;
                input.rest = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        }
    )*};
}

integers!(u8, u32, u64);

macro_rules! numbers {
    ($($number:ident),*) => {$(
        impl Saved for $number {
            fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
                self.0.save(out)
            }

            fn load(input: &mut Input<'_>) -> Option<Self> {
                Saved::load(input).map(Self)
            }
        }
    )*};
}

numbers!(UserId, ChannelId, RecipientId, MessageId, Timestamp);

fn length(count: usize) -> io::Result<u32> {
    u32::try_from(count)
        .map_err(|_| io::Error::other("a list of a checkpoint has more than 4294967295 entries"))
}

impl Saved for usize {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        (*self as u64).save(out)
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        u64::load(input)?.try_into().ok()
    }
}

impl Saved for String {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        out.put_bytes(self.as_bytes())
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        std::str::from_utf8(input.take_bytes()?).ok().map(str::to_owned)
    }
}

impl Saved for TopicKey {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        out.put_bytes(self.as_str().as_bytes())
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        std::str::from_utf8(input.take_bytes()?).ok().map(Self::new)
    }
}

impl Saved for RoaringBitmap {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        length(self.serialized_size())?.save(out)?;
        self.serialize_into(out)
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        Self::deserialize_from(input.take_bytes()?).ok()
    }
}

impl<T: Saved> Saved for Vec<T> {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        length(self.len())?.save(out)?;
        self.iter().try_for_each(|item| item.save(out))
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        let count = u32::load(input)?;
        (0..count).map(|_| T::load(input)).collect()
    }
}

impl<T: Saved> Saved for Arc<T> {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        T::save(self, out)
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        T::load(input).map(Self::new)
    }
}

impl<A: Saved, B: Saved> Saved for (A, B) {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        self.0.save(out)?;
        self.1.save(out)
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        Some((A::load(input)?, B::load(input)?))
    }
}

impl<K: Saved + Ord, V: Saved> Saved for BTreeMap<K, V> {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        length(self.len())?.save(out)?;
        self.iter().try_for_each(|(key, value)| {
            key.save(out)?;
            value.save(out)
        })
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        let count = u32::load(input)?;
        (0..count).map(|_| <(K, V)>::load(input)).collect()
    }
}

impl<K: Saved + Ord + Hash, V: Saved, S: BuildHasher + Default> Saved for HashMap<K, V, S> {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        length(self.len())?.save(out)?;
        // Ascending, so that the same state always has the same bytes.
        let mut entries: Vec<(&K, &V)> = self.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        entries.into_iter().try_for_each(|(key, value)| {
            key.save(out)?;
            value.save(out)
        })
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        let count = u32::load(input)?;
        (0..count).map(|_| <(K, V)>::load(input)).collect()
    }
}
