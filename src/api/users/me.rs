//! `GET /users/me`: the caller's own account (companions.md 5).

use crate::api::wire::user::{UserForm, UserJson, user};
use crate::http::{Answer, Caller, reply};
use actors::queries::newest_received;
use serde::Serialize;

#[derive(Serialize)]
struct OwnUser<'a> {
    #[serde(flatten)]
    user: UserJson<'a>,
    max_message_id: i64,
}

const FORM: UserForm = UserForm { client_gravatar: false, profile_data: true, is_active: true };

/// The fields of the User object, and `max_message_id`: the newest message the caller got, -1 where there is none.
pub async fn own_user(caller: Caller) -> Answer {
    let me = &*caller.user;
    caller.realm.read(|view| {
        let newest = newest_received(view, me.id);
        let max_message_id = newest.map_or(-1, |id| i64::from(id.0));
        reply(&OwnUser { user: user(&view.directory, Some(me), me, FORM), max_message_id })
    })
}
