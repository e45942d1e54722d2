//! `GET /users/me`: the requester's own account (docs/api/users.md#get-the-own-user).

use crate::api::wire::user::{UserForm, UserJson, user};
use crate::http::{Caller, HandlerResult, reply};
use serde::Serialize;

#[derive(Serialize)]
struct OwnUser<'a> {
    #[serde(flatten)]
    user: UserJson<'a>,
    max_message_id: i64,
}

const FORM: UserForm = UserForm { client_gravatar: false, profile_data: true, is_active: true };

/// Returns the fields of the user object, and `max_message_id`: the newest message of the requester, or -1.
pub async fn own_user(caller: Caller) -> HandlerResult {
    let me = &*caller.user;
    let newest = caller.realm.newest_received(me.id);
    let max_message_id = newest.map_or(-1, |id| i64::from(id.0));
    reply(&OwnUser { user: user(&caller.realm.directory(), Some(me), me, FORM), max_message_id })
}
