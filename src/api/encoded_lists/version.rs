//! Versions of encoded lists. A cache keeps the newest one; answers that are being sent keep the one that they were made with,
//! whatever happens to the cache meanwhile. What only answers keep is counted, so that it can be bounded.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes of all versions that only answers keep: older ones, and those that no cache had room for. Clones are one count.
#[derive(Clone, Debug, Default)]
pub(super) struct UncachedBytes(Arc<AtomicUsize>);

impl UncachedBytes {
    /// The number of bytes.
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// A version that consists of these bytes.
    pub fn version(&self, mut json: Vec<u8>) -> Version {
        json.shrink_to_fit();
        Version { json: Bytes::from_owner(Counted { json, uncached: self.clone() }), uncached: self.clone() }
    }
}

/// An encoded list in a cache, or one that is being written into an answer.
#[derive(Debug)]
pub(super) struct Version {
    json: Bytes,
    uncached: UncachedBytes,
}

impl Version {
    /// The bytes, for an answer, which may outlive the version.
    pub fn json(&self) -> &Bytes {
        &self.json
    }
}

/// From now on only answers keep the bytes, if there are any.
impl Drop for Version {
    fn drop(&mut self) {
        self.uncached.0.fetch_add(self.json.len(), Ordering::Relaxed);
    }
}

/// The bytes of a version, which its last holder drops: always after the version itself, whose field is one of the holders.
struct Counted {
    json: Vec<u8>,
    uncached: UncachedBytes,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.json
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.uncached.0.fetch_sub(self.json.len(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_answers_alone_keep_is_counted() {
        let uncached = UncachedBytes::default();
        let version = uncached.version(vec![b'x'; 1000]);
        let (whole, mut part) = (version.json().clone(), version.json().slice(10..20));
        assert_eq!(uncached.get(), 0, "it is in a cache");
        drop(version);
        assert_eq!(uncached.get(), 1000);
        drop(whole);
        assert_eq!(uncached.get(), 1000, "a part keeps all of it");
        let rest = part.split_off(5);
        drop(part);
        assert_eq!(uncached.get(), 1000);
        drop(rest);
        assert_eq!(uncached.get(), 0);
        drop(uncached.version(vec![b'x'; 1000]));
        assert_eq!(uncached.get(), 0, "no answer has it");
    }
}
