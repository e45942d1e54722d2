//! Encoded parts of answers that many requests of a worker thread repeat.
//!
//! Each thread has its own cache, so there is no lock. What a part was encoded from is compared by identity: changed records
//! have other addresses, which a cache keeps in use (`Weak`) without keeping the records.

struct Encoded<I> {
    /// Identity of what was encoded.
    source: I,
    json: Box<[u8]>,
}

/// A cache of parts. Each has one place, by its number: neighbors do not displace each other.
pub struct EncodedCache<I> {
    places: Vec<Option<Encoded<I>>>,
    places_max: usize,
    /// Longer parts are encoded each time.
    bytes_max: usize,
}

impl<I> EncodedCache<I> {
    /// A cache of at most `places_max` parts, each of at most `bytes_max` bytes.
    pub const fn new(places_max: usize, bytes_max: usize) -> Self {
        Self { places: Vec::new(), places_max, bytes_max }
    }

    /// Writes the part with a number: the one in the cache if `is_same` knows its source, otherwise what `encode` writes. The
    /// latter is kept if `encode` returns its source.
    pub fn push(
        &mut self,
        out: &mut Vec<u8>,
        number: u32,
        is_same: impl FnOnce(&I) -> bool,
        encode: impl FnOnce(&mut Vec<u8>) -> Option<I>,
    ) {
        if self.places.is_empty() {
            self.places.resize_with(self.places_max, || None);
        }
        let place = &mut self.places[number as usize % self.places_max];
        if let Some(kept) = place
            && is_same(&kept.source)
        {
            return out.extend_from_slice(&kept.json);
        }
        let start = out.len();
        let source = encode(out).filter(|_| out.len() - start <= self.bytes_max);
        if let Some(source) = source {
            *place = Some(Encoded { source, json: out[start..].into() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written for a number and a source, and whether it was encoded now.
    fn push(cache: &mut EncodedCache<u32>, number: u32, source: u32, text: &str) -> (String, bool) {
        let (mut out, mut is_encoded) = (b"before ".to_vec(), false);
        cache.push(
            &mut out,
            number,
            |kept| *kept == source,
            |out| {
                is_encoded = true;
                out.extend_from_slice(text.as_bytes());
                Some(source)
            },
        );
        (String::from_utf8(out).unwrap(), is_encoded)
    }

    #[test]
    fn same_source_is_encoded_once() {
        let mut cache = EncodedCache::new(4, 10);
        assert_eq!(push(&mut cache, 1, 7, "one"), ("before one".to_owned(), true));
        assert_eq!(push(&mut cache, 1, 7, "one"), ("before one".to_owned(), false));
        assert_eq!(push(&mut cache, 2, 8, "two"), ("before two".to_owned(), true));
        assert_eq!(push(&mut cache, 1, 7, "one"), ("before one".to_owned(), false));
        assert_eq!(push(&mut cache, 1, 9, "changed"), ("before changed".to_owned(), true));
        // The fifth part has the place of the first.
        assert_eq!(push(&mut cache, 5, 10, "five"), ("before five".to_owned(), true));
        assert_eq!(push(&mut cache, 1, 9, "changed"), ("before changed".to_owned(), true));
    }

    #[test]
    fn long_parts_are_not_kept() {
        let mut cache = EncodedCache::new(4, 10);
        for _ in 0..2 {
            assert!(push(&mut cache, 1, 7, "eleven byte").1);
        }
        assert!(push(&mut cache, 1, 8, "ten bytes").1);
        assert!(push(&mut cache, 5, 7, "eleven byte").1);
        assert!(!push(&mut cache, 1, 8, "ten bytes").1, "a part that is not kept takes no place");
    }
}
