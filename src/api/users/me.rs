//! `GET /users/me`: the requester's own account (docs/api/users.md#get-the-own-user).

use crate::api::wire::encoded_cache::EncodedCache;
use crate::api::wire::user::{UserForm, user};
use crate::http::reply::push_fields;
use crate::http::{ApiError, Caller, Envelope, HandlerResult};
use model::{Directory, User, UserIdentity};
use std::cell::RefCell;
use std::sync::Arc;

const FORM: UserForm = UserForm { client_gravatar: false, profile_data: true, is_active: true };
/// Expected size of the answer, in bytes.
const ANSWER_BYTES: usize = 1024;
/// Accounts whose objects a worker thread keeps; with all of them at most 512 KB.
const OBJECTS_MAX: usize = 256;
const OBJECT_BYTES_MAX: usize = 2048;

thread_local! {
    static OBJECTS: RefCell<EncodedCache<UserIdentity>> =
        const { RefCell::new(EncodedCache::new(OBJECTS_MAX, OBJECT_BYTES_MAX)) };
}

/// Returns the fields of the user object, and `max_message_id`: the newest message of the requester, or -1.
pub async fn own_user(caller: Caller) -> HandlerResult {
    let newest = caller.realm.newest_received(caller.user.id);
    let max_message_id = newest.map_or(-1, |id| i64::from(id.0));
    let mut envelope = Envelope::with_capacity(ANSWER_BYTES);
    push_own(envelope.buffer(), &caller.realm.directory(), &caller.user)?;
    envelope.field("max_message_id", &max_message_id)?.reply()
}

/// Writes the fields of the requester's own object, encoded once until something in it changes.
fn push_own(out: &mut Vec<u8>, directory: &Directory, me: &Arc<User>) -> Result<(), ApiError> {
    let mut pushed = Ok(());
    let is_same = |kept: &UserIdentity| kept.is_in(directory, me);
    let encode = |out: &mut Vec<u8>| {
        pushed = push_fields(out, &user(directory, Some(me), me, FORM));
        pushed.is_ok().then(|| directory.user_identity(me))
    };
    OBJECTS.with_borrow_mut(|cache| cache.push(out, me.id.0, is_same, encode));
    pushed
}
