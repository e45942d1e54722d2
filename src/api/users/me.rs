//! `GET /users/me`: the caller's own account (companions.md 5).

use crate::api::wire::user::{UserForm, UserJson, user};
use crate::http::{Answer, Caller, reply};
use model::MessageId;
use serde::Serialize;

#[derive(Serialize)]
struct OwnUser<'a> {
    #[serde(flatten)]
    user: UserJson<'a>,
    max_message_id: i64,
}

const FORM: UserForm = UserForm { client_gravatar: false, profile_data: true, is_active: true };

/// The fields of the User object, and `max_message_id`: -1 where there is no message yet.
pub async fn own_user(caller: Caller) -> Answer {
    let me = &*caller.user;
    caller.realm.read(|view| {
        let last = view.messages.last;
        let max_message_id = if last == MessageId::ZERO { -1 } else { i64::from(last.0) };
        reply(&OwnUser { user: user(&view.directory, Some(me), me, FORM), max_message_id })
    })
}
