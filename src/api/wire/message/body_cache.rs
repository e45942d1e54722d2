//! Encoded bodies of messages that pages were written with: the newest messages of a channel are read by each of its members.
//!
//! Each worker thread has its own cache, so there is no lock. A change of a message replaces its allocation, by which a cached
//! body is found; the cache keeps the address in use, but not the message.

use model::Message;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// Bodies in a cache: a power of two, more than the messages of a few pages.
const BODIES_MAX: usize = 1024;
/// Longer bodies are encoded each time. A cache takes at most 2 MB.
const BODY_BYTES_MAX: usize = 2048;

struct CachedBody {
    message: Weak<Message>,
    body: Box<[u8]>,
}

/// A body has one place, by its id: neighbors do not displace each other.
struct BodyCache {
    places: Vec<Option<CachedBody>>,
}

thread_local! {
    static CACHE: RefCell<BodyCache> = const { RefCell::new(BodyCache { places: Vec::new() }) };
}

/// Writes the body of a message, which `encode` writes if it is not cached.
pub fn push_cached(out: &mut Vec<u8>, message: &Arc<Message>, encode: impl FnOnce(&mut Vec<u8>)) {
    CACHE.with_borrow_mut(|cache| cache.push(out, message, encode));
}

impl BodyCache {
    fn push(&mut self, out: &mut Vec<u8>, message: &Arc<Message>, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.places.is_empty() {
            self.places.resize_with(BODIES_MAX, || None);
        }
        let place = &mut self.places[message.id.0 as usize % BODIES_MAX];
        if let Some(cached) = place
            && std::ptr::eq(cached.message.as_ptr(), Arc::as_ptr(message))
        {
            return out.extend_from_slice(&cached.body);
        }
        let start = out.len();
        encode(out);
        // A message that nothing else holds was made for this page.
        if out.len() - start <= BODY_BYTES_MAX && Arc::strong_count(message) > 1 {
            *place = Some(CachedBody { message: Arc::downgrade(message), body: out[start..].into() });
        }
    }
}
