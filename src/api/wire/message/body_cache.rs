//! Encoded bodies of messages that pages were written with: the newest messages of a channel are read by each of its members.

use crate::api::wire::encoded_cache::EncodedCache;
use model::Message;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// A power of two, more than the messages of a few pages.
const BODIES_MAX: usize = 1024;
/// With all bodies a cache takes at most 2 MB.
const BODY_BYTES_MAX: usize = 2048;

thread_local! {
    /// A change of a message replaces its allocation.
    static BODIES: RefCell<EncodedCache<Weak<Message>>> =
        const { RefCell::new(EncodedCache::new(BODIES_MAX, BODY_BYTES_MAX)) };
}

/// Writes the body of a message, which `encode` writes if it is not cached.
pub fn push_cached(out: &mut Vec<u8>, message: &Arc<Message>, encode: impl FnOnce(&mut Vec<u8>)) {
    let is_same = |kept: &Weak<Message>| std::ptr::eq(kept.as_ptr(), Arc::as_ptr(message));
    let encode = |out: &mut Vec<u8>| {
        encode(out);
        // A message that nothing else holds was made for this page.
        (Arc::strong_count(message) > 1).then(|| Arc::downgrade(message))
    };
    BODIES.with_borrow_mut(|cache| cache.push(out, message.id.0, is_same, encode));
}
