//! Encoded senders of messages: the same people write in a channel page after page.

use crate::api::wire::encoded_cache::EncodedCache;
use model::{Directory, User, UserIdentity};
use std::cell::RefCell;
use std::sync::Arc;

/// Senders of each form.
const SENDERS_MAX: usize = 512;
/// With all senders of both forms a cache takes at most 512 KB.
const SENDER_BYTES_MAX: usize = 512;

thread_local! {
    /// Without and with `client_gravatar`.
    static SENDERS: RefCell<[EncodedCache<UserIdentity>; 2]> = const {
        RefCell::new([
            EncodedCache::new(SENDERS_MAX, SENDER_BYTES_MAX),
            EncodedCache::new(SENDERS_MAX, SENDER_BYTES_MAX),
        ])
    };
}

/// Writes a sender as readers see it from whom nothing is hidden; `encode` writes it if it is not cached.
pub fn push_cached_sender(
    out: &mut Vec<u8>,
    directory: &Directory,
    sender: &Arc<User>,
    client_gravatar: bool,
    encode: impl FnOnce(&mut Vec<u8>),
) {
    let is_same = |kept: &UserIdentity| kept.is_in(directory, sender);
    let encode = |out: &mut Vec<u8>| {
        encode(out);
        Some(directory.user_identity(sender))
    };
    SENDERS.with_borrow_mut(|caches| {
        caches[usize::from(client_gravatar)].push(out, sender.id.0, is_same, encode);
    });
}
